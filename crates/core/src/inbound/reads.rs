//! Reads of inbound endpoints.

use async_trait::async_trait;

use super::{EndpointSlug, InboundEndpoint};
use crate::access::Company;
use crate::store::StoreError;

/// Reads of inbound endpoints.
#[async_trait]
pub trait InboundReads: Send + Sync {
    /// The endpoint of any company that has this slug, with its company: made for every call.
    async fn endpoint_by_slug(
        &self,
        slug: &EndpointSlug,
    ) -> Result<Option<(InboundEndpoint, Company)>, StoreError>;
}
