//! The message that another one is about: quoted, or reacted to.

use crate::gateway::MessageName;
use crate::ids::{ConnectionId, ContactId, MessageId};
use crate::messages::Quoted;

/// A message that is stored and known at its channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotedMessage {
    /// Its id.
    pub id: MessageId,
    /// Its contact.
    pub contact: ContactId,
    /// Its connection.
    pub connection: ConnectionId,
    /// What a message that quotes it keeps of it.
    pub kept: Quoted,
    /// Its name at the channel.
    pub name: MessageName,
}
