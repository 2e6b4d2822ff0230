//! Message templates.

use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::access::Company;
use recado_core::store::StoreError;
use recado_core::templates::{Template, TemplateReads, TemplateTokenHash};

use crate::SqliteStore;
use crate::cell::Cell;
use crate::table::{self};

static BY_TOKEN: LazyLock<String> =
    LazyLock::new(|| table::with_company::<Template>("row.token_hash = ?1"));

#[async_trait]
impl TemplateReads for SqliteStore {
    async fn template_by_token(
        &self,
        token: &TemplateTokenHash,
    ) -> Result<Option<(Template, Company)>, StoreError> {
        let token = *token;
        self.read_first(move |conn| {
            table::find_with_company(conn, &BY_TOKEN, Cell::Bytes(token.as_bytes()))
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;

    #[test]
    fn a_dispatch_finds_its_template_and_its_company_by_their_indexes() {
        let found = [
            "SEARCH row USING INDEX sqlite_autoindex_templates_1 (token_hash=?)",
            "SEARCH c USING INDEX sqlite_autoindex_companies_1 (id=?)",
        ];
        assert_eq!(plans::steps(&plans::database(), &BY_TOKEN), found);
    }
}
