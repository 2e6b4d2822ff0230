//! Pipelines, stages and deals.

use async_trait::async_trait;
use recado_core::deals::{Deal, DealReads, Pipeline, Stage};
use recado_core::ids::{CompanyId, ContactId, DealId, PipelineId, StageId};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::param::params;
use crate::session::{get, of_company, select};

#[async_trait]
impl DealReads for PostgresStore {
    async fn pipeline(
        &self,
        company: CompanyId,
        id: PipelineId,
    ) -> Result<Option<Stored<Pipeline>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn pipelines(&self, company: CompanyId) -> Result<Vec<Pipeline>, StoreError> {
        of_company(&self.pool, company).await
    }

    async fn stages(&self, company: CompanyId) -> Result<Vec<Stored<Stage>>, StoreError> {
        let condition = "WHERE company_id = $1 ORDER BY pipeline_id, display_order, id";
        select(&self.pool, condition, params![company.uuid()]).await
    }

    async fn stage(
        &self,
        company: CompanyId,
        id: StageId,
    ) -> Result<Option<Stored<Stage>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn deal(
        &self,
        company: CompanyId,
        id: DealId,
    ) -> Result<Option<Stored<Deal>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn deals(
        &self,
        company: CompanyId,
        contact: Option<ContactId>,
    ) -> Result<Vec<Deal>, StoreError> {
        let Some(contact) = contact else { return of_company(&self.pool, company).await };
        let condition = "WHERE company_id = $1 AND contact_id = $2 ORDER BY created_at, id";
        let found = select(&self.pool, condition, params![company.uuid(), contact.uuid()]).await?;
        Ok(found.into_iter().map(Stored::into_value).collect())
    }
}
