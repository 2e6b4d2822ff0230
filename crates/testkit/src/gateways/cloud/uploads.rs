//! Takes files that are uploaded to be sent.

use serde_json::json;

use super::{State, graph_error};
use crate::gateways::form::{FormPart, form};
use crate::gateways::{AnswerMode, FakeRequest, Reply, SendBehaviour};

/// The media types that the API takes, with what they are sent as and the most bytes.
const TYPES: &[(&str, &[&str], usize)] = &[
    ("image/jpeg", &["image"], 5 << 20),
    ("image/png", &["image"], 5 << 20),
    ("image/webp", &["sticker"], 500 << 10),
    ("video/mp4", &["video"], 16 << 20),
    ("video/3gpp", &["video"], 16 << 20),
    ("audio/aac", &["audio"], 16 << 20),
    ("audio/mp4", &["audio"], 16 << 20),
    ("audio/mpeg", &["audio"], 16 << 20),
    ("audio/amr", &["audio"], 16 << 20),
    ("audio/ogg", &["audio"], 16 << 20),
    ("text/plain", &["document"], 100 << 20),
    ("application/pdf", &["document"], 100 << 20),
    ("application/msword", &["document"], 100 << 20),
    ("application/vnd.ms-excel", &["document"], 100 << 20),
    ("application/vnd.ms-powerpoint", &["document"], 100 << 20),
    (
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        &["document"],
        100 << 20,
    ),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", &["document"], 100 << 20),
    (
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        &["document"],
        100 << 20,
    ),
];

/// A file that was uploaded to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadedFile {
    /// The id that the fake gave it.
    pub id: String,
    /// Its media type.
    pub mimetype: String,
    /// Its name in the upload.
    pub filename: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl UploadedFile {
    /// Whether it may be sent as a message of this type.
    pub(super) fn may_be(&self, kind: &str) -> bool {
        // A picture may be sent as a document, too; so may everything else.
        let known = TYPES.iter().find(|(mimetype, ..)| *mimetype == self.mimetype);
        known.is_some_and(|(_, kinds, _)| kinds.contains(&kind)) || kind == "document"
    }
}

impl State {
    /// An upload: it is checked, then the script of uploads decides its outcome.
    pub(super) fn upload(&mut self, request: &FakeRequest) -> Reply {
        if !request.query.is_empty() {
            self.violation("an upload has a query");
        }
        let file = match form(request).and_then(read) {
            Ok(file) => file,
            Err(reason) => {
                let (status, body) = graph_error(100, &reason);
                self.violation(reason);
                return Reply::json(status, &body);
            }
        };
        let behaviour = self.uploads_script.next_send();
        match behaviour {
            SendBehaviour::Refuse => return Reply::refused(),
            SendBehaviour::Error(status, body) => return Reply::json(status, &body),
            SendBehaviour::Broken(status) => {
                return Reply::bytes(status, b"<html>Service Unavailable</html>".to_vec());
            }
            _ => {}
        }
        if let Some(refusal) = refusal(&file) {
            return refusal;
        }
        let id = format!("2{:015}", self.uploaded.len() + 1);
        self.uploaded.push(UploadedFile { id: id.clone(), ..file });
        let answer = Reply::json(200, &json!({ "id": id }));
        match behaviour {
            SendBehaviour::AcceptThenDrop => answer.with_mode(AnswerMode::Drop),
            SendBehaviour::AcceptLate(wait) => answer.with_mode(AnswerMode::Late(wait)),
            SendBehaviour::AcceptWithoutId => Reply::json(200, &json!({})),
            SendBehaviour::AcceptThenError(status, body) => Reply::json(status, &body),
            _ => answer,
        }
    }
}

/// The error for a file that the API does not take.
fn refusal(file: &UploadedFile) -> Option<Reply> {
    let known = TYPES.iter().find(|(mimetype, ..)| *mimetype == file.mimetype);
    let (status, body) = match known {
        None => graph_error(
            100,
            &format!(
                "Param file must be a file with one of the following types: audio/aac, … \
                 Received file of type '{}'.",
                file.mimetype
            ),
        ),
        Some((.., limit)) if file.bytes.len() > *limit => {
            graph_error(131_053, "Media upload error: the file is too large")
        }
        Some(_) => return None,
    };
    Some(Reply::json(status, &body))
}

/// The file of an upload's form: its fields are these, each once, the file last.
fn read(parts: Vec<FormPart>) -> Result<UploadedFile, String> {
    let names: Vec<&str> = parts.iter().map(|part| &*part.name).collect();
    if names != ["messaging_product", "type", "file"] {
        return Err(format!("an upload has the fields {names:?}"));
    }
    let Ok([product, kind, file]) = <[FormPart; 3]>::try_from(parts) else {
        return Err("an upload has other fields".to_owned());
    };
    if product.body != b"whatsapp" || product.filename.is_some() {
        return Err("messaging_product is not whatsapp".to_owned());
    }
    let mimetype = String::from_utf8(kind.body).map_err(|_| "type is no text")?;
    if file.mimetype.as_ref() != Some(&mimetype) {
        return Err(format!("the file is {:?} and its type {mimetype}", file.mimetype));
    }
    let filename = file.filename.filter(|name| !name.is_empty()).ok_or("the file has no name")?;
    if file.body.is_empty() {
        return Err("the file is empty".to_owned());
    }
    Ok(UploadedFile { id: String::new(), mimetype, filename, bytes: file.body })
}
