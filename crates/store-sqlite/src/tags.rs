//! Tags and close reasons.

use async_trait::async_trait;
use recado_core::ids::{CloseReasonId, CompanyId, TagId};
use recado_core::store::{StoreError, Stored};
use recado_core::tags::{CloseReason, Tag, TagReads};

use crate::SqliteStore;
use crate::table::{self};

#[async_trait]
impl TagReads for SqliteStore {
    async fn tag(&self, company: CompanyId, id: TagId) -> Result<Option<Stored<Tag>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), id.into()])).await
    }

    async fn tags(&self, company: CompanyId) -> Result<Vec<Tag>, StoreError> {
        self.read(move |conn| table::all(conn, company)).await
    }

    async fn close_reason(
        &self,
        company: CompanyId,
        id: CloseReasonId,
    ) -> Result<Option<Stored<CloseReason>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), id.into()])).await
    }

    async fn close_reasons(&self, company: CompanyId) -> Result<Vec<CloseReason>, StoreError> {
        self.read(move |conn| table::all(conn, company)).await
    }
}
