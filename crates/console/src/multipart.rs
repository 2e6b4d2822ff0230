//! Reading forms with a file. The token of the session stands before the file, and a file is read
//! as it is taken: what waits in memory has a bound (R420, R425, R352).

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use http::header::CONTENT_TYPE;
use http_body_util::BodyExt;
use multer::{Field, Multipart};
use recado_core::documents::{FileError, Frames};
use recado_core::ids::CompanyId;
use recado_http_hyper::form_frames::{FormFrames, Taken};
use tokio::time::{Instant, timeout_at};

use crate::ask::Ask;
use crate::body::{BoxError, RequestBody, erase};
use crate::csrf::{self, CsrfToken};
use crate::places::{Place, Places};
use crate::refusal::Refusal;

/// The most parts of a form.
const MAX_PARTS: usize = 20;
/// The most bytes of a part that is no file.
const FIELD_BYTES: usize = 16 * 1024;
/// How long a form may take to arrive.
const WHOLE: Duration = Duration::from_secs(5 * 60);
/// How many bytes a second of a form have to arrive, after the first while.
const PACE: u64 = 64 * 1024;
/// The name of the part with the file.
const FILE: &str = "file";

/// A form with a file, part by part.
pub(crate) struct Form {
    parts: Multipart<'static>,
    taken: Taken,
    csrf: CsrfToken,
    is_ours: bool,
    seen: usize,
    company: CompanyId,
    files: Places,
}

/// A part of a form.
pub(crate) enum Part {
    /// A field, by its name.
    Field(String, String),
    /// The file.
    File(Box<FilePart>),
}

/// A file that is still to be read. It has one of the places for files (R425).
pub(crate) struct FilePart {
    /// Its name, perhaps empty.
    pub(crate) filename: String,
    /// Its type, as the browser says it.
    pub(crate) mimetype: Option<String>,
    field: Field<'static>,
    taken: Taken,
    place: Place,
}

/// A file in memory, which keeps its place.
pub(crate) struct Held {
    /// Its name, perhaps empty.
    pub(crate) filename: String,
    /// Its content.
    pub(crate) bytes: Vec<u8>,
    /// Given back when the file is dropped.
    pub(crate) place: Place,
}

impl Form {
    /// The form of a request, whose body is taken.
    ///
    /// # Errors
    ///
    /// [`Refusal::Unreadable`] for what is no form.
    pub(crate) fn of(ask: &mut Ask) -> Result<Self, Refusal> {
        let said = ask.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let boundary = said.and_then(|said| multer::parse_boundary(said).ok());
        let boundary = boundary.ok_or(Refusal::Unreadable)?;
        let body = std::mem::replace(&mut ask.body, erase(http_body_util::Empty::new()));
        let (frames, taken) = FormFrames::new(timed(body, ask.shared.options.body_timeout));
        let header = ask.headers.get(csrf::HEADER).and_then(|value| value.to_str().ok());
        Ok(Self {
            parts: Multipart::new(frames, boundary),
            taken,
            is_ours: header.is_some_and(|shown| ask.visit.csrf.matches(shown)),
            csrf: ask.visit.csrf.clone(),
            seen: 0,
            company: ask.visit.company.id,
            files: ask.shared.received.clone(),
        })
    }

    /// The next part; `None` at the end. The token is none of them.
    ///
    /// # Errors
    ///
    /// [`Refusal::Forged`] for a part that stands before the token of the session,
    /// [`Refusal::TooLarge`] for a field that is too long, [`Refusal::Unavailable`] when all places
    /// for files are taken, [`Refusal::Unreadable`] for anything that is no such form.
    pub(crate) async fn next(&mut self) -> Result<Option<Part>, Refusal> {
        loop {
            let field = self.parts.next_field().await.map_err(|_| Refusal::Unreadable)?;
            let Some(field) = field else { return Ok(None) };
            self.seen += 1;
            if self.seen > MAX_PARTS {
                return Err(Refusal::Unreadable);
            }
            let name = field.name().unwrap_or_default().to_owned();
            if name == csrf::FIELD {
                self.is_ours = self.csrf.matches(&text(field, &self.taken).await?);
            } else if !self.is_ours {
                return Err(Refusal::Forged);
            } else if name == FILE {
                return self.file(field).await.map(|file| Some(Part::File(Box::new(file))));
            } else {
                let text = text(field, &self.taken).await?;
                return Ok(Some(Part::Field(name, text)));
            }
        }
    }

