//! Pipelines, stages and deals.

use async_trait::async_trait;
use recado_core::deals::{Deal, DealReads, Pipeline, Stage};
use recado_core::ids::{CompanyId, ContactId, DealId, PipelineId, StageId};
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::table::{self};

#[async_trait]
impl DealReads for SqliteStore {
    async fn pipeline(
        &self,
        company: CompanyId,
        id: PipelineId,
    ) -> Result<Option<Stored<Pipeline>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), id.into()])).await
    }

    async fn pipelines(&self, company: CompanyId) -> Result<Vec<Pipeline>, StoreError> {
        self.read(move |conn| table::all(conn, company)).await
    }

    async fn stages(&self, company: CompanyId) -> Result<Vec<Stored<Stage>>, StoreError> {
        let condition = "company_id = ?1 ORDER BY pipeline_id, display_order, id";
        self.read(move |conn| table::list(conn, condition, &[company.into()])).await
    }

    async fn stage(
        &self,
        company: CompanyId,
        id: StageId,
    ) -> Result<Option<Stored<Stage>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), id.into()])).await
    }

    async fn deal(
        &self,
        company: CompanyId,
        id: DealId,
    ) -> Result<Option<Stored<Deal>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), id.into()])).await
    }

    async fn deals(
        &self,
        company: CompanyId,
        contact: Option<ContactId>,
    ) -> Result<Vec<Deal>, StoreError> {
        self.read(move |conn| {
            let Some(contact) = contact else { return table::all(conn, company) };
            let condition = "company_id = ?1 AND contact_id = ?2 ORDER BY created_at, id";
            let deals = table::list(conn, condition, &[company.into(), contact.into()])?;
            Ok(deals.into_iter().map(Stored::into_value).collect())
        })
        .await
    }
}
