//! Errors: what went wrong in our own answer never shares a type with our trouble (7, D4, D5).

use std::time::Duration;

use serde_json::{Map, Value};

use crate::access::Denied;
use crate::store::StoreError;

/// The stable code of an error: the contract with integrators (7, D5). Append only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The key is missing, unknown or revoked.
    Unauthorized,
    /// The company's plan does not include this.
    PlanRequired,
    /// The key lacks a scope.
    InsufficientScope,
    /// The body is not a JSON object.
    InvalidBody,
    /// A query parameter is not acceptable.
    InvalidParameter,
    /// The body is too large.
    PayloadTooLarge,
    /// The body is encoded in a way we do not read.
    UnsupportedMediaType,
    /// The request itself is malformed.
    BadRequest,
    /// No such record, or no such path.
    NotFound,
    /// The path exists, the method does not.
    MethodNotAllowed,
    /// Too many requests.
    RateLimited,
    /// The store cannot be reached.
    Unavailable,
    /// Our fault.
    InternalError,
    /// Fields of the body are not acceptable.
    ValidationError,
    /// The phone is already registered.
    ContactExists,
    /// The contact's documents could not be deleted.
    PurgeFailed,
    /// A slug is taken.
    SlugTaken,
    /// The record is still used by others.
    InUse,
    /// A required field of the body is missing.
    MissingField,
    /// The recipient is not a phone number.
    InvalidPhone,
    /// The contact asked not to receive messages.
    ContactOptedOut,
    /// The contact is blocked.
    ContactBlocked,
    /// The external AI is off for the contact.
    ExternalAiDisabled,
    /// Only administrators may write in the group.
    GroupAnnounceOnly,
    /// The group or community is not known.
    GroupNotFound,
    /// Several contacts match.
    AmbiguousContact,
    /// No connection can be used, or one must be chosen.
    ConnectionRequired,
    /// The provider refused or failed.
    ProviderError,
    /// Nobody knows whether the message arrived.
    DeliveryUncertain,
    /// The contact's state could not be read.
    ContactStateUnavailable,
    /// The key was used with another body.
    IdempotencyKeyReused,
    /// The first call with this key is still under way.
    RequestInProgress,
    /// More would be given back than was debited.
    RefundExceedsDebit,
    /// The connection already has a message with this provider id.
    MessageExists,
    /// There is no such template.
    TemplateNotFound,
    /// The template is not approved.
    TemplateNotApproved,
    /// The webhook is inactive.
    WebhookInactive,
    /// The webhook was deleted.
    WebhookDeleted,
    /// The company has as many webhooks as it may.
    TooManyWebhooks,
    /// The delivery is still pending.
    DeliveryPending,
    /// What the delivery told of was erased.
    BodyErased,
    /// The secret of an inbound endpoint is missing or wrong.
    InvalidSecret,
    /// There is no inbound endpoint with this slug.
    EndpointNotFound,
    /// The inbound endpoint is deactivated.
    EndpointInactive,
    /// The account has not enabled the feature.
    FeatureDisabled,
    /// What a webhook was sent cannot be read or is too large.
    InvalidPayload,
    /// No phone was found where one has to be.
    MissingPhone,
    /// The variable mapping could not be applied.
    MappingFailed,
    /// The template was sent to the contact a short while ago.
    DuplicateSend,
    /// A template dispatch was not sent, or nobody knows whether it was.
    SendFailed,
    /// The campaign was started, so its list stands.
    CampaignStarted,
    /// The campaign is running.
    CampaignRunning,
    /// A phone is paired with the connection already.
    AlreadyPaired,
}

