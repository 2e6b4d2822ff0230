//! The list of connections.

use maud::{Markup, html};
use recado_core::access::OperatorAction;
use recado_core::connections::{ConnectionView, ShownStatus};

use super::page_of;
use super::strip::Day;
use crate::ask::Ask;
use crate::reply::{Outcome, Reply};
use crate::view::empty::{Tone, badge, empty};
use crate::view::layout::Area;
use crate::view::table::table;
use crate::view::when::when_short;
use crate::visit::Visit;

/// The state of a connection.
pub(super) fn state(visit: &Visit, connection: &ConnectionView) -> Markup {
    let tone = match connection.status {
        ShownStatus::Connected => Tone::Good,
        ShownStatus::Disconnected => Tone::Warn,
        ShownStatus::Unavailable => Tone::Bad,
    };
    html! {
        (badge(tone, &visit.word_of("connections-status", connection.status.as_str())))
        @if !connection.is_active { " " (badge(Tone::Plain, &visit.t("connections-inactive"))) }
    }
}

/// How many events were not understood, as a warning where there are some.
pub(super) fn not_understood(count: u64) -> Markup {
    html! { @if count == 0 { "0" } @else { (badge(Tone::Warn, &count.to_string())) } }
}

pub(super) async fn list(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let all = visit.recado.connections().all(visit.company.id).await?;
    let columns =
        ["name", "identifier", "kind", "gateway", "status", "day", "heard", "not-understood"]
            .map(|name| visit.t(&format!("connections-column-{name}")));
    let mut days = Vec::with_capacity(all.len());
    for connection in &all {
        let states = visit.recado.connections().statuses(visit.company.id, connection.id).await?;
        days.push(Day::new(visit, states));
    }
    let row = |(connection, day): (&ConnectionView, &Day)| -> Vec<Markup> {
        vec![
            html! { a href=(page_of(connection.id)) { bdi { (connection.name) } } },
            html! { bdi { (connection.identifier) } },
            html! { (visit.word_of("connections-kind", connection.kind.as_str())) },
            html! { (connection.gateway.as_str()) },
            state(visit, connection),
            day.strip(visit),
            html! {
                @match connection.last_heard_at {
                    Some(at) => (when_short(visit, at)),
                    None => "–",
                }
            },
            not_understood(connection.not_understood),
        ]
    };
    let rows: Vec<Vec<Markup>> = all.iter().zip(&days).map(row).collect();
    let body = html! {
        @if visit.may(OperatorAction::CreateConnection) {
            p { a.button href="/console/connections/new" { (visit.t("connections-new")) } }
        }
        @if rows.is_empty() {
            (empty(&visit.t("connections-empty")))
        } @else {
            (table(&visit.t("connections-title"), &columns, &rows))
        }
    };
    Reply::page(Area::Connections, visit.t("connections-title"), body)
}
