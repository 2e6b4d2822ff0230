//! Keeps the outbox small, and erases the data of events about deleted contacts.

use async_trait::async_trait;
use recado_core::events::{Erased, EventsAbout, Outbox, Swept};
use recado_core::ids::CompanyId;
use recado_core::store::StoreError;

use crate::PostgresStore;
use crate::error::failed;
use crate::param::params;
use crate::session::{Session, Statement, TransactionMode};

// Whether a delivery refers to an event is looked up for each event separately: a join might read
// all pending deliveries for each of them.

/// The events that hold what message `$3` said before its sender deleted it, or all where `$3` is
/// null.
macro_rules! of_message {
    ($events:literal) => {
        concat!(
            "($3::text IS NULL OR ",
            $events,
            "event_type IN \
             ('message.received', 'message.sent', 'message.updated') \
             AND ",
            $events,
            "data::jsonb ->> 'message_id' = $3 \
             AND ",
            $events,
            "data::jsonb ->> 'deleted_by_sender_at' IS NULL)"
        )
    };
}

/// Erases the data of events about `$2`, or of its message `$3`, that no pending delivery needs,
/// and what receivers answered to their deliveries (R195). What writes a finished delivery at this
/// moment takes the answers out itself.
pub(crate) const ERASE: &str = concat!(
    "\
WITH erased AS (UPDATE events SET data = NULL WHERE ctid = ANY(ARRAY(\
SELECT e.ctid FROM events e \
WHERE e.company_id = $1 AND e.contact_id = $2 AND e.data IS NOT NULL AND ",
    of_message!("e."),
    " \
AND (SELECT true FROM deliveries d WHERE d.company_id = e.company_id \
AND d.created_at = e.at AND d.event_id = e.id AND d.status = 'pending' LIMIT 1) IS NULL \
LIMIT $4::bigint FOR NO KEY UPDATE)) RETURNING company_id, at, id), \
answers AS (UPDATE deliveries d SET version = d.version + 1, log = recado_without_answers(d.log) \
WHERE d.ctid = ANY(ARRAY(SELECT answered.ctid FROM erased CROSS JOIN LATERAL \
(SELECT x.ctid FROM deliveries x WHERE x.company_id = $1 AND x.created_at = erased.at \
AND x.event_id = erased.id AND position('\"response\":\"' IN x.log) > 0 OFFSET 0) AS answered))) \
SELECT count(*) FROM erased"
);

/// Whether there is such an event with data.
pub(crate) const LEFT: &str = concat!(
    "\
SELECT FROM events WHERE company_id = $1 AND contact_id = $2 AND data IS NOT NULL AND ",
    of_message!(""),
    " LIMIT 1"
);

/// Deletes old deliveries that are finished.
pub(crate) const SWEEP_DELIVERIES: &str = "\
WITH gone AS (DELETE FROM deliveries WHERE ctid = ANY(ARRAY(\
SELECT ctid FROM deliveries WHERE queued_at IS NULL AND created_at < $1 \
ORDER BY created_at, id LIMIT $2::bigint FOR UPDATE SKIP LOCKED)) RETURNING 1) \
SELECT count(*) FROM gone";

/// Deletes old events that no delivery refers to.
pub(crate) const SWEEP_EVENTS: &str = "\
WITH gone AS (DELETE FROM events WHERE ctid = ANY(ARRAY(\
SELECT e.ctid FROM events e WHERE e.at < $1 \
AND (SELECT true FROM deliveries d WHERE d.company_id = e.company_id \
AND d.created_at = e.at AND d.event_id = e.id LIMIT 1) IS NULL \
ORDER BY e.at LIMIT $2::bigint FOR UPDATE SKIP LOCKED)) RETURNING 1) \
SELECT count(*) FROM gone";

/// Deletes deliveries of a company, whatever their state.
const REMOVE_DELIVERIES: &str = "\
WITH gone AS (DELETE FROM deliveries WHERE ctid = ANY(ARRAY(\
SELECT ctid FROM deliveries WHERE company_id = $1 LIMIT $2::bigint FOR UPDATE SKIP LOCKED)) \
RETURNING 1) SELECT count(*) FROM gone";

/// Deletes events of a company.
const REMOVE_EVENTS: &str = "\
WITH gone AS (DELETE FROM events WHERE ctid = ANY(ARRAY(\
SELECT ctid FROM events WHERE company_id = $1 LIMIT $2::bigint FOR UPDATE SKIP LOCKED)) \
RETURNING 1) SELECT count(*) FROM gone";

#[async_trait]
impl Outbox for PostgresStore {
    async fn erase_events(
        &self,
        company: CompanyId,
        about: EventsAbout,
        limit: u32,
    ) -> Result<Erased, StoreError> {
        let message = || about.message.map(|message| message.to_string());
        let erase = params![company.uuid(), about.contact.uuid(), message(), i64::from(limit)];
        let left = params![company.uuid(), about.contact.uuid(), message()];
        let statements = vec![Statement::new(ERASE, erase), Statement::new(LEFT, left)];
        let session = Session::take(&self.pool).await?;
        let outcome = session.run(TransactionMode::Nothing, statements).await?;
        let found = outcome.into_rows().map_err(|(_, error)| failed(error))?;
        let erased = found.first().and_then(|rows| rows.first()).map_or(0, |row| row.get(0));
        let left = found.get(1).is_some_and(|rows| !rows.is_empty());
        Ok(Erased { events: counted(erased), left })
    }

    async fn sweep_outbox(&self, swept: Swept, limit: u32) -> Result<u32, StoreError> {
        let limit = i64::from(limit);
        let statement = |[deliveries, events]: [&'static str; 2]| {
            [deliveries, events].map(|sql| match swept {
                Swept::Before(time) => Statement::new(sql, params![time.millis(), limit]),
                Swept::Company(company) => Statement::new(sql, params![company.uuid(), limit]),
            })
        };
        let statements = match swept {
            Swept::Before(_) => statement([SWEEP_DELIVERIES, SWEEP_EVENTS]),
            Swept::Company(_) => statement([REMOVE_DELIVERIES, REMOVE_EVENTS]),
        };
        let statements = Vec::from(statements);
        let session = Session::take(&self.pool).await?;
        let outcome = session.run(TransactionMode::Nothing, statements).await?;
        let found = outcome.into_rows().map_err(|(_, error)| failed(error))?;
        Ok(counted(found.iter().flatten().map(|row| row.get::<_, i64>(0)).sum()))
    }
}

fn counted(rows: i64) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}
