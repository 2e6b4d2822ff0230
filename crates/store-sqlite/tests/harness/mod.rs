//! A database for each test.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use recado_core::events::Event;
use recado_core::ids::CompanyId;
use recado_core::store::Store;
use recado_store_sqlite::{Sealer, SealingKey, SqliteOptions, SqliteStore};
use recado_testkit::conformance::Harness;
use rusqlite::Connection;
use tempfile::TempDir;

/// A database file in a folder of its own.
pub(crate) struct Sqlite {
    folder: TempDir,
    options: SqliteOptions,
    store: Arc<SqliteStore>,
}

/// A database that no other test uses.
pub(crate) async fn fresh() -> Sqlite {
    fresh_with(SqliteOptions::default())
}

/// One that seals secrets.
#[allow(dead_code, clippy::allow_attributes, reason = "shared by several tests")]
pub(crate) async fn fresh_sealed() -> Sqlite {
    fresh_with(SqliteOptions { sealer: Sealer::new(SealingKey::new(&[7; 32]), []) })
}

fn fresh_with(options: SqliteOptions) -> Sqlite {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("recado.db");
    std::fs::write(&path, migrated()).expect("a file");
    let store = SqliteStore::open_with(path, options.clone()).expect("a database");
    store.migrate().expect("it seals, if that is asked for");
    Sqlite { folder, options, store: Arc::new(store) }
}

/// The file of a migrated database. Copying it is faster than migrating another one.
fn migrated() -> &'static [u8] {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("recado.db");
        migrate(&path);
        std::fs::read(&path).expect("readable")
    })
}

fn migrate(path: &Path) {
    let store = SqliteStore::open(path).expect("a database");
    store.migrate().expect("a new database");
    drop(store);
    let conn = Connection::open(path).expect("opens");
    conn.pragma_update(None, "wal_checkpoint", "TRUNCATE").expect("all is in the file");
}

#[async_trait]
impl Harness for Sqlite {
    async fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as Arc<dyn Store>
    }

    async fn second(&self) -> Option<Arc<dyn Store>> {
        let path = self.folder.path().join("recado.db");
        let second = SqliteStore::open_with(path, self.options.clone()).expect("a database");
        Some(Arc::new(second))
    }

    async fn events(&self, company: CompanyId) -> Vec<Event> {
        self.store.events(company).await.expect("a database")
    }
}
