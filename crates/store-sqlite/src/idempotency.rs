//! Remembered calls.

use async_trait::async_trait;
use recado_core::idempotency::{CallKey, IdempotencyReads, RememberedCall};
use recado_core::ids::CompanyId;
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::table::{self};

#[async_trait]
impl IdempotencyReads for SqliteStore {
    async fn remembered_call(
        &self,
        company: CompanyId,
        key: &CallKey,
    ) -> Result<Option<Stored<RememberedCall>>, StoreError> {
        let key = key.clone();
        self.read(move |conn| {
            table::get(conn, &[company.into(), (&key.operation).into(), (&key.key).into()])
        })
        .await
    }
}