impl Code {
    /// Every code, for documentation and tests.
    pub const ALL: [Self; 53] = [
        Self::Unauthorized,
        Self::PlanRequired,
        Self::InsufficientScope,
        Self::InvalidBody,
        Self::InvalidParameter,
        Self::PayloadTooLarge,
        Self::UnsupportedMediaType,
        Self::BadRequest,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::RateLimited,
        Self::Unavailable,
        Self::InternalError,
        Self::ValidationError,
        Self::ContactExists,
        Self::PurgeFailed,
        Self::SlugTaken,
        Self::InUse,
        Self::MissingField,
        Self::InvalidPhone,
        Self::ContactOptedOut,
        Self::ContactBlocked,
        Self::ExternalAiDisabled,
        Self::GroupAnnounceOnly,
        Self::GroupNotFound,
        Self::AmbiguousContact,
        Self::ConnectionRequired,
        Self::ProviderError,
        Self::DeliveryUncertain,
        Self::ContactStateUnavailable,
        Self::IdempotencyKeyReused,
        Self::RequestInProgress,
        Self::RefundExceedsDebit,
        Self::MessageExists,
        Self::TemplateNotFound,
        Self::TemplateNotApproved,
        Self::WebhookInactive,
        Self::WebhookDeleted,
        Self::TooManyWebhooks,
        Self::DeliveryPending,
        Self::BodyErased,
        Self::InvalidSecret,
        Self::EndpointNotFound,
        Self::EndpointInactive,
        Self::FeatureDisabled,
        Self::InvalidPayload,
        Self::MissingPhone,
        Self::MappingFailed,
        Self::DuplicateSend,
        Self::SendFailed,
        Self::CampaignStarted,
        Self::CampaignRunning,
        Self::AlreadyPaired,
    ];

    /// The code as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unauthorized => "UNAUTHORIZED",
            Self::PlanRequired => "PLAN_REQUIRED",
            Self::InsufficientScope => "INSUFFICIENT_SCOPE",
            Self::InvalidBody => "INVALID_BODY",
            Self::InvalidParameter => "INVALID_PARAMETER",
            Self::PayloadTooLarge => "PAYLOAD_TOO_LARGE",
            Self::UnsupportedMediaType => "UNSUPPORTED_MEDIA_TYPE",
            Self::BadRequest => "BAD_REQUEST",
            Self::NotFound => "NOT_FOUND",
            Self::MethodNotAllowed => "METHOD_NOT_ALLOWED",
            Self::RateLimited => "RATE_LIMITED",
            Self::Unavailable => "UNAVAILABLE",
            Self::InternalError => "INTERNAL_ERROR",
            Self::ValidationError => "VALIDATION_ERROR",
            Self::ContactExists => "CONTACT_EXISTS",
            Self::PurgeFailed => "PURGE_FAILED",
            Self::SlugTaken => "SLUG_TAKEN",
            Self::InUse => "IN_USE",
            Self::MissingField => "MISSING_FIELD",
            Self::InvalidPhone => "INVALID_PHONE",
            Self::ContactOptedOut => "CONTACT_OPTED_OUT",
            Self::ContactBlocked => "CONTACT_BLOCKED",
            Self::ExternalAiDisabled => "EXTERNAL_AI_DISABLED",
            Self::GroupAnnounceOnly => "GROUP_ANNOUNCE_ONLY",
            Self::GroupNotFound => "GROUP_NOT_FOUND",
            Self::AmbiguousContact => "AMBIGUOUS_CONTACT",
            Self::ConnectionRequired => "CONNECTION_REQUIRED",
            Self::ProviderError => "PROVIDER_ERROR",
            Self::DeliveryUncertain => "DELIVERY_UNCERTAIN",
            Self::ContactStateUnavailable => "CONTACT_STATE_UNAVAILABLE",
            Self::IdempotencyKeyReused => "IDEMPOTENCY_KEY_REUSED",
            Self::RequestInProgress => "REQUEST_IN_PROGRESS",
            Self::RefundExceedsDebit => "REFUND_EXCEEDS_DEBIT",
            Self::MessageExists => "MESSAGE_EXISTS",
            Self::TemplateNotFound => "TEMPLATE_NOT_FOUND",
            Self::TemplateNotApproved => "TEMPLATE_NOT_APPROVED",
            Self::WebhookInactive => "WEBHOOK_INACTIVE",
            Self::WebhookDeleted => "WEBHOOK_DELETED",
            Self::TooManyWebhooks => "TOO_MANY_WEBHOOKS",
            Self::DeliveryPending => "DELIVERY_PENDING",
            Self::BodyErased => "BODY_ERASED",
            Self::InvalidSecret => "INVALID_SECRET",
            Self::EndpointNotFound => "ENDPOINT_NOT_FOUND",
            Self::EndpointInactive => "ENDPOINT_INACTIVE",
            Self::FeatureDisabled => "FEATURE_DISABLED",
            Self::InvalidPayload => "INVALID_PAYLOAD",
            Self::MissingPhone => "MISSING_PHONE",
            Self::MappingFailed => "MAPPING_FAILED",
            Self::DuplicateSend => "DUPLICATE_SEND",
            Self::SendFailed => "SEND_FAILED",
            Self::CampaignStarted => "CAMPAIGN_STARTED",
            Self::CampaignRunning => "CAMPAIGN_RUNNING",
            Self::AlreadyPaired => "ALREADY_PAIRED",
        }
    }
}

