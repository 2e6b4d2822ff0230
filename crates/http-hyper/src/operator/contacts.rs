//! Contacts in the operator API: import, everything stored about one, and changes that the public
//! API does not allow.

use futures_util::StreamExt;
use http::header::{CONTENT_DISPOSITION, HeaderValue};
use recado_core::Code;
use recado_core::access::OperatorAction;
use recado_core::contacts::{
    ContactChange, ContactFilter, ContactListItem, DuplicateGroup, ImportedContact, MergeBody,
    OperatorContact,
};
use recado_core::documents::FileError;
use recado_core::ids::ContactId;
use recado_core::page::{PageRequest, Pagination};
use serde::Serialize;

use crate::answer::Answer;
use crate::answer_body::Made;
use crate::call::CompanyCall;
use crate::contacts::{Deleted, RECEIPT_QUERY, with_filters};
use crate::error::{ErrorResponse, Outcome};
use crate::file_answer::Wanted;
use crate::openapi::{Operation, ParamKind, QueryParam};
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::GET,
        COLLECTION,
        OperatorAction::ListOperatorContacts,
        |c| Box::pin(list(c)),
        doc_list,
    )
    .query(LIST_QUERY),
    Route::company(
        verb::POST,
        COLLECTION,
        OperatorAction::ImportContact,
        |c| Box::pin(import(c)),
        |op| {
            op.does("Import a contact")
            .more(
                "Without events and without the uniqueness of phone. An e-mail that is taken goes \
                 to `shared_email`.",
            )
            .body::<ImportedContact>(
                r#"{"phone": "+5511912345678", "name": "Caio", "crm_status": "customer",
                    "created_at": "2024-03-01T12:00:00.000Z"}"#,
            )
            .answers_with_warnings::<OperatorContact>(201)
            .refuses(Code::ContactExists)
        },
    )
    .json(),
    Route::company(
        verb::GET,
        ONE,
        OperatorAction::GetOperatorContact,
        |c| Box::pin(get(c)),
        |op| op.does("Read everything of a contact").answers::<OperatorContact>(),
    ),
    Route::company(
        verb::PATCH,
        ONE,
        OperatorAction::PatchOperatorContact,
        |c| Box::pin(patch(c)),
        |op| {
            op.does("Change a contact as the operator")
                .body::<ContactChange>(r#"{"priority": "high", "is_pinned": true}"#)
                .answers::<OperatorContact>()
        },
    )
    .json(),
    Route::company(
        verb::DELETE,
        ONE,
        OperatorAction::DeleteOperatorContact,
        |c| Box::pin(delete(c)),
        |op| {
            op.does("Delete a contact with its documents")
                .more("With `receipt=true` the answer has `data.receipt`.")
                .answers_if_asked::<Deleted>()
                .refuses(Code::PurgeFailed)
        },
    )
    .query(RECEIPT_QUERY),
    Route::company(
        verb::GET,
        "/operator/v1/companies/{company_id}/contacts/{id}/export",
        OperatorAction::ExportContact,
        |c| Box::pin(export(c)),
        |op| {
            op.does("Export everything that is kept about a contact")
                .more(
                    "A ZIP of JSON and files, made as it is read. Its last file is \
                     `manifest.json`; a ZIP without it is not complete. 429 with `Retry-After`: \
                     as many exports are being made as may be at the same time.",
                )
                .answers_bytes("application/zip")
                .refuses(Code::RateLimited)
        },
    ),
    Route::company(
        verb::GET,
        "/operator/v1/companies/{company_id}/contacts/duplicates",
        OperatorAction::ListDuplicateContacts,
        |c| Box::pin(duplicates(c)),
        doc_duplicates,
    )
    .query(&[QueryParam::new(
        "cursor",
        ParamKind::Text,
        "The `next_cursor` of the answer before; without it the search begins.",
    )]),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/contacts/{id}/merge",
        OperatorAction::MergeContacts,
        |c| Box::pin(merge(c)),
        |op| {
            op.does("Make one contact of two that are one person")
                .more(
                    "The contact of the path stays and keeps its own fields; the other one fills \
                     in what it lacks, leaves it all that belongs to it, and is gone. Fires no \
                     webhook.",
                )
                .body::<MergeBody>(
                    r#"{"other_contact_id": "01939b5e-0000-7000-8000-000000000007"}"#,
                )
                .answers::<OperatorContact>()
        },
    )
    .json(),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/contacts";
