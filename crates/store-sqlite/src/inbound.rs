//! Inbound endpoints.

use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::access::Company;
use recado_core::ids::{CompanyId, InboundEndpointId};
use recado_core::inbound::{
    AuthMode, EndpointSecret, EndpointSlug, InboundEndpoint, InboundReads, VariableMapping,
};
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::cell::{Cell, Columns, json};
use crate::error::ReadResult;
use crate::table::{self, Table, statements};

impl Table for InboundEndpoint {
    statements!(
        "inbound_endpoints",
        ["company_id", "id"],
        [
            "slug",
            "variable_mapping",
            "auth_mode",
            "secret",
            "is_active",
            "created_at",
            "updated_at",
        ]
    );

    fn values(&self) -> Vec<Cell<'_>> {
        vec![
            self.company.into(),
            self.id.into(),
            self.slug.as_str().into(),
            json(self.mapping.entries()),
            self.auth_mode.as_str().into(),
            self.secret.expose().into(),
            self.is_active.into(),
            self.created_at.into(),
            self.updated_at.into(),
        ]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(InboundEndpointId::new)?,
            slug: columns.word(EndpointSlug::parse)?,
            mapping: VariableMapping::from_stored(columns.json()?),
            auth_mode: columns.word(AuthMode::parse)?,
            secret: EndpointSecret::stored(columns.text()?),
            is_active: columns.flag()?,
            created_at: columns.time()?,
            updated_at: columns.time()?,
        })
    }
}

static BY_SLUG: LazyLock<String> =
    LazyLock::new(|| table::with_company::<InboundEndpoint>("row.slug = ?1"));

#[async_trait]
impl InboundReads for SqliteStore {
    async fn inbound_endpoint(
        &self,
        company: CompanyId,
        id: InboundEndpointId,
    ) -> Result<Option<Stored<InboundEndpoint>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), id.into()])).await
    }

    async fn inbound_endpoints(
        &self,
        company: CompanyId,
    ) -> Result<Vec<InboundEndpoint>, StoreError> {
        self.read(move |conn| table::all(conn, company)).await
    }

    async fn endpoint_by_slug(
        &self,
        slug: &EndpointSlug,
    ) -> Result<Option<(InboundEndpoint, Company)>, StoreError> {
        let slug = slug.clone();
        self.read(move |conn| table::find_with_company(conn, &BY_SLUG, slug.as_str().into())).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;

    #[test]
    fn a_call_finds_its_endpoint_and_its_company_by_their_indexes() {
        let found = [
            "SEARCH row USING INDEX sqlite_autoindex_inbound_endpoints_1 (slug=?)",
            "SEARCH c USING INDEX sqlite_autoindex_companies_1 (id=?)",
        ];
        assert_eq!(plans::steps(&plans::database(), &BY_SLUG), found);
    }
}
