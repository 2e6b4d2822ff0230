//! Many deliveries in one statement: those that the events of a commit make, and the outcomes of
//! attempts.

use std::sync::LazyLock;

use recado_core::Timestamp;
use recado_core::deliveries::Delivery;
use recado_core::events::Event;
use recado_core::store::{Change, ChangeKind, Row, RowKey, Version};
use recado_store_sql::log_text;
use recado_store_sql::signed;
use uuid::Uuid;

use crate::commit::CommitStep;
use crate::events;
use crate::param::{Param, params};

/// Inserts deliveries of one company, in order, that had no attempt yet. `first` is the first
/// parameter after the company's.
fn insert_sql(first: usize) -> String {
    let array = |at: usize, kind: &str| format!("unnest(${}::{kind}[])", first + at);
    let created_at = array(4, "bigint");
    format!(
        "INSERT INTO deliveries (company_id, id, webhook_id, event_id, event_type, status, \
         attempts, tries, due_at, queued_at, created_at, log, version) \
         SELECT $1::uuid, {}, {}, {}, {}, 'pending', 0, 0, {created_at}, {}, {created_at}, '[]', 1",
        array(0, "uuid"),
        array(1, "uuid"),
        array(2, "uuid"),
        array(3, "text"),
        Timestamp::MIN.millis(),
    )
}

static INSERT: LazyLock<String> = LazyLock::new(|| insert_sql(2));

/// Inserts events and their deliveries.
static EMIT: LazyLock<String> =
    LazyLock::new(|| format!("WITH emitted AS ({}) {}", events::INSERT, insert_sql(7)));

/// Whether the delivery is unchanged since it was made, so that [`INSERT`] writes all of its
/// columns.
fn is_new(delivery: &Delivery) -> bool {
    delivery.is_fresh()
        && delivery.tries == 0
        && delivery.due_at == Some(delivery.created_at)
        && delivery.delivered_at.is_none()
        && delivery.log.is_empty()
}

fn inserted(deliveries: &[Delivery]) -> Vec<Param> {
    let ids: Vec<_> = deliveries.iter().map(|delivery| delivery.id.uuid()).collect();
    let webhooks: Vec<_> = deliveries.iter().map(|delivery| delivery.webhook.uuid()).collect();
    let events: Vec<_> = deliveries.iter().map(|delivery| delivery.event.uuid()).collect();
    let types: Vec<_> = deliveries.iter().map(|delivery| delivery.event_type.as_str()).collect();
    let times: Vec<_> = deliveries.iter().map(|delivery| delivery.created_at.millis()).collect();
    params![ids, webhooks, events, types, times]
}

/// The steps that write events and their deliveries. They are few, often one.
pub(crate) fn emit(steps: &mut Vec<CommitStep>, events: Vec<Event>, deliveries: Vec<Delivery>) {
    let mut events = runs(events, |event| Some(event.company)).into_iter().peekable();
    let deliveries = runs(deliveries, |made| is_new(made).then_some(made.company));
    for (company, run) in deliveries {
        let Some(company) = company else {
            steps.extend(run.iter().map(crate::commit_changes::insert));
            continue;
        };
        match events.next_if(|(of, _)| *of == Some(company)) {
            Some((_, made)) => {
                let mut params = events::inserted(company, made);
                params.extend(inserted(&run));
                steps.push(CommitStep::new(EMIT.as_str(), params, None));
            }
            None => {
                let mut params = params![company.uuid()];
                params.extend(inserted(&run));
                steps.push(CommitStep::new(INSERT.as_str(), params, None));
            }
        }
    }
    for (company, run) in events {
        if let Some(company) = company {
            steps.push(CommitStep::new(events::INSERT, events::inserted(company, run), None));
        }
    }
}

/// Splits a list into runs of items with the same key.
fn runs<T, K: PartialEq>(list: Vec<T>, of: impl Fn(&T) -> K) -> Vec<(K, Vec<T>)> {
    let mut runs: Vec<(K, Vec<T>)> = Vec::new();
    for item in list {
        let key = of(&item);
        match runs.last_mut() {
            Some((last, run)) if *last == key => run.push(item),
            _ => runs.push((key, vec![item])),
        }
    }
    runs
}

