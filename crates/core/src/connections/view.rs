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
    /// Those that are no secrets.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    settings: Map<String, Value>,
    is_active: bool,
    status: ConnectionStatus,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl From<&Connection> for ConnectionView {
    fn from(connection: &Connection) -> Self {
        Self {
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
