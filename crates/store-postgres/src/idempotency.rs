//! Remembered calls.

use async_trait::async_trait;
use recado_core::idempotency::{CallKey, IdempotencyReads, RememberedCall};
use recado_core::ids::CompanyId;
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::param::params;
use crate::session::get;

#[async_trait]
impl IdempotencyReads for PostgresStore {
    async fn remembered_call(
        &self,
        company: CompanyId,
        key: &CallKey,
    ) -> Result<Option<Stored<RememberedCall>>, StoreError> {
        let params = params![company.uuid(), key.operation.clone(), key.key.clone()];
        get(&self.pool, params).await
    }
}
