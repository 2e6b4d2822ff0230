//! Why a template was not dispatched (7.3).

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::ExistingSend;
use crate::code::{Code, Kind};
use crate::error::{Error, Rejection, object};
use crate::halts::OnHold;
use crate::sending::SendError;
use crate::store::StoreError;
use crate::templates::ComposeError;
use crate::uploads::FileRefused;

/// The largest body that is read (8, D46a).
pub const BODY_LIMIT: usize = 51_200;

/// Why a template was not dispatched, or is not known to be (R102).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DispatchError {
    /// Too many calls; call again after the wait.
    #[error("too many calls; repeat this one after Retry-After")]
    RateLimited {
        /// The shortest wait until a call may be accepted.
        retry_after: Duration,
    },
    /// No template has this token; correct the address.
    #[error("there is no template with this token")]
    TemplateNotFound,
    /// The account has not enabled the feature.
    #[error("the account has not enabled template dispatch")]
    FeatureDisabled,
    /// The body is too large; send less.
    #[error("the body may have at most {BODY_LIMIT} bytes")]
    TooLarge,
    /// The body or the query cannot be read; correct what it names.
    #[error("{0}")]
    InvalidPayload(String),
    /// The variables do not fill the template in, or it needs more than them; correct what it
    /// names.
    #[error("the {0}")]
    Incomplete(ComposeError),
    /// No phone was sent.
    #[error("send a phone: phone_number in the body, or phone_number or phone in the query")]
    MissingPhone,
    /// The phone is not a valid Brazilian number; correct it.
    #[error("the phone is not a valid Brazilian number")]
    InvalidPhone,
    /// The template is not approved; wait for it or use another.
    #[error("the template is not approved")]
    TemplateNotApproved,
    /// The contact's state could not be read; try again after the wait.
    #[error("the contact's state could not be read")]
    ContactStateUnavailable,
    /// The installation is on hold; try again after the wait, or have its operator resume (D75).
    #[error(transparent)]
    OnHold(OnHold),
    /// The contact asked not to receive messages; do not send.
    #[error("the contact asked not to receive messages")]
    OptedOut,
    /// The contact is blocked; do not send.
    #[error("the contact is blocked")]
    Blocked,
    /// The same was sent inside its window; wait for its end, where there is one to wait for.
    #[error("{}", match .0 {
        Some(_) => "the template was sent to the contact already; see existing",
        None => "the same dispatch is under way",
    })]
    Duplicate(Option<ExistingSend>),
    /// It was surely not sent.
    #[error("the template could not be sent: {0}")]
    SendFailed(String),
    /// It may have been sent; do not dispatch it again automatically.
    #[error("the template could not be sent: {0}")]
    Uncertain(String),
}

impl DispatchError {
    /// Whether the message may have arrived all the same, so that it must not be sent again without
    /// asking.
    pub const fn may_have_arrived(&self) -> bool {
        matches!(self, Self::Uncertain(_))
    }
}

impl Error<DispatchError> {
    /// Whether the message may have arrived all the same, so that it must not be sent again without
    /// asking. If the outcome of a commit is unknown, it may have.
    pub const fn may_have_arrived(&self) -> bool {
        match self {
            Self::Rejected(refused) => refused.may_have_arrived(),
            Self::Store(StoreError::OutcomeUnknown(_)) => true,
            Self::Store(_) | Self::Denied(_) | Self::Busy => false,
        }
    }
}

impl From<ComposeError> for DispatchError {
    fn from(error: ComposeError) -> Self {
        Self::Incomplete(error)
    }
}

impl From<SendError> for DispatchError {
    fn from(error: SendError) -> Self {
        match error {
            SendError::ContactStateUnavailable => Self::ContactStateUnavailable,
            SendError::OnHold(on_hold) => Self::OnHold(on_hold),
            SendError::OptedOut { .. } => Self::OptedOut,
            SendError::Blocked => Self::Blocked,
            SendError::Duplicate(existing) => Self::Duplicate(existing),
            uncertain @ SendError::Uncertain { .. } => Self::Uncertain(uncertain.to_string()),
            SendError::File(FileRefused::Invalid(problems)) => {
                Self::InvalidPayload(problems.to_string())
            }
            SendError::File(
                refused @ (FileRefused::NotFound
                | FileRefused::TypeUnsupported { .. }
                | FileRefused::TooLarge { .. }),
            ) => Self::InvalidPayload(format!("header: {refused}")),
            // D51: a connection that cannot be used is a failed send here.
            other => Self::SendFailed(other.to_string()),
        }
    }
}

impl Rejection for DispatchError {
    fn code(&self) -> Code {
        match self {
            Self::RateLimited { .. } => Code::RateLimited,
            Self::TemplateNotFound => Code::TemplateNotFound,
            Self::FeatureDisabled => Code::FeatureDisabled,
            Self::TooLarge | Self::InvalidPayload(_) | Self::Incomplete(_) => Code::InvalidPayload,
            Self::MissingPhone => Code::MissingPhone,
            Self::InvalidPhone => Code::InvalidPhone,
            Self::TemplateNotApproved => Code::TemplateNotApproved,
            Self::ContactStateUnavailable => Code::ContactStateUnavailable,
            Self::OnHold(on_hold) => on_hold.code(),
            Self::OptedOut => Code::ContactOptedOut,
            Self::Blocked => Code::ContactBlocked,
            Self::Duplicate(_) => Code::DuplicateSend,
            Self::SendFailed(_) | Self::Uncertain(_) => Code::SendFailed,
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::TooLarge => Kind::TooLarge,
            _ => self.code().kind(),
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after } => Some(*retry_after),
            Self::OnHold(on_hold) => on_hold.retry_after(),
            _ => None,
        }
    }

    fn extra(&self) -> Option<Map<String, Value>> {
        match self {
            Self::Duplicate(Some(existing)) => Some(object([("existing", json!(existing))])),
            _ => None,
        }
    }
}
