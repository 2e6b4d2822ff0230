//! Message templates.

use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::access::Company;
use recado_core::ids::{CompanyId, ConnectionId, TemplateId};
use recado_core::store::{StoreError, Stored};
use recado_core::templates::{Template, TemplateCategory, TemplateReads, TemplateStatus};
use uuid::Uuid;

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::error::ReadResult;
use crate::table::{self, Table, statements};

impl Table for Template {
    statements!(
        "templates",
        ["company_id", "id"],
        [
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
        ]
    );

    fn values(&self) -> Vec<Cell<'_>> {
        vec![
            self.company.into(),
            self.id.into(),
            (&self.name).into(),
            self.category.as_str().into(),
            (&self.language).into(),
            (&self.body).into(),
            self.status.as_str().into(),
            self.connection.into(),
            self.provider_id.as_ref().into(),
            self.is_complex.into(),
            self.token.into(),
            self.created_at.into(),
            self.updated_at.into(),
        ]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(TemplateId::new)?,
            name: columns.text()?,
            category: columns.word(TemplateCategory::parse)?,
            language: columns.text()?,
            body: columns.text()?,
            status: columns.word(TemplateStatus::parse)?,
            connection: columns.opt_id(ConnectionId::new)?,
            provider_id: columns.opt_text()?,
            is_complex: columns.flag()?,
            token: columns.id(|token| token)?,
            created_at: columns.time()?,
            updated_at: columns.time()?,
        })
    }
}

static BY_TOKEN: LazyLock<String> =
    LazyLock::new(|| table::with_company::<Template>("row.token = ?1"));

#[async_trait]
impl TemplateReads for SqliteStore {
    async fn template(
        &self,
        company: CompanyId,
        id: TemplateId,
    ) -> Result<Option<Stored<Template>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), id.into()])).await
    }

    async fn template_by_token(
        &self,
        token: Uuid,
    ) -> Result<Option<(Template, Company)>, StoreError> {
        self.read(move |conn| table::find_with_company(conn, &BY_TOKEN, token.into())).await
    }

    async fn templates(&self, company: CompanyId) -> Result<Vec<Stored<Template>>, StoreError> {
        self.read(move |conn| table::all_stored(conn, company)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;

    #[test]
    fn a_dispatch_finds_its_template_and_its_company_by_their_indexes() {
        let found = [
            "SEARCH row USING INDEX sqlite_autoindex_templates_1 (token=?)",
            "SEARCH c USING INDEX sqlite_autoindex_companies_1 (id=?)",
        ];
        assert_eq!(plans::steps(&plans::database(), &BY_TOKEN), found);
    }
}
