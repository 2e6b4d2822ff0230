//! Everything of one contact becomes another's, in a few statements however much it is.
//!
//! Both contacts are locked against all that would refer to them before anything moves: what names
//! the first of them either is there by then, or finds that it is too late. Rows are written in the
//! order in which other commits lock theirs.

use std::sync::LazyLock;

use recado_core::ids::{CompanyId, ContactId};

use crate::commit::CommitStep;
use crate::param::params;
use crate::recipients::TAKE_LONG;

/// Reassigns the rows of `$2` in a table to `$3`. It looks nothing up by key: of a plan that was made
/// while the table was empty, each look-up might read all of the company.
fn reassign(table: &str, set: &str) -> String {
    format!("UPDATE {table} t SET {set} WHERE t.company_id = $1 AND t.contact_id = $2")
}

/// Locks the rows of `of` in a table in the order of their keys, as batches of events do, who do not
/// always lock the contact. `$3` may be nothing to it.
fn lock(table: &str, of: &str, key: &str) -> String {
    format!(
        "SELECT count(*), $3::uuid FROM (SELECT FROM {table} \
         WHERE company_id = $1 AND contact_id {of} ORDER BY {key} FOR NO KEY UPDATE) AS locked"
    )
}

/// Removes the windows of `$3` that are not the ones which stay
/// ([`window_that_stays`](recado_core::contacts::window_that_stays)). Those of both are put side by
/// side once, for the reason why [`has`] is as it is.
const DROP_WORSE: &str = "\
WITH windows AS MATERIALIZED (SELECT key, first_value(contact_id) OVER (PARTITION BY key \
ORDER BY (state = 'sent') DESC, ends_at DESC, (contact_id = $3) DESC) AS best \
FROM dispatch_windows WHERE company_id = $1 AND contact_id IN ($2, $3)) \
DELETE FROM dispatch_windows t WHERE t.company_id = $1 AND t.contact_id = $3 \
AND (t.key IN (SELECT key FROM windows WHERE best = $2)) IS TRUE";

/// The places of `$3` that are not the ones which stay
/// ([`recipient_that_stays`](recado_core::contacts::recipient_that_stays)) are nobody's.
const STOP_WAITING: &str = "\
UPDATE recipients t SET contact_id = NULL, version = t.version + 1 \
WHERE t.company_id = $1 AND t.contact_id = $3 AND (t.status = 'waiting') IS TRUE \
AND (t.campaign_id IN (SELECT campaign_id FROM recipients WHERE company_id = $1 \
AND contact_id = $2 AND (status <> 'waiting') IS TRUE)) IS TRUE";

/// Whether `$3` has a row that is like `t` in one column. All that it has is read once: left to the
/// planner, it might be read for each row of `t`.
fn has(table: &str, column: &str) -> String {
    format!(
        "(t.{column} IN (SELECT {column} FROM {table} WHERE company_id = $1 AND contact_id = $3)) \
         IS TRUE"
    )
}

/// Removes the rows of `$2` of which `$3` has the like.
fn drop_doubles(table: &str, column: &str) -> String {
    format!(
        "DELETE FROM {table} t WHERE t.company_id = $1 AND t.contact_id = $2 AND {}",
        has(table, column)
    )
}

const MOVED: &str = "contact_id = $3";
const MOVED_ON: &str = "contact_id = $3, version = t.version + 1";

/// Reassigns the events whose data passes `condition`, each by an index of its own. Events refer to
/// nobody: if there is nobody to take them, a row that would have to is missed.
fn reassign_events(condition: &str) -> String {
    format!(
        "WITH moved AS (UPDATE events SET contact_id = $3 \
         WHERE company_id = $1 AND contact_id = $2 AND {condition} RETURNING 1) \
         INSERT INTO contact_tags (company_id, contact_id, tag_id) SELECT $1, $3, nothing \
         FROM (VALUES ('00000000-0000-0000-0000-000000000000'::uuid)) AS missing (nothing) \
         WHERE EXISTS (SELECT FROM moved) \
         AND NOT EXISTS (SELECT FROM contacts WHERE company_id = $1 AND id = $3)"
    )
}

/// All of it, in order. A recipient that `$3` is already, and stays, has nobody any more.
pub(crate) static REASSIGN: LazyLock<[String; 22]> = LazyLock::new(|| {
    let recipient = format!(
        "contact_id = CASE WHEN {} THEN NULL ELSE $3 END, version = t.version + 1",
        has("recipients", "campaign_id")
    );
    [
        reassign("aliases", MOVED),
        reassign("clicks", MOVED),
        drop_doubles("contact_tags", "tag_id"),
        reassign("contact_tags", MOVED),
        reassign("deals", MOVED_ON),
        DROP_WORSE.to_owned(),
        drop_doubles("dispatch_windows", "key"),
        reassign("dispatch_windows", MOVED_ON),
        reassign("documents", MOVED_ON),
        reassign_events("data IS NOT NULL"),
        reassign_events("data IS NULL"),
        lock("ledger_lines", "= $2", "id"),
        reassign("ledger_lines", MOVED_ON),
        reassign("links", MOVED_ON),
        drop_doubles("list_members", "list_id"),
        reassign("list_members", MOVED),
        lock("messages", "= $2", "id"),
        reassign("messages", MOVED_ON),
        lock("recipients", "IN ($2, $3)", "campaign_id, number"),
        STOP_WAITING.to_owned(),
        reassign("recipients", &recipient),
        reassign("remembered_calls", MOVED_ON),
    ]
});

/// The steps that reassign everything of `from` to `into`.
pub(crate) fn reassign_all(
    company: CompanyId,
    from: ContactId,
    into: ContactId,
) -> Vec<CommitStep> {
    if from == into {
        return Vec::new();
    }
    let mut steps = vec![CommitStep::new(TAKE_LONG, Vec::new(), None)];
    for statement in REASSIGN.iter() {
        let params = params![company.uuid(), from.uuid(), into.uuid()];
        steps.push(CommitStep::new(statement, params, None));
    }
    steps
}
