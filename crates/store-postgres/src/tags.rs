//! Tags and close reasons.

use async_trait::async_trait;
use recado_core::ids::{CloseReasonId, CompanyId, TagId};
use recado_core::store::{StoreError, Stored};
use recado_core::tags::{CloseReason, Tag, TagReads};

use crate::PostgresStore;
use crate::param::params;
use crate::session::{get, of_company};

#[async_trait]
impl TagReads for PostgresStore {
    async fn tag(&self, company: CompanyId, id: TagId) -> Result<Option<Stored<Tag>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn tags(&self, company: CompanyId) -> Result<Vec<Tag>, StoreError> {
        of_company(&self.pool, company).await
    }

    async fn close_reason(
        &self,
        company: CompanyId,
        id: CloseReasonId,
    ) -> Result<Option<Stored<CloseReason>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn close_reasons(&self, company: CompanyId) -> Result<Vec<CloseReason>, StoreError> {
        of_company(&self.pool, company).await
    }
}
