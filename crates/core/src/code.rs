//! Codes of errors and the kind of each (7, D5).

/// The kind of an error. An adapter maps the kind to its protocol and needs nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The caller is not authenticated.
    Unauthenticated,
    /// The caller lacks a right.
    Forbidden,
    /// A parameter is malformed.
    Malformed,
    /// The body is well-formed, its content is not acceptable.
    Invalid,
    /// There is no such record.
    NotFound,
    /// The record's state does not allow it.
    Conflict,
    /// The record exists but accepts nothing any more.
    Gone,
    /// More bytes than are accepted.
    TooLarge,
    /// Too often.
    Limited,
    /// Try again later.
    Unavailable,
    /// A provider refused or failed.
    Upstream,
    /// A failure of this service, or of one that it depends on.
    Internal,
}

/// Declares the codes: each with its meaning, its word, and its kind.
macro_rules! codes {
    ($($(#[$doc:meta])+ $name:ident = $word:literal: $kind:ident,)+) => {
        /// The stable code of an error: the contract with integrators (7, D5). Append only.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])+ $name,)+
        }

        impl Code {
            /// Every code, for documentation and tests.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The code as it is written.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)+
                }
            }

            /// The kind of errors with this code. Adapters have statuses of their own for codes
            /// that only a protocol has.
            pub const fn kind(self) -> Kind {
                match self {
                    $(Self::$name => Kind::$kind,)+
                }
            }
        }
    };
}

