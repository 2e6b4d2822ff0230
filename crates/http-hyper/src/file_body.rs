//! Reading bodies with a file in them: raw, or `multipart/form-data` (X10, X11). The file goes to
//! the object store as it comes; nothing of it stays in memory (R352).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http_body_util::BodyExt;
use multer::{Field, Multipart};
use recado_core::documents::FileError;
use recado_core::ids::CompanyId;
use recado_core::uploads::{FileRefused, MAX_FILE_BYTES, NewFile, ReceiveError, Upload};
use recado_core::{Error, Problems, Recado};
use serde_json::{Map, Value, json};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout, timeout_at};

use crate::body::{BodyError, RequestBody, check_encoding};
use crate::error::ErrorResponse;
use crate::form_frames::{FormFrames, Taken};

/// How long a body waits until it may begin; less than callers wait for an answer.
const ROOM_WAIT: Duration = Duration::from_secs(5);
/// How many bytes a second of a file have to arrive, after the first while.
const PACE: u64 = 64 * 1024;
/// The most bytes of a text part.
const MAX_TEXT: usize = 16 * 1024;
/// The most parts.
const MAX_PARTS: usize = 20;
/// The most bytes of a whole body.
const MAX_BODY: u64 = MAX_FILE_BYTES + (MAX_PARTS * MAX_TEXT + FormFrames::MAX_BESIDE) as u64;

/// How many bodies with files are read at once (R352).
#[derive(Debug)]
pub(crate) struct FileBodies(Semaphore);

impl FileBodies {
    pub(crate) fn new(at_once: usize) -> Self {
        Self(Semaphore::new(at_once.max(1)))
    }

    async fn admit(&self) -> Result<SemaphorePermit<'_>, BodyError> {
        let admitted = timeout(ROOM_WAIT, self.0.acquire()).await;
        admitted.ok().and_then(Result::ok).ok_or(BodyError::NoRoom)
    }
}

/// What came with a body.
#[derive(Debug, Default)]
pub(crate) struct FormBody {
    /// The text parts.
    pub(crate) fields: Map<String, Value>,
    /// The file, stored.
    pub(crate) file: Option<Upload>,
}

impl FormBody {
    /// By what it is compared with another body: its parts, with the file's hash (D37).
    pub(crate) fn compared(&self) -> Vec<u8> {
        let file = self.file.as_ref().map(|file| {
            json!({"sha256": file.sha256.to_string(), "size": file.size, "filename": file.filename})
        });
        json!({"fields": self.fields, "file": file}).to_string().into_bytes()
    }
}

/// Whether a body is a form.
pub(crate) fn is_form(headers: &HeaderMap) -> bool {
    let said = headers.get(CONTENT_TYPE).and_then(|said| said.to_str().ok()).unwrap_or_default();
    let bare = said.split(';').next().unwrap_or_default().trim();
    bare.eq_ignore_ascii_case("multipart/form-data")
}

/// Reads bodies with files for a company.
pub(crate) struct FileReading<'a> {
    pub(crate) recado: &'a Recado,
    pub(crate) bodies: &'a FileBodies,
    pub(crate) company: CompanyId,
    /// How long a body may pause.
    pub(crate) pause: Duration,
}

/// Why a body broke off, for the answer.
type Why = Arc<Mutex<Option<BodyError>>>;

fn set(why: &Why, fault: BodyError) {
    *why.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
}

fn fault(why: &Why) -> BodyError {
    why.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or(BodyError::Broken)
}

