//! The public API's contacts (4.1–4.5).

use recado_core::Code;
use recado_core::access::Scope;
use recado_core::contacts::{
    ContactDetail, ContactListItem, ContactPatch, ContactSummary, InboxStatus, ListQuery,
    NewContact, Receipt,
};
use recado_core::ids::ContactId;
use recado_core::page::Pagination;
use serde::Serialize;
#[cfg(test)]
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::call::PublicCall;
use crate::error::Outcome;
use crate::openapi::{Operation, ParamKind, QueryParam};
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::public(verb::GET, COLLECTION, Scope::ContactsRead, |c| Box::pin(list(c)), doc_list)
        .query(LIST_QUERY)
        .export(),
    Route::public(
        verb::POST,
        COLLECTION,
        Scope::ContactsWrite,
        |c| Box::pin(create(c)),
        |op| {
            op.says("createContact", "Create a contact by phone")
            .body::<NewContact>(
                r#"{"phone": "+55 11 98765-4321", "name": "Ana Lima", "email": "ana@example.com"}"#,
            )
            .answers_with_warnings::<OneContact>(201)
            .refuses(Code::NotFound)
            .refuses(Code::ContactExists)
        },
    )
    .json()
    .idempotent(),
    Route::public(
        verb::GET,
        ONE,
        Scope::ContactsRead,
        |c| Box::pin(get(c)),
        |op| {
            op.says("getContact", "Read a contact")
                .more("`lead_memory` is there only for keys with the scope `lead_memory:read`.")
                .answers::<ContactDetail>()
        },
    )
    .query(DETAIL_QUERY),
    Route::public(
        verb::PATCH,
        ONE,
        Scope::ContactsWrite,
        |c| Box::pin(update(c)),
        |op| {
            op.says("updateContact", "Change what is sent of a contact")
                .body::<ContactPatch>(r#"{"name": "Ana Souza", "city": "Recife"}"#)
                .answers_with_warnings::<OneContact>(200)
        },
    )
    .json(),
    Route::public(
        verb::DELETE,
        ONE,
        Scope::ContactsWrite,
        |c| Box::pin(delete(c)),
        |op| {
            op.says("deleteContact", "Delete a contact with its documents")
                .more(
                    "With `PURGE_FAILED` nothing was deleted. With `receipt=true` the answer has \
                     `data.receipt`.",
                )
                .done()
                .refuses(Code::PurgeFailed)
        },
    )
    .query(RECEIPT_QUERY),
];

const COLLECTION: &str = "/api/v1/contacts";
const ONE: &str = "/api/v1/contacts/{id}";

/// The filters of the list form, and its page.
const FILTERS: [QueryParam; 15] = [
    QueryParam::new(
        "search",
        ParamKind::Text,
        "A part of name, display name, e-mail, identifier or phone, whatever the case and accents.",
    ),
    QueryParam::new("source_platform", ParamKind::Text, "The channel."),
    QueryParam::new("inbox_status", ParamKind::Words(InboxStatus::WORDS), "Of the conversation."),
    QueryParam::new("pipeline_stage_id", ParamKind::Uuid, "The focus stage."),
    QueryParam::new("crm_status", ParamKind::Text, "Standing in the CRM."),
    QueryParam::new("is_ai_enabled", ParamKind::Flag, "Whether the service's AI is on."),
    QueryParam::new("is_group", ParamKind::Flag, "`true`: groups only; `false`: people only."),
    QueryParam::new("list_id", ParamKind::Uuid, "In this list."),
    QueryParam::new("tag_id", ParamKind::Uuid, "With this tag."),
    QueryParam::new("assigned_to", ParamKind::Text, "A member's id, or `none`."),
    QueryParam::new(
        "unread",
        ParamKind::Flag,
        "`true`: with a message since the last reply or `read`; `false`: without one.",
    ),
    QueryParam::new(
        "updated_since",
        ParamKind::Text,
        "`updated_at` is this timestamp, or a time of this date, or later.",
    ),
    QueryParam::new(
        "active_since",
        ParamKind::Text,
        "`last_message_at` is this timestamp, or a time of this date, or later.",
    ),
    QueryParam::new("page", ParamKind::Page, "Not with `order_by=created_at`."),
    QueryParam::new("limit", ParamKind::Limit, "Contacts per page."),
];

