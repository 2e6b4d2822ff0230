//! Inbound endpoints.

use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::access::Company;
use recado_core::inbound::{EndpointSlug, InboundEndpoint, InboundReads};
use recado_core::store::StoreError;

use crate::SqliteStore;
use crate::table::{self};

static BY_SLUG: LazyLock<String> =
    LazyLock::new(|| table::with_company::<InboundEndpoint>("row.slug = ?1"));

#[async_trait]
impl InboundReads for SqliteStore {
    async fn endpoint_by_slug(
        &self,
        slug: &EndpointSlug,
    ) -> Result<Option<(InboundEndpoint, Company)>, StoreError> {
        let slug = slug.clone();
        self.read_first(move |conn| table::find_with_company(conn, &BY_SLUG, slug.as_str().into()))
            .await
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
