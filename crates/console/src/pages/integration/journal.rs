//! The journal of events, newest first.

use maud::{Markup, html};
use recado_core::events::{EventType, Journal, JournalEntry, NewestRequest};
use recado_core::ids::EventId;

use super::{JOURNAL, code_block, parts, pretty};
use crate::ask::Ask;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::view::empty::empty;
use crate::view::field::{FieldErrors, select};
use crate::view::layout::Area;
use crate::view::table::{facts, table};
use crate::view::when::when;
use crate::visit::Visit;

pub(super) async fn list(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let request = NewestRequest::parse(&ask.query.params(&["before", "event", "limit"]))?;
    let found = visit.recado.events().newest(visit.company.id, &request).await?;
    let body = html! {
        (parts(visit, JOURNAL))
        (filter(&ask))
        @if found.entries.is_empty() {
            (empty(&visit.t("integration-journal-none")))
        } @else {
            (listed(visit, &found))
        }
        (ways(&ask, &found))
    };
    Reply::page(Area::Integration, visit.t("integration-journal"), body)
}

fn listed(visit: &Visit, found: &Journal) -> Markup {
    let columns =
        ["when", "event", "id"].map(|name| visit.t(&format!("integration-column-{name}")));
    let row = |entry: &JournalEntry| {
        let path = format!("{JOURNAL}/{}", entry.event_id);
        vec![
            when(visit, entry.timestamp),
            html! { (entry.event.as_str()) },
            html! { a.break href=(path) { code { (entry.event_id) } } },
        ]
    };
    let rows: Vec<Vec<Markup>> = found.entries.iter().map(row).collect();
    table(&visit.t("integration-journal"), &columns, &rows)
}

fn filter(ask: &Ask) -> Markup {
    let visit = &ask.visit;
    let any = (String::new(), visit.t("integration-any"));
    let events =
        EventType::public().map(|event| (event.as_str().to_owned(), event.as_str().to_owned()));
    let events: Vec<_> = std::iter::once(any).chain(events).collect();
    let chosen = ask.query.get("event").unwrap_or_default();
    let label = visit.t("integration-column-event");
    html! {
        form.filters method="get" action=(JOURNAL) {
            (select("event", &label, &events, chosen, &FieldErrors::default()))
            button type="submit" { (visit.t("integration-filter")) }
        }
    }
}

/// The ways to the newest events and to those before the ones that are shown.
fn ways(ask: &Ask, found: &Journal) -> Markup {
    let visit = &ask.visit;
    let to = |before: &str| format!("{JOURNAL}{}", ask.query.with("before", before));
    html! {
        nav.pager aria-label=(visit.t("pager-label")) {
            @if ask.query.filled("before").is_some() {
                a href=(to("")) { (visit.t("integration-newest")) }
            }
            @if found.has_more {
                a rel="next" href=(to(&found.position)) { (visit.t("integration-older")) }
            }
        }
    }
}

pub(super) async fn show(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let id = ask.path.id("id", EventId::parse);
    let entry = visit.recado.events().get(visit.company.id, id).await?;
    let entry = entry.ok_or(Refusal::NotFound)?;
    let name = |key: &str| visit.t(&format!("integration-column-{key}"));
    let body = html! {
        (parts(visit, JOURNAL))
        (facts(&[
            (name("event"), html! { code { (entry.event.as_str()) } }),
            (name("when"), when(visit, entry.timestamp)),
            (name("id"), html! { code.break { (entry.event_id) } }),
        ]))
        h2 { (visit.t("integration-event-json")) }
        (code_block(&pretty(&serde_json::to_string(&entry).unwrap_or_default())))
    };
    Reply::page(Area::Integration, visit.t("integration-event"), body)
}
