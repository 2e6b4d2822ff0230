//! Migrations that are interrupted, and programs on a schema that is newer than theirs.

use std::path::Path;

use rusqlite::Batch;
use rusqlite::fallible_iterator::FallibleIterator as _;

use super::*;

/// A person of a company, as the first migration keeps them.
const PERSON: &str = "\
    INSERT INTO companies VALUES (1, x'01', 'A', 'enterprise', 0, 0, 'BR', 0, 0, 1);
    INSERT INTO contacts (seq, company_id, id, facet_id, created_at, recency, version, \
    source_platform, identifier, name, display_name, inbox_status, priority, crm_status, \
    is_ai_enabled, external_ai_enabled, is_archived, is_pinned, is_muted, is_blocked, \
    is_group, is_simulated, custom_fields, updated_at) \
    VALUES (1, x'01', x'02', 1, 0, 9223372036854775807, 1, 'whatsapp', '55', 'Ana', 'Ana', \
    'open', 'normal', 'lead', 1, 1, 0, 0, 0, 0, 0, 0, '{}', 0);";

fn opened(path: &Path) -> Connection {
    let conn = Connection::open(path).unwrap();
    conn.pragma_update(None, "journal_mode", "WAL").unwrap();
    define_functions(&conn).unwrap();
    conn
}

fn apply(conn: &mut Connection, migrations: &[&str]) {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Exclusive).unwrap();
    apply_all(&tx, migrations).unwrap();
    tx.commit().unwrap();
}

/// The schema and the people, as text.
fn content(conn: &Connection) -> Vec<String> {
    let query = "SELECT name || coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' \
                 UNION ALL SELECT 'person ' || name || identifier FROM contacts ORDER BY 1";
    let mut statement = conn.prepare(query).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Runs the first statements of a script; whether there were more.
fn run(conn: &Connection, script: &str, count: usize) -> bool {
    let mut batch = Batch::new(conn, script);
    for _ in 0..count {
        let Some(mut statement) = batch.next().unwrap() else { return false };
        let mut rows = statement.raw_query();
        while rows.next().unwrap().is_some() {}
    }
    true
}

/// What the disk has when a process dies within a transaction.
#[test]
fn a_migration_that_is_killed_at_any_statement_is_finished_by_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let expected = {
        let mut conn = opened(&folder.path().join("whole.db"));
        apply(&mut conn, &MIGRATIONS[..1]);
        conn.execute_batch(PERSON).unwrap();
        migrate(&mut conn).unwrap();
        content(&conn)
    };
    let path = folder.path().join("recado.db");
    let mut conn = opened(&path);
    apply(&mut conn, &MIGRATIONS[..1]);
    conn.execute_batch(PERSON).unwrap();
    let mut kills = 0;
    for (at, script) in MIGRATIONS.iter().enumerate().skip(1) {
        let before = content(&conn);
        for count in 1.. {
            // A small cache writes to the log before the end, as a large migration does.
            conn.pragma_update(None, "cache_size", 5).unwrap();
            let tx = conn.transaction_with_behavior(TransactionBehavior::Exclusive).unwrap();
            if !run(&tx, script, count) {
                break;
            }
            let killed = tempfile::tempdir().unwrap();
            for name in ["recado.db", "recado.db-wal"] {
                let from = folder.path().join(name);
                if from.exists() {
                    std::fs::copy(from, killed.path().join(name)).unwrap();
                }
            }
            drop(tx);
            let mut next = opened(&killed.path().join("recado.db"));
            assert_eq!(content(&next), before, "statement {count} of {} left something", at + 1);
            // Where nothing was left, the next start does the same whatever the statement was.
            if count == 1 {
                migrate(&mut next).unwrap();
                assert_eq!(content(&next), expected, "after migration {} was killed", at + 1);
            }
            kills += 1;
        }
        apply(&mut conn, &MIGRATIONS[..=at]);
    }
    assert!(kills > 50, "{kills}");
}

/// R248.
#[test]
fn a_program_runs_on_later_migrations_that_only_expand_the_schema() {
    let expanding = "-- expands: a column\nALTER TABLE contacts ADD COLUMN later TEXT;";
    let breaking = "-- A table goes.\nDROP TABLE links;";
    let later = |more: &[&'static str]| [MIGRATIONS, more].concat();
    let mut conn = Connection::open_in_memory().unwrap();
    migrate(&mut conn).unwrap();
    apply(&mut conn, &later(&[expanding]));
    check(&conn).unwrap();
    migrate(&mut conn).unwrap();
    assert_eq!(plan(&conn).unwrap().pending, []);
    apply(&mut conn, &later(&[expanding, expanding_more()]));
    check(&conn).unwrap();
    apply(&mut conn, &later(&[expanding, expanding_more(), breaking]));
    assert!(matches!(check(&conn), Err(SqliteError::Newer { .. })));
    assert!(matches!(migrate(&mut conn), Err(SqliteError::Newer { .. })));
}

const fn expanding_more() -> &'static str {
    "-- expands: a table\nCREATE TABLE later (x);"
}

/// R248: what an expansion may hold.
#[test]
fn a_migration_that_says_that_it_expands_makes_only_tables_columns_and_indexes() {
    for script in MIGRATIONS.iter().filter(|script| expands(script)) {
        assert_eq!(recado_store_sql::forbidden_in_expansion(script), None, "{script}");
    }
}

/// R249.
#[test]
fn a_plan_names_what_is_missing_and_how_large_it_is() {
    let mut conn = Connection::open_in_memory().unwrap();
    let whole = plan(&conn).unwrap();
    assert_eq!((whole.found, whole.pending.len()), (0, MIGRATIONS.len()));
    assert!(whole.pending.iter().all(|migration| !migration.summary.is_empty()));
    define_functions(&conn).unwrap();
    apply(&mut conn, &MIGRATIONS[..1]);
    conn.execute_batch(PERSON).unwrap();
    let rest = plan(&conn).unwrap();
    assert_eq!((rest.found, rest.pending.len()), (1, MIGRATIONS.len() - 1));
    let sizes = rest.pending.iter().flat_map(|m| &m.tables).map(|table| table.bytes);
    assert!(sizes.sum::<u64>() > 0 && rest.seconds() > 0 && rest.disk() > 0);
    migrate(&mut conn).unwrap();
    let nothing = plan(&conn).unwrap();
    assert_eq!((nothing.seconds(), nothing.pending.len()), (0, 0));
}