    /// The file, when nothing else of the form matters.
    ///
    /// # Errors
    ///
    /// As of [`Form::next`]; a form without a file is [`Refusal::Unreadable`], or
    /// [`Refusal::Forged`] if it has no token either.
    pub(crate) async fn only_file(mut self) -> Result<FilePart, Refusal> {
        while let Some(part) = self.next().await? {
            if let Part::File(file) = part {
                return Ok(*file);
            }
        }
        Err(self.without_file())
    }

    /// Why a form that has no file is refused.
    pub(crate) const fn without_file(&self) -> Refusal {
        if self.is_ours { Refusal::Unreadable } else { Refusal::Forged }
    }

    async fn file(&self, field: Field<'static>) -> Result<FilePart, Refusal> {
        let place = self.files.enter(self.company).await.ok_or(Refusal::Unavailable)?;
        Ok(FilePart {
            filename: field.file_name().unwrap_or_default().to_owned(),
            mimetype: field.content_type().map(ToString::to_string),
            taken: self.taken.clone(),
            field,
            place,
        })
    }
}

impl FilePart {
    /// Its bytes as they come, for what stores them as they come.
    pub(crate) fn into_frames(self) -> Frames<'static> {
        let Self { field, taken, place, .. } = self;
        let frames = field.map(move |chunk| {
            // The place is given back with the stream.
            let _ = &place;
            let chunk = chunk.map_err(|error| FileError(error.to_string()))?;
            taken.add(chunk.len());
            Ok(Vec::from(chunk))
        });
        frames.boxed()
    }

    /// The whole file.
    ///
    /// # Errors
    ///
    /// [`Refusal::TooLarge`] above `limit` bytes, [`Refusal::Unreadable`] if it breaks off.
    pub(crate) async fn whole(self, limit: usize) -> Result<Held, Refusal> {
        let Self { filename, field, taken, place, .. } = self;
        let bytes = whole(field, &taken, limit).await?;
        Ok(Held { filename, bytes, place })
    }
}

async fn text(field: Field<'static>, taken: &Taken) -> Result<String, Refusal> {
    let bytes = whole(field, taken, FIELD_BYTES).await?;
    String::from_utf8(bytes).map_err(|_| Refusal::Unreadable)
}

async fn whole(mut field: Field<'static>, taken: &Taken, limit: usize) -> Result<Vec<u8>, Refusal> {
    let mut bytes = BytesMut::new();
    while let Some(chunk) = field.chunk().await.map_err(|_| Refusal::Unreadable)? {
        taken.add(chunk.len());
        if bytes.len() + chunk.len() > limit {
            return Err(Refusal::TooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes.into())
}

/// R425. The frames of a body, which may pause for a while, has to keep a pace on the whole, and
/// has to be whole in time.
fn timed(
    body: RequestBody,
    pause: Duration,
) -> impl Stream<Item = Result<Bytes, BoxError>> + Send + 'static {
    let began = Instant::now();
    let frames = stream::try_unfold((body, 0_u64), move |(mut body, arrived)| async move {
        let due = began + pause + Duration::from_secs(arrived / PACE);
        let end = due.min(began + WHOLE).min(Instant::now() + pause);
        let frame = timeout_at(end, body.frame()).await;
        let frame = frame.map_err(|_| BoxError::from("the body is too slow"))?;
        let Some(frame) = frame.transpose()? else { return Ok(None) };
        let data = frame.into_data().unwrap_or_default();
        let arrived = arrived + data.len() as u64;
        Ok::<_, BoxError>(Some((data, (body, arrived))))
    });
    frames.into_stream()
}

#[cfg(test)]
mod tests;
