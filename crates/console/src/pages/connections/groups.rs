//! The groups of a connection.

use maud::{Markup, html};
use recado_core::access::OperatorAction;
use recado_core::groups::GroupView;
use recado_core::ids::ConnectionId;
use recado_core::page::PageRequest;
use recado_core::{Error, Kind, Rejection};

use super::{id, page_of};
use crate::ask::Ask;
use crate::fields::Fields;
use crate::reply::{Outcome, Reply};
use crate::view::empty::{Tone, badge, empty};
use crate::view::layout::Area;
use crate::view::pager::pager;
use crate::view::secret::act;
use crate::view::table::table;
use crate::view::toast::notice;
use crate::visit::Visit;

pub(super) async fn show(ask: Ask) -> Outcome {
    page(&ask.visit, id(&ask), &ask.query, html! {}).await
}

async fn page(visit: &Visit, id: ConnectionId, query: &Fields, news: Markup) -> Outcome {
    let connection = visit.recado.connections().get(visit.company.id, id).await?;
    let all = visit.recado.groups().all(visit.company.id, id).await?;
    let request = PageRequest::parse(&query.params(&["page", "limit"]))?;
    let skipped = usize::try_from(request.offset()).unwrap_or(usize::MAX);
    let shown = all.iter().skip(skipped).take(request.limit as usize);
    let rows: Vec<Vec<Markup>> = shown.map(|group| row(visit, group)).collect();
    let columns =
        ["group", "code", "facts"].map(|name| visit.t(&format!("connections-column-{name}")));
    let path = format!("{}/groups", page_of(id));
    let total = u64::try_from(all.len()).unwrap_or(u64::MAX);
    let body = html! {
        p { a href=(page_of(id)) { bdi { (connection.name) } } }
        (news)
        @if visit.may(OperatorAction::SyncGroups) {
            (act(visit, &path, &visit.t("connections-groups-sync")))
        }
        @if rows.is_empty() {
            (empty(&visit.t("connections-groups-empty")))
        } @else {
            (table(&visit.t("connections-groups"), &columns, &rows))
            (pager(visit, &path, query, request, total))
        }
    };
    Reply::page(Area::Connections, visit.t("connections-groups"), body)
}

fn row(visit: &Visit, group: &GroupView) -> Vec<Markup> {
    let marks = [
        (group.is_community, "connections-group-community"),
        (group.is_announcement, "connections-group-announcement"),
        (group.announce_only, "connections-group-admins-write"),
        (group.is_admin, "connections-group-admin"),
        (!group.participates, "connections-group-outside"),
    ];
    vec![
        html! { bdi { (group.subject.as_deref().unwrap_or("–")) } },
        html! { code.break { (group.code) } },
        html! {
            @for (_, key) in marks.iter().filter(|(is_so, _)| *is_so) {
                (badge(Tone::Plain, &visit.t(key))) " "
            }
        },
    ]
}

pub(super) async fn sync(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let news = match visit.recado.groups().sync(visit.company.id, id(&ask)).await {
        Ok(_) => notice(Tone::Good, &visit.t("connections-groups-synced")),
        Err(Error::Rejected(refused)) if refused.kind() != Kind::NotFound => {
            notice(Tone::Bad, &visit.language.refused(&refused))
        }
        Err(error) => return Err(error.into()),
    };
    page(visit, id(&ask), &ask.query, news).await
}
