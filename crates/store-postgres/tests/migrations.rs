//! The migrations are applied once, in order, and only to databases of this program.

mod support;

use recado_core::Timestamp;
use recado_core::access::{Company, Limiter};
use recado_core::store::{RecordsExt, StoreError, Upkeep};
use recado_store_postgres::{EngineFeature, MigrateError, PostgresStore};
use recado_testkit::postgres::{TestDatabase, TestPostgres};
use support::{connect, options};

async fn empty() -> (PostgresStore, TestDatabase) {
    let database = TestPostgres::shared().fresh_database();
    let store = PostgresStore::connect(database.url(), options()).await.expect("it was made");
    (store, database)
}

#[tokio::test(flavor = "multi_thread")]
async fn several_processes_that_migrate_at_once_apply_each_step_once() {
    let (first, database) = empty().await;
    let mut migrating = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let store = PostgresStore::connect(database.url(), options()).await.unwrap();
        migrating.spawn(async move { store.migrate().await });
    }
    while let Some(migrated) = migrating.join_next().await {
        migrated.unwrap().unwrap();
    }
    first.ready().await.unwrap();
    let client = connect(database.url()).await;
    let steps =
        client.query("SELECT version FROM recado_migrations ORDER BY 1", &[]).await.unwrap();
    let steps: Vec<i32> = steps.iter().map(|row| row.get(0)).collect();
    assert_eq!(steps, (1..=steps.len() as i32).collect::<Vec<_>>());
    assert!(!steps.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn migrating_again_changes_nothing() {
    let (store, database) = empty().await;
    store.migrate().await.unwrap();
    let client = connect(database.url()).await;
    let applied = "SELECT max(applied_at)::text FROM recado_migrations";
    let before: String = client.query_one(applied, &[]).await.unwrap().get(0);
    store.migrate().await.unwrap();
    let after: String = client.query_one(applied, &[]).await.unwrap().get(0);
    assert_eq!(after, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_without_the_schema_is_not_ready() {
    let (store, _database) = empty().await;
    let refused = store.ready().await.unwrap_err();
    assert!(matches!(refused, StoreError::NotMigrated { .. }), "{refused:?}");
    assert!(refused.to_string().contains("PostgresStore::migrate"), "{refused}");
    let refused = store.all::<Company>(()).await.unwrap_err();
    assert!(matches!(refused, StoreError::NotMigrated { .. }), "{refused:?}");
    // It calls a function, which is missing like a table.
    let refused = store.limiter().check(&[], Timestamp::from_millis(0)).await.unwrap_err();
    assert!(matches!(refused, StoreError::NotMigrated { .. }), "{refused:?}");
    store.migrate().await.unwrap();
    store.ready().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_whose_history_is_not_ours_is_refused() {
    let (store, database) = empty().await;
    store.migrate().await.unwrap();
    let client = connect(database.url()).await;
    let newer = "INSERT INTO recado_migrations (version, name, checksum) VALUES (999, 'x', 'x')";
    client.batch_execute(newer).await.unwrap();
    assert!(matches!(store.migrate().await, Err(MigrateError::Newer { version: 999 })));
    assert!(store.ready().await.is_err());
    let changed = "DELETE FROM recado_migrations WHERE version = 999; \
                   UPDATE recado_migrations SET checksum = 'x' WHERE version = 1";
    client.batch_execute(changed).await.unwrap();
    assert!(matches!(store.migrate().await, Err(MigrateError::Changed { version: 1 })));
    assert!(store.ready().await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_fails_leaves_nothing_behind() {
    let (store, database) = empty().await;
    let client = connect(database.url()).await;
    // The second migration cannot create its first table.
    client.batch_execute("CREATE TABLE contacts (id int)").await.unwrap();
    assert!(matches!(store.migrate().await, Err(MigrateError::Store(StoreError::Corrupt(_)))));
    assert!(store.ready().await.is_err());
    client.batch_execute("DROP TABLE contacts").await.unwrap();
    store.migrate().await.unwrap();
    store.ready().await.unwrap();
}

/// What the migration of an empty database came to on an engine that `behaves` so.
async fn migrated_on(behaves: &str) -> (EngineFeature, String, TestDatabase) {
    let (_, database) = empty().await;
    connect(database.url()).await.batch_execute(behaves).await.expect("it is prepared");
    let store = PostgresStore::connect(database.url(), options()).await.expect("it is there");
    let refused = store.migrate().await.expect_err("it is refused");
    let said = refused.to_string();
    match refused {
        MigrateError::Engine { lacks, .. } => (lacks, said, database),
        other => panic!("{other:?}"),
    }
}

/// A distributed engine may run the same function on another node.
///
/// R453.
#[tokio::test(flavor = "multi_thread")]
async fn an_engine_whose_connections_do_not_share_advisory_locks_is_refused() {
    let behaves = "CREATE SCHEMA other; \
        CREATE FUNCTION other.pg_try_advisory_xact_lock(bigint) RETURNS boolean \
        LANGUAGE sql AS 'SELECT true'; \
        DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, other, pg_catalog', \
        current_database()); END $$";
    let (lacks, said, database) = migrated_on(behaves).await;
    assert_eq!(lacks, EngineFeature::AdvisoryLocks);
    assert!(said.contains("pg_advisory_xact_lock"), "{said}");
    let made = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    let made: i64 = connect(database.url()).await.query_one(made, &[]).await.unwrap().get(0);
    assert_eq!(made, 0, "nothing was made");
}

/// R453.
#[tokio::test(flavor = "multi_thread")]
async fn an_engine_without_triggers_is_refused() {
    let behaves = "CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS \
        $$ BEGIN RAISE feature_not_supported USING MESSAGE = 'no triggers here'; END $$; \
        CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE TRIGGER') \
        EXECUTE FUNCTION refuse()";
    let (lacks, said, _database) = migrated_on(behaves).await;
    assert_eq!(lacks, EngineFeature::TransitionTables);
    assert!(said.contains("no triggers here"), "{said}");
}

/// R453.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_tried_of_the_engine_leaves_nothing_behind() {
    let (store, database) = empty().await;
    store.migrate().await.unwrap();
    let left = "SELECT (SELECT count(*) FROM pg_class WHERE relname LIKE 'recado_tr%') \
                + (SELECT count(*) FROM pg_proc WHERE proname LIKE 'recado_try')";
    let left: i64 = connect(database.url()).await.query_one(left, &[]).await.unwrap().get(0);
    assert_eq!(left, 0);
}
