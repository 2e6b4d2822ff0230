//! Moving the database to another one, and filling it from another one.

mod indexes;
mod read;
mod session;
mod tables;
mod write;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::ids::CompanyId;
use recado_core::store::StoreError;
use recado_store_sql::transfer::{Fill, Scope, TransferReader, TransferWriter, Transferable};

use rusqlite::params_from_iter;

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use session::Session;

/// Messages that a process is sending, calls that one is answering, and jobs that one has taken.
const UNDER_WAY: &str = "WITH alive AS (SELECT id FROM workers WHERE leased_until > ?2) SELECT \
     (SELECT count(*) FROM messages WHERE status = 'pending' \
     AND sender_id IN (SELECT id FROM alive) AND (?1 IS NULL OR company_id = ?1)) + \
     (SELECT count(*) FROM remembered_calls WHERE worker_id IN (SELECT id FROM alive) \
     AND (?1 IS NULL OR company_id = ?1)) + \
     (SELECT count(*) FROM jobs WHERE leased_until > ?2 AND (?1 IS NULL OR company_id = ?1))";

#[async_trait]
impl Transferable for SqliteStore {
    async fn held_companies(&self) -> Result<Vec<CompanyId>, StoreError> {
        self.read(|conn| {
            conn.prepare("SELECT id FROM companies ORDER BY id")?
                .query_map([], |row| Columns::new(row).get())?
                .collect()
        })
        .await
    }

    async fn identity(&self) -> Result<String, StoreError> {
        let path = std::fs::canonicalize(&self.path).map_err(StoreError::unavailable)?;
        Ok(format!("sqlite:{}", path.display()))
    }

    async fn under_way(&self, scope: Scope, now: Timestamp) -> Result<u64, StoreError> {
        self.read(move |conn| {
            let company = scope.company();
            conn.prepare(UNDER_WAY)?
                .query_row(params_from_iter([Cell::from(company), now.into()]), |row| {
                    Columns::new(row).get()
                })
        })
        .await
    }

    // No lock: it would keep processes from renewing their leases, too.
    async fn transfer_out(
        &self,
        scope: Scope,
        _: bool,
    ) -> Result<Box<dyn TransferReader>, StoreError> {
        let session = Session::open(self.path.clone(), self.sealer.clone(), scope)?;
        // The first read decides what state of the file is seen.
        session
            .call(|conn| {
                conn.execute_batch("BEGIN")?;
                conn.query_row("SELECT count(*) FROM companies", [], |_| Ok(()))
            })
            .await?;
        Ok(Box::new(session))
    }

    async fn transfer_in(
        &self,
        scope: Scope,
        fill: Fill,
    ) -> Result<Box<dyn TransferWriter>, StoreError> {
        let session = Session::open(self.path.clone(), self.sealer.clone(), scope)?;
        Ok(Box::new(write::Filling::begin(session, fill).await?))
    }
}
