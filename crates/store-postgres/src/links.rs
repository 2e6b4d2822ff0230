//! Tracked links and their clicks.

use async_trait::async_trait;
use recado_core::ids::{CompanyId, LinkId};
use recado_core::links::{Link, LinkCode, LinkReads};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::param::params;
use crate::session::{get, of_company, select};

#[async_trait]
impl LinkReads for PostgresStore {
    async fn link_by_code(&self, code: &LinkCode) -> Result<Option<Link>, StoreError> {
        let found =
            select(&self.pool, "WHERE code = $1", params![code.as_str().to_owned()]).await?;
        Ok(found.into_iter().next().map(Stored::into_value))
    }

    async fn link(
        &self,
        company: CompanyId,
        id: LinkId,
    ) -> Result<Option<Stored<Link>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn links(&self, company: CompanyId) -> Result<Vec<Link>, StoreError> {
        of_company(&self.pool, company).await
    }
}
