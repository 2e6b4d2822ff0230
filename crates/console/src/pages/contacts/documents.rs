//! The documents of a contact.

use http::Response;
use http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use maud::{Markup, html};
use recado_core::access::OperatorAction;
use recado_core::documents::MAX_DOCUMENT_BYTES;
use recado_core::ids::{ContactId, DocumentId};

use super::{id, page_of};
use crate::ask::Ask;
use crate::body::{ConsoleBody, file};
use crate::multipart::{Form, Held};
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::view::empty::empty;
use crate::view::layout::csrf_field;
use crate::view::table::table;
use crate::view::when::when;
use crate::visit::Visit;

/// The part of the page about documents.
pub(super) async fn section(visit: &Visit, contact: ContactId) -> Result<Markup, Refusal> {
    let documents = visit.recado.documents().list(visit.company.id, contact).await?;
    let page = page_of(contact);
    let rows: Vec<Vec<Markup>> = documents
        .iter()
        .map(|document| {
            let path = format!("{page}/documents/{}", document.id);
            vec![
                html! { a href=(path) download { bdi { (document.filename) } } },
                html! { (size(document.size)) },
                when(visit, document.created_at),
            ]
        })
        .collect();
    let headings =
        ["contacts-document", "contacts-size", "contacts-column-created"].map(|key| visit.t(key));
    Ok(html! {
        section aria-labelledby="documents" {
            h2 #documents { (visit.t("contacts-documents")) }
            @if rows.is_empty() {
                (empty(&visit.t("contacts-documents-empty")))
            } @else {
                (table(&visit.t("contacts-documents"), &headings, &rows))
            }
            @if visit.may(OperatorAction::AttachDocument) {
                form method="post" action={ (page) "/documents" } enctype="multipart/form-data" {
                    (csrf_field(visit))
                    div.field {
                        label for="document-file" { (visit.t("contacts-document-add")) }
                        input #document-file type="file" name="file" required;
                    }
                    button type="submit" { (visit.t("contacts-document-send")) }
                }
            }
        }
    })
}

/// A size in the units that people read.
fn size(bytes: u64) -> String {
    match bytes {
        0..=1023 => format!("{bytes} B"),
        1024..=1_048_575 => format!("{} KiB", bytes / 1024),
        _ => format!("{}.{} MiB", bytes >> 20, ((bytes & 0xF_FFFF) * 10) >> 20),
    }
}

/// Attaches a file.
pub(super) async fn attach(mut ask: Ask) -> Outcome {
    let contact = id(&ask);
    let part = Form::of(&mut ask)?.only_file().await?;
    // The place is kept until the bytes are stored.
    let Held { filename, bytes, place: _place } = part.whole(MAX_DOCUMENT_BYTES).await?;
    let (recado, company) = (&ask.visit.recado, ask.visit.company.id);
    recado.documents().attach(company, contact, &filename, bytes).await?;
    Reply::goto(format!("{}#documents", page_of(contact)))
}

/// Answers the bytes of a document, always as a file to be kept and never as a page.
pub(super) async fn read(ask: Ask) -> Outcome {
    let (visit, contact) = (&ask.visit, id(&ask));
    let document = ask.path.id("document", DocumentId::parse);
    let documents = visit.recado.documents();
    let document = documents.find(visit.company.id, contact, document).await?;
    let place = ask.shared.sent.enter(visit.company.id).await.ok_or(Refusal::Unavailable)?;
    let answer = file(documents.open(&document, 0).await?, place);
    let size = Some(document.size);
    Ok(Reply::Raw(download(&document.filename, "application/octet-stream", size, answer)))
}

/// The same answer, which a browser keeps as a file of this name.
pub(super) fn download(
    filename: &str,
    content_type: &'static str,
    size: Option<u64>,
    mut response: Response<ConsoleBody>,
) -> Response<ConsoleBody> {
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    let name: String = filename.bytes().map(encoded).collect();
    let disposition = HeaderValue::from_str(&format!("attachment; filename*=UTF-8''{name}"));
    let plain = HeaderValue::from_static("attachment");
    headers.insert(CONTENT_DISPOSITION, disposition.unwrap_or(plain));
    if let Some(size) = size {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(size));
    }
    response
}

/// A byte as RFC 8187 writes it.
fn encoded(byte: u8) -> String {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    }
}
