//! A database for each test.

use std::sync::Arc;

use async_trait::async_trait;
use recado_core::events::Event;
use recado_core::ids::CompanyId;
use recado_core::store::Store;
use recado_store_sqlite::SqliteStore;
use recado_testkit::conformance::Harness;
use tempfile::TempDir;

/// A database file in a folder of its own.
pub(crate) struct Sqlite {
    folder: TempDir,
    store: Arc<SqliteStore>,
}

/// A database that no other test uses.
pub(crate) async fn fresh() -> Sqlite {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(folder.path().join("recado.db")).expect("a database");
    store.migrate().expect("a new database");
    Sqlite { folder, store: Arc::new(store) }
}

#[async_trait]
impl Harness for Sqlite {
    async fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as Arc<dyn Store>
    }

    async fn second(&self) -> Option<Arc<dyn Store>> {
        let second = SqliteStore::open(self.folder.path().join("recado.db")).expect("a database");
        Some(Arc::new(second))
    }

    async fn events(&self, company: CompanyId) -> Vec<Event> {
        self.store.events(company).await.expect("a database")
    }
}
