//! Client organizations.

use async_trait::async_trait;
use recado_core::ids::{CompanyId, OrganizationId};
use recado_core::organizations::{Organization, OrganizationReads};
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::table::{self};

#[async_trait]
impl OrganizationReads for SqliteStore {
    async fn organization(
        &self,
        company: CompanyId,
        id: OrganizationId,
    ) -> Result<Option<Stored<Organization>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), id.into()])).await
    }

    async fn organizations(&self, company: CompanyId) -> Result<Vec<Organization>, StoreError> {
        self.read(move |conn| table::all(conn, company)).await
    }
}
