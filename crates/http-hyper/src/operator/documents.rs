//! Documents of contacts (D26, D70).

use recado_core::access::OperatorAction;
use recado_core::documents::Document;
use recado_core::ids::{ContactId, DocumentId};
use recado_core::messages::KeptFile;

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::file_answer;
use crate::openapi::{ParamKind, QueryParam};
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::GET,
        COLLECTION,
        OperatorAction::ListDocuments,
        |c| Box::pin(list(c)),
        |op| op.does("List the documents of a contact").lists::<Document>(),
    ),
    Route::company(
        verb::POST,
        COLLECTION,
        OperatorAction::AttachDocument,
        |c| Box::pin(attach(c)),
        |op| {
            op.does("Attach a document to a contact")
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
        OperatorAction::ReadDocument,
        |c| Box::pin(read(c)),
        |op| {
            op.does("Read the bytes of a document")
                .more("A `Range` of bytes is answered with 206.")
                .answers_file("application/octet-stream")
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
    let document = call.recado.documents().find(call.who.id, contact(&call), id).await?;
    let file = KeptFile::Document(document);
    file_answer::answer(&call.recado, &file, "application/octet-stream", call.wanted, None).await
}
