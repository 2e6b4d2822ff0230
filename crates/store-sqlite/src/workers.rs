//! Running processes and their leases.

use async_trait::async_trait;
use recado_core::ids::WorkerId;
use recado_core::store::{StoreError, Stored};
use recado_core::workers::{Worker, WorkerReads};

use crate::SqliteStore;
use crate::table::{self};

#[async_trait]
impl WorkerReads for SqliteStore {
    async fn worker(&self, id: WorkerId) -> Result<Option<Stored<Worker>>, StoreError> {
        self.read(move |conn| table::get(conn, &[id.into()])).await
    }

    async fn workers(&self) -> Result<Vec<Worker>, StoreError> {
        self.read(|conn| {
            let workers = table::list(conn, "true ORDER BY id", &[])?;
            Ok(workers.into_iter().map(Stored::into_value).collect())
        })
        .await
    }
}
