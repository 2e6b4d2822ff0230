//! Answering by a file. It goes to the object store as it comes; nothing of it stays in memory
//! (R425, R352).

use maud::{Markup, html};
use recado_core::Error;
use recado_core::gateway::FileKind;
use recado_core::ids::ContactId;
use recado_core::uploads::{MAX_FILE_BYTES, NewFile, ReceiveError, Upload, allowed_types};
use serde_json::{Map, Value};

use super::compose::{Quote, answered, common, common_fields, draft_kept};
use super::send::{Once, Refused};
use super::{Here, id, page_of, show};
use crate::ask::Ask;
use crate::fields::Fields;
use crate::multipart::{FilePart, Form, Part};
use crate::refusal::Refusal;
use crate::reply::Outcome;
use crate::visit::Visit;

/// The form with a file. The token comes first, and the file last: what comes before it is known
/// when the file is read.
pub(super) fn form(
    visit: &Visit,
    contact: ContactId,
    quoted: Option<&Quote>,
    is_free: bool,
    written: &Fields,
) -> Markup {
    let caption = written.get("caption").unwrap_or_default();
    html! {
        form.answer method="post" action={ (page_of(contact)) "/file" }
            enctype="multipart/form-data" {
            (common_fields(visit, quoted, is_free))
            div.field {
                label for="file-caption" { (visit.t("thread-file-caption")) }
                input #file-caption type="text" name="caption" maxlength="1024" dir="auto"
                    value=(caption) data-draft={ (contact) "-caption" };
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
            " " (draft_kept(visit))
        }
    }
}

/// R425. Stores the file of the form and sends it under its own name.
pub(super) async fn send(mut ask: Ask) -> Outcome {
    let mut form = Form::of(&mut ask)?;
    let ask = Here::of(ask);
    let mut pairs = Vec::new();
    while let Some(part) = form.next().await? {
        match part {
            Part::Field(name, text) => pairs.push((name, text)),
            Part::File(file) => return with_file(&ask, &Fields::new(pairs), *file).await,
        }
    }
    Err(form.without_file())
}

async fn with_file(ask: &Here, form: &Fields, part: FilePart) -> Outcome {
    let (visit, contact) = (&ask.visit, id(ask));
    let (recado, company) = (visit.recado.clone(), visit.company.id);
    let filename = part.filename.clone();
    let new = NewFile {
        mimetype: part.mimetype.clone(),
        filename: (!filename.is_empty()).then(|| filename.clone()),
        is_listed: false,
    };
    let frames = part.into_frames();
    let received = recado.uploads().receive(company, new, frames, MAX_FILE_BYTES).await;
    let upload = match received {
        Ok(upload) => upload,
        Err(Error::Rejected(ReceiveError::Cut(_))) => return Err(Refusal::Unreadable),
        Err(Error::Rejected(refused)) => {
            return show::refused(ask, &Refused::of(visit.language, &refused), form).await;
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