impl FileReading<'_> {
    /// A raw body as a file.
    pub(crate) async fn raw(
        &self,
        headers: &HeaderMap,
        body: RequestBody,
        filename: Option<&str>,
    ) -> Result<FormBody, ErrorResponse> {
        check(headers, MAX_FILE_BYTES)?;
        let _admitted = self.bodies.admit().await?;
        let why = Why::default();
        let frames = paced(body, self.pause, Arc::clone(&why));
        let mimetype = headers.get(CONTENT_TYPE).and_then(|said| said.to_str().ok());
        let file = NewFile {
            mimetype: mimetype.map(str::to_owned),
            filename: filename.map(str::to_owned),
            is_listed: false,
        };
        let file = Some(self.store(file, frames, &why).await?);
        Ok(FormBody { fields: Map::new(), file })
    }

    /// A form: text parts, and perhaps the part `file`. Nothing is left of a form that is refused.
    pub(crate) async fn form(
        &self,
        headers: &HeaderMap,
        body: RequestBody,
    ) -> Result<FormBody, ErrorResponse> {
        check(headers, MAX_BODY)?;
        let said = headers.get(CONTENT_TYPE).and_then(|said| said.to_str().ok());
        let boundary = said.and_then(|said| multer::parse_boundary(said).ok());
        let boundary = boundary.ok_or_else(|| ErrorResponse::invalid_body("it has no boundary"))?;
        let _admitted = self.bodies.admit().await?;
        let why = Why::default();
        let (frames, taken) = FormFrames::new(paced(body, self.pause, Arc::clone(&why)));
        let mut parts = Multipart::new(frames, boundary);
        let mut form = FormBody::default();
        let read = self.parts(&mut parts, &mut form, (&taken, &why)).await;
        if let (Err(_), Some(file)) = (&read, &form.file) {
            self.recado.uploads().release(self.company, file.id).await;
        }
        read.map(|()| form)
    }

    async fn parts(
        &self,
        parts: &mut Multipart<'static>,
        form: &mut FormBody,
        (taken, why): (&Taken, &Why),
    ) -> Result<(), ErrorResponse> {
        let refused = |error: &multer::Error| refusal(error, why);
        for number in 0..=MAX_PARTS {
            let Some(part) = parts.next_field().await.map_err(|error| refused(&error))? else {
                return Ok(());
            };
            if number == MAX_PARTS {
                break;
            }
            let name = part.name().unwrap_or_default().to_owned();
            if name == "file" {
                if form.file.is_some() {
                    return Err(invalid("file", "may be given once"));
                }
                form.file = Some(self.file(part, taken.clone(), why).await?);
                continue;
            }
            let text = text(part, taken).await.map_err(|fault| match fault {
                TextFault::Broken(error) => refused(&error),
                TextFault::TooLong => invalid(&name, "is too long"),
                TextFault::NoUtf8 => ErrorResponse::invalid_body("a text part is not UTF-8"),
            })?;
            let value = match (name.as_str(), text.as_str()) {
                ("is_voice", "true" | "false") => Value::Bool(text == "true"),
                _ => Value::String(text),
            };
            form.fields.insert(name, value);
        }
        Err(ErrorResponse::invalid_body(format!("it has more than {MAX_PARTS} parts")))
    }

    async fn file(
        &self,
        part: Field<'static>,
        taken: Taken,
        why: &Why,
    ) -> Result<Upload, ErrorResponse> {
        let file = NewFile {
            mimetype: part.content_type().map(ToString::to_string),
            filename: part.file_name().map(str::to_owned),
            is_listed: false,
        };
        let frames = part.map(move |chunk| match chunk {
            Ok(chunk) => {
                taken.add(chunk.len());
                Ok(chunk)
            }
            Err(error) => Err(FileError(error.to_string())),
        });
        self.store(file, frames, why).await
    }

    async fn store(
        &self,
        file: NewFile,
        frames: impl Stream<Item = Result<Bytes, FileError>> + Send + 'static,
        why: &Why,
    ) -> Result<Upload, ErrorResponse> {
        let frames = frames.map(|frame| frame.map(Vec::from)).boxed();
        let uploads = self.recado.uploads();
        let stored = uploads.receive(self.company, file, frames, MAX_FILE_BYTES).await;
        stored.map_err(|error| match error {
            Error::Rejected(ReceiveError::Cut(_)) => fault(why).into(),
            error => error.into(),
        })
    }
}

/// Why a text part cannot be read.
enum TextFault {
    Broken(multer::Error),
    TooLong,
    /// As a JSON body, a form is in UTF-8.
    NoUtf8,
}

/// A text part.
async fn text(mut part: Field<'static>, taken: &Taken) -> Result<String, TextFault> {
    let mut bytes = Vec::new();
    while let Some(chunk) = part.chunk().await.map_err(TextFault::Broken)? {
        taken.add(chunk.len());
        if bytes.len() + chunk.len() > MAX_TEXT {
            return Err(TextFault::TooLong);
        }
        bytes.extend_from_slice(&chunk);
    }
    String::from_utf8(bytes).map_err(|_| TextFault::NoUtf8)
}

fn invalid(field: &str, reason: &str) -> ErrorResponse {
    ErrorResponse::rejected(&Problems::of(field, reason))
}

/// The refusal of a form that cannot be read.
fn refusal(error: &multer::Error, why: &Why) -> ErrorResponse {
    match error {
        multer::Error::StreamReadFailed(_) | multer::Error::IncompleteStream => fault(why).into(),
        _ => ErrorResponse::invalid_body("the body is no form"),
    }
}

/// Refuses a body that says that it is too large, before any of it is read.
fn check(headers: &HeaderMap, limit: u64) -> Result<(), ErrorResponse> {
    check_encoding(headers)?;
    let declared = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    match declared.and_then(|value| value.trim().parse::<u64>().ok()) {
        Some(length) if length > limit => {
            Err(ErrorResponse::rejected(&FileRefused::TooLarge { limit: MAX_FILE_BYTES }))
        }
        _ => Ok(()),
    }
}

/// The frames of a body, which may pause for a while, and have to keep a pace on the whole.
fn paced(
    body: RequestBody,
    pause: Duration,
    why: Why,
) -> impl Stream<Item = Result<Bytes, FileError>> + Send + 'static {
    let began = Instant::now();
    let state = Some((body, 0_u64, why));
    stream::unfold(state, move |state| async move {
        let (mut body, arrived, why) = state?;
        loop {
            let due = began + pause + Duration::from_secs(arrived / PACE);
            let by = due.min(Instant::now() + pause);
            let broke_off = match timeout_at(by, body.frame()).await {
                Ok(None) => return None,
                Ok(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => {
                        let arrived = arrived + data.len() as u64;
                        return Some((Ok(data), Some((body, arrived, why))));
                    }
                    Err(_) => continue,
                },
                Ok(Some(Err(_))) => BodyError::Broken,
                Err(_) => BodyError::Slow,
            };
            set(&why, broke_off);
            return Some((Err(FileError("the body broke off".to_owned())), None));
        }
    })
}

#[cfg(test)]
mod tests;
