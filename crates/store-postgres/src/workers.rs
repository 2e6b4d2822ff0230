//! Running processes.

use async_trait::async_trait;
use recado_core::ids::WorkerId;
use recado_core::store::{StoreError, Stored};
use recado_core::workers::{Worker, WorkerReads};

use crate::PostgresStore;
use crate::param::params;
use crate::session::{get, select};

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
