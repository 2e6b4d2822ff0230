//! Moves the rows of one contact to another (D62).

use recado_core::contacts::Contact;
use recado_core::ids::{CompanyId, ContactId};
use recado_core::store::{CommitError, Conflict, RowKey};
use rusqlite::{Connection, params_from_iter};

use crate::cell::Cell;
use crate::error::commit_error;
use crate::table;

/// Each statement moves the rows of one table from contact ?2 to contact ?3. Where a unique key
/// could be violated, `OR IGNORE` moves the rows that can be moved, and the next statement deletes
/// or detaches the others. A row of ?3 that is not to stay is removed before that.
///
/// Listings, counts and the search index need no other changes: their values do not depend on the
/// contact of a message, and moving a list member does not change the size of its list. A trigger
/// of the table counts the members that are deleted.
const MOVES: [&str; 21] = [
    "UPDATE messages SET contact_id = ?3, version = version + 1 \
     WHERE company_id = ?1 AND contact_id = ?2",
    "UPDATE deals SET contact_id = ?3, version = version + 1 \
     WHERE company_id = ?1 AND contact_id = ?2",
    "UPDATE documents SET contact_id = ?3, version = version + 1 \
     WHERE company_id = ?1 AND contact_id = ?2",
    "UPDATE links SET contact_id = ?3, version = version + 1 \
     WHERE company_id = ?1 AND contact_id = ?2",
    // The version of a click is never read.
    "UPDATE clicks SET contact_id = ?3 WHERE company_id = ?1 AND contact_id = ?2",
    "UPDATE ledger_lines SET contact_id = ?3, version = version + 1 \
     WHERE company_id = ?1 AND contact_id = ?2",
    "UPDATE remembered_calls SET contact_id = ?3, version = version + 1 \
     WHERE company_id = ?1 AND contact_id = ?2",
    "UPDATE unknown_events SET contact_id = ?3, version = version + 1 \
     WHERE company_id = ?1 AND contact_id = ?2",
    "UPDATE aliases SET contact_id = ?3 WHERE company_id = ?1 AND contact_id = ?2",
    "UPDATE OR IGNORE list_members SET contact_id = ?3 WHERE company_id = ?1 AND contact_id = ?2",
    "DELETE FROM list_members WHERE company_id = ?1 AND contact_id = ?2",
    "UPDATE OR IGNORE contact_tags SET contact_id = ?3 WHERE company_id = ?1 AND contact_id = ?2",
    "DELETE FROM contact_tags WHERE company_id = ?1 AND contact_id = ?2",
    // The rule is the core's `window_that_stays`.
    "DELETE FROM dispatch_windows WHERE company_id = ?1 AND contact_id = ?3 \
     AND EXISTS (SELECT 1 FROM dispatch_windows AS theirs WHERE theirs.company_id = ?1 \
     AND theirs.contact_id = ?2 AND theirs.key = dispatch_windows.key \
     AND (theirs.state = 'sent', theirs.ends_at) \
     > (dispatch_windows.state = 'sent', dispatch_windows.ends_at))",
    "UPDATE OR IGNORE dispatch_windows SET contact_id = ?3, version = version + 1 \
     WHERE company_id = ?1 AND contact_id = ?2",
    "DELETE FROM dispatch_windows WHERE company_id = ?1 AND contact_id = ?2",
    // The rule is the core's `recipient_that_stays`.
    "UPDATE recipients SET contact_id = NULL, version = version + 1 \
     WHERE company_id = ?1 AND contact_id = ?3 AND status = 'waiting' \
     AND EXISTS (SELECT 1 FROM recipients AS theirs WHERE theirs.company_id = ?1 \
     AND theirs.contact_id = ?2 AND theirs.campaign_id = recipients.campaign_id \
     AND theirs.status <> 'waiting')",
    "UPDATE OR IGNORE recipients SET contact_id = ?3, version = version + 1 \
     WHERE company_id = ?1 AND contact_id = ?2",
    "UPDATE recipients SET contact_id = NULL, version = version + 1 \
     WHERE company_id = ?1 AND contact_id = ?2",
    // A delivery refers to a contact through its event. Erased events have an index of their own.
    "UPDATE events SET contact_id = ?3 \
     WHERE company_id = ?1 AND contact_id = ?2 AND data IS NOT NULL",
    "UPDATE events SET contact_id = ?3 WHERE company_id = ?1 AND contact_id = ?2 AND data IS NULL",
];

/// Moves all rows.
///
/// # Errors
///
/// [`Conflict::Reference`] when there are rows to move and the receiving contact is missing.
pub(crate) fn reassign(
    conn: &Connection,
    company: CompanyId,
    from: ContactId,
    into: ContactId,
) -> Result<(), CommitError> {
    if from == into {
        return Ok(());
    }
    let key = RowKey::Contact { company, id: into };
    let is_there = table::version::<Contact>(conn, &key)?.is_some();
    let values: [Cell<'_>; 3] = [company.into(), from.into(), into.into()];
    for statement in MOVES {
        let mut statement = conn.prepare_cached(statement).map_err(commit_error)?;
        let used = &values[..statement.parameter_count()];
        let changed = statement.execute(params_from_iter(used)).map_err(commit_error)?;
        if changed > 0 && !is_there {
            return Err(Conflict::Reference.into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::plans;

    #[test]
    fn what_is_moved_is_found_by_its_contact() {
        let conn = plans::database();
        for statement in MOVES {
            let steps = plans::steps(&conn, statement);
            let mut steps = steps.iter().filter(|step| !step.contains("SUBQUERY"));
            let step = steps.next().expect("a step");
            let found = step.starts_with("SEARCH") && step.ends_with(" AND contact_id=?)");
            assert!(found, "{statement}: {step}");
            // The rows of the receiving contact are found by the columns of the comparison.
            for step in steps {
                let found = step.starts_with("SEARCH theirs")
                    && (step.ends_with(" AND contact_id=? AND key=?)")
                        || step.ends_with(" AND contact_id=? AND campaign_id=?)"));
                assert!(found, "{statement}: {step}");
            }
        }
    }

    #[test]
    fn every_table_that_names_a_contact_is_moved_or_written_by_changes_of_its_own() {
        let conn = plans::database();
        let query = "SELECT t.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c \
                     WHERE t.type = 'table' AND c.name = 'contact_id'";
        let mut tables = conn.prepare(query).unwrap();
        let tables = tables.query_map([], |row| row.get(0)).unwrap();
        let tables: BTreeSet<String> = tables.map(Result::unwrap).collect();
        let named = |table: &str| {
            MOVES.iter().any(|statement| {
                statement.starts_with("UPDATE")
                    && statement.split_whitespace().any(|word| word == table)
            })
        };
        let others: Vec<&str> =
            tables.iter().map(String::as_str).filter(|table| !named(table)).collect();
        assert_eq!(others, ["conversations", "lead_memories"]);
    }
}
