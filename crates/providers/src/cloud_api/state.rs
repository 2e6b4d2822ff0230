//! Whether a connection's number can be used.

use recado_core::connections::ConnectionStatus;
use recado_core::gateway::{GatewayStatus, ProviderError};
use recado_core::transport::Transport;
use serde_json::{Map, Value, json};

use super::answer::GraphError;
use super::errors::{ErrorClass, class_of};
use super::settings::Access;
use crate::shared::{clip, parse, text, transport_text};

const FIELDS: &str = "display_phone_number,verified_name,quality_rating";

/// Asks for the number itself: an answer proves that token and number go together.
pub(super) async fn status(
    transport: &dyn Transport,
    access: &Access<'_>,
) -> Result<GatewayStatus, ProviderError> {
    let request = access.get(&[access.number], &[("fields", FIELDS)]);
    let answer = transport.send(request).await;
    let answer = answer.map_err(|error| ProviderError::Failed(transport_text(&error)))?;
    let body = parse(&answer.body);
    if let (200, Some(Value::Object(_))) = (answer.status, &body) {
        let told = body.as_ref().unwrap_or(&Value::Null);
        let shown = FIELDS
            .split(',')
            .filter_map(|name| Some((name.to_owned(), Value::from(clip(text(told, name)?)))));
        let detail = Value::Object(shown.collect::<Map<_, _>>());
        return Ok(GatewayStatus { status: ConnectionStatus::Connected, detail: Some(detail) });
    }
    match body.as_ref().and_then(|body| GraphError::of(access, body)) {
        Some(error) if is_definite(error.code) => Ok(GatewayStatus {
            status: ConnectionStatus::Disconnected,
            detail: Some(json!({"code": error.code, "message": error.text})),
        }),
        Some(error) => Err(ProviderError::Failed(format!("{}: {}", error.code, error.text))),
        None => Err(ProviderError::Failed(format!("HTTP {}", answer.status))),
    }
}

/// Whether an error says that the number cannot be used, not only that the question failed. Of a
/// number that does not exist, 100 is all that is told.
fn is_definite(code: u32) -> bool {
    code == 100 || class_of(code) == Some(ErrorClass::Connection)
}
