//! Custom-field definitions.

use async_trait::async_trait;
use recado_core::custom_fields::{CustomField, CustomFieldReads, FieldStatus, FieldType};
use recado_core::ids::{CompanyId, CustomFieldId};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::session::{get, of_company, select};
use crate::table::{Columns, Fields, Param, Table, params, table_sql};

impl Table for CustomField {
    const NAME: &'static str = "custom_fields";
    const KEY: usize = 2;
    const COLUMNS: &'static [&'static str] =
        &["company_id", "id", "slug", "label", "field_type", "status", "created_at"];
    table_sql!(CustomField);

    fn bind(self) -> Vec<Param> {
        params![
            self.company.uuid(),
            self.id.uuid(),
            self.slug,
            self.label,
            self.field_type.as_str(),
            self.status.as_str(),
            self.created_at.millis(),
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(CustomFieldId::new)?,
            slug: columns.get()?,
            label: columns.get()?,
            field_type: columns.word(FieldType::parse)?,
            status: columns.word(FieldStatus::parse)?,
            created_at: columns.time()?,
        })
    }
}

/// Reads a definition that was gathered.
pub(crate) fn gathered_field(fields: &mut Fields<'_>) -> Result<CustomField, StoreError> {
    Ok(CustomField {
        company: fields.id(CompanyId::new)?,
        id: fields.id(CustomFieldId::new)?,
        slug: fields.text()?,
        label: fields.text()?,
        field_type: fields.word(FieldType::parse)?,
        status: fields.word(FieldStatus::parse)?,
        created_at: fields.time()?,
    })
}

#[async_trait]
impl CustomFieldReads for PostgresStore {
    async fn custom_field(
        &self,
        company: CompanyId,
        id: CustomFieldId,
    ) -> Result<Option<Stored<CustomField>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn custom_field_by_slug(
        &self,
        company: CompanyId,
        slug: &str,
    ) -> Result<Option<Stored<CustomField>>, StoreError> {
        let condition = "WHERE company_id = $1 AND slug = $2";
        let found = select(&self.pool, condition, params![company.uuid(), slug.to_owned()]).await?;
        Ok(found.into_iter().next())
    }

    async fn custom_fields(&self, company: CompanyId) -> Result<Vec<CustomField>, StoreError> {
        of_company(&self.pool, company).await
    }
}
