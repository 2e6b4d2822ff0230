//! The files of received messages.

use std::time::Duration;

use recado_core::gateway::{MediaFile, ProviderError};
use recado_core::transport::{OutboundResponse, Transport};
use serde_json::Value;

use super::answer::GraphError;
use super::settings::ApiSettings;
use crate::shared::{integer, is_same_origin, parse, secure_host, text, transport_text};

/// The prefix of a media id in the source of a file.
const SOURCE: &str = "cloud-media:";
/// The prefix of an address in the source of a file that came without an id.
const ADDRESS: &str = "cloud-file:";
/// The domains that serve the channel's files (R107).
const HOSTS: &[&str] = &["fbsbx.com", "fbcdn.net", "facebook.com", "whatsapp.net"];
/// How long each of up to four requests may take.
const STEP_TIMEOUT: Duration = Duration::from_secs(25);

/// The source of a file with this media id.
pub(super) fn source(id: &str) -> String {
    format!("{SOURCE}{id}")
}

/// The source of a file without a media id, at this address.
pub(super) fn source_at(url: &str) -> String {
    format!("{ADDRESS}{url}")
}

/// Asks for the address of a file, and fetches it from there with the token. The address is valid
/// for minutes only, so an expired one is requested once more.
pub(super) async fn media(
    transport: &dyn Transport,
    access: &ApiSettings<'_>,
    source: &str,
    limit: usize,
) -> Result<MediaFile, ProviderError> {
    if let Some(url) = source.strip_prefix(ADDRESS) {
        return reported(transport, access, url, limit).await;
    }
    let Some(id) = source.strip_prefix(SOURCE) else {
        return Ok(MediaFile::At(source.to_owned()));
    };
    for _ in 0..2 {
        let Some(url) = address(transport, access, id, limit).await? else {
            return Ok(MediaFile::Gone);
        };
        if !gets_token(access, &url) {
            return Ok(MediaFile::At(url));
        }
        if let Some(file) = fetched(transport, access, &url, limit).await? {
            return Ok(file);
        }
    }
    Ok(MediaFile::Gone)
}

/// Whether the token may be sent to an address: only to the API's own, and by TLS to the channel's
/// hosts (R107).
fn gets_token(access: &ApiSettings<'_>, url: &str) -> bool {
    let host = secure_host(url).unwrap_or_default();
    let is_within = |domain: &&str| {
        host.strip_suffix(*domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    is_same_origin(access.base, url) || HOSTS.iter().any(is_within)
}

/// A file whose address was in the webhook.
async fn reported(
    transport: &dyn Transport,
    access: &ApiSettings<'_>,
    url: &str,
    limit: usize,
) -> Result<MediaFile, ProviderError> {
    if !gets_token(access, url) {
        return Ok(MediaFile::At(url.to_owned()));
    }
    Ok(fetched(transport, access, url, limit).await?.unwrap_or(MediaFile::Gone))
}

/// The file at an address; `None` if it is not there any more.
async fn fetched(
    transport: &dyn Transport,
    access: &ApiSettings<'_>,
    url: &str,
    limit: usize,
) -> Result<Option<MediaFile>, ProviderError> {
    let mut request = access.fetch(url).with_timeout(STEP_TIMEOUT);
    request.answer_limit = limit.saturating_add(1);
    let answer = transport.send(request).await.map_err(|error| failed(&error))?;
    match answer.status {
        200 if answer.body.len() > limit => Ok(Some(MediaFile::Gone)),
        200 => Ok(Some(MediaFile::Bytes(answer.body))),
        404 | 410 => Ok(None),
        status => Err(ProviderError::Failed(format!("HTTP {status}"))),
    }
}

/// The current address of a file; `None` if the API says that it cannot be downloaded any more, or
/// if it is too large (D31a).
async fn address(
    transport: &dyn Transport,
    access: &ApiSettings<'_>,
    id: &str,
    limit: usize,
) -> Result<Option<String>, ProviderError> {
    let request =
        access.get(&[id], &[("phone_number_id", access.number)]).with_timeout(STEP_TIMEOUT);
    let answer = transport.send(request).await.map_err(|error| failed(&error))?;
    let body = parse(&answer.body).unwrap_or(Value::Null);
    if answer.status == 200 {
        let size = integer(&body, "file_size").and_then(|size| usize::try_from(size).ok());
        if size.is_some_and(|size| size > limit) {
            return Ok(None);
        }
        let url = text(&body, "url").map(str::to_owned);
        let unknown = || ProviderError::Failed("the answer names no address".to_owned());
        return url.map(Some).ok_or_else(unknown);
    }
    missing(access, &answer, &body)
}

/// What an answer without the address of a file means.
fn missing(
    access: &ApiSettings<'_>,
    answer: &OutboundResponse,
    body: &Value,
) -> Result<Option<String>, ProviderError> {
    match GraphError::of(access, body) {
        Some(GraphError { code: 131_052, .. }) => Ok(None),
        // 100 and 33 tell that the file does not exist, or that permissions are missing: the API
        // does not tell which.
        Some(error) => Err(ProviderError::Failed(format!("{}: {}", error.code, error.text))),
        // Without an error of the API, even 404 is no word of it.
        None => Err(ProviderError::Failed(format!("HTTP {}", answer.status))),
    }
}

fn failed(error: &recado_core::transport::TransportError) -> ProviderError {
    ProviderError::Failed(transport_text(error))
}
