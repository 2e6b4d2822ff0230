//! The list of inbound endpoints.

use maud::{Markup, html};
use recado_core::access::OperatorAction;
use recado_core::inbound::EndpointView;

use super::webhooks::state;
use super::{ENDPOINTS, parts};
use crate::ask::Ask;
use crate::reply::{Outcome, Reply};
use crate::view::empty::empty;
use crate::view::layout::Area;
use crate::view::table::table;
use crate::view::when::when;
use crate::visit::Visit;

/// Where an endpoint is called.
pub(super) fn address(visit: &Visit, slug: &str) -> String {
    format!("{}/api/webhooks/incoming/{slug}", visit.recado.settings().public_url)
}

pub(super) async fn list(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let all = visit.recado.inbound().all(visit.company.id).await?;
    let columns = ["slug", "mode", "state", "created"]
        .map(|name| visit.t(&format!("integration-column-{name}")));
    let row = |endpoint: &EndpointView| -> Vec<Markup> {
        let path = format!("{ENDPOINTS}/{}", endpoint.id);
        vec![
            html! { a href=(path) { (endpoint.slug) } },
            html! { (visit.word_of("integration-mode", endpoint.auth_mode.as_str())) },
            state(visit, endpoint.is_active),
            when(visit, endpoint.created_at),
        ]
    };
    let rows: Vec<Vec<Markup>> = all.iter().map(row).collect();
    let body = html! {
        (parts(visit, ENDPOINTS))
        p { (visit.t("integration-endpoints-about")) }
        @if visit.may(OperatorAction::CreateInboundEndpoint) {
            p { a.button href="/console/integration/endpoints/new" {
                (visit.t("integration-endpoint-new"))
            } }
        }
        @if rows.is_empty() {
            (empty(&visit.t("integration-endpoints-none")))
        } @else {
            (table(&visit.t("integration-endpoints"), &columns, &rows))
        }
    };
    Reply::page(Area::Integration, visit.t("integration-endpoints"), body)
}
