//! Answering by a file. It goes to the object store as it comes; nothing of it stays in memory
//! (R425, R352).

use futures_util::{StreamExt, stream};
use http::header::CONTENT_TYPE;
use http_body_util::BodyExt;
use maud::{Markup, html};
use multer::{Field, Multipart};
use recado_core::Error;
use recado_core::documents::FileError;
use recado_core::gateway::FileKind;
use recado_core::ids::ContactId;
use recado_core::uploads::{MAX_FILE_BYTES, NewFile, Upload, allowed_types};
use serde_json::{Map, Value};

use super::compose::{Quote, answered, common, common_fields};
use super::send::{Once, Refused};
use super::{Here, id, page_of, show};
use crate::ask::Ask;
use crate::csrf;
use crate::fields::Fields;
use crate::refusal::Refusal;
use crate::reply::Outcome;
use crate::visit::Visit;

/// The most bytes of a field that is no file.
const FIELD_BYTES: usize = 16 * 1024;
/// The most parts of the form.
const PARTS: usize = 20;

/// The form with a file. The token comes first, and the file last: what comes before it is known
/// when the file is read.
pub(super) fn form(
    visit: &Visit,
    contact: ContactId,
    quoted: Option<&Quote>,
    is_free: bool,
) -> Markup {
    html! {
        form.answer method="post" action={ (page_of(contact)) "/file" }
            enctype="multipart/form-data" {
            (common_fields(visit, quoted, is_free))
            div.field {
                label for="file-caption" { (visit.t("thread-file-caption")) }
                input #file-caption type="text" name="caption" maxlength="1024" dir="auto";
            }
            label.check {
                input type="checkbox" name="as_document" value="on";
                " " (visit.t("thread-file-as-document"))
            }
            div.field {
                label for="file-file" { (visit.t("thread-file-file")) }
                input #file-file type="file" name="file" required;
            }
            button type="submit" { (visit.t("thread-send")) }
        }
    }
}

/// R425. Stores the file of the form and sends it under its own name.
pub(super) async fn send(mut ask: Ask) -> Outcome {
    let mut parts = parts(&mut ask)?;
    let ask = Here::of(ask);
    let header = ask.headers.get(csrf::HEADER).and_then(|value| value.to_str().ok());
    let mut is_ours = header.is_some_and(|shown| ask.visit.csrf.matches(shown));
    let mut pairs = Vec::new();
    for _ in 0..PARTS {
        let part = parts.next_field().await.map_err(|_| Refusal::Unreadable)?;
        let Some(part) = part else { break };
        let name = part.name().unwrap_or_default().to_owned();
        if name == csrf::FIELD {
            is_ours = ask.visit.csrf.matches(&text(part).await?);
        } else if !is_ours {
            return Err(Refusal::Forged);
        } else if name == "file" {
            return with_file(&ask, &Fields::new(pairs), part).await;
        } else {
            pairs.push((name, text(part).await?));
        }
    }
    Err(Refusal::Unreadable)
}

fn parts(ask: &mut Ask) -> Result<Multipart<'static>, Refusal> {
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
    Ok(Multipart::new(frames.boxed(), boundary))
}

async fn text(mut part: Field<'static>) -> Result<String, Refusal> {
    let mut bytes = Vec::new();
    while let Some(chunk) = part.chunk().await.map_err(|_| Refusal::Unreadable)? {
        if bytes.len() + chunk.len() > FIELD_BYTES {
            return Err(Refusal::TooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    String::from_utf8(bytes).map_err(|_| Refusal::Unreadable)
}

async fn with_file(ask: &Here, form: &Fields, part: Field<'static>) -> Outcome {
    let (visit, contact) = (&ask.visit, id(ask));
    let (recado, company) = (visit.recado.clone(), visit.company.id);
    let filename = part.file_name().unwrap_or_default().to_owned();
    let new = NewFile {
        mimetype: part.content_type().map(ToString::to_string),
        filename: (!filename.is_empty()).then(|| filename.clone()),
        is_listed: false,
    };
    let frames = part.map(|chunk| match chunk {
        Ok(chunk) => Ok(Vec::from(chunk)),
        Err(error) => Err(FileError(error.to_string())),
    });
    let received = recado.uploads().receive(company, new, frames.boxed(), MAX_FILE_BYTES).await;
    let upload = match received {
        Ok(upload) => upload,
        Err(Error::Rejected(refused)) => {
            return show::refused(ask, &Refused::of(&refused), form).await;
        }
        Err(error) => return Err(error.into()),
    };
    let body = body(visit, form, &filename, &upload);
    let compared = format!("{} {}", upload.sha256, Value::Object(body.clone())).into_bytes();
    let key = form.get("key").unwrap_or_default();
    let once = Once { visit, contact, operation: "file", key, compared: &compared };
    let file = upload.id;
    // What a repeat brought is carried by no message, and is removed within the hour (R348).
    let send = async move {
        let conversations = recado.conversations();
        conversations.reply_media(company, contact, &body, Some(file)).await.map(|_| ())
    };
    let sent = once.run(send).await?;
    answered(ask, sent, form).await
}

fn body(visit: &Visit, form: &Fields, filename: &str, upload: &Upload) -> Map<String, Value> {
    let is_document = form.get("as_document").is_some();
    let kind = kind_of(&upload.mimetype).filter(|_| !is_document).unwrap_or(FileKind::Document);
    let mut body = form.body().optional("caption").finish();
    if kind == FileKind::Audio {
        body.remove("caption");
    }
    body.insert("type".to_owned(), kind.as_str().into());
    if !filename.is_empty() {
        body.insert("filename".to_owned(), filename.into());
    }
    common(visit, form, &mut body);
    body
}

/// As what a file of this type is sent: as a picture, a video or sound, where the core sends such.
fn kind_of(mimetype: &str) -> Option<FileKind> {
    let kinds = [FileKind::Image, FileKind::Video, FileKind::Audio];
    kinds.into_iter().find(|kind| allowed_types(*kind, false).contains(&mimetype))
}
