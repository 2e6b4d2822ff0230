//! What a scripted provider was asked.

use recado_core::Timestamp;
use recado_core::gateway::Outgoing;
use recado_core::ids::ConnectionId;

/// A requested send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The connection of the send.
    pub connection: ConnectionId,
    /// The message.
    pub outgoing: Outgoing,
}

/// A request for missed messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pulled {
    /// The connection.
    pub connection: ConnectionId,
    /// The start of the time span.
    pub from: Timestamp,
    /// The end of the time span.
    pub to: Timestamp,
}

/// The number of requests of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Requests for the groups of a connection.
    pub groups: usize,
    /// Requests for the state of a connection.
    pub status: usize,
    /// Requests for the templates of a connection.
    pub templates: usize,
    /// Requests for a code to pair a phone with.
    pub pairing: usize,
}
