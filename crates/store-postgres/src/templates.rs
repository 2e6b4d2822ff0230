//! Message templates.

use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::access::Company;
use recado_core::store::StoreError;
use recado_core::templates::{Template, TemplateReads, TemplateTokenHash};

use crate::PostgresStore;
use crate::columns::Columns;
use crate::param::params;
use crate::session::rows;
use crate::table::columns_of;

/// A template by its token, with its company.
pub(crate) static BY_TOKEN: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, {} FROM templates t JOIN companies c ON c.id = t.company_id \
         WHERE t.token_hash = $1",
        columns_of::<Template>("t"),
        columns_of::<Company>("c"),
    )
});

#[async_trait]
impl TemplateReads for PostgresStore {
    async fn template_by_token(
        &self,
        token: &TemplateTokenHash,
    ) -> Result<Option<(Template, Company)>, StoreError> {
        let found = rows(&self.pool, BY_TOKEN.as_str(), params![token.as_bytes().to_vec()]).await?;
        let Some(row) = found.first() else { return Ok(None) };
        let mut columns = Columns::new(row);
        Ok(Some((columns.record()?, columns.record()?)))
    }
}
