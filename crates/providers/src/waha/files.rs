//! The files of received messages. WAHA keeps them for minutes only, behind its key.

use recado_core::connections::Connection;
use recado_core::gateway::{MediaFile, ProviderError};
use recado_core::transport::Transport;
use serde_json::Value;

use super::api::{Api, RequestError, ask, said};
use super::ids::MessageKey;
use crate::shared::{at, boolean, is_same_origin, text_at, transport_text};

/// The prefix of the id of a message whose file has to be requested from the gateway.
const OF_MESSAGE: &str = "waha-message:";
/// The prefix of the id of a message and the address of its file.
const FILE_OF: &str = "waha-file:";
/// The most characters of a source.
const MAX_SOURCE: usize = 4_096;
/// The path of WAHA's files.
const FILES: &str = "/api/files/";

/// The source of a file that the gateway has not fetched from the channel yet.
pub(super) fn source_of_message(full_id: &str) -> String {
    format!("{OF_MESSAGE}{full_id}")
}

/// The source of a file at this address, with its message's id: once the gateway has deleted its
/// copy, the file is requested by the message.
pub(super) fn source_of_file(url: &str, full_id: Option<&str>) -> String {
    let full_id = full_id.filter(|id| !id.contains(' ') && url.contains(FILES));
    let both = full_id.map(|id| format!("{FILE_OF}{id} {url}"));
    both.filter(|source| source.chars().count() <= MAX_SOURCE).unwrap_or_else(|| url.to_owned())
}

/// The file of a message.
pub(super) async fn media(
    transport: &dyn Transport,
    connection: &Connection,
    source: &str,
    limit: usize,
) -> Result<MediaFile, ProviderError> {
    let api = Api::of(connection);
    if let Some(full_id) = source.strip_prefix(OF_MESSAGE) {
        return of_message(transport, &api, full_id, limit).await;
    }
    let kept = source.strip_prefix(FILE_OF).and_then(|both| both.split_once(' '));
    let Some((full_id, url)) = kept else {
        return Ok(download(transport, &api, source, limit).await?.unwrap_or(MediaFile::Gone));
    };
    match download(transport, &api, url, limit).await? {
        Some(file) => Ok(file),
        None => of_message(transport, &api, full_id, limit).await,
    }
}

/// The file that the gateway fetches from the channel once more.
async fn of_message(
    transport: &dyn Transport,
    api: &Api<'_>,
    full_id: &str,
    limit: usize,
) -> Result<MediaFile, ProviderError> {
    let Some(chat) = MessageKey::parse(full_id).and_then(|key| key.chat) else {
        return Ok(MediaFile::Gone);
    };
    let path = [api.session, "chats", &chat, "messages", full_id];
    let found = match ask(transport, api.get(&path, &[("downloadMedia", "true")])).await {
        Ok(found) => found,
        Err(RequestError::Status(404, Some(body))) if says_no_such_message(&body) => {
            return Ok(MediaFile::Gone);
        }
        Err(trouble) => return Err(trouble.into()),
    };
    let url = text_at(&found, &["media", "url"]).filter(|url| !url.is_empty());
    let Some(url) = url else { return without_address(&found) };
    let file = download(transport, api, url, limit).await?;
    // The gateway has only just fetched it, and fetches it again when it is asked again.
    file.ok_or_else(|| failed("the file is not at the address that the gateway gave"))
}

/// Whether a 404 says that there is no such message. The same status tells that there is no such
/// session, or that the address is not the gateway's; then the file may still be there.
fn says_no_such_message(body: &Value) -> bool {
    let said = said(body).unwrap_or_default().to_lowercase();
    said.contains("message") && said.contains("not found") && !said.contains("session")
}

/// A message that was reported without the address of its file: the gateway could not fetch it this
/// time, or the message has none (D31a).
fn without_address(message: &Value) -> Result<MediaFile, ProviderError> {
    if at(message, &["media"]).is_some() || boolean(message, "hasMedia") == Some(true) {
        return Err(failed("the gateway could not fetch the file"));
    }
    Ok(MediaFile::Gone)
}

fn failed(cause: &str) -> ProviderError {
    ProviderError::Failed(cause.to_owned())
}

