//! A connection: its facts and settings, and what can be done with it.

use maud::{Markup, html};
use recado_core::access::OperatorAction;
use recado_core::connections::{Capability, ConnectionView, GatewayView};
use recado_core::ids::ConnectionId;
use serde_json::Value;

use super::list::{not_understood, state};
use super::strip::Day;
use super::{LIST, id, page_of};
use crate::ask::Ask;
use crate::reply::{Outcome, Reply};
use crate::view::confirm::confirm;
use crate::view::empty::{Tone, empty};
use crate::view::layout::Area;
use crate::view::secret::act;
use crate::view::table::{facts, table};
use crate::view::toast::notice;
use crate::view::when::when;
use crate::visit::Visit;

/// What this process knows of a connection's gateway; `None` if it has no such gateway.
pub(super) fn gateway_of(visit: &Visit, connection: &ConnectionView) -> Option<GatewayView> {
    let mut gateways = visit.recado.connections().gateways().into_iter();
    gateways.find(|gateway| gateway.name == connection.gateway)
}

pub(super) async fn show(ask: Ask) -> Outcome {
    page(&ask.visit, id(&ask), html! {}).await
}

async fn page(visit: &Visit, id: ConnectionId, news: Markup) -> Outcome {
    let connection = visit.recado.connections().get(visit.company.id, id).await?;
    let gateway = gateway_of(visit, &connection);
    let states = visit.recado.connections().statuses(visit.company.id, id).await?;
    let body = html! {
        p { a href=(LIST) { (visit.t("connections-back")) } }
        (news)
        (known(visit, &connection))
        (acts(visit, &connection, gateway.as_ref()))
        (Day::new(visit, states).whole(visit))
        h2 { (visit.t("connections-settings")) }
        (settings(visit, &connection, gateway.as_ref()))
    };
    Reply::page(Area::Connections, connection.name.clone(), body)
}

fn known(visit: &Visit, connection: &ConnectionView) -> Markup {
    let name = |key: &str| visit.t(&format!("connections-column-{key}"));
    let heard = html! {
        @match connection.last_heard_at {
            Some(at) => (when(visit, at)),
            None => (visit.t("connections-never-heard")),
        }
    };
    facts(&[
        (name("status"), state(visit, connection)),
        (name("heard"), heard),
        (name("not-understood"), not_understood(connection.not_understood)),
        (name("identifier"), html! { bdi { (connection.identifier) } }),
        (name("kind"), html! { (visit.word_of("connections-kind", connection.kind.as_str())) }),
        (name("gateway"), html! { (connection.gateway.as_str()) }),
        (
            name("webhook"),
            html! {
                @match &connection.webhook_url {
                    Some(url) => code.break { (url) },
                    None => "–",
                }
            },
        ),
        (name("created"), when(visit, connection.created_at)),
        (name("updated"), when(visit, connection.updated_at)),
    ])
}

fn acts(visit: &Visit, connection: &ConnectionView, gateway: Option<&GatewayView>) -> Markup {
    let to = |act: &str| format!("{}/{act}", page_of(connection.id));
    let can = |what: Capability| gateway.is_some_and(|gateway| gateway.can.contains(&what));
    html! {
        div.buttons {
            @if visit.may(OperatorAction::ReadPairingCode) && can(Capability::Qr) {
                a.button href=(to("pairing")) { (visit.t("connections-pair")) }
            }
            @if visit.may(OperatorAction::CheckConnection) && can(Capability::State) {
                (act(visit, &to("check"), &visit.t("connections-check")))
            }
            @if visit.may(OperatorAction::ListGroups) {
                a.button href=(to("groups")) { (visit.t("connections-groups")) }
            }
            @if visit.may(OperatorAction::ListUnknownEvents) {
                a.button href=(to("unknown")) { (visit.t("connections-unknown")) }
            }
            @if visit.may(OperatorAction::UpdateConnection) {
                a.button href=(to("edit")) { (visit.t("connections-edit")) }
            }
            @if visit.may(OperatorAction::DeleteConnection) {
                (confirm(visit, &to("delete"), &visit.t("connections-delete"),
                    &visit.t("connections-delete-ask")))
            }
        }
    }
}

/// A setting as people read it.
pub(super) fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// R428. The settings as the gateway describes them: of a secret only that it is one.
fn settings(visit: &Visit, connection: &ConnectionView, gateway: Option<&GatewayView>) -> Markup {
    let Some(gateway) = gateway else {
        return notice(Tone::Warn, &visit.t("connections-no-gateway"));
    };
    let columns = ["setting", "value"].map(|name| visit.t(&format!("connections-column-{name}")));
    let rows: Vec<Vec<Markup>> = gateway
        .settings
        .iter()
        .map(|setting| {
            let value = connection.settings.get(&setting.name);
            vec![
                html! { code { (setting.name) } },
                html! {
                    @if setting.secret {
                        (visit.t("connections-secret"))
                    } @else {
                        @match value {
                            Some(value) => span.break { (written(value)) },
                            None => "–",
                        }
                    }
                },
            ]
        })
        .collect();
    if rows.is_empty() {
        return empty(&visit.t("connections-no-settings"));
    }
    table(&visit.t("connections-settings"), &columns, &rows)
}

pub(super) async fn check(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let reported = visit.recado.connections().check(visit.company.id, id(&ask)).await?;
    let news = match &reported {
        Some(reported) => html! {
            (notice(Tone::Good, &visit.t("connections-answered")))
            @if let Some(detail) = &reported.detail {
                pre.code tabindex="0" { code { (pretty(detail)) } }
            }
        },
        None => notice(Tone::Warn, &visit.t("connections-no-answer")),
    };
    page(visit, id(&ask), news).await
}

/// JSON with its parts on lines of their own.
pub(super) fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

pub(super) async fn delete(ask: Ask) -> Outcome {
    ask.visit.recado.connections().delete(ask.visit.company.id, id(&ask)).await?;
    Reply::goto(LIST)
}
