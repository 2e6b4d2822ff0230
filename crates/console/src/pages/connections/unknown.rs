//! What a connection's gateway sent and Recado did not understand.

use maud::{Markup, html};
use recado_core::access::OperatorAction;
use recado_core::connections::UnknownEventView;
use recado_core::ids::ConnectionId;
use recado_core::inbox::Replayed;

use super::show::pretty;
use super::{id, page_of};
use crate::ask::Ask;
use crate::reply::{Outcome, Reply};
use crate::view::empty::{Tone, empty};
use crate::view::layout::Area;
use crate::view::secret::act;
use crate::view::table::table;
use crate::view::toast::notice;
use crate::view::when::when;
use crate::visit::Visit;

/// The most steps of one request; a step reads a few events.
const STEPS: usize = 50;

pub(super) async fn show(ask: Ask) -> Outcome {
    page(&ask.visit, id(&ask), html! {}).await
}

async fn page(visit: &Visit, id: ConnectionId, news: Markup) -> Outcome {
    let connection = visit.recado.connections().get(visit.company.id, id).await?;
    let events = visit.recado.connections().unknown_events(visit.company.id, id).await?;
    let columns = ["received", "event", "reason", "body"]
        .map(|n| visit.t(&format!("connections-column-{n}")));
    let rows: Vec<Vec<Markup>> = events.iter().map(|event| row(visit, event)).collect();
    let body = html! {
        p { a href=(page_of(id)) { bdi { (connection.name) } } }
        (news)
        p { (visit.t("connections-unknown-about")) }
        @if rows.is_empty() {
            (empty(&visit.t("connections-unknown-empty")))
        } @else {
            @if visit.may(OperatorAction::ReceiveEvents) {
                (act(visit, &format!("{}/unknown", page_of(id)),
                    &visit.t("connections-replay")))
            }
            (table(&visit.t("connections-unknown"), &columns, &rows))
        }
    };
    Reply::page(Area::Connections, visit.t("connections-unknown"), body)
}

fn row(visit: &Visit, event: &UnknownEventView) -> Vec<Markup> {
    vec![
        when(visit, event.received_at),
        html! { code.break { (event.kind) } },
        html! { (visit.word_of("connections-reason", event.reason.as_str())) },
        html! {
            details {
                summary { (visit.t("connections-unknown-body")) }
                pre.code tabindex="0" { code { (pretty(&event.body)) } }
            }
        },
    ]
}

/// R428. Reads the kept events of the connection again.
pub(super) async fn replay(ask: Ask) -> Outcome {
    let (visit, id) = (&ask.visit, id(&ask));
    visit.recado.connections().get(visit.company.id, id).await?;
    let (mut all, mut cursor) = (Replayed::default(), None);
    for _ in 0..STEPS {
        let (step, next) = visit.recado.inbox().replay(visit.company.id, Some(id), cursor).await?;
        all = all.and(step);
        cursor = next;
        if cursor.is_none() {
            break;
        }
    }
    let counts = [("told", all.told.into()), ("left", all.still_unknown.into())];
    let news = visit.t_with("connections-replayed", &counts);
    page(visit, id, notice(Tone::Good, &news)).await
}
