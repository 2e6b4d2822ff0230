//! Moves all rows of one contact to another, in a fixed number of statements.
//!
//! Both contacts are locked first against new references. A row that refers to the first contact is
//! therefore committed before anything moves, or its insertion fails. Rows are written in the order
//! in which other commits lock them.

use std::sync::LazyLock;

use recado_core::ids::{CompanyId, ContactId};

use crate::commit::CommitStep;
use crate::param::params;
use crate::recipients::TAKE_LONG;

/// Moves the rows of `$2` in a table to `$3`. The statement looks up nothing by key: with a plan
/// that was made while the table was empty, each look-up might read all rows of the company.
fn reassign(table: &str, set: &str) -> String {
    format!("UPDATE {table} t SET {set} WHERE t.company_id = $1 AND t.contact_id = $2")
}

/// Locks the rows of a table whose contact fulfils `of`, in the order of their keys. Batches of
/// events lock them in the same order, and do not always lock the contact. `$3` is mentioned
/// because every statement gets the same parameters.
fn lock(table: &str, of: &str, key: &str) -> String {
    format!(
        "SELECT count(*), $3::uuid FROM (SELECT FROM {table} \
         WHERE company_id = $1 AND contact_id {of} ORDER BY {key} FOR NO KEY UPDATE) AS locked"
    )
}

/// Deletes the windows of `$3` that are not kept
/// ([`window_that_stays`](recado_core::contacts::window_that_stays)). The windows of both contacts
/// are read once, for the reason given at [`has`].
const DROP_WORSE: &str = "\
WITH windows AS MATERIALIZED (SELECT key, first_value(contact_id) OVER (PARTITION BY key \
ORDER BY (state = 'sent') DESC, ends_at DESC, (contact_id = $3) DESC) AS best \
FROM dispatch_windows WHERE company_id = $1 AND contact_id IN ($2, $3)) \
DELETE FROM dispatch_windows t WHERE t.company_id = $1 AND t.contact_id = $3 \
AND (t.key IN (SELECT key FROM windows WHERE best = $2)) IS TRUE";

/// Removes the contact from the recipients of `$3` that are not kept
/// ([`recipient_that_stays`](recado_core::contacts::recipient_that_stays)).
const STOP_WAITING: &str = "\
UPDATE recipients t SET contact_id = NULL, version = t.version + 1 \
WHERE t.company_id = $1 AND t.contact_id = $3 AND (t.status = 'waiting') IS TRUE \
AND (t.campaign_id IN (SELECT campaign_id FROM recipients WHERE company_id = $1 \
AND contact_id = $2 AND (status <> 'waiting') IS TRUE)) IS TRUE";

/// Whether `$3` has a row with the same value of a column as `t`. The subquery is written so that
/// the rows of `$3` are read once: the planner might otherwise read them for each row of `t`.
fn has(table: &str, column: &str) -> String {
    format!(
        "(t.{column} IN (SELECT {column} FROM {table} WHERE company_id = $1 AND contact_id = $3)) \
         IS TRUE"
    )
}

/// Deletes the rows of `$2` that `$3` has the same of.
fn drop_doubles(table: &str, column: &str) -> String {
    format!(
        "DELETE FROM {table} t WHERE t.company_id = $1 AND t.contact_id = $2 AND {}",
        has(table, column)
    )
}

const MOVED: &str = "contact_id = $3";
const MOVED_ON: &str = "contact_id = $3, version = t.version + 1";

/// Moves the events whose data fulfils `condition`; each condition has an index.
fn reassign_events(condition: &str) -> String {
    only_if_there(&format!(
        "UPDATE events SET contact_id = $3 \
         WHERE company_id = $1 AND contact_id = $2 AND {condition}"
    ))
}

/// A statement that moves events to `$3`. Events have no foreign key to their contact. If some were
/// moved and `$3` is missing, it inserts a row that violates a foreign key, so that it fails.
pub(crate) fn only_if_there(moves: &str) -> String {
    format!(
        "WITH moved AS ({moves} RETURNING 1) \
         INSERT INTO contact_tags (company_id, contact_id, tag_id) SELECT $1, $3, nothing \
         FROM (VALUES ('00000000-0000-0000-0000-000000000000'::uuid)) AS missing (nothing) \
         WHERE EXISTS (SELECT FROM moved) \
         AND NOT EXISTS (SELECT FROM contacts WHERE company_id = $1 AND id = $3)"
    )
}

/// All statements, in order. A recipient of a campaign that `$3` is a recipient of, too, loses its
/// contact.
pub(crate) static REASSIGN: LazyLock<[String; 23]> = LazyLock::new(|| {
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
        reassign("unknown_events", MOVED_ON),
    ]
});

/// The steps that move all rows of `from` to `into`.
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