/// The file at an address; `None` if it is not there any more.
async fn download(
    transport: &dyn Transport,
    api: &Api<'_>,
    url: &str,
    limit: usize,
) -> Result<Option<MediaFile>, ProviderError> {
    let Some(own) = own_address(api.base(), url) else {
        return Ok(Some(MediaFile::At(url.to_owned())));
    };
    let request = api.fetch(own).with_answer_limit(limit.saturating_add(1));
    let answer = transport
        .send(request)
        .await
        .map_err(|error| ProviderError::Failed(transport_text(&error)))?;
    match answer.status {
        200..=299 if answer.body.len() > limit => Ok(Some(MediaFile::Gone)),
        200..=299 => Ok(Some(MediaFile::Bytes(answer.body))),
        404 | 410 => Ok(None),
        status => Err(RequestError::Status(status, None).into()),
    }
}

/// The address of a file below the gateway's configured address, which may differ from the address
/// that the gateway uses for itself. `None` for a file on another server, to which the key is never
/// sent.
fn own_address(base: &str, url: &str) -> Option<String> {
    let path_of = |url: &str| {
        let (_, rest) = url.split_once("://")?;
        Some(rest.find('/').map_or_else(String::new, |start| rest[start..].to_owned()))
    };
    let (path, prefix) = (path_of(url)?, path_of(base).unwrap_or_default());
    let below = path.strip_prefix(&prefix);
    let within = below.filter(|rest| rest.starts_with(FILES));
    // A file at the configured address, but outside of `FILES`, is kept by the gateway under
    // another path.
    let beside = || below.filter(|rest| is_same_origin(base, url) && !is_of_api(rest));
    let file = within.or_else(|| path.starts_with(FILES).then_some(&*path)).or_else(beside)?;
    let name = file.split(['?', '#']).next()?.to_ascii_lowercase();
    let climbs = name.replace("%2e", ".").split(['/', '\\']).any(|part| part == "..");
    let climbs = climbs || name.contains("%2f") || name.contains("%5c");
    (!climbs).then(|| format!("{base}{file}"))
}

/// Whether a path is one of the gateway's own operations, or invalid.
fn is_of_api(path: &str) -> bool {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let first = path.split(['/', '\\']).find(|segment| !segment.is_empty() && *segment != ".");
    first.is_none_or(|first| first.contains('%') || first.eq_ignore_ascii_case("api"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_fetched_where_the_gateway_is_reached() {
        for (base, url, expected) in [
            (
                "http://waha:3000",
                "http://localhost:3000/api/files/a/x.jpg",
                Some("http://waha:3000/api/files/a/x.jpg"),
            ),
            (
                "https://gw.example/waha",
                "http://localhost:3000/api/files/x.jpg",
                Some("https://gw.example/waha/api/files/x.jpg"),
            ),
            (
                "https://gw.example/waha",
                "https://gw.example/waha/api/files/x.jpg",
                Some("https://gw.example/waha/api/files/x.jpg"),
            ),
            ("http://waha:3000", "https://bucket.example/x.jpg?sig=1", None),
            (
                "http://waha:3000",
                "http://WAHA:3000/media/x.jpg?a=1",
                Some("http://waha:3000/media/x.jpg?a=1"),
            ),
            (
                "https://gw.example/waha",
                "https://gw.example/waha/media/x.jpg",
                Some("https://gw.example/waha/media/x.jpg"),
            ),
            ("https://gw.example/waha", "https://gw.example/other/x.jpg", None),
            ("http://waha:3000", "http://waha:3001/media/x.jpg", None),
            ("http://waha:3000", "https://waha:3000/media/x.jpg", None),
            ("http://waha:3000", "http://waha:3000@evil.example/media/x.jpg", None),
            ("http://waha:3000", "http://waha:3000.evil.example/media/x.jpg", None),
            ("http://waha:3000", "http://waha:3000/media/../api/sessions", None),
            ("http://waha:3000", "http://waha:3000//api/sessions", None),
            ("http://waha:3000", "http://waha:3000/./API/sessions", None),
            ("http://waha:3000", "http://waha:3000/%61pi/sessions", None),
            ("http://waha:3000", "http://waha:3000", None),
            ("http://waha:3000", "http://waha:3000/api/filesystem", None),
            ("http://waha:3000", "http://waha:3000/api/files/../sessions", None),
            ("http://waha:3000", "http://waha:3000/api/files/%2E%2e/sessions", None),
            ("http://waha:3000", "http://waha:3000/api/files/..%2fsessions", None),
            ("http://waha:3000", "x.jpg", None),
        ] {
            assert_eq!(own_address(base, url).as_deref(), expected, "{url}");
        }
    }
}
