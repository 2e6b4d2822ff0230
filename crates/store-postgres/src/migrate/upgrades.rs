//! Migrations that are interrupted, and programs on a schema that is newer than theirs.

use recado_testkit::postgres::TestPostgres;

use super::tests::empty;
use super::*;
use crate::Options;

/// The statements of a script, each with its end.
fn statements(script: &str) -> Vec<&str> {
    let (mut found, mut begin, mut quoted) = (Vec::new(), 0, false);
    let mut comment = false;
    for (at, character) in script.char_indices() {
        let rest = &script[at..];
        match character {
            '\n' => comment = false,
            _ if comment => {}
            '-' if !quoted && rest.starts_with("--") => comment = true,
            '$' if rest.starts_with("$$") && !script[..at].ends_with('$') => quoted = !quoted,
            ';' if !quoted => {
                found.push(&script[begin..=at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    found
}

/// The columns, indexes, constraints, functions and steps of a database.
async fn content(client: &Client) -> Vec<String> {
    let query = "\
        SELECT 'column ' || table_name || '.' || column_name || data_type || is_nullable \
            FROM information_schema.columns WHERE table_schema = 'public' \
        UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = 'public' \
        UNION ALL SELECT 'constraint ' || conname || pg_get_constraintdef(oid) FROM pg_constraint \
            WHERE connamespace = 'public'::regnamespace \
        UNION ALL SELECT 'function ' || proname FROM pg_proc \
            WHERE pronamespace = 'public'::regnamespace \
        UNION ALL SELECT 'step ' || version FROM recado_migrations ORDER BY 1";
    client.query(query, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

/// The connection of the process is cut after the first, a middle and the last statement of each
/// migration, as its death does: had any other been committed by itself, the last would leave it.
#[tokio::test(flavor = "multi_thread")]
async fn a_migration_that_is_killed_part_way_is_finished_by_the_next_start() {
    let (_whole, whole) = empty().await;
    whole.migrate().await.unwrap();
    let (_database, store) = empty().await;
    let mut kills = 0;
    for migration in MIGRATIONS {
        let before = content(&store.pool.get().await.unwrap()).await;
        let statements = statements(migration.sql);
        for count in [1, statements.len().div_ceil(2), statements.len()] {
            let sql = format!(
                "{} SELECT pg_terminate_backend(pg_backend_pid());",
                statements[..count].concat()
            );
            let cut = Migration { sql: Box::leak(sql.into_boxed_str()), ..*migration };
            let client = crate::pool::Object::take(store.pool.get().await.unwrap());
            apply(&client, &cut).await.expect_err("it is cut off");
            kills += 1;
        }
        let client = store.pool.get().await.unwrap();
        assert_eq!(content(&client).await, before, "{} left something", migration.name);
        apply(&client, migration).await.unwrap();
    }
    assert!(kills > 50, "{kills}");
    store.migrate().await.unwrap();
    let (done, straight) = (store.pool.get().await.unwrap(), whole.pool.get().await.unwrap());
    assert_eq!(content(&done).await, content(&straight).await);
}

fn later(version: usize, sql: &'static str) -> Migration {
    Migration { version: i32::try_from(version).unwrap(), name: "later", sql }
}

/// R248.
#[tokio::test(flavor = "multi_thread")]
async fn a_program_runs_on_later_migrations_that_only_expand_the_schema() {
    let (_database, store) = empty().await;
    store.migrate().await.unwrap();
    let client = store.pool.get().await.unwrap();
    let next = MIGRATIONS.len() + 1;
    let column = "-- expands: a column\nALTER TABLE contacts ADD COLUMN later text;";
    apply(&client, &later(next, column)).await.unwrap();
    store.check_schema().await.unwrap();
    store.migrate().await.unwrap();
    assert_eq!(store.plan().await.unwrap().pending, []);
    let table = "-- expands: a table\nCREATE TABLE later (x int);";
    apply(&client, &later(next + 1, table)).await.unwrap();
    store.check_schema().await.unwrap();
    apply(&client, &later(next + 2, "-- A table goes.\nDROP TABLE links CASCADE;")).await.unwrap();
    assert!(store.check_schema().await.is_err());
    assert!(matches!(store.migrate().await, Err(MigrateError::Newer { .. })));
}

/// R248: what an expansion may hold.
#[test]
fn a_migration_that_says_that_it_expands_makes_only_tables_columns_and_indexes() {
    for migration in MIGRATIONS.iter().filter(|migration| expands(migration.sql)) {
        let name = migration.name;
        assert_eq!(recado_store_sql::forbidden_in_expansion(migration.sql), None, "{name}");
    }
}

/// R249.
#[tokio::test(flavor = "multi_thread")]
async fn a_plan_names_what_is_missing_and_writes_nothing() {
    let database = TestPostgres::shared().fresh_database();
    let store = PostgresStore::connect(database.url(), Options::default()).await.unwrap();
    let whole = store.plan().await.unwrap();
    assert_eq!((whole.found, whole.pending.len()), (0, MIGRATIONS.len()));
    assert!(whole.pending.iter().all(|migration| !migration.summary.is_empty()));
    let client = store.pool.get().await.unwrap();
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(client.query_one(tables, &[]).await.unwrap().get::<_, i64>(0), 0);
    store.migrate().await.unwrap();
    let nothing = store.plan().await.unwrap();
    assert_eq!((nothing.found as usize, nothing.pending.len()), (MIGRATIONS.len(), 0));
    assert!(nothing.bytes > 0);
}
