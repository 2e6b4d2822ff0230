//! Message templates.

use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::access::Company;
use recado_core::ids::{CompanyId, ConnectionId, TemplateId};
use recado_core::store::{StoreError, Stored};
use recado_core::templates::{Template, TemplateCategory, TemplateReads, TemplateStatus};
use uuid::Uuid;

use crate::PostgresStore;
use crate::session::{get, rows, select};
use crate::table::{Columns, Param, Table, columns_of, params, table_sql};

impl Table for Template {
    const NAME: &'static str = "templates";
    const KEY: usize = 2;
    const COLUMNS: &'static [&'static str] = &[
        "company_id",
        "id",
        "name",
        "category",
        "language",
        "body",
        "status",
        "connection_id",
        "provider_id",
        "is_complex",
        "token",
        "created_at",
        "updated_at",
    ];
    table_sql!(Template);

    fn bind(self) -> Vec<Param> {
        params![
            self.company.uuid(),
            self.id.uuid(),
            self.name,
            self.category.as_str(),
            self.language,
            self.body,
            self.status.as_str(),
            self.connection.map(ConnectionId::uuid),
            self.provider_id,
            self.is_complex,
            self.token,
            self.created_at.millis(),
            self.updated_at.millis(),
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(TemplateId::new)?,
            name: columns.get()?,
            category: columns.word(TemplateCategory::parse)?,
            language: columns.get()?,
            body: columns.get()?,
            status: columns.word(TemplateStatus::parse)?,
            connection: columns.id_or_null(ConnectionId::new)?,
            provider_id: columns.get()?,
            is_complex: columns.get()?,
            token: columns.get()?,
            created_at: columns.time()?,
            updated_at: columns.time()?,
        })
    }
}

/// A template by its token, with its company.
pub(crate) static BY_TOKEN: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, {} FROM templates t JOIN companies c ON c.id = t.company_id \
         WHERE t.token = $1",
        columns_of::<Template>("t"),
        columns_of::<Company>("c"),
    )
});

#[async_trait]
impl TemplateReads for PostgresStore {
    async fn template(
        &self,
        company: CompanyId,
        id: TemplateId,
    ) -> Result<Option<Stored<Template>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn template_by_token(
        &self,
        token: Uuid,
    ) -> Result<Option<(Template, Company)>, StoreError> {
        let found = rows(&self.pool, BY_TOKEN.as_str(), params![token]).await?;
        let Some(row) = found.first() else { return Ok(None) };
        let mut columns = Columns::new(row);
        Ok(Some((columns.record()?, columns.record()?)))
    }

    async fn templates(&self, company: CompanyId) -> Result<Vec<Stored<Template>>, StoreError> {
        let condition = "WHERE company_id = $1 ORDER BY created_at, id";
        select(&self.pool, condition, params![company.uuid()]).await
    }
}
