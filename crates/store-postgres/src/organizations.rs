//! Client organizations.

use async_trait::async_trait;
use recado_core::ids::{CompanyId, OrganizationId};
use recado_core::organizations::{Organization, OrganizationReads};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::param::params;
use crate::session::{get, of_company};

#[async_trait]
impl OrganizationReads for PostgresStore {
    async fn organization(
        &self,
        company: CompanyId,
        id: OrganizationId,
    ) -> Result<Option<Stored<Organization>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn organizations(&self, company: CompanyId) -> Result<Vec<Organization>, StoreError> {
        of_company(&self.pool, company).await
    }
}
