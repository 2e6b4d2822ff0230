//! Why a message was not sent (7.1).

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::NoConnection;
use crate::code::Code;
use crate::connections::ConnectionKind;
use crate::dispatches::ExistingSend;
use crate::error::{Error, Rejection, object};
use crate::gateway::{Fault, MessageKind};
use crate::groups::{ConnectionNeeded, GroupRefusal};
use crate::halts::OnHold;
use crate::ids::{ContactId, MessageId};
use crate::messages::Failure;
use crate::problems::Problems;
use crate::store::StoreError;
use crate::uploads::FileRefused;

/// The text of a store's failure, for logs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Cause(String);

impl Cause {
    /// The texts of an error and its causes.
    pub(super) fn of(error: &dyn std::error::Error) -> Self {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            text = format!("{text}: {cause}");
            source = cause.source();
        }
        Self(text)
    }
}

/// Why a message was not sent, or why its outcome is unknown (R41).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// Fields are missing; send them.
    #[error("{} missing", .0.join(" and "))]
    MissingField(Vec<&'static str>),
    /// The body is not acceptable; correct what it names.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// `to` is neither a phone number nor a group code; correct it.
    #[error("to is neither a valid phone number nor a group code")]
    InvalidPhone,
    /// The company has no such contact.
    #[error("the company has no such contact")]
    ContactNotFound,
    /// The company has no such connection; name another or none.
    #[error("the company has no such connection")]
    ConnectionNotFound,
    /// The company has no such group, or the community's announcement group is not known yet.
    #[error("no group or community with this code is known, or its announcement group is not yet")]
    GroupNotFound,
    /// Several contacts match; have the operator merge or correct them.
    #[error("the phone or group code matches more than one contact")]
    AmbiguousContact(Vec<ContactId>),
    /// The contact's state could not be read; try again after the wait.
    #[error("the contact's state could not be read")]
    ContactStateUnavailable,
    /// The installation is on hold; try again after the wait, or have its operator resume (D75).
    #[error(transparent)]
    OnHold(#[from] OnHold),
    /// The contact asked not to receive messages; do not send.
    #[error("the contact asked not to receive messages")]
    OptedOut {
        /// Who asked: the contact, or another contact of the same person (R161). `None` if its
        /// contact was deleted (R415).
        contact: Option<ContactId>,
    },
    /// The contact is blocked; do not send.
    #[error("the contact is blocked")]
    Blocked,
    /// An operator took over; only re-enabling the external AI in the inbox lifts it.
    #[error("the external AI is off for the contact")]
    ExternalAiDisabled,
    /// The service's AI is off or paused for the contact; switch it on, or wait for the end of the
    /// pause.
    #[error("the service's AI is off or paused for the contact")]
    AiDisabled,
    /// The company has no such message, or it is not of this contact.
    #[error("the company has no such message of this contact")]
    MessageNotFound,
    /// The connection cannot carry, or do, this; use another connection or another kind (X10–X15).
    #[error("the connection cannot carry or do this: {kind}")]
    NotSupported {
        /// What was asked for.
        kind: MessageKind,
        /// The kind of the connection.
        provider: ConnectionKind,
        /// What it carries and does.
        supported: Vec<MessageKind>,
    },
    /// The file to be sent is refused (X10).
    #[error(transparent)]
    File(#[from] FileRefused),
    /// It was sent too long ago for the channel to change it or take it back (X14).
    #[error("it was sent too long ago: at most {} minutes", within.as_secs() / 60)]
    TooLate {
        /// How long after it was sent it could be done.
        within: Duration,
    },
    /// No connection can be used for a contact; connect one, or name one.
    #[error(transparent)]
    ConnectionRequired(#[from] NoConnection),
    /// No connection can be used for the group; connect one, or name one.
    #[error(transparent)]
    GroupConnectionRequired(#[from] ConnectionNeeded),
    /// Only administrators may write in the group.
    #[error("only administrators may write in the group, and the connection's number is none")]
    GroupAnnounceOnly,
    /// There is no such template; name another.
    #[error("the company has no such template")]
    TemplateNotFound,
    /// The template is not approved; wait for it or use another.
    #[error("the template is not approved")]
    TemplateNotApproved,
    /// The template was sent to the contact inside its window, or is just being sent; wait.
    #[error("the template was sent to the contact a short while ago, or is being sent")]
    Duplicate(Option<ExistingSend>),
    /// The message could not be stored, so it was not sent; try again.
    #[error("the message could not be stored, so it was not sent")]
    NotStored(#[source] Cause),
    /// The campaign is not running, or the recipient is not waiting any more.
    #[error("the recipient is claimed already")]
    ClaimLost,
    /// Groups get no templates (D40).
    #[error("the contact is a group, which gets no templates")]
    IsGroup,
    /// The provider surely did not send it.
    #[error("{}{}", outcome_words(failure), said(failure))]
    Provider {
        /// The message, stored as failed.
        message: MessageId,
        /// Its contact.
        contact: ContactId,
        /// Why.
        failure: Failure,
        /// Whether the cause is this message, the connection, or a temporary limit.
        fault: Fault,
    },
    /// The message may have arrived; do not send it again automatically. This is the outcome on
    /// every kind of connection; only the code that the API answers depends on the kind (7.1, D38).
    #[error("{}{}", outcome_words(failure), said(failure))]
    Uncertain {
        /// The kind of its connection.
        kind: ConnectionKind,
        /// The message, stored as failed.
        message: MessageId,
        /// Its contact.
        contact: ContactId,
        /// Why.
        failure: Failure,
    },
}

fn outcome_words(failure: &Failure) -> &'static str {
    if failure.is_uncertain() {
        "the message may have arrived; do not send it again by yourself"
    } else {
        "the provider did not send the message"
    }
}

fn said(failure: &Failure) -> String {
    failure.message.as_ref().map(|message| format!(": {message}")).unwrap_or_default()
}

impl SendError {
    /// Whether the message may have arrived all the same, so that it must not be sent again without
    /// asking.
    pub const fn may_have_arrived(&self) -> bool {
        matches!(self, Self::Uncertain { .. })
    }

    /// The refusal for a failed message.
    pub(super) fn of_failure(
        kind: ConnectionKind,
        message: MessageId,
        contact: ContactId,
        failure: Failure,
        fault: Fault,
    ) -> Self {
        if failure.is_uncertain() {
            Self::Uncertain { kind, message, contact, failure }
        } else {
            Self::Provider { message, contact, failure, fault }
        }
    }
}

impl Error<SendError> {
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

impl From<GroupRefusal> for SendError {
    fn from(refusal: GroupRefusal) -> Self {
        match refusal {
            GroupRefusal::ConnectionRequired(needed) => Self::GroupConnectionRequired(needed),
            GroupRefusal::AnnounceOnly { .. } => Self::GroupAnnounceOnly,
        }
    }
}

impl Rejection for SendError {
    fn code(&self) -> Code {
        match self {
            Self::MissingField(_) => Code::MissingField,
            Self::Invalid(problems) => problems.code(),
            Self::InvalidPhone => Code::InvalidPhone,
            Self::ContactNotFound | Self::ConnectionNotFound | Self::MessageNotFound => {
                Code::NotFound
            }
            Self::TooLate { .. } => Code::TooLate,
            Self::NotSupported { .. } => Code::NotSupportedByConnection,
            Self::File(refused) => refused.code(),
            Self::GroupNotFound => Code::GroupNotFound,
            Self::AmbiguousContact(_) => Code::AmbiguousContact,
            Self::ContactStateUnavailable => Code::ContactStateUnavailable,
            Self::OnHold(on_hold) => on_hold.code(),
            Self::OptedOut { .. } => Code::ContactOptedOut,
            Self::Blocked => Code::ContactBlocked,
            Self::ExternalAiDisabled => Code::ExternalAiDisabled,
            Self::AiDisabled => Code::AiDisabled,
            Self::ConnectionRequired(_) | Self::GroupConnectionRequired(_) => {
                Code::ConnectionRequired
            }
            Self::GroupAnnounceOnly => Code::GroupAnnounceOnly,
            Self::TemplateNotFound => Code::TemplateNotFound,
            Self::TemplateNotApproved => Code::TemplateNotApproved,
            Self::Duplicate(_) | Self::ClaimLost => Code::DuplicateSend,
            Self::IsGroup => Code::InvalidPhone,
            Self::NotStored(_) => Code::Unavailable,
            // Only on the official kind has an unknown outcome a code of its own (7.1, D38).
            Self::Uncertain { kind: ConnectionKind::OfficialCloud, .. } => Code::DeliveryUncertain,
            Self::Provider { .. } | Self::Uncertain { .. } => Code::ProviderError,
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Provider { fault: Fault::Moment { wait }, .. } => *wait,
            Self::OnHold(on_hold) => on_hold.retry_after(),
            _ => None,
        }
    }

    fn details(&self) -> Option<Map<String, Value>> {
        match self {
            Self::MissingField(fields) => Some(object([("fields", json!(fields))])),
            Self::Invalid(problems) => problems.details(),
            Self::File(refused) => refused.details(),
            Self::NotSupported { kind, provider, supported } => Some(object([
                ("kind", json!(kind)),
                ("provider", json!(provider)),
                ("supported", json!(supported)),
            ])),
            Self::OptedOut { contact } => {
                contact.map(|contact| object([("contact_id", json!(contact))]))
            }
            Self::AmbiguousContact(contacts) => Some(object([("contact_ids", json!(contacts))])),
            Self::Provider { message, contact, failure, .. }
            | Self::Uncertain { message, contact, failure, .. } => Some(object([
                ("message_id", json!(message)),
                ("contact_id", json!(contact)),
                ("error_type", json!(failure.error_type)),
                ("delivery_error", json!(failure.code)),
            ])),
            _ => None,
        }
    }
}
