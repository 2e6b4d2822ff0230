//! The target of a provider's message id: the message, or what was reported before it.

use super::Early;
use super::provider_id::ProviderMessageId;
use crate::Timestamp;
use crate::ids::{CompanyId, ConnectionId, MessageId};

/// What a provider's message id refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefTarget {
    /// A stored message.
    Message(MessageId),
    /// No message yet: what was reported of it is kept until `expires_at`.
    Early {
        /// What was reported.
        early: Early,
        /// From this time on it is ignored.
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
///
/// Several ids may refer to one message: each change of a reaction has an id of its own. The
/// reaction, or vote, of one person is also found under an id that no gateway gives (X6, X7).
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
