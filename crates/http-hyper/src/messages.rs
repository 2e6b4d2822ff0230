//! The public API's messages (4.6, 4.7).

use recado_core::access::Scope;
use recado_core::ids::ContactId;
use recado_core::messages::{Direction, MessageListItem, MessageStatus, MessageType, MessageView};
use recado_core::page::Pagination;

use crate::answer::Answer;
use crate::call::PublicCall;
use crate::error::Outcome;
use crate::openapi::{Operation, ParamKind, QueryParam};
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::public(verb::GET, ALL, Scope::MessagesRead, |c| Box::pin(list(c)), doc_list)
        .query(QUERY),
    Route::public(
        verb::GET,
        OF_CONTACT,
        Scope::MessagesRead,
        |c| Box::pin(list_of_contact(c)),
        |mut op| {
            let pagination = vec![op.refer::<Pagination>()];
            op.says("listContactMessages", "List the messages of a contact")
                .more("Newest first.")
                .pages::<MessageView>(pagination)
        },
    )
    .query(CONTACT_QUERY),
];

const ALL: &str = "/api/v1/messages";
const OF_CONTACT: &str = "/api/v1/contacts/{id}/messages";

/// The parameters of the general listing.
pub(crate) const QUERY: &[QueryParam] = &[
    QueryParam::new("contact_id", ParamKind::Uuid, "Of this contact."),
    QueryParam::new("connection_id", ParamKind::Uuid, "Through this connection."),
    DIRECTION,
    QueryParam::new("type", ParamKind::Words(MessageType::WORDS), "Of this type."),
    QueryParam::new("status", ParamKind::Words(MessageStatus::WORDS), "In this status."),
    SEARCH,
    FROM,
    TO,
    PAGE,
    LIMIT,
];

const CONTACT_QUERY: &[QueryParam] = &[DIRECTION, SEARCH, FROM, TO, PAGE, LIMIT];

const DIRECTION: QueryParam =
    QueryParam::new("direction", ParamKind::Words(Direction::WORDS), "Going this way.");
const SEARCH: QueryParam = QueryParam::new(
    "search",
    ParamKind::Text,
    "With this text in the content, the caption or the file name, without case and accents; from 3 to \
     200 characters.",
);
pub(crate) const FROM: QueryParam = QueryParam::new(
    "from",
    ParamKind::Text,
    "`created_at` at or after this timestamp, or the beginning of this date (UTC).",
);
pub(crate) const TO: QueryParam = QueryParam::new(
    "to",
    ParamKind::Text,
    "`created_at` at or before this timestamp, or the end of this date (UTC).",
);
pub(crate) const PAGE: QueryParam = QueryParam::new("page", ParamKind::Page, "From 1.");
pub(crate) const LIMIT: QueryParam =
    QueryParam::new("limit", ParamKind::Limit, "Records per page.");

fn doc_list(mut op: Operation) -> Operation {
    let pagination = vec![op.refer::<Pagination>()];
    op.says("listMessages", "List messages")
        .more("Newest first. To total costs, count each `prosa.consumption_id` once.")
        .pages::<MessageListItem>(pagination)
}

async fn list(call: PublicCall) -> Outcome {
    let listed = call.recado.messages().list(&call.who, &call.params).await?;
    Answer::page(listed.items, listed.pagination)
}

async fn list_of_contact(call: PublicCall) -> Outcome {
    let id = call.path.id("id", ContactId::parse);
    let listed = call.recado.messages().list_of_contact(&call.who, id, &call.params).await?;
    Answer::page(listed.items, listed.pagination)
}
