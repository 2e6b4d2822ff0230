//! The files of messages, which the gateway fetches and decrypts on request.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use recado_core::connections::Connection;
use recado_core::gateway::{MediaFile, ProviderError};
use recado_core::transport::Transport;
use serde_json::{Value, json};

use super::answer::{ErrorAnswer, Meaning, is_success, unreachable};
use super::files::FileCache;
use super::settings::InstanceAddress;
use crate::shared::{parse, text, text_at};

/// The prefix of the source of a file that is requested by its message's id.
pub(super) const SOURCE: &str = "evolution-media:";
/// The size of an answer besides the file.
const BESIDE: usize = 64 * 1024;

/// The file inside a message's record, if the gateway is configured to send it.
pub(super) fn enclosed(record: &Value) -> Option<Vec<u8>> {
    let written = text_at(record, &["message", "base64"]).or_else(|| text(record, "base64"));
    decoded(written?)
}

fn decoded(written: &str) -> Option<Vec<u8>> {
    let data = written.split_once("base64,").map_or(written, |(_, data)| data);
    STANDARD.decode(data.trim()).ok().filter(|bytes| !bytes.is_empty())
}

/// The file of a message.
pub(super) async fn media(
    transport: &dyn Transport,
    connection: &Connection,
    files: &FileCache,
    source: &str,
    limit: usize,
) -> Result<MediaFile, ProviderError> {
    let Some(id) = source.strip_prefix(SOURCE) else {
        return Ok(MediaFile::At(source.to_owned()));
    };
    match files.take(connection.id, source) {
        Some(bytes) if bytes.len() > limit => return Ok(MediaFile::Gone),
        Some(bytes) => return Ok(MediaFile::Bytes(bytes)),
        None => {}
    }
    let body = json!({"message": {"key": {"id": id}}, "convertToMp4": false});
    let path = ["chat", "getBase64FromMediaMessage"];
    let mut request = InstanceAddress::of(connection).post(path, &body);
    request.repeatable = true;
    request.answer_limit = (limit / 3).saturating_add(1).saturating_mul(4).saturating_add(BESIDE);
    let answer_limit = request.answer_limit;
    let response = transport.send(request).await.map_err(|error| unreachable(&error))?;
    if !is_success(response.status) {
        let trouble = ErrorAnswer::read(&response);
        return match (trouble.status, trouble.meaning) {
            (400, Meaning::Other) if says_not_found(&response.body) => Ok(MediaFile::Gone),
            _ => Err(trouble.provider_error()),
        };
    }
    if response.body.len() >= answer_limit {
        return Ok(MediaFile::Gone);
    }
    let answer = parse(&response.body).unwrap_or_default();
    match text(&answer, "base64").and_then(decoded) {
        Some(bytes) if bytes.len() > limit => Ok(MediaFile::Gone),
        Some(bytes) => Ok(MediaFile::Bytes(bytes)),
        None => Err(ProviderError::Failed("the gateway's answer holds no file".to_owned())),
    }
}

/// Whether the gateway has no such message, or one without a file.
fn says_not_found(body: &[u8]) -> bool {
    let reported = String::from_utf8_lossy(body).to_lowercase();
    reported.contains("message not found") || reported.contains("not of the media type")
}
