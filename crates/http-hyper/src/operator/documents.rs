//! Documents of contacts (D26, D70).

use http::header::{CONTENT_DISPOSITION, HeaderValue};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use recado_core::documents::Document;
use recado_core::ids::{ContactId, DocumentId};

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::{ErrorResponse, Outcome};
use crate::openapi::{ParamKind, QueryParam};
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::GET,
        COLLECTION,
        |c| Box::pin(list(c)),
        |op| op.says("listDocuments", "List the documents of a contact").lists::<Document>(),
    ),
    Route::company(
        verb::POST,
        COLLECTION,
        |c| Box::pin(attach(c)),
        |op| {
            op.says("attachDocument", "Attach a document to a contact")
                .more("The body is the document itself, at most 25 MiB.")
                .raw_body()
                .makes::<Document>()
        },
    )
    .query(&[QueryParam::new("filename", ParamKind::Required, "The name of the file.")])
    .document(),
    Route::company(
        verb::GET,
        ONE,
        |c| Box::pin(read(c)),
        |op| {
            op.says("readDocument", "Read the bytes of a document")
                .answers_bytes("application/octet-stream")
        },
    ),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/contacts/{id}/documents";
const ONE: &str = "/operator/v1/companies/{company_id}/contacts/{id}/documents/{document_id}";

fn contact(call: &CompanyCall) -> ContactId {
    call.path.id("id", ContactId::parse)
}

async fn list(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.documents().list(call.who.id, contact(&call)).await?)
}

async fn attach(mut call: CompanyCall) -> Outcome {
    let filename = call.params.text("filename")?.unwrap_or_default();
    let bytes = std::mem::take(&mut call.bytes);
    let documents = call.recado.documents();
    let attached = documents.attach(call.who.id, contact(&call), filename, bytes).await?;
    Answer::created(attached)
}

async fn read(call: CompanyCall) -> Outcome {
    let id = call.path.id("document_id", DocumentId::parse);
    let documents = call.recado.documents();
    let (document, bytes) = documents.read(call.who.id, contact(&call), id).await?;
    let disposition = HeaderValue::try_from(disposition(&document.filename))
        .map_err(|_| ErrorResponse::internal("a file name is no header value"))?;
    Ok(Answer::bytes("application/octet-stream", bytes)
        .unkept()
        .with_header(CONTENT_DISPOSITION, disposition))
}

/// The characters that RFC 8187 does not require to be encoded.
const ATTR_CHARS: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');

/// `Content-Disposition` with the name twice: in plain ASCII for old clients, and unchanged (RFC
/// 6266).
pub(crate) fn disposition(filename: &str) -> String {
    let plain = |c: char| c == ' ' || c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '%' | ';');
    let ascii: String = filename.chars().map(|c| if plain(c) { c } else { '_' }).collect();
    let exact = utf8_percent_encode(filename, ATTR_CHARS);
    format!("attachment; filename=\"{ascii}\"; filename*=UTF-8''{exact}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_cannot_leave_its_quotes() {
        assert_eq!(
            disposition("a\"; filename=evil.exe\r\n"),
            "attachment; filename=\"a__ filename=evil.exe__\"; \
             filename*=UTF-8''a%22%3B%20filename%3Devil.exe%0D%0A"
        );
    }

    #[test]
    fn a_name_in_another_script_is_kept_exactly() {
        assert_eq!(
            disposition("relatório.pdf"),
            "attachment; filename=\"relat_rio.pdf\"; filename*=UTF-8''relat%C3%B3rio.pdf"
        );
    }
}