/// Replaces deliveries in the order of the parameters: all of them or none. Fails if one of them
/// has another version.
///
/// The conditions on the key make the planner look up one row after the other, whatever it
/// estimates of the table.
pub(crate) const UPDATE: &str = "\
WITH changed AS (UPDATE deliveries d SET webhook_id = u.webhook_id, event_id = u.event_id, \
event_type = u.event_type, status = u.status, attempts = u.attempts, tries = u.tries, \
due_at = u.due_at, queued_at = u.queued_at, created_at = u.created_at, \
delivered_at = u.delivered_at, log = u.log, version = u.read_at + 1 \
FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::uuid[], $5::uuid[], $6::text[], $7::text[], \
$8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], \
$14::text[]) AS u (company_id, id, read_at, webhook_id, event_id, event_type, status, attempts, \
tries, due_at, queued_at, created_at, delivered_at, log) \
WHERE d.company_id = ANY(ARRAY[u.company_id]) AND d.id = ANY(ARRAY[u.id]) \
AND d.version = u.read_at RETURNING 1) \
SELECT 1 / CASE WHEN count(*) = cardinality($1::uuid[]) THEN 1 ELSE 0 END FROM changed";

/// One step that makes all of the updates. No two of them may be of the same delivery.
pub(crate) fn update(updates: Vec<(Delivery, Version)>) -> CommitStep {
    let versions: Vec<i64> = updates.iter().map(|(_, read_at)| signed(read_at.number())).collect();
    let each = |of: &dyn Fn(&Delivery) -> Uuid| -> Vec<Uuid> {
        updates.iter().map(|(delivery, _)| of(delivery)).collect()
    };
    let number = |of: &dyn Fn(&Delivery) -> i64| -> Vec<i64> {
        updates.iter().map(|(delivery, _)| of(delivery)).collect()
    };
    let time = |of: &dyn Fn(&Delivery) -> Option<Timestamp>| -> Vec<Option<i64>> {
        updates.iter().map(|(delivery, _)| of(delivery).map(Timestamp::millis)).collect()
    };
    let word = |of: &dyn Fn(&Delivery) -> &'static str| -> Vec<&'static str> {
        updates.iter().map(|(delivery, _)| of(delivery)).collect()
    };
    let logs: Vec<_> = updates.iter().map(|(delivery, _)| log_text(&delivery.log)).collect();
    let params = params![
        each(&|delivery| delivery.company.uuid()),
        each(&|delivery| delivery.id.uuid()),
        versions,
        each(&|delivery| delivery.webhook.uuid()),
        each(&|delivery| delivery.event.uuid()),
        word(&|delivery| delivery.event_type.as_str()),
        word(&|delivery| delivery.status.as_str()),
        number(&|delivery| i64::from(delivery.attempts)),
        number(&|delivery| i64::from(delivery.tries)),
        time(&|delivery| delivery.due_at),
        time(&Delivery::queued_at),
        number(&|delivery| delivery.created_at.millis()),
        time(&|delivery| delivery.delivered_at),
        logs,
    ];
    let key = |of: &Delivery| RowKey::Delivery { company: of.company, id: of.id };
    let rows = updates.iter().map(|(delivery, read_at)| (key(delivery), Some(*read_at))).collect();
    CommitStep::of_rows(UPDATE, params, rows)
}

/// Sorts each run of updates of deliveries by key, because rows are locked in the order of their
/// keys.
pub(crate) fn sort_updates(changes: &mut [Change]) {
    let key = |change: &Change| match change.kind() {
        ChangeKind::Update { row: Row::Delivery(delivery), .. } => {
            Some((delivery.company, delivery.id))
        }
        _ => None,
    };
    for stretch in changes.chunk_by_mut(|one, next| key(one).is_some() == key(next).is_some()) {
        if stretch.first().is_some_and(|change| key(change).is_some()) {
            stretch.sort_by_key(key);
        }
    }
}
