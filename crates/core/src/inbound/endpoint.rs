//! An inbound endpoint (4.9).

use super::{EndpointSecretHash, EndpointSlug, VariableMapping};
use crate::Timestamp;
use crate::ids::{CompanyId, InboundEndpointId};
use crate::words::words;

/// The largest body that is read (8, D46a).
pub const BODY_LIMIT: usize = 102_400;

words! {
    /// Who may post to an endpoint (4.9).
    AuthMode {
        /// Callers that send its secret.
        SecretRequired = "secret_required",
        /// Any caller, at a lower rate.
        Public = "public",
    }
}

/// An inbound endpoint of a company. Its slug is unique over all companies (D46a).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboundEndpoint {
    /// Its id.
    pub id: InboundEndpointId,
    /// Its company.
    pub company: CompanyId,
    /// The last part of its path.
    pub slug: EndpointSlug,
    /// Which part of a body goes into which field.
    pub mapping: VariableMapping,
    /// Who may post to it.
    pub auth_mode: AuthMode,
    /// The hash of the secret that callers send unless the endpoint is public; it is kept then
    /// too.
    pub secret_hash: EndpointSecretHash,
    /// Whether it accepts calls.
    pub is_active: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}
