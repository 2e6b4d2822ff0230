//! Running processes.

use async_trait::async_trait;
use recado_core::ids::WorkerId;
use recado_core::store::{StoreError, Stored};
use recado_core::workers::{Worker, WorkerReads};

use crate::PostgresStore;
use crate::session::{get, select};
use crate::table::{Columns, Param, Table, params, table_sql};

impl Table for Worker {
    const NAME: &'static str = "workers";
    const KEY: usize = 1;
    const COLUMNS: &'static [&'static str] = &["id", "leased_until", "dispatches"];
    table_sql!(Worker);

    fn bind(self) -> Vec<Param> {
        params![self.id.uuid(), self.leased_until.millis(), self.dispatches]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: columns.id(WorkerId::new)?,
            leased_until: columns.time()?,
            dispatches: columns.get()?,
        })
    }
}

#[async_trait]
impl WorkerReads for PostgresStore {
    async fn worker(&self, id: WorkerId) -> Result<Option<Stored<Worker>>, StoreError> {
        get(&self.pool, params![id.uuid()]).await
    }

    async fn workers(&self) -> Result<Vec<Worker>, StoreError> {
        let stored = select::<Worker>(&self.pool, "ORDER BY id", Vec::new()).await?;
        Ok(stored.into_iter().map(Stored::into_value).collect())
    }
}
