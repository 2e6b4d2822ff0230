//! Inbound endpoints.

use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::access::Company;
use recado_core::inbound::{EndpointSlug, InboundEndpoint, InboundReads};
use recado_core::store::StoreError;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::param::params;
use crate::session::rows;
use crate::table::columns_of;

/// An endpoint by its slug, with its company.
pub(crate) static BY_SLUG: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, {} FROM inbound_endpoints e JOIN companies c ON c.id = e.company_id \
         WHERE e.slug = $1",
        columns_of::<InboundEndpoint>("e"),
        columns_of::<Company>("c"),
    )
});

#[async_trait]
impl InboundReads for PostgresStore {
    async fn endpoint_by_slug(
        &self,
        slug: &EndpointSlug,
    ) -> Result<Option<(InboundEndpoint, Company)>, StoreError> {
        let params = params![slug.as_str().to_owned()];
        let found = rows(&self.pool, BY_SLUG.as_str(), params).await?;
        let Some(row) = found.first() else { return Ok(None) };
        let mut columns = Columns::new(row);
        Ok(Some((columns.record()?, columns.record()?)))
    }
}
