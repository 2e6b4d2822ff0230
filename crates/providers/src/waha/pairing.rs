//! Pairing a phone with a session.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use recado_core::connections::Connection;
use recado_core::gateway::{Pairing, PairingCode, ProviderError};
use recado_core::transport::Transport;
use serde_json::json;

use super::api::{Api, RequestError, ask};
use super::known::SessionCache;
use super::session::{self, WORKING};
use crate::shared::{clip, parse, text};

/// The code that a phone has to scan. Starts a stopped session.
pub(super) async fn pairing(
    transport: &dyn Transport,
    known: &SessionCache,
    connection: &Connection,
) -> Result<Pairing, ProviderError> {
    let api = Api::of(connection);
    let session = match session::read(transport, known, connection, api.timeout).await {
        Ok(session) => session,
        Err(RequestError::Status(404, _)) => {
            let reason = "the gateway has no session of this name; create it there first";
            return Err(ProviderError::Failed(reason.to_owned()));
        }
        Err(trouble) => return Err(trouble.into()),
    };
    match session.status.as_str() {
        WORKING => Ok(Pairing::Paired),
        "SCAN_QR_CODE" => code(transport, &api).await,
        "STARTING" => Ok(Pairing::Preparing),
        "STOPPED" | "FAILED" => start(transport, &api).await,
        other => Err(ProviderError::Failed(format!("the session is {}", clip(other)))),
    }
}

async fn code(transport: &dyn Transport, api: &Api<'_>) -> Result<Pairing, ProviderError> {
    let path = [api.session, "auth", "qr"];
    let reported = match ask(transport, api.get(&path, &[("format", "raw")])).await {
        Ok(reported) => reported,
        // The session's state has changed since it was read.
        Err(RequestError::Status(404 | 422, _)) => return Ok(Pairing::Preparing),
        Err(trouble) => return Err(trouble.into()),
    };
    let Some(value) = text(&reported, "value").filter(|value| !value.is_empty()) else {
        return Ok(Pairing::Preparing);
    };
    // The picture is optional: the text can also be drawn.
    let drawn = transport.send(api.get(&path, &[])).await.ok();
    let png = drawn.filter(|drawn| drawn.status < 300).and_then(|drawn| picture(drawn.body));
    Ok(Pairing::Code(PairingCode { png, ..PairingCode::new(value) }))
}

/// The picture in an answer: in JSON, as requested, or as raw bytes.
fn picture(body: Vec<u8>) -> Option<Vec<u8>> {
    if body.starts_with(b"\x89PNG") {
        return Some(body);
    }
    let drawn = parse(&body)?;
    let is_png = text(&drawn, "mimetype")? == "image/png";
    STANDARD.decode(text(&drawn, "data").filter(|_| is_png)?).ok()
}

async fn start(transport: &dyn Transport, api: &Api<'_>) -> Result<Pairing, ProviderError> {
    let request = api.post(&["sessions", api.session, "start"], &json!({}));
    match ask(transport, request).await {
        // In each of these cases the session was started, now or just before.
        Ok(_) | Err(RequestError::Unreadable | RequestError::Status(422, _)) => {
            Ok(Pairing::Preparing)
        }
        Err(trouble) => Err(trouble.into()),
    }
}
