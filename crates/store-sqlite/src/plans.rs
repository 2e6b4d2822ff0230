//! The query plans of this crate's statements, for tests.

use rusqlite::params_from_iter;

use crate::cell::Cell;
use crate::database::Connection;
use crate::schema;

/// A database with the current schema.
pub(crate) fn database() -> Connection {
    let mut conn = Connection::open_in_memory().expect("a database");
    schema::migrate(&mut conn).expect("a new database");
    conn.pragma_update(None, "foreign_keys", true).expect("a setting");
    conn
}

/// The steps of a statement's plan, with those of its triggers and foreign keys.
pub(crate) fn steps(conn: &Connection, statement: &str) -> Vec<String> {
    let mut plan = conn.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).expect(statement);
    let unbound = vec![Cell::Null; plan.parameter_count()];
    let steps = plan.query_map(params_from_iter(unbound), |row| row.get("detail"));
    let steps: Result<Vec<String>, _> = steps.expect(statement).collect();
    steps.expect(statement)
}

/// The only step of a statement's plan.
pub(crate) fn step(conn: &Connection, statement: &str) -> String {
    let steps = steps(conn, statement);
    let [step] = steps.as_slice() else { panic!("{statement}: {steps:?}") };
    step.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No step may search all rows of a company.
    fn assert_found(conn: &Connection, statement: &str) -> usize {
        let steps = steps(conn, statement);
        for step in &steps {
            let found = step.starts_with("SEARCH") && !step.ends_with(" (company_id=?)");
            assert!(found, "{statement}: {step}");
        }
        steps.len()
    }

    #[test]
    fn whatever_a_row_takes_along_or_is_kept_by_is_found_by_an_index() {
        let conn = database();
        // One step for the row itself, and one for each table that refers to it.
        for (table, count) in [
            ("contacts", 15),
            ("campaigns", 2),
            ("connections", 7),
            ("messages", 2),
            ("links", 2),
            ("lists", 2),
            ("tags", 2),
            ("members", 2),
            ("organizations", 2),
            ("close_reasons", 2),
            ("stages", 3),
            ("pipelines", 2),
        ] {
            let statement = format!("DELETE FROM {table} WHERE company_id = ? AND id = ?");
            let found = assert_found(&conn, &statement);
            assert!(found >= count, "{table}: {found}");
        }
    }

    #[test]
    fn what_belongs_to_a_record_is_found_by_an_index() {
        let conn = database();
        for (table, columns) in [
            ("deals", ["company_id", "contact_id"]),
            ("documents", ["company_id", "contact_id"]),
            ("aliases", ["company_id", "contact_id"]),
            ("aliases", ["company_id", "key"]),
            ("conversations", ["company_id", "contact_id"]),
            ("connection_groups", ["company_id", "connection_id"]),
            ("connection_groups", ["company_id", "code"]),
            ("connection_groups", ["company_id", "community_code"]),
            ("dispatch_windows", ["company_id", "contact_id"]),
            ("recipients", ["company_id", "contact_id"]),
            ("recipients", ["company_id", "message_id"]),
        ] {
            let [company, other] = columns;
            let statement = format!("SELECT * FROM {table} WHERE {company} = ? AND {other} = ?");
            assert_found(&conn, &statement);
        }
    }
}
