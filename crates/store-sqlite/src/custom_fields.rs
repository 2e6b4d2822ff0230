//! Definitions of custom fields.

use async_trait::async_trait;
use recado_core::custom_fields::{CustomField, CustomFieldReads};
use recado_core::ids::CompanyId;
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::table::{self};

#[async_trait]
impl CustomFieldReads for SqliteStore {
    async fn custom_field_by_slug(
        &self,
        company: CompanyId,
        slug: &str,
    ) -> Result<Option<Stored<CustomField>>, StoreError> {
        let slug = slug.to_owned();
        self.read_of(company, move |conn| {
            table::find(conn, "company_id = ?1 AND slug = ?2", &[company.into(), (&slug).into()])
        })
        .await
    }
}
