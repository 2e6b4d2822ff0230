//! The form in which connections are shown to the operator.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Connection, ConnectionKind, ConnectionStatus, Gateway};
use crate::Timestamp;
use crate::ids::ConnectionId;

/// A connection without its secrets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConnectionView {
    /// Its id.
    pub id: ConnectionId,
    kind: ConnectionKind,
    /// The channel (D61).
    #[serde(rename = "type")]
    platform: String,
    /// The same as `kind` (D61).
    provider: ConnectionKind,
    name: String,
    identifier: String,
    gateway: Gateway,
    /// Where its gateway has to send its webhooks; null where there are none. A token that belongs
    /// in the address is not shown.
    webhook_url: Option<String>,
    /// Those that are no secrets.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    settings: Map<String, Value>,
    is_active: bool,
    status: ConnectionStatus,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl ConnectionView {
    /// The form of a connection of an installation that is reached at `public_url`.
    pub fn new(connection: &Connection, public_url: &str) -> Self {
        let webhook = || format!("{public_url}/api/webhooks/provider/{}", connection.id);
        Self {
            webhook_url: connection.gateway.has_webhook().then(webhook),
            id: connection.id,
            kind: connection.kind,
            platform: connection.platform.as_str().to_owned(),
            provider: connection.kind,
            name: connection.name.clone(),
            identifier: connection.identifier.clone(),
            gateway: connection.gateway,
            settings: connection.settings.shown(connection.gateway),
            is_active: connection.is_active,
            status: connection.status,
            created_at: connection.created_at,
            updated_at: connection.updated_at,
        }
    }
}
