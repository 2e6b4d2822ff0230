//! A connection: a number of a company, and the gateway behind it (1, D61).

use super::ConnectionSettings;
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
    /// The software that a connection talks through.
    Gateway {
        /// Accepts everything and makes no calls; for demos and tests.
        Simulated = "simulated",
        /// The official cloud API itself.
        CloudApi = "cloud_api",
        /// A QR gateway.
        Waha = "waha",
        /// Another QR gateway.
        Evolution = "evolution",
    }
}

impl Gateway {
    /// Whether connections of `kind` can talk through it.
    pub const fn serves(self, kind: ConnectionKind) -> bool {
        match self {
            Self::Simulated => true,
            Self::CloudApi => matches!(kind, ConnectionKind::OfficialCloud),
            Self::Waha | Self::Evolution => matches!(kind, ConnectionKind::Qr),
        }
    }

    /// Whether messages made from approved templates can be sent through it (D40).
    pub const fn has_templates(self) -> bool {
        matches!(self, Self::Simulated | Self::CloudApi)
    }

    /// Whether it can be asked which groups a number is in (D64).
    pub const fn lists_groups(self) -> bool {
        matches!(self, Self::Waha | Self::Evolution)
    }

    /// Whether it can be asked which templates an account has (D69).
    pub const fn lists_templates(self) -> bool {
        matches!(self, Self::CloudApi)
    }

    /// Whether it can be asked if it reaches the channel.
    pub const fn reports_state(self) -> bool {
        !matches!(self, Self::Simulated)
    }

    /// Whether it can be asked what happened while no process received its webhooks.
    pub const fn reports_missed(self) -> bool {
        matches!(self, Self::Waha | Self::Evolution)
    }

    /// Whether it can be asked for a message whose send ended uncertainly.
    pub const fn finds_sent(self) -> bool {
        matches!(self, Self::Waha | Self::Evolution)
    }

    /// Whether it can be asked for the phone of somebody who is known by another name.
    pub const fn reports_names(self) -> bool {
        matches!(self, Self::Waha)
    }

    /// Whether it calls the connection's webhook address.
    pub const fn has_webhook(self) -> bool {
        !matches!(self, Self::Simulated)
    }
}

words! {
    /// Whether a connection's gateway reaches the channel.
    ConnectionStatus {
        /// It does.
        Connected = "connected",
        /// It does not, or nothing is known yet.
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
    /// What people call it.
    pub name: String,
    /// Its own number on the channel; need not be unique.
    pub identifier: String,
    /// What it talks through.
    pub gateway: Gateway,
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
}

impl Connection {
    /// Whether messages can go out through it: active and connected (D35).
    pub fn is_usable(&self) -> bool {
        self.is_active && self.status == ConnectionStatus::Connected
    }
}
