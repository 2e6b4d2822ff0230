//! The public API's journal of events: for receivers that were unreachable for longer than
//! deliveries are tried.

use recado_core::access::Scope;
use recado_core::events::{EventType, JournalEntry, JournalRequest};
use serde::Serialize;
#[cfg(test)]
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::call::PublicCall;
use crate::error::Outcome;
use crate::messages::LIMIT;
use crate::openapi::{Operation, ParamKind, QueryParam};
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[Route::public(
    verb::GET,
    "/api/v1/events",
    Scope::EventsRead,
    |c| Box::pin(journal(c)),
    document,
)
.query(&[
    QueryParam::new(
        "after",
        ParamKind::Text,
        "The `pagination.position` of an earlier answer; without it the journal is read from its \
         beginning.",
    ),
    QueryParam::new("event", ParamKind::Words(PUBLIC), "Events of this type."),
    LIMIT,
])];

/// The events that the journal lists.
const PUBLIC: &[&str] = &[
    EventType::ContactCreated.as_str(),
    EventType::MessageReceived.as_str(),
    EventType::MessageSent.as_str(),
    EventType::MessageUpdated.as_str(),
    EventType::MessageStatusUpdated.as_str(),
    EventType::ContactOptedOut.as_str(),
];

fn document(mut op: Operation) -> Operation {
    let pagination = vec![op.refer::<JournalPagination>()];
    op.says("listEvents", "Read the journal of events")
        .more(
            "Oldest first, each event once, also while others are written. It reaches back as far \
             as the server keeps events. `data` is null once the contact was deleted.",
        )
        .pages::<JournalEntry>(pagination)
}

/// The position from which to continue reading the journal.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
struct JournalPagination {
    /// Events per page.
    limit: u32,
    /// Send it as `after` in the next call. It stays the same while there is nothing new, and does
    /// not expire.
    position: String,
    /// Whether more can be read at once.
    has_more: bool,
}

async fn journal(call: PublicCall) -> Outcome {
    let request = JournalRequest::parse(&call.params)?;
    let journal = call.recado.events().journal(&call.who, &request).await?;
    let (limit, position, has_more) = (journal.limit, journal.position, journal.has_more);
    Answer::page(journal.entries, JournalPagination { limit, position, has_more })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_public_event_can_be_asked_for() {
        assert!(EventType::public().map(EventType::as_str).eq(PUBLIC.iter().copied()));
    }
}
