//! Message templates.

use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::access::Company;
use recado_core::ids::{CompanyId, TemplateId};
use recado_core::store::{StoreError, Stored};
use recado_core::templates::{Template, TemplateReads};
use uuid::Uuid;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::param::params;
use crate::session::{get, rows, select};
use crate::table::columns_of;

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
