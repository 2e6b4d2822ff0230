//! Running processes and their leases.

use async_trait::async_trait;
use recado_core::ids::WorkerId;
use recado_core::store::{StoreError, Stored};
use recado_core::workers::{Worker, WorkerReads};

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::error::ReadResult;
use crate::table::{self, Table, statements};

impl Table for Worker {
    statements!("workers", ["id"], ["leased_until", "dispatches"]);

    fn values(&self) -> Vec<Cell<'_>> {
        vec![self.id.into(), self.leased_until.into(), self.dispatches.into()]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            id: columns.id(WorkerId::new)?,
            leased_until: columns.time()?,
            dispatches: columns.flag()?,
        })
    }
}

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
