//! Parts of long merges and deletions (R441, R442).
//!
//! Each statement finds its rows through an index of them, and stops after as many as it is given.

use std::sync::LazyLock;

use recado_core::Timestamp;
use recado_core::contacts::Contact;
use recado_core::ids::{CompanyId, ContactId};
use recado_core::store::{Collection, CommitError, Conflict, ManyRows, RowKey};
use rusqlite::params_from_iter;

use crate::cell::Cell;
use crate::database::Connection;
use crate::error::commit_error;
use crate::message_refs::forget_where;
use crate::table;

/// The messages of a portion. Statements of one change choose the same ones, as they do it in the
/// order of the index.
const MESSAGES: &str = "SELECT seq FROM messages WHERE company_id = ?1 AND contact_id = ?2 \
                        ORDER BY direction, is_history, created_at, id LIMIT ?4";

/// The ledger lines of a portion.
const LINES: &str =
    "SELECT seq FROM ledger_lines WHERE company_id = ?1 AND contact_id = ?2 LIMIT ?4";

/// The events of a portion, of those with data or of those without.
fn events(data: &str) -> String {
    format!(
        "SELECT seq FROM events WHERE company_id = ?1 AND contact_id = ?2 AND data {data} LIMIT ?4"
    )
}

/// Each moves rows of one table from contact ?2 to contact ?3.
static MOVE: LazyLock<[String; 4]> = LazyLock::new(|| {
    let moved = |table: &str, set: &str, rows: &str| {
        format!("UPDATE {table} SET contact_id = ?3{set} WHERE seq IN ({rows})")
    };
    [
        moved("messages", ", version = version + 1", MESSAGES),
        moved("ledger_lines", ", version = version + 1", LINES),
        moved("events", "", &events("IS NOT NULL")),
        moved("events", "", &events("IS NULL")),
    ]
});

/// Keeps traces of messages until ?3, deletes them, and takes the contact out of ledger lines.
static REMOVE: LazyLock<[String; 3]> = LazyLock::new(|| {
    [
        forget_where(&format!("m.seq IN ({MESSAGES})")),
        format!("DELETE FROM messages WHERE seq IN ({MESSAGES})"),
        format!(
            "UPDATE ledger_lines SET contact_id = NULL, description = NULL WHERE seq IN ({LINES})"
        ),
    ]
});

/// Whether a contact has more than ?3 rows of each kind.
static HAS_MANY: LazyLock<String> = LazyLock::new(|| {
    let more = |table: &str, data: &str| {
        format!(
            "EXISTS (SELECT 1 FROM {table} WHERE company_id = ?1 AND contact_id = ?2{data} \
             LIMIT 1 OFFSET ?3)"
        )
    };
    let [messages, lines] = ["messages", "ledger_lines"].map(|table| more(table, ""));
    let [shown, erased] =
        [" AND data IS NOT NULL", " AND data IS NULL"].map(|data| more("events", data));
    format!("SELECT {messages}, {lines}, {shown} OR {erased}")
});

