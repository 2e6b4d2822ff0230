//! Definitions of custom fields.

use async_trait::async_trait;
use recado_core::custom_fields::{CustomField, CustomFieldReads};
use recado_core::ids::{CompanyId, CustomFieldId};
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::table::{self};

#[async_trait]
impl CustomFieldReads for SqliteStore {
    async fn custom_field(
        &self,
        company: CompanyId,
        id: CustomFieldId,
    ) -> Result<Option<Stored<CustomField>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), id.into()])).await
    }

    async fn custom_field_by_slug(
        &self,
        company: CompanyId,
        slug: &str,
    ) -> Result<Option<Stored<CustomField>>, StoreError> {
        let slug = slug.to_owned();
        self.read(move |conn| {
            table::find(conn, "company_id = ?1 AND slug = ?2", &[company.into(), (&slug).into()])
        })
        .await
    }

    async fn custom_fields(&self, company: CompanyId) -> Result<Vec<CustomField>, StoreError> {
        self.read(move |conn| table::all(conn, company)).await
    }
}
