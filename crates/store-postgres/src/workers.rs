//! Running processes.

use async_trait::async_trait;
use recado_core::ids::WorkerId;
use recado_core::store::{StoreError, Stored};
use recado_core::workers::{Worker, WorkerReads};

use crate::PostgresStore;
use crate::session::get;
use crate::table::{Columns, Param, Table, params, table_sql};

impl Table for Worker {
    const NAME: &'static str = "workers";
    const KEY: usize = 1;
    const COLUMNS: &'static [&'static str] = &["id", "leased_until"];
    table_sql!(Worker);

    fn bind(self) -> Vec<Param> {
        params![self.id.uuid(), self.leased_until.millis()]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self { id: columns.id(WorkerId::new)?, leased_until: columns.time()? })
    }
}

#[async_trait]
impl WorkerReads for PostgresStore {
    async fn worker(&self, id: WorkerId) -> Result<Option<Stored<Worker>>, StoreError> {
        get(&self.pool, params![id.uuid()]).await
    }
}
