//! Whether a connection's number can be used.

use recado_core::connections::ConnectionStatus;
use recado_core::gateway::{GatewayStatus, ProviderError};
use recado_core::transport::Transport;
use serde_json::{Map, Value, json};

use super::answer::GraphError;
use super::errors::{ErrorClass, class_of};
use super::settings::ApiSettings;
use crate::shared::{at, clip, integer, parse, text, transport_text};

const FIELDS: &str = "display_phone_number,verified_name,quality_rating";

/// Requests the number itself: an answer proves that the token is valid for the number.
pub(super) async fn status(
    transport: &dyn Transport,
    access: &ApiSettings<'_>,
) -> Result<GatewayStatus, ProviderError> {
    let request = access.get(&[access.number], &[("fields", FIELDS)]);
    let answer = transport.send(request).await;
    let answer = answer.map_err(|error| ProviderError::Failed(transport_text(&error)))?;
    let body = parse(&answer.body);
    if let (200, Some(Value::Object(_))) = (answer.status, &body) {
        let reported = body.as_ref().unwrap_or(&Value::Null);
        let shown = FIELDS
            .split(',')
            .filter_map(|name| Some((name.to_owned(), Value::from(clip(text(reported, name)?)))));
        let detail = Value::Object(shown.collect::<Map<_, _>>());
        return Ok(GatewayStatus { status: ConnectionStatus::Connected, detail: Some(detail) });
    }
    let error = body.as_ref().and_then(|body| GraphError::of(access, body));
    let detail = match &error {
        Some(error) => json!({"code": error.code, "message": error.text}),
        None => json!({"message": format!("HTTP {}", answer.status)}),
    };
    if is_definite(answer.status, body.as_ref(), error.as_ref()) {
        let status = ConnectionStatus::Disconnected;
        return Ok(GatewayStatus { status, detail: Some(detail) });
    }
    Err(ProviderError::Failed(match error {
        Some(error) => format!("{}: {}", error.code, error.text),
        None => format!("HTTP {}", answer.status),
    }))
}

/// Whether an answer means that the number cannot be used, not only that the request failed. Code
/// 100 and status 404 may refer to the request only; code or subcode 33 means that the number does
/// not exist (R127).
fn is_definite(status: u16, body: Option<&Value>, error: Option<&GraphError>) -> bool {
    let forbidden = matches!(status, 401 | 403);
    let Some(error) = error else { return forbidden };
    let subcode = body.and_then(|body| integer(at(body, &["error"])?, "error_subcode"));
    match class_of(error.code) {
        Some(ErrorClass::Connection) => true,
        Some(ErrorClass::TryLater | ErrorClass::Uncertain) => false,
        Some(ErrorClass::Refused) | None => forbidden || (error.code, subcode) == (100, Some(33)),
    }
}
