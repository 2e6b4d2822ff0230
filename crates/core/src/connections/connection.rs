//! A connection: a number of a company, and the gateway behind it (1, D61).

use super::{ConnectionSettings, GatewayName};
use crate::Timestamp;
use crate::contacts::Platform;
use crate::ids::{CompanyId, ConnectionId};
use crate::words::words;

words! {
    /// The provider kind of a connection (1): `provider` in answers (D61).
    ConnectionKind {
        /// Paired by QR code; the only kind that reaches groups.
        Qr = "qr",
        /// The official cloud API.
        OfficialCloud = "official_cloud",
    }
}

words! {
    /// Whether a connection's gateway reaches the channel.
    ConnectionStatus {
        /// It does.
        Connected = "connected",
        /// It does not, or its state is not known yet.
        Disconnected = "disconnected",
    }
}

/// A connection of a company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Its id.
    pub id: ConnectionId,
    /// Its company.
    pub company: CompanyId,
    /// Its provider kind.
    pub kind: ConnectionKind,
    /// Its channel: `type` in answers (D61).
    pub platform: Platform,
    /// Its name for people.
    pub name: String,
    /// Its own number on the channel; need not be unique.
    pub identifier: String,
    /// Its gateway.
    pub gateway: GatewayName,
    /// The gateway's settings, secrets among them.
    pub settings: ConnectionSettings,
    /// Whether the operator lets it be used.
    pub is_active: bool,
    /// Whether its gateway reaches the channel.
    pub status: ConnectionStatus,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When its gateway was last heard; up to a minute old. Not a change of the connection.
    pub last_heard_at: Option<Timestamp>,
}

impl Connection {
    /// Whether messages can go out through it: active and connected (D35).
    pub fn is_usable(&self) -> bool {
        self.is_active && self.status == ConnectionStatus::Connected
    }
}
