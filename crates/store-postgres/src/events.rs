//! Events: how they are stored, and the journal of a company.

use async_trait::async_trait;
use recado_core::events::{Event, EventReads, EventRecord, EventType, JournalPosition};
use recado_core::ids::{CompanyId, ContactId, EventId};
use recado_core::store::StoreError;
use recado_store_sql::signed;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::error::failed;
use crate::param::{Param, params};
use crate::session::{Session, Statement, TransactionMode, rows};

/// The columns of a record, in the order in which [`read`] reads them: with whether the contact
/// that it is about is gone, in the same state of the database.
const COLUMNS: &str = "e.company_id, e.id, e.event_type, e.contact_id, e.at, e.data, \
e.contact_id IS NOT NULL AND NOT EXISTS (SELECT FROM contacts c \
WHERE c.company_id = e.company_id AND c.id = e.contact_id OFFSET 0)";

/// Inserts events of one company, in order. Its parameters are those of [`inserted`].
pub(crate) const INSERT: &str = "\
INSERT INTO events (company_id, id, event_type, contact_id, at, data) \
SELECT $1::uuid, unnest($2::uuid[]), unnest($3::text[]), unnest($4::uuid[]), \
unnest($5::bigint[]), unnest($6::text[])";

/// The parameters of [`INSERT`].
pub(crate) fn inserted(company: CompanyId, events: Vec<Event>) -> Vec<Param> {
    let ids: Vec<_> = events.iter().map(|event| event.id.uuid()).collect();
    let types: Vec<_> = events.iter().map(|event| event.event_type.as_str()).collect();
    let contacts: Vec<_> = events.iter().map(|event| event.contact.map(ContactId::uuid)).collect();
    let times: Vec<_> = events.iter().map(|event| event.at.millis()).collect();
    let data: Vec<_> = events.into_iter().map(|event| event.data).collect();
    params![company.uuid(), ids, types, contacts, times, data]
}

/// The advisory lock that commits with events of a company take shared, and that reads of its
/// journal take exclusively for one short statement. A commit takes it before its events get
/// positions and before it locks any row, so that no commit waits for a reader that waits for that
/// commit.
pub(crate) fn journal_lock(company: CompanyId) -> i64 {
    let (high, low) = company.uuid().as_u64_pair();
    // It must differ from the lock of exports and from its negative, which are in the same number
    // space.
    (high.rotate_left(31) ^ low.rotate_left(7) ^ 0x6a6f_7572_6e61_6c00).cast_signed()
}

fn read(columns: &mut Columns<'_>) -> Result<EventRecord, StoreError> {
    Ok(EventRecord {
        company: columns.get()?,
        id: columns.get()?,
        event_type: columns.get()?,
        contact: columns.get()?,
        at: columns.get()?,
        data: columns.get()?,
        is_orphaned: columns.get()?,
    })
}

/// The journal after a position: the first events of each type, merged.
pub(crate) fn journal_sql() -> String {
    format!(
        "SELECT e.place, {COLUMNS} FROM unnest($2::text[]) AS wanted (event_type) \
         CROSS JOIN LATERAL (SELECT * FROM events \
         WHERE company_id = $1 AND event_type = wanted.event_type AND place > $3 \
         ORDER BY place LIMIT $4::bigint) AS e ORDER BY e.place LIMIT $4::bigint"
    )
}

/// The newest events of each type before a position, merged.
fn newest_sql() -> String {
    format!(
        "SELECT e.place, {COLUMNS} FROM unnest($2::text[]) AS wanted (event_type) \
         CROSS JOIN LATERAL (SELECT * FROM events \
         WHERE company_id = $1 AND event_type = wanted.event_type AND place < $3 \
         ORDER BY place DESC LIMIT $4::bigint) AS e ORDER BY e.place DESC LIMIT $4::bigint"
    )
}

/// The words of some types, each once.
fn words(types: &[EventType]) -> Vec<&'static str> {
    let mut types: Vec<&'static str> = types.iter().map(|wanted| wanted.as_str()).collect();
    types.sort_unstable();
    types.dedup();
    types
}

#[async_trait]
impl EventReads for PostgresStore {
    async fn event(
        &self,
        company: CompanyId,
        id: EventId,
    ) -> Result<Option<EventRecord>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM events e WHERE e.company_id = $1 AND e.id = $2");
        let found = rows(&self.pool, sql, params![company.uuid(), id.uuid()]).await?;
        found.first().map(|row| read(&mut Columns::new(row))).transpose()
    }

    async fn events_after(
        &self,
        company: CompanyId,
        types: &[EventType],
        after: JournalPosition,
        limit: u32,
    ) -> Result<Vec<(JournalPosition, EventRecord)>, StoreError> {
        let types = words(types);
        let lock = "SELECT pg_advisory_xact_lock($1)";
        let params = params![company.uuid(), types, signed(after.0), i64::from(limit)];
        let statements = vec![
            Statement::new(lock, params![journal_lock(company)]),
            Statement::new(journal_sql(), params),
        ];
        let session = Session::take(&self.pool).await?;
        // The lock is held for one statement. Afterwards, every event with a lower position is
        // visible, and every later event gets a higher position.
        let outcome = session.run(TransactionMode::Transaction, statements).await?;
        let mut found = outcome.into_rows().map_err(|(_, error)| failed(error))?;
        let page = found.pop().unwrap_or_default();
        let entry = |row| {
            let mut columns = Columns::new(row);
            Ok((columns.get().map(JournalPosition)?, read(&mut columns)?))
        };
        page.iter().map(entry).collect()
    }

    async fn newest_events(
        &self,
        company: CompanyId,
        types: &[EventType],
        before: Option<JournalPosition>,
        limit: u32,
    ) -> Result<Vec<(JournalPosition, EventRecord)>, StoreError> {
        let before = before.map_or(i64::MAX, |before| signed(before.0));
        let params = params![company.uuid(), words(types), before, i64::from(limit)];
        let found = rows(&self.pool, newest_sql(), params).await?;
        let entry = |row| {
            let mut columns = Columns::new(row);
            Ok((columns.get().map(JournalPosition)?, read(&mut columns)?))
        };
        found.iter().map(entry).collect()
    }
}
