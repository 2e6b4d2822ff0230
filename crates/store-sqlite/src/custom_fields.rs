//! Definitions of custom fields.

use async_trait::async_trait;
use recado_core::custom_fields::{CustomField, CustomFieldReads, FieldStatus, FieldType};
use recado_core::ids::{CompanyId, CustomFieldId};
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::error::ReadResult;
use crate::table::{self, Table, statements};

impl Table for CustomField {
    statements!(
        "custom_fields",
        ["company_id", "id"],
        ["slug", "label", "field_type", "status", "created_at"]
    );

    fn values(&self) -> Vec<Cell<'_>> {
        vec![
            self.company.into(),
            self.id.into(),
            (&self.slug).into(),
            (&self.label).into(),
            self.field_type.as_str().into(),
            self.status.as_str().into(),
            self.created_at.into(),
        ]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(CustomFieldId::new)?,
            slug: columns.text()?,
            label: columns.text()?,
            field_type: columns.word(FieldType::parse)?,
            status: columns.word(FieldStatus::parse)?,
            created_at: columns.time()?,
        })
    }
}

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
