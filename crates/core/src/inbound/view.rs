//! An inbound endpoint as the operator sees it.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::{AuthMode, EndpointSecret, InboundEndpoint};
use crate::Timestamp;
use crate::ids::InboundEndpointId;

/// An endpoint without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct EndpointView {
    /// Its id.
    pub id: InboundEndpointId,
    /// The last part of its path.
    pub slug: String,
    /// JSONPath expressions by key.
    pub variable_mapping: BTreeMap<String, String>,
    /// Who may post to it.
    pub auth_mode: AuthMode,
    /// Whether it accepts calls.
    pub is_active: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl EndpointView {
    /// The endpoint as the operator sees it.
    pub fn new(endpoint: &InboundEndpoint) -> Self {
        Self {
            id: endpoint.id,
            slug: endpoint.slug.as_str().to_owned(),
            variable_mapping: endpoint.mapping.entries().clone(),
            auth_mode: endpoint.auth_mode,
            is_active: endpoint.is_active,
            created_at: endpoint.created_at,
            updated_at: endpoint.updated_at,
        }
    }
}

/// An endpoint with its new secret, which is shown this once.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct EndpointSecretView {
    /// The endpoint.
    #[serde(flatten)]
    pub endpoint: EndpointView,
    /// The secret that callers send in `X-Service-Secret`.
    pub secret: String,
}

impl fmt::Debug for EndpointSecretView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndpointSecretView")
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

impl EndpointSecretView {
    /// The endpoint with its secret.
    pub fn new(endpoint: &InboundEndpoint, secret: &EndpointSecret) -> Self {
        let secret = secret.expose().to_owned();
        Self { endpoint: EndpointView::new(endpoint), secret }
    }
}
