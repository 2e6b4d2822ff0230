//! The state of a contact on a connection (3.4).

use crate::Timestamp;
use crate::ids::{CompanyId, ConnectionId, ContactId};

/// The state of a contact on a connection; one row for each pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// The company.
    pub company: CompanyId,
    /// The contact.
    pub contact: ContactId,
    /// The connection.
    pub connection: ConnectionId,
    /// The contact's id on the channel; messages are addressed to it (D15).
    pub identifier: String,
    /// `created_at` of the newest message that is not from a history.
    pub last_message_at: Option<Timestamp>,
    /// The same of inbound messages.
    pub last_inbound_at: Option<Timestamp>,
    /// Inbound messages since an agent last replied or read (D44a).
    pub unread: u32,
}
