//! Parts of long merges and deletions (R441, R442).
//!
//! Rows are found by their places: a look-up by key might read all rows of the company, with a plan
//! that was made while the table was empty. A row that is replaced meanwhile is left out.

use std::sync::LazyLock;

use recado_core::Timestamp;
use recado_core::ids::{CompanyId, ContactId};
use recado_core::store::{Collection, ManyRows, StoreError};

use crate::PostgresStore;
use crate::commit::CommitStep;
use crate::message_refs::forget_of;
use crate::param::params;
use crate::reassign::only_if_there;
use crate::session::rows;

/// Some rows of a contact, locked, in an order in which an index has them.
fn some(table: &str, also: &str, order: &str, most: &str, lock: &str) -> String {
    format!(
        "t.ctid = ANY (ARRAY(SELECT ctid FROM {table} WHERE company_id = $1 AND contact_id = $2\
         {also}{order} LIMIT {most} FOR {lock}))"
    )
}

/// The newest messages.
fn messages(most: &str, lock: &str) -> String {
    some("messages", "", " ORDER BY created_at DESC, id DESC", most, lock)
}

/// The statements that move rows of `$2` to `$3`, at most `$4` each.
pub(crate) static MOVE: LazyLock<[String; 4]> = LazyLock::new(|| {
    let moved = |table: &str, rows: &str| {
        format!("UPDATE {table} t SET contact_id = $3, version = t.version + 1 WHERE {rows}")
    };
    let events = |data: &str| {
        let rows = some("events", data, "", "$4", "NO KEY UPDATE");
        only_if_there(&format!("UPDATE events t SET contact_id = $3 WHERE {rows}"))
    };
    [
        moved("messages", &messages("$4", "NO KEY UPDATE")),
        moved("ledger_lines", &some("ledger_lines", "", "", "$4", "NO KEY UPDATE")),
        events(" AND data IS NOT NULL"),
        events(" AND data IS NULL"),
    ]
});

/// Deletes at most `$4` messages, and keeps traces of their ids until `$3`.
pub(crate) static REMOVE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WITH gone AS (DELETE FROM messages t WHERE {} \
         RETURNING company_id, connection_id, id, provider_id) {}",
        messages("$4", "UPDATE"),
        forget_of("gone", "true"),
    )
});

/// Takes the contact out of at most `$3` ledger lines, as its deletion does.
pub(crate) static LEAVE: LazyLock<String> = LazyLock::new(|| {
    let lines = some("ledger_lines", "", "", "$3", "NO KEY UPDATE");
    format!("UPDATE ledger_lines t SET contact_id = NULL WHERE {lines}")
});

/// Deletes at most `$3` rows of a list, a tag, and a campaign `$2`: of a campaign the last ones.
pub(crate) static REMOVE_ROWS: LazyLock<[String; 3]> = LazyLock::new(|| {
    let removed = |table: &str, of: &str, order: &str| {
        format!(
            "DELETE FROM {table} t WHERE t.ctid = ANY (ARRAY(SELECT ctid FROM {table} \
             WHERE company_id = $1 AND {of} = $2{order} LIMIT $3 FOR UPDATE))"
        )
    };
    [
        removed("list_members", "list_id", ""),
        removed("contact_tags", "tag_id", ""),
        removed("recipients", "campaign_id", " ORDER BY number DESC"),
    ]
});

/// The step that deletes at most `most` rows of a record, as its deletion does.
pub(crate) fn remove_rows(company: CompanyId, of: Collection, most: u32) -> CommitStep {
    let [of_list, of_tag, of_campaign] = &*REMOVE_ROWS;
    let (sql, id) = match of {
        Collection::List(list) => (of_list, list.uuid()),
        Collection::Tag(tag) => (of_tag, tag.uuid()),
        Collection::Campaign(campaign) => (of_campaign, campaign.uuid()),
    };
    CommitStep::new(sql, params![company.uuid(), id, i64::from(most)], None)
}

/// Whether a contact has more than `$3` rows of each kind.
pub(crate) static HAS_MANY: LazyLock<String> = LazyLock::new(|| {
    let more = |table: &str, also: &str| {
        format!(
            "EXISTS (SELECT FROM {table} WHERE company_id = $1 AND contact_id = $2{also} \
             OFFSET $3::bigint)"
        )
    };
    format!(
        "SELECT {}, {}, {} OR {}",
        more("messages", ""),
        more("ledger_lines", ""),
        more("events", " AND data IS NOT NULL"),
        more("events", " AND data IS NULL"),
    )
});

/// The steps that move at most `most` rows of each kind.
pub(crate) fn reassign_some(
    company: CompanyId,
    from: ContactId,
    into: ContactId,
    most: u32,
) -> Vec<CommitStep> {
    if from == into {
        return Vec::new();
    }
    let step = |sql: &'static String| {
        let params = params![company.uuid(), from.uuid(), into.uuid(), i64::from(most)];
        CommitStep::new(sql, params, None)
    };
    MOVE.iter().map(step).collect()
}

/// The steps that delete at most `most` messages, with traces of their ids, and take the contact
/// out of at most `most` ledger lines. The contact must be locked before.
pub(crate) fn remove_some(
    company: CompanyId,
    contact: ContactId,
    expires_at: Timestamp,
    most: u32,
) -> [CommitStep; 2] {
    let (company, contact, most) = (company.uuid(), contact.uuid(), i64::from(most));
    let removed = params![company, contact, expires_at.millis(), most];
    [
        CommitStep::new(&REMOVE, removed, None),
        CommitStep::new(&LEAVE, params![company, contact, most], None),
    ]
}

impl PostgresStore {
    /// Of which kinds a contact has more than `than` rows.
    pub(crate) async fn many_rows(
        &self,
        company: CompanyId,
        contact: ContactId,
        than: u32,
    ) -> Result<ManyRows, StoreError> {
        let params = params![company.uuid(), contact.uuid(), i64::from(than)];
        let found = rows(&self.pool, HAS_MANY.as_str(), params).await?;
        Ok(found.first().map_or_else(ManyRows::default, |row| ManyRows {
            messages: row.get(0),
            ledger_lines: row.get(1),
            events: row.get(2),
        }))
    }
}