/// The filters, followed by `more`.
pub(crate) const fn with_filters<const N: usize>(more: &[QueryParam]) -> [QueryParam; N] {
    let mut all = [FILTERS[0]; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < FILTERS.len() { FILTERS[at] } else { more[at - FILTERS.len()] };
        at += 1;
    }
    all
}

const LIST_QUERY: &[QueryParam] = &with_filters::<{ FILTERS.len() + 3 }>(&[
    QueryParam::new("include", ParamKind::List(&["link_clicks"]), "Adds `link_clicks`."),
    QueryParam::new(
        "order_by",
        ParamKind::Words(&["last_message_at", "created_at"]),
        "`created_at` reads the whole in order of creation, by cursor: an export.",
    ),
    QueryParam::new(
        "cursor",
        ParamKind::Text,
        "The `next_cursor` of the answer before; only with `order_by=created_at` and the same \
         filters.",
    ),
]);

/// The parameter of deletions (R412).
pub(crate) const RECEIPT_QUERY: &[QueryParam] = &[QueryParam::new(
    "receipt",
    ParamKind::Flag,
    "`true`: the answer says what was removed, counted.",
)];

/// The `data` of a deletion with a receipt (R412).
#[derive(Serialize)]
pub(crate) struct Deleted {
    pub(crate) receipt: Receipt,
}

const DETAIL_QUERY: &[QueryParam] = &[QueryParam::new(
    "include",
    ParamKind::List(&["profile"]),
    "Adds the personal fields of the list form.",
)];

/// The `pagination` of an export (4.1.2).
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
struct CursorPagination {
    /// Contacts per page.
    limit: u32,
    /// Contacts that match in all.
    total: u64,
    /// Where the next page begins; null at the end.
    next_cursor: Option<String>,
}

/// The `data` of POST and PATCH (4.3, 4.4).
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
struct OneContact {
    contact: ContactSummary,
}

fn doc_list(mut op: Operation) -> Operation {
    let forms = vec![op.refer::<Pagination>(), op.refer::<CursorPagination>()];
    op.says("listContacts", "List or export contacts")
        .more(
            "By last message, page by page; or, with `order_by=created_at`, a full export by \
             cursor, which neither skips nor repeats a contact and uses the export allowance too.",
        )
        .pages::<ContactListItem>(forms)
}

async fn list(call: PublicCall) -> Outcome {
    let contacts = call.recado.contacts();
    match ListQuery::parse(&call.params)? {
        ListQuery::Pages { filter, page, clicks } => {
            let listed = contacts.page(&call.who, &filter, page, clicks).await?;
            Answer::page(listed.items, Pagination::new(page, listed.total))
        }
        ListQuery::Export(query) => {
            let listed = contacts.export(&call.who, &query).await?;
            let (limit, total, next_cursor) = (query.limit, listed.total, listed.next_cursor);
            Answer::page(listed.items, CursorPagination { limit, total, next_cursor })
        }
    }
}

async fn create(call: PublicCall) -> Outcome {
    let created = call.recado.contacts().create(&call.who, &call.body).await?;
    let contact = ContactSummary::created(&created.contact);
    Answer::created_with(OneContact { contact }, &created.warnings)
}

async fn get(call: PublicCall) -> Outcome {
    let profile = !call.params.list("include", &["profile"])?.is_empty();
    let id = call.path.id("id", ContactId::parse);
    Answer::ok(call.recado.contacts().get(&call.who, id, profile).await?)
}

async fn update(call: PublicCall) -> Outcome {
    let id = call.path.id("id", ContactId::parse);
    let updated = call.recado.contacts().update(&call.who, id, &call.body).await?;
    let contact = ContactSummary::updated(&updated.contact);
    Answer::ok_with(OneContact { contact }, &updated.warnings)
}

async fn delete(call: PublicCall) -> Outcome {
    let id = call.path.id("id", ContactId::parse);
    if call.params.bool("receipt")? == Some(true) {
        let receipt = call.recado.contacts().delete_for_receipt(&call.who, id).await?;
        return Answer::ok(Deleted { receipt });
    }
    call.recado.contacts().delete(&call.who, id).await?;
    Answer::done()
}
