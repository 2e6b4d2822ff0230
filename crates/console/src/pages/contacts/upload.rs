//! Reading a form with one file. The token of the session stands before the file.

use bytes::BytesMut;
use futures_util::{StreamExt, stream};
use http::header::CONTENT_TYPE;
use http_body_util::BodyExt;
use multer::Multipart;

use crate::ask::Ask;
use crate::csrf;
use crate::refusal::Refusal;

/// The most bytes of a field that is no file.
const FIELD_BYTES: usize = 1024;

/// A file of a form.
#[derive(Debug)]
pub(super) struct Uploaded {
    pub(super) filename: String,
    pub(super) bytes: Vec<u8>,
}

/// The file of the field `file`.
///
/// # Errors
///
/// [`Refusal::Forged`] without the token of the session, [`Refusal::TooLarge`] above `limit`
/// bytes, [`Refusal::Unreadable`] for anything that is no such form.
pub(super) async fn file(ask: &mut Ask, limit: usize) -> Result<Uploaded, Refusal> {
    let said = ask.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let boundary = said.and_then(|said| multer::parse_boundary(said).ok());
    let boundary = boundary.ok_or(Refusal::Unreadable)?;
    let body = std::mem::replace(&mut ask.body, crate::body::erase(http_body_util::Empty::new()));
    let pause = ask.shared.options.body_timeout;
    let frames = stream::unfold(body, move |mut body| async move {
        let frame = match tokio::time::timeout(pause, body.frame()).await {
            Ok(frame) => frame?,
            Err(_) => Err("the body stands still".into()),
        };
        Some((frame.map(|frame| frame.into_data().unwrap_or_default()), body))
    });
    let mut form = Multipart::new(frames.boxed(), boundary);
    let header = ask.headers.get(csrf::HEADER).and_then(|value| value.to_str().ok());
    let mut is_ours = header.is_some_and(|shown| ask.visit.csrf.matches(shown));
    while let Some(mut field) = form.next_field().await.map_err(|_| Refusal::Unreadable)? {
        let name = field.name().unwrap_or_default().to_owned();
        let most = if name == "file" { limit } else { FIELD_BYTES };
        if name == "file" && !is_ours {
            return Err(Refusal::Forged);
        }
        let filename = field.file_name().unwrap_or_default().to_owned();
        let mut bytes = BytesMut::new();
        while let Some(chunk) = field.chunk().await.map_err(|_| Refusal::Unreadable)? {
            if bytes.len() + chunk.len() > most {
                return Err(Refusal::TooLarge);
            }
            bytes.extend_from_slice(&chunk);
        }
        if name == csrf::FIELD {
            is_ours = str::from_utf8(&bytes).is_ok_and(|shown| ask.visit.csrf.matches(shown));
        } else if name == "file" {
            return Ok(Uploaded { filename, bytes: bytes.to_vec() });
        }
    }
    Err(Refusal::Unreadable)
}
