//! The session of a connection: its state, its engine, its own number.

use std::time::Duration;

use recado_core::connections::{Connection, ConnectionStatus};
use recado_core::gateway::{GatewayStatus, ProviderError};
use recado_core::transport::Transport;
use serde_json::{Value, json};

use super::api::{Api, RequestError, ask};
use super::known::{Engine, SessionCache};
use super::own::Own;
use crate::shared::{clip, text};

/// The state in which a session sends and receives.
pub(super) const WORKING: &str = "WORKING";

/// A session as the gateway reports it.
pub(super) struct SessionInfo {
    /// Its state, as the gateway names it.
    pub(super) status: String,
    /// The engine it runs on, if that was reported.
    pub(super) engine: Option<Engine>,
    /// Its own number and LID, if a phone is paired.
    pub(super) me: Option<Value>,
}

/// Requests a connection's session, and caches its engine.
pub(super) async fn read(
    transport: &dyn Transport,
    known: &SessionCache,
    connection: &Connection,
    time: Duration,
) -> Result<SessionInfo, RequestError> {
    let api = Api::of(connection);
    let request = api.get(&["sessions", api.session], &[]).with_timeout(time);
    let reported = ask(transport, request).await?;
    let status = text(&reported, "status").ok_or(RequestError::Unreadable)?.to_owned();
    let engine = reported.get("engine").and_then(engine_in);
    if let Some(engine) = engine {
        known.learn_engine(connection, engine);
    }
    let me = reported.get("me").filter(|me| me.is_object()).cloned();
    Ok(SessionInfo { status, engine, me })
}

/// The own names of a session, if reported: a gateway without them may still answer the request
/// that needs them.
pub(super) async fn own(
    transport: &dyn Transport,
    known: &SessionCache,
    connection: &Connection,
) -> Result<Own, RequestError> {
    let time = Api::of(connection).timeout;
    let me = match read(transport, known, connection, time).await {
        Ok(session) => session.me,
        Err(RequestError::Status(404 | 405 | 501, _) | RequestError::Unreadable) => None,
        Err(trouble) => return Err(trouble),
    };
    Ok(Own::of(connection, me.as_ref()))
}

/// The engine in a session's `engine`: as a text, in a field `engine`, or else any text in it that
/// is an engine's name.
fn engine_in(reported: &Value) -> Option<Engine> {
    if let Some(engine) =
        reported.as_str().or_else(|| text(reported, "engine")).and_then(Engine::named)
    {
        return Some(engine);
    }
    let fields = reported.as_object()?.iter();
    let words = fields.flat_map(|(name, value)| [Some(name.as_str()), value.as_str()]);
    words.flatten().find_map(Engine::known)
}

/// The engine of a session that does not name it: only engines that accept ids can make new ones.
pub(super) async fn try_engine(
    transport: &dyn Transport,
    known: &SessionCache,
    connection: &Connection,
    time: Duration,
) -> Result<Option<Engine>, RequestError> {
    let api = Api::of(connection);
    let request = api.get(&[api.session, "new-message-id"], &[]).with_timeout(time);
    let engine = match ask(transport, request).await {
        Ok(made) if text(&made, "id").is_some() => Engine::TakesIds,
        Err(RequestError::Status(400 | 404 | 405 | 422 | 501, _)) => Engine::Other,
        Ok(_) => return Ok(None),
        Err(trouble) => return Err(trouble),
    };
    known.learn_engine(connection, engine);
    Ok(Some(engine))
}

/// Whether the connection reaches its channel.
pub(super) async fn status(
    transport: &dyn Transport,
    known: &SessionCache,
    connection: &Connection,
) -> Result<GatewayStatus, ProviderError> {
    let time = Api::of(connection).timeout;
    let (status, word) = match read(transport, known, connection, time).await {
        Ok(session) if session.status == WORKING => (ConnectionStatus::Connected, session.status),
        Ok(session) => (ConnectionStatus::Disconnected, clip(&session.status)),
        Err(RequestError::Status(404, _)) => {
            (ConnectionStatus::Disconnected, "the gateway has no such session".to_owned())
        }
        Err(refused @ RequestError::Status(401 | 403, _)) => {
            (ConnectionStatus::Disconnected, refused.text())
        }
        Err(trouble) => return Err(trouble.into()),
    };
    Ok(GatewayStatus { status, detail: Some(json!({ "status": word })) })
}
