//! Inbound endpoints: other systems post a person's data, and a contact is created or updated from
//! it (4.9, 7.2, D13, D46–D47).

mod action;
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
mod recent_calls;
mod secret;
mod slug;
mod trial;
mod upsert;
mod view;

pub use action::UpsertAction;
pub use admit::{Admitted, InboundRates, rates};
pub use draft::{EndpointDraft, EndpointPatch, RotateEndpointSecret};
pub use endpoint::{AuthMode, BODY_LIMIT, InboundEndpoint};
pub use error::InboundError;
pub use manage::Inbound;
pub use mapped::{Mapped, MappingError};
pub use mapping::{MAX_KEYS, VariableMapping};
pub use payload::Payload;
pub use reads::InboundReads;
pub(crate) use recent_calls::RecentCalls;
pub use recent_calls::{CallOutcome, RecentCall};
pub use secret::{EndpointSecret, EndpointSecretHash};
pub use slug::EndpointSlug;
pub use trial::{Trial, TrialError};
pub use upsert::{PendingField, UpsertContact, Upserted};
pub use view::{EndpointSecretView, EndpointView};