/// What sort of answer an error is; an adapter maps it to its protocol and knows nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The caller is not known.
    Unauthenticated,
    /// The caller may not.
    Forbidden,
    /// A parameter is malformed.
    Malformed,
    /// The body is well-formed, its content is not acceptable.
    Invalid,
    /// There is no such record.
    NotFound,
    /// The record's state does not allow it.
    Conflict,
    /// The record was there and takes nothing any more.
    Gone,
    /// More bytes than are accepted.
    TooLarge,
    /// Too often.
    Limited,
    /// Try again later.
    Unavailable,
    /// A provider refused or failed.
    Upstream,
    /// Our fault, or that of something we depend on.
    Internal,
}

/// An answer that refuses: a stable code, a sentence for people, and what it is about.
pub trait Rejection: std::error::Error {
    /// The stable code.
    fn code(&self) -> Code;

    /// What sort of answer this is.
    fn kind(&self) -> Kind;

    /// The `details` object, where there is something to detail.
    fn details(&self) -> Option<Map<String, Value>> {
        None
    }

    /// When to try again, where that is known.
    fn retry_after(&self) -> Option<Duration> {
        None
    }

    /// Fields that stand at the root of the error body beside `code` (D4).
    fn extra(&self) -> Option<Map<String, Value>> {
        None
    }
}

/// What a use case answers when it does not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error<E> {
    /// The request is refused; nothing was changed.
    #[error(transparent)]
    Rejected(E),
    /// The caller lacks the plan or the scope.
    #[error(transparent)]
    Denied(Denied),
    /// Others kept changing the same records; try again shortly.
    #[error("too many concurrent changes of the same record")]
    Busy,
    /// The store failed; try again later.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl<E> Error<E> {
    /// The same error with its rejection translated.
    pub fn map<F>(self, translate: impl FnOnce(E) -> F) -> Error<F> {
        match self {
            Self::Rejected(rejection) => Error::Rejected(translate(rejection)),
            Self::Denied(denied) => Error::Denied(denied),
            Self::Busy => Error::Busy,
            Self::Store(error) => Error::Store(error),
        }
    }
}

impl<E> From<Denied> for Error<E> {
    fn from(denied: Denied) -> Self {
        Self::Denied(denied)
    }
}

/// There is no such record in the caller's company.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such record")]
pub struct NotFound;

impl Rejection for NotFound {
    fn code(&self) -> Code {
        Code::NotFound
    }

    fn kind(&self) -> Kind {
        Kind::NotFound
    }
}

/// Builds the map of [`Rejection::details`].
pub(crate) fn object<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
