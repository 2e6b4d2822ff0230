//! Inbound endpoints: other systems post a person's data, and a contact is created or updated from
//! it (4.9, 7.2, D13, D46–D47).

mod admit;
mod calls;
mod draft;
mod endpoint;
mod error;
mod manage;
mod mapped;
mod mapping;
mod payload;
mod reads;
mod secret;
mod slug;
mod trial;
mod upsert;
mod view;

pub use admit::{Admitted, InboundRates, rates};
pub(crate) use calls::RecentCalls;
pub use calls::{CallOutcome, RecentCall};
pub use draft::{EndpointDraft, EndpointPatch, RotateEndpointSecret};
pub use endpoint::{AuthMode, BODY_LIMIT, InboundEndpoint};
pub use error::InboundError;
pub use manage::Inbound;
pub use mapped::{Mapped, MappingError};
pub use mapping::{MAX_KEYS, VariableMapping};
pub use payload::Payload;
pub use reads::InboundReads;
pub use secret::{EndpointSecret, EndpointSecretHash};
pub use slug::EndpointSlug;
pub use trial::{Trial, TrialError};
pub use upsert::{PendingField, UpsertAction, UpsertContact, Upserted};
pub use view::{EndpointSecretView, EndpointView};
