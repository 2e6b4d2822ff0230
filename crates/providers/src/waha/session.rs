//! The session of a connection: its state, its engine, its own number.

use std::time::Duration;

use recado_core::connections::{Connection, ConnectionStatus};
use recado_core::gateway::{GatewayStatus, ProviderError};
use recado_core::transport::Transport;
use serde_json::{Value, json};

use super::api::{Api, Trouble, ask};
use super::known::{Engine, Known};
use crate::shared::{clip, text, text_at};

/// The state in which a session sends and receives.
pub(super) const WORKING: &str = "WORKING";

/// A session as the gateway tells of it.
pub(super) struct Session {
    /// Its state, in the gateway's word.
    pub(super) status: String,
    /// The engine it runs on, if that was told.
    pub(super) engine: Option<Engine>,
    /// Its own number and LID, if a phone is paired.
    pub(super) me: Option<Value>,
}

/// Asks for a connection's session, and learns its engine.
pub(super) async fn look(
    transport: &dyn Transport,
    known: &Known,
    connection: &Connection,
    time: Duration,
) -> Result<Session, Trouble> {
    let api = Api::of(connection);
    let request = api.get(&["sessions", api.session], &[]).with_timeout(time);
    let told = ask(transport, request).await?;
    let status = text(&told, "status").ok_or(Trouble::Unreadable)?.to_owned();
    let engine = text_at(&told, &["engine", "engine"])
        .or_else(|| text(&told, "engine"))
        .and_then(Engine::named);
    if let Some(engine) = engine {
        known.learn_engine(connection, engine);
    }
    let me = told.get("me").filter(|me| me.is_object()).cloned();
    Ok(Session { status, engine, me })
}

/// The engine of a connection's session, asked for if it is not known; `None` if it is not told.
pub(super) async fn engine(
    transport: &dyn Transport,
    known: &Known,
    connection: &Connection,
    time: Duration,
) -> Result<Option<Engine>, Trouble> {
    match known.engine(connection) {
        Some(engine) => Ok(Some(engine)),
        None => Ok(look(transport, known, connection, time).await?.engine),
    }
}

/// Whether the connection reaches its channel.
pub(super) async fn status(
    transport: &dyn Transport,
    known: &Known,
    connection: &Connection,
) -> Result<GatewayStatus, ProviderError> {
    let time = Api::of(connection).timeout;
    let (status, word) = match look(transport, known, connection, time).await {
        Ok(session) if session.status == WORKING => (ConnectionStatus::Connected, session.status),
        Ok(session) => (ConnectionStatus::Disconnected, clip(&session.status)),
        Err(Trouble::Status(404, _)) => {
            (ConnectionStatus::Disconnected, "the gateway has no such session".to_owned())
        }
        Err(refused @ Trouble::Status(401 | 403, _)) => {
            (ConnectionStatus::Disconnected, refused.text())
        }
        Err(trouble) => return Err(trouble.into()),
    };
    Ok(GatewayStatus { status, detail: Some(json!({ "status": word })) })
}
