//! Moving the installation of a test to another database (D76).

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use recado_core::Cell;
use recado_core::deliveries::Timer;
use recado_core::documents::Files;
use recado_core::ids::CompanyId;
use recado_store_postgres::{Options as PostgresOptions, PostgresStore};
use recado_store_sql::transfer::{MoveError, Order, Outcome, Progress, Scope, Transferable};
use recado_store_sqlite::SqliteStore;

use crate::backend::{Database, HandClock, StoreKind, TestServer};
use crate::world::World;

/// The real time in which servers notice a new time, and end what they were at.
const NOTICED_WITHIN: Duration = Duration::from_millis(500);

/// A timer that moves the test clock.
struct MovingTimer(HandClock);

#[async_trait]
impl Timer for MovingTimer {
    async fn sleep(&self, duration: Duration) {
        self.0.advance(duration);
        tokio::time::sleep(duration.min(NOTICED_WITHIN)).await;
    }
}

impl StoreKind {
    /// The other kind.
    pub fn other(self) -> Self {
        match self {
            Self::Sqlite => Self::Postgres,
            Self::Postgres => Self::Sqlite,
        }
    }
}

impl Database {
    /// It, with the current schema, as what can be moved.
    pub async fn transferable(&self) -> Arc<dyn Transferable> {
        let url = self.url();
        match url.strip_prefix("sqlite:") {
            Some(path) => {
                let store = SqliteStore::open(path).expect("a database");
                store.migrate().expect("it migrates");
                Arc::new(store)
            }
            None => {
                let options = PostgresOptions::default();
                let store = PostgresStore::connect(&url, options).await.expect("a database");
                store.migrate().await.expect("it migrates");
                Arc::new(store)
            }
        }
    }
}

impl World {
    /// Moves everything, or one company, to another database.
    ///
    /// # Errors
    ///
    /// Those of the move.
    pub async fn move_to(
        &self,
        target: &Database,
        company: Option<&str>,
    ) -> Result<Outcome, MoveError> {
        let target = target.transferable().await;
        self.move_with(&*target, company, None, &mut |_| ()).await
    }

    /// Moves our company to the database of another cell.
    ///
    /// # Errors
    ///
    /// Those of the move.
    pub async fn move_to_cell(&self, target: &Database, cell: Cell) -> Result<Outcome, MoveError> {
        let target = target.transferable().await;
        self.order(&*target, Some(&self.us.id), Some(cell), None, &mut |_| ()).await
    }

    /// The same, to a target that the test may have wrapped, with files, and showing progress.
    ///
    /// # Errors
    ///
    /// Those of the move.
    pub async fn move_with(
        &self,
        target: &dyn Transferable,
        company: Option<&str>,
        files: Option<(&dyn Files, &dyn Files)>,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Outcome, MoveError> {
        self.order(target, company, None, files, progress).await
    }

    async fn order(
        &self,
        target: &dyn Transferable,
        company: Option<&str>,
        to_cell: Option<Cell>,
        files: Option<(&dyn Files, &dyn Files)>,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Outcome, MoveError> {
        let company: Option<CompanyId> =
            company.map(|id| CompanyId::new(id.parse().expect("an id")));
        let source = self.database.transferable().await;
        let order = Order {
            source: self.server.recado(),
            from: &*source,
            to: target,
            to_cell,
            scope: company.map_or(Scope::Installation, Scope::Company),
            files,
            timer: &MovingTimer(self.server.clock.clone()),
        };
        order.run(progress).await
    }

    /// A server on another database, with the settings of this one.
    pub async fn server_on(&self, database: &Database) -> TestServer {
        TestServer::start(database, self.server.setup()).await
    }
}
