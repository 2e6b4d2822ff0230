//! The form in which connections are shown to the operator.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    Capability, Connection, ConnectionKind, ConnectionStatus, GatewayDescription, GatewayName,
};
use crate::Timestamp;
use crate::ids::ConnectionId;
use crate::words::words;

words! {
    /// Whether messages can reach the channel through a connection, as the operator API shows it.
    ShownStatus {
        /// Its gateway reaches the channel.
        Connected = "connected",
        /// It does not, or its state is not known yet.
        Disconnected = "disconnected",
        /// This process has no such gateway: nothing is sent (R150).
        Unavailable = "unavailable",
    }
}

impl ShownStatus {
    fn of(status: ConnectionStatus, gateway: Option<&GatewayDescription>) -> Self {
        match (gateway, status) {
            (None, _) => Self::Unavailable,
            (Some(_), ConnectionStatus::Connected) => Self::Connected,
            (Some(_), ConnectionStatus::Disconnected) => Self::Disconnected,
        }
    }
}

/// A connection without its secrets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct ConnectionView {
    /// Its id.
    pub id: ConnectionId,
    /// Its kind.
    pub kind: ConnectionKind,
    /// The channel (D61).
    #[serde(rename = "type")]
    pub platform: String,
    /// The same as `kind` (D61).
    pub provider: ConnectionKind,
    /// Its name.
    pub name: String,
    /// Its own number on the channel.
    pub identifier: String,
    /// One of GET /gateways.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub gateway: GatewayName,
    /// Where its gateway has to send its webhooks; null where there are none. A token that belongs
    /// in the address is not shown.
    pub webhook_url: Option<String>,
    /// Those that are not secrets.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub settings: Map<String, Value>,
    /// Whether it is used.
    pub is_active: bool,
    /// Whether its gateway reaches the channel.
    pub status: ShownStatus,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When an event of its gateway last came, up to a minute older than it was; null before the
    /// first (X9).
    pub last_heard_at: Option<Timestamp>,
    /// How many events are kept because they were not understood (X9).
    pub not_understood: u64,
}

impl ConnectionView {
    /// The form of a connection to `gateway`, `None` if this process has no such gateway, of an
    /// installation with this `public_url`. It says that nothing is kept.
    pub fn new(
        connection: &Connection,
        gateway: Option<&GatewayDescription>,
        public_url: &str,
    ) -> Self {
        let has_webhook = gateway.is_some_and(|gateway| gateway.can(Capability::Webhook));
        let webhook = || format!("{public_url}/api/webhooks/provider/{}", connection.id);
        Self {
            webhook_url: has_webhook.then(webhook),
            id: connection.id,
            kind: connection.kind,
            platform: connection.platform.as_str().to_owned(),
            provider: connection.kind,
            name: connection.name.clone(),
            identifier: connection.identifier.clone(),
            gateway: connection.gateway.clone(),
            settings: connection.settings.shown(gateway),
            is_active: connection.is_active,
            status: ShownStatus::of(connection.status, gateway),
            created_at: connection.created_at,
            updated_at: connection.updated_at,
            last_heard_at: connection.last_heard_at,
            not_understood: 0,
        }
    }
}