const ONE: &str = "/operator/v1/companies/{company_id}/contacts/{id}";

const LIST_QUERY: &[QueryParam] = &with_filters::<16>(&[QueryParam::new(
    "include",
    ParamKind::List(&["link_clicks"]),
    "Adds `link_clicks`.",
)]);

fn doc_list(mut op: Operation) -> Operation {
    let pagination = vec![op.refer::<Pagination>()];
    op.does("List contacts by last message").pages::<ContactListItem>(pagination)
}

fn doc_duplicates(mut op: Operation) -> Operation {
    let pagination = vec![op.refer::<DuplicatesPagination>()];
    op.does("Find contacts that are one person")
        .more(
            "Contacts of one channel that share a number, in whichever form, each group once. A \
             call examines some contacts of the company; a page may be empty though more follow.",
        )
        .pages::<DuplicateGroup>(pagination)
}

/// How to go on searching.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
struct DuplicatesPagination {
    /// How many contacts this call examined.
    examined: usize,
    /// To be given as `cursor` of the next call; null at the end.
    next_cursor: Option<String>,
}

fn id(call: &CompanyCall) -> ContactId {
    call.path.id("id", ContactId::parse)
}

async fn list(call: CompanyCall) -> Outcome {
    let filter = ContactFilter::parse(&call.params)?;
    let page = PageRequest::parse(&call.params)?;
    let clicks = !call.params.list("include", &["link_clicks"])?.is_empty();
    let listed = call.recado.contacts().page_of(call.who.id, &filter, page, clicks).await?;
    Answer::page(listed.items, Pagination::new(page, listed.total))
}

async fn import(call: CompanyCall) -> Outcome {
    let contacts = call.recado.contacts();
    let (id, warnings) = contacts.import(&call.who, &call.body).await?;
    Answer::created_with(contacts.get_for_operator(call.who.id, id).await?, &warnings)
}

async fn get(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.contacts().get_for_operator(call.who.id, id(&call)).await?)
}

async fn patch(call: CompanyCall) -> Outcome {
    let contacts = call.recado.contacts();
    contacts.patch_as_operator(call.who.id, id(&call), &call.body).await?;
    Answer::ok(contacts.get_for_operator(call.who.id, id(&call)).await?)
}

async fn duplicates(call: CompanyCall) -> Outcome {
    let cursor = call.params.text("cursor")?.map(str::to_owned);
    let found = call.recado.contacts().duplicates(call.who.id, cursor).await?;
    let (examined, next_cursor) = (found.examined, found.next_cursor);
    Answer::page(found.groups, DuplicatesPagination { examined, next_cursor })
}

async fn merge(call: CompanyCall) -> Outcome {
    let contacts = call.recado.contacts();
    let body =
        MergeBody::parse(&call.body).map_err(|problems| ErrorResponse::rejected(&problems))?;
    contacts.merge(call.who.id, id(&call), body.other).await?;
    Answer::ok(contacts.get_for_operator(call.who.id, id(&call)).await?)
}

async fn delete(call: CompanyCall) -> Outcome {
    let (contacts, company, id) = (call.recado.contacts(), call.who.id, id(&call));
    if call.params.bool("receipt")? == Some(true) {
        let receipt = contacts.delete_of_for_receipt(company, id).await?;
        return Answer::ok(Deleted { receipt });
    }
    contacts.delete_of(company, id).await?;
    Answer::done()
}

/// HEAD starts no export. What of the contact would be logged as read it does not read.
///
/// R410.
async fn export(call: CompanyCall) -> Outcome {
    let (company, id) = (call.who.id, id(&call));
    if call.wanted == Wanted::Head {
        call.recado.contacts().get_without_memory(company, id).await?;
        return Ok(Answer::head("application/zip").unkept());
    }
    let slot = call.who.exports.admit(company).ok_or_else(ErrorResponse::too_many_exports)?;
    let export = call.recado.contacts().export_person(company, id).await?;
    let frames = export.frames().map(|frame| frame.map_err(|error| FileError(error.to_string())));
    let name = format!("attachment; filename=\"contact-{id}.zip\"");
    let name = HeaderValue::try_from(name)
        .map_err(|_| ErrorResponse::internal("a file name is no header value"))?;
    let answer = Answer::made("application/zip", Made { frames: frames.boxed(), _slot: slot });
    Ok(answer.unkept().with_header(CONTENT_DISPOSITION, name))
}
