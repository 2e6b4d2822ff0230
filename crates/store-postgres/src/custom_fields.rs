//! Custom-field definitions.

use async_trait::async_trait;
use recado_core::custom_fields::{CustomField, CustomFieldReads};
use recado_core::ids::CompanyId;
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::param::params;
use crate::session::select;

#[async_trait]
impl CustomFieldReads for PostgresStore {
    async fn custom_field_by_slug(
        &self,
        company: CompanyId,
        slug: &str,
    ) -> Result<Option<Stored<CustomField>>, StoreError> {
        let condition = "WHERE company_id = $1 AND slug = $2";
        let found = select(&self.pool, condition, params![company.uuid(), slug.to_owned()]).await?;
        Ok(found.into_iter().next())
    }
}