/// Runs a statement with as many of the values as it has parameters; how many rows it changed.
fn run(conn: &Connection, sql: &str, values: &[Cell<'_>; 4]) -> Result<usize, CommitError> {
    let mut statement = conn.prepare_cached(sql).map_err(commit_error)?;
    let used = &values[..statement.parameter_count()];
    statement.execute(params_from_iter(used)).map_err(commit_error)
}

/// Moves at most `most` rows of each kind.
///
/// # Errors
///
/// [`Conflict::Reference`] when there are rows to move and the receiving contact is missing.
pub(crate) fn reassign_some(
    conn: &Connection,
    company: CompanyId,
    from: ContactId,
    into: ContactId,
    most: u32,
) -> Result<(), CommitError> {
    if from == into {
        return Ok(());
    }
    let key = RowKey::Contact { company, id: into };
    let is_there = table::version::<Contact>(conn, &key)?.is_some();
    let values = [company.into(), from.into(), into.into(), Cell::Int(most.into())];
    for sql in MOVE.iter() {
        if run(conn, sql, &values)? > 0 && !is_there {
            return Err(Conflict::Reference.into());
        }
    }
    Ok(())
}

/// Deletes at most `most` messages with traces of their ids, and takes the contact out of at most
/// `most` ledger lines.
pub(crate) fn remove_some(
    conn: &Connection,
    company: CompanyId,
    contact: ContactId,
    expires_at: Timestamp,
    most: u32,
) -> Result<(), CommitError> {
    let values = [company.into(), contact.into(), expires_at.into(), Cell::Int(most.into())];
    REMOVE.iter().try_for_each(|sql| run(conn, sql, &values).map(drop))
}

/// Deletes at most ?3 rows of a list, a tag, and a campaign ?2: of a campaign the last ones.
static REMOVE_ROWS: LazyLock<[String; 3]> = LazyLock::new(|| {
    let removed = |table: &str, of: &str, row: &str, order: &str| {
        let rows = format!("company_id = ?1 AND {of} = ?2");
        format!(
            "DELETE FROM {table} WHERE {rows} AND {row} IN \
             (SELECT {row} FROM {table} WHERE {rows}{order} LIMIT ?3)"
        )
    };
    [
        removed("list_members", "list_id", "contact_id", ""),
        removed("contact_tags", "tag_id", "contact_id", ""),
        removed("recipients", "campaign_id", "number", " ORDER BY number DESC"),
    ]
});

/// Deletes at most `most` rows of a record, as its deletion does.
pub(crate) fn remove_rows(
    conn: &Connection,
    company: CompanyId,
    of: Collection,
    most: u32,
) -> Result<(), CommitError> {
    let [of_list, of_tag, of_campaign] = &*REMOVE_ROWS;
    let (sql, id): (_, Cell<'_>) = match of {
        Collection::List(list) => (of_list, list.into()),
        Collection::Tag(tag) => (of_tag, tag.into()),
        Collection::Campaign(campaign) => (of_campaign, campaign.into()),
    };
    let mut statement = conn.prepare_cached(sql).map_err(commit_error)?;
    let values: [Cell<'_>; 3] = [company.into(), id, Cell::Int(most.into())];
    statement.execute(params_from_iter(values)).map(drop).map_err(commit_error)
}

/// Of which kinds a contact has more than `than` rows.
pub(crate) fn has_many(
    conn: &Connection,
    company: CompanyId,
    contact: ContactId,
    than: u32,
) -> rusqlite::Result<ManyRows> {
    let values: [Cell<'_>; 3] = [company.into(), contact.into(), Cell::Int(than.into())];
    conn.prepare_cached(&HAS_MANY)?.query_row(params_from_iter(values), |row| {
        Ok(ManyRows { messages: row.get(0)?, ledger_lines: row.get(1)?, events: row.get(2)? })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{message_refs, plans};

    /// R441: otherwise each of many portions would read all rows of the contact.
    #[test]
    fn a_portion_is_the_beginning_of_a_range_of_an_index() {
        let conn = plans::database();
        let erased = events("IS NULL");
        for rows in [MESSAGES, LINES, &events("IS NOT NULL"), &erased] {
            let step = plans::step(&conn, rows);
            let found =
                step.starts_with("SEARCH") && step.ends_with("(company_id=? AND contact_id=?)");
            assert!(found, "{rows}: {step}");
        }
        for statement in REMOVE_ROWS.iter() {
            let steps = plans::steps(&conn, statement);
            let is_found =
                |step: &String| step.starts_with("SEARCH") && step.contains("company_id=? AND");
            let [one, of_list, some] = &steps[..] else { panic!("{statement}: {steps:#?}") };
            assert!(is_found(one) && is_found(some), "{statement}: {steps:#?}");
            assert!(of_list.starts_with("LIST SUBQUERY"), "{statement}: {steps:#?}");
        }
        message_refs::add_trace(&conn).unwrap();
        for statement in MOVE.iter().chain(REMOVE.iter()).chain([&*HAS_MANY]) {
            let steps = plans::steps(&conn, statement);
            let reads_all = |step: &&String| {
                step.starts_with("SCAN") && !step.contains("subquery") && !step.contains("CONSTANT")
            };
            assert_eq!(steps.iter().find(reads_all), None, "{statement}: {steps:#?}");
        }
    }
}
