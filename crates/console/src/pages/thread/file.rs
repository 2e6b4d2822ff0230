//! The files of messages: shown in the conversation, and read by an address of their own (R424).

use http::header::{
    ACCEPT_RANGES, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, HeaderValue, RANGE, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, StatusCode};
use maud::{Markup, html};
use recado_core::documents::FileReader;
use recado_core::ids::{ContactId, MessageId};
use recado_core::messages::{KeptFile, MessageView};

use super::blocks::outward;
use super::{Here, id, page_of};
use crate::ask::Ask;
use crate::body;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::visit::Visit;

/// The types that a browser shows within the page. None of them can hold a script: no HTML, no SVG.
const INLINE: [&str; 16] = [
    "image/jpeg",
    "image/png",
    "image/webp",
    "image/gif",
    "image/heic",
    "audio/aac",
    "audio/amr",
    "audio/mpeg",
    "audio/mp4",
    "audio/ogg",
    "audio/wav",
    "audio/webm",
    "video/mp4",
    "video/3gpp",
    "video/webm",
    "video/quicktime",
];

/// A type without its parameters, if it may be shown within a page.
pub(super) fn inline_type(mimetype: &str) -> Option<&'static str> {
    let bare = mimetype.split(';').next().unwrap_or_default().trim();
    INLINE.into_iter().find(|known| known.eq_ignore_ascii_case(bare))
}

/// R424. The file of a message within the conversation, with its name.
pub(super) fn inline(visit: &Visit, contact: ContactId, message: &MessageView) -> Markup {
    let given = message.media_url.as_deref();
    let named = message.media_filename.as_deref();
    let name = named.map_or_else(|| visit.t("thread-file-unnamed"), str::to_owned);
    let Some(url) = given else {
        return html! {
            p.file { bdi { (name) } " " span.detail { (visit.t("thread-file-gone")) } }
        };
    };
    // An import may name an address of others; nothing of it is loaded by itself.
    if signature(url, visit, message.id).is_none() {
        return html! { p.file { (outward(url, &name)) } };
    }
    let path = format!("{}/files/{}", page_of(contact), message.id);
    let kind = message.media_mimetype.as_deref().and_then(inline_type).unwrap_or_default();
    html! {
        figure.file {
            @match kind.split('/').next() {
                Some("image") => { a href=(path) { img src=(path) alt=(name) loading="lazy"; } },
                Some("audio") => { audio controls preload="none" src=(path) {} },
                Some("video") => { video controls preload="none" src=(path) {} },
                _ => {}
            }
            figcaption { a href={ (path) "?download=1" } download { bdi { (name) } } }
        }
    }
}

/// The last part of the link that the core made for the file of a message of the company.
fn signature<'a>(url: &'a str, visit: &Visit, message: MessageId) -> Option<&'a str> {
    let (_, signature) = url.split_once(&format!("/media/{}/{message}/", visit.company.id))?;
    (!signature.is_empty() && !signature.contains('/')).then_some(signature)
}

/// R424. The bytes of a message's file. Only pictures, sound and videos are shown by a browser, and
/// nothing in them runs: the answer is in a sandbox, and its type is not guessed.
pub(super) async fn read(ask: Ask) -> Outcome {
    let places = ask.shared.sent.clone();
    let ask = Here::of(ask);
    let (visit, company) = (&ask.visit, ask.visit.company.id);
    let message = ask.path.id("message_id", MessageId::parse);
    let found = visit.recado.messages().get(company, message).await?;
    if found.contact_id != id(&ask) {
        return Err(Refusal::NotFound);
    }
    let url = found.message.media_url.as_deref().unwrap_or_default();
    let signature = signature(url, visit, message).ok_or(Refusal::NotFound)?;
    let linked = visit.recado.messages().linked_file(company, message, signature).await?;
    let told = found.message.media_mimetype.as_deref();
    let mimetype = linked.mimetype.or(told).and_then(inline_type);
    let size = linked.file.size();
    let part = part(&ask.headers, size);
    let (from, length) = part.unwrap_or((0, size));
    let place = places.enter(company).await.ok_or(Refusal::Unavailable)?;
    let reader = open(visit, &linked.file, from).await?.first(length);
    let mut response = body::file(reader, place);
    let headers = response.headers_mut();
    if part.is_some() {
        let range = format!("bytes {from}-{}/{size}", from + length - 1);
        headers.insert(CONTENT_RANGE, header(&range)?);
    }
    let named = found.message.media_filename.as_deref().unwrap_or(linked.file.filename());
    let is_inline = mimetype.is_some() && ask.query.get("download").is_none();
    headers.insert(CONTENT_DISPOSITION, header(&disposition(named, is_inline))?);
    let kind = mimetype.unwrap_or("application/octet-stream");
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let policy = HeaderValue::from_static(
        "sandbox; default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    );
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    if part.is_some() {
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    Ok(Reply::Raw(response))
}

fn header(text: &str) -> Result<HeaderValue, Refusal> {
    HeaderValue::from_str(text).map_err(|_| Refusal::Internal("no header value".to_owned()))
}

async fn open(visit: &Visit, file: &KeptFile, from: u64) -> Result<FileReader, Refusal> {
    match file {
        KeptFile::Document(document) => Ok(visit.recado.documents().open(document, from).await?),
        KeptFile::Upload(upload) => {
            let opened = visit.recado.uploads().open(upload, from).await;
            let opened = opened.map_err(|error| {
                tracing::warn!(%error, "a file could not be read");
                Refusal::Unavailable
            })?;
            opened.ok_or(Refusal::NotFound)
        }
    }
}

/// The first byte and the number of bytes of the one part that is asked for.
fn part(headers: &HeaderMap, size: u64) -> Option<(u64, u64)> {
    let (from, to) = headers.get(RANGE)?.to_str().ok()?.strip_prefix("bytes=")?.split_once('-')?;
    let from: u64 = from.parse().ok()?;
    let end = match to {
        "" => size,
        to => to.parse::<u64>().ok()?.saturating_add(1).min(size),
    };
    (from < end).then(|| (from, end - from))
}

/// The name in plain ASCII for old clients, and unchanged (RFC 6266).
fn disposition(filename: &str, is_inline: bool) -> String {
    let plain = |c: char| c == ' ' || c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let ascii: String = filename.chars().map(|c| if plain(c) { c } else { '_' }).collect();
    let encoded: String = filename
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect();
    let way = if is_inline { "inline" } else { "attachment" };
    format!("{way}; filename=\"{ascii}\"; filename*=UTF-8''{encoded}")
}
