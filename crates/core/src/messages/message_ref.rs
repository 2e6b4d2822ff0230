//! The target of a provider's message id: the message, or a status report that came before it.

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

/// What a provider's message id refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefTarget {
    /// A stored message.
    Message(MessageId),
    /// No message yet: a status report is kept until `expires_at`.
    Report {
        /// The report.
        report: StatusReport,
        /// From this time on the report is ignored.
        expires_at: Timestamp,
    },
    /// A message that was deleted with its contact, under the [trace](ProviderMessageId::trace) of
    /// its id (R145).
    Forgotten {
        /// From this time on the trace is ignored.
        expires_at: Timestamp,
    },
}

/// The one row for a provider's message id on a connection. The first message or report with the id
/// inserts it, so that a concurrent insert of the other fails and is decided again (D28, D31). It
/// is deleted with its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRef {
    /// The company.
    pub company: CompanyId,
    /// The connection.
    pub connection: ConnectionId,
    /// The provider's id.
    pub provider_id: ProviderMessageId,
    /// What it refers to.
    pub target: RefTarget,
}
