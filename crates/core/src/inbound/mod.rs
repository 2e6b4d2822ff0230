//! Inbound endpoints: other systems post what they know of a person, and a contact is made or
//! brought up to date (4.9, 7.2, D13, D46–D47).

mod admit;
mod draft;
mod error;
mod manage;
mod mapped;
mod mapping;
mod payload;
mod secret;
mod slug;
mod upsert;
mod view;

use async_trait::async_trait;

pub use admit::{Admitted, InboundRates, rates};
pub use draft::{EndpointDraft, EndpointPatch, RotateEndpointSecret};
pub use error::InboundError;
pub use manage::Inbound;
pub use mapped::{Mapped, MappingError};
pub use mapping::{MAX_KEYS, VariableMapping};
pub use payload::Payload;
pub use secret::EndpointSecret;
pub use slug::EndpointSlug;
pub use upsert::{PendingField, UpsertAction, UpsertContact, Upserted};
pub use view::{EndpointSecretView, EndpointView};

use crate::Timestamp;
use crate::access::Company;
use crate::ids::{CompanyId, InboundEndpointId};
use crate::store::StoreError;
use crate::words::words;

/// The largest body that is read (8, D46a).
pub const BODY_LIMIT: usize = 102_400;

words! {
    /// Who may post to an endpoint (4.9).
    AuthMode {
        /// Whoever knows its secret.
        SecretRequired = "secret_required",
        /// Anybody, less often.
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
    /// Which part of a body goes where.
    pub mapping: VariableMapping,
    /// Who may post to it.
    pub auth_mode: AuthMode,
    /// What callers present, unless it is public; kept then too.
    pub secret: EndpointSecret,
    /// Whether it takes anything.
    pub is_active: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// Reads of inbound endpoints.
#[async_trait]
pub trait InboundReads: Send + Sync {
    /// The endpoint of any company that has this slug, with its company: made for every call.
    async fn endpoint_by_slug(
        &self,
        slug: &EndpointSlug,
    ) -> Result<Option<(InboundEndpoint, Company)>, StoreError>;
}
