//! Pipelines, stages and deals.

use async_trait::async_trait;
use recado_core::deals::{Deal, DealReads};
use recado_core::ids::{CompanyId, ContactId};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::param::params;
use crate::session::{of_company, select};

#[async_trait]
impl DealReads for PostgresStore {
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
