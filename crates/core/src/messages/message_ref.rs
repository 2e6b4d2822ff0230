//! What a provider's id of a message leads to: the message, or what was reported of it before.

use super::provider_id::ProviderMessageId;
use super::{Failure, MessageStatus};
use crate::Timestamp;
use crate::ids::{CompanyId, ConnectionId, MessageId};

/// A status report that came before its message was known (D28).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusReport {
    /// The furthest status reported so far.
    pub status: MessageStatus,
    /// Why, when it is failed.
    pub failure: Option<Failure>,
}

/// What a provider's message id stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefTarget {
    /// A message of ours.
    Message(MessageId),
    /// Nothing yet: what was reported of it is kept until `expires_at`.
    Report {
        /// What was reported.
        report: StatusReport,
        /// From when on it counts as never reported.
        expires_at: Timestamp,
    },
    /// A message that was deleted with its contact, under the [trace](ProviderMessageId::trace) of
    /// its id (R145).
    Forgotten {
        /// From when on it counts as never known.
        expires_at: Timestamp,
    },
}

/// The one row for a provider's message id on a connection: whoever brings the id first, a message
/// or a report, holds it, so that neither can miss the other (D28, D31). Goes with its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRef {
    /// The company.
    pub company: CompanyId,
    /// The connection.
    pub connection: ConnectionId,
    /// The provider's id.
    pub provider_id: ProviderMessageId,
    /// What it stands for.
    pub target: RefTarget,
}