codes! {
    /// The key is missing, unknown or revoked.
    Unauthorized = "UNAUTHORIZED": Unauthenticated,
    /// The company's plan does not include this.
    PlanRequired = "PLAN_REQUIRED": Forbidden,
    /// The key lacks a scope.
    InsufficientScope = "INSUFFICIENT_SCOPE": Forbidden,
    /// The operator's role or reach does not include this.
    InsufficientRole = "INSUFFICIENT_ROLE": Forbidden,
    /// The body is not a JSON object.
    InvalidBody = "INVALID_BODY": Malformed,
    /// A query parameter is not acceptable.
    InvalidParameter = "INVALID_PARAMETER": Malformed,
    /// The body is too large.
    PayloadTooLarge = "PAYLOAD_TOO_LARGE": TooLarge,
    /// The body has an encoding that is not supported.
    UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE": Malformed,
    /// The request itself is malformed.
    BadRequest = "BAD_REQUEST": Malformed,
    /// No such record, or no such path.
    NotFound = "NOT_FOUND": NotFound,
    /// The path exists, the method does not.
    MethodNotAllowed = "METHOD_NOT_ALLOWED": Malformed,
    /// Too many requests.
    RateLimited = "RATE_LIMITED": Limited,
    /// The store cannot be reached.
    Unavailable = "UNAVAILABLE": Unavailable,
    /// A failure of this service.
    InternalError = "INTERNAL_ERROR": Internal,
    /// Fields of the body are not acceptable.
    ValidationError = "VALIDATION_ERROR": Invalid,
    /// The phone is already registered.
    ContactExists = "CONTACT_EXISTS": Conflict,
    /// The contact's documents could not be deleted.
    PurgeFailed = "PURGE_FAILED": Internal,
    /// A slug is taken.
    SlugTaken = "SLUG_TAKEN": Conflict,
    /// Another login has the e-mail address; use another one (R394).
    EmailTaken = "EMAIL_TAKEN": Conflict,
    /// The member has a login with a password; make a link to reset it (R401).
    LoginExists = "LOGIN_EXISTS": Conflict,
    /// The record is still used by others.
    InUse = "IN_USE": Conflict,
    /// A required field of the body is missing.
    MissingField = "MISSING_FIELD": Malformed,
    /// The recipient is not a phone number.
    InvalidPhone = "INVALID_PHONE": Malformed,
    /// The contact asked not to receive messages.
    ContactOptedOut = "CONTACT_OPTED_OUT": Forbidden,
    /// The contact is blocked.
    ContactBlocked = "CONTACT_BLOCKED": Forbidden,
    /// The external AI is off for the contact.
    ExternalAiDisabled = "EXTERNAL_AI_DISABLED": Forbidden,
    /// Only administrators may write in the group.
    GroupAnnounceOnly = "GROUP_ANNOUNCE_ONLY": Forbidden,
    /// The group or community is not known.
    GroupNotFound = "GROUP_NOT_FOUND": NotFound,
    /// Several contacts match.
    AmbiguousContact = "AMBIGUOUS_CONTACT": Conflict,
    /// No connection can be used, or one must be chosen.
    ConnectionRequired = "CONNECTION_REQUIRED": Invalid,
    /// The provider refused or failed.
    ProviderError = "PROVIDER_ERROR": Upstream,
    /// It is not known whether the message arrived.
    DeliveryUncertain = "DELIVERY_UNCERTAIN": Upstream,
    /// The contact's state could not be read.
    ContactStateUnavailable = "CONTACT_STATE_UNAVAILABLE": Unavailable,
    /// The key was used with another body.
    IdempotencyKeyReused = "IDEMPOTENCY_KEY_REUSED": Invalid,
    /// The first call with this key is still under way.
    RequestInProgress = "REQUEST_IN_PROGRESS": Conflict,
    /// The refunds would exceed the debit.
    RefundExceedsDebit = "REFUND_EXCEEDS_DEBIT": Invalid,
    /// The connection already has a message with this provider id.
    MessageExists = "MESSAGE_EXISTS": Conflict,
    /// There is no such template.
    TemplateNotFound = "TEMPLATE_NOT_FOUND": NotFound,
    /// The template is not approved.
    TemplateNotApproved = "TEMPLATE_NOT_APPROVED": Forbidden,
    /// The webhook is inactive.
    WebhookInactive = "WEBHOOK_INACTIVE": Conflict,
    /// The webhook was deleted.
    WebhookDeleted = "WEBHOOK_DELETED": Conflict,
    /// The company has the largest number of webhooks allowed.
    TooManyWebhooks = "TOO_MANY_WEBHOOKS": Conflict,
    /// The delivery is still pending.
    DeliveryPending = "DELIVERY_PENDING": Conflict,
    /// The content of the delivery was erased.
    BodyErased = "BODY_ERASED": Conflict,
    /// The secret of an inbound endpoint is missing or wrong.
    InvalidSecret = "INVALID_SECRET": Unauthenticated,
    /// There is no inbound endpoint with this slug.
    EndpointNotFound = "ENDPOINT_NOT_FOUND": NotFound,
    /// The inbound endpoint is deactivated.
    EndpointInactive = "ENDPOINT_INACTIVE": Gone,
    /// The account has not enabled the feature.
    FeatureDisabled = "FEATURE_DISABLED": Forbidden,
    /// The body of a call to a webhook cannot be read or is too large.
    InvalidPayload = "INVALID_PAYLOAD": Malformed,
    /// A required phone was not found.
    MissingPhone = "MISSING_PHONE": Malformed,
    /// The variable mapping could not be applied.
    MappingFailed = "MAPPING_FAILED": Malformed,
    /// The template was sent to the contact a short while ago.
    DuplicateSend = "DUPLICATE_SEND": Conflict,
    /// A template dispatch was not sent, or it is not known whether it was.
    SendFailed = "SEND_FAILED": Upstream,
    /// The campaign was started, so its list cannot change.
    CampaignStarted = "CAMPAIGN_STARTED": Conflict,
    /// The campaign is running.
    CampaignRunning = "CAMPAIGN_RUNNING": Conflict,
    /// A phone is paired with the connection already.
    AlreadyPaired = "ALREADY_PAIRED": Conflict,
    /// The service's AI is off or paused for the contact.
    AiDisabled = "AI_DISABLED": Forbidden,
    /// The installation is on hold: nothing is sent.
    OnHold = "ON_HOLD": Unavailable,
    /// The data is being moved: nothing is written.
    Moving = "MOVING": Unavailable,
    /// The connection's gateway cannot carry, or do, this.
    NotSupportedByConnection = "NOT_SUPPORTED_BY_CONNECTION": Invalid,
    /// The file is of a type that such messages do not have.
    MediaTypeUnsupported = "MEDIA_TYPE_UNSUPPORTED": Invalid,
    /// The file is larger than such messages may have.
    MediaTooLarge = "MEDIA_TOO_LARGE": TooLarge,
    /// The file at the address could not be fetched.
    MediaUnreachable = "MEDIA_UNREACHABLE": Invalid,
    /// There is no such upload.
    MediaNotFound = "MEDIA_NOT_FOUND": NotFound,
    /// It was sent too long ago.
    TooLate = "TOO_LATE": Conflict,
}
