//! Whether the instance reaches the channel, and pairing a phone with it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use recado_core::connections::{Connection, ConnectionStatus};
use recado_core::gateway::{GatewayStatus, Pairing, PairingCode, ProviderError};
use recado_core::transport::Transport;
use serde_json::{Value, json};

use super::answer::{ErrorAnswer, is_success, unreachable};
use super::settings::InstanceAddress;
use super::values::filled;
use crate::shared::{MAX_ANSWER, at, boolean, clip, parse, text, text_at};

/// The first bytes of every PNG.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Requests the instance's state.
pub(super) async fn status(
    transport: &dyn Transport,
    connection: &Connection,
) -> Result<GatewayStatus, ProviderError> {
    let request = InstanceAddress::of(connection).get(["instance", "connectionState"], &[]);
    let response = transport.send(request).await.map_err(|error| unreachable(&error))?;
    if !is_success(response.status) {
        let trouble = ErrorAnswer::read(&response);
        return match trouble.is_denial() {
            true => Ok(GatewayStatus {
                status: ConnectionStatus::Disconnected,
                detail: Some(json!({"reason": trouble.describe()})),
            }),
            false => Err(trouble.provider_error()),
        };
    }
    let answer = parse(&response.body).unwrap_or_default();
    let state = text_at(&answer, &["instance", "state"]).or_else(|| text(&answer, "state"));
    let status = match state {
        Some("open") => ConnectionStatus::Connected,
        Some("connecting" | "close" | "refused") => ConnectionStatus::Disconnected,
        _ => return Err(ProviderError::Failed("the answer has no state".to_owned())),
    };
    Ok(GatewayStatus { status, detail: Some(json!({"state": state})) })
}

/// Requests the code for pairing a phone; the gateway opens its session for that.
pub(super) async fn pairing(
    transport: &dyn Transport,
    connection: &Connection,
) -> Result<Pairing, ProviderError> {
    let mut request = InstanceAddress::of(connection).get(["instance", "connect"], &[]);
    request.answer_limit = MAX_ANSWER;
    let response = transport.send(request).await.map_err(|error| unreachable(&error))?;
    if !is_success(response.status) {
        return Err(ErrorAnswer::read(&response).provider_error());
    }
    let answer = parse(&response.body)
        .ok_or_else(|| ProviderError::Failed("the gateway's answer cannot be read".to_owned()))?;
    let state = text_at(&answer, &["instance", "state"]).or_else(|| text(&answer, "state"));
    if state == Some("open") {
        return Ok(Pairing::Paired);
    }
    let code = at(&answer, &["qrcode"]).unwrap_or(&answer);
    if let Some(written) = filled(code, "code") {
        let png = filled(code, "base64").and_then(picture);
        return Ok(Pairing::Code(PairingCode { png, ..PairingCode::new(written) }));
    }
    // The gateway answers its own failures with a success status.
    match failure(&answer).or_else(|| failure(code)) {
        Some(reason) => Err(ProviderError::Failed(reason)),
        None => Ok(Pairing::Preparing),
    }
}

/// The reason that the gateway gives for making no code.
fn failure(answer: &Value) -> Option<String> {
    let reported = filled(answer, "message");
    if reported.is_some_and(|reported| reported.to_lowercase().contains("limit reached")) {
        return Some("the gateway makes no more codes; restart its instance".to_owned());
    }
    let failed = boolean(answer, "error") == Some(true);
    failed.then(|| reported.map_or_else(|| "the gateway failed to make a code".to_owned(), clip))
}

/// The bytes of a PNG in a `data:` URL.
fn picture(address: &str) -> Option<Vec<u8>> {
    let data = address.split_once("base64,").map_or(address, |(_, data)| data);
    STANDARD.decode(data.trim()).ok().filter(|bytes| bytes.starts_with(PNG))
}
