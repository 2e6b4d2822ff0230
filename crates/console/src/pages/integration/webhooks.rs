//! The list of webhooks.

use maud::{Markup, html};
use recado_core::access::OperatorAction;
use recado_core::webhooks::WebhookView;

use super::{WEBHOOKS, parts};
use crate::ask::Ask;
use crate::reply::{Outcome, Reply};
use crate::view::empty::{Tone, badge, empty};
use crate::view::layout::Area;
use crate::view::table::table;
use crate::view::when::when;
use crate::visit::Visit;

/// Whether a webhook gets deliveries, in a word.
pub(super) fn state(visit: &Visit, is_active: bool) -> Markup {
    match is_active {
        true => badge(Tone::Good, &visit.t("integration-active")),
        false => badge(Tone::Plain, &visit.t("integration-inactive")),
    }
}

pub(super) async fn list(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let all = visit.recado.webhooks().all(visit.company.id).await?;
    let columns = ["url", "events", "state", "created"]
        .map(|name| visit.t(&format!("integration-column-{name}")));
    let rows: Vec<Vec<Markup>> = all.iter().map(|webhook| row(visit, webhook)).collect();
    let body = html! {
        (parts(visit, WEBHOOKS))
        p { (visit.t("integration-webhooks-about")) }
        @if visit.may(OperatorAction::CreateWebhook) {
            p { a.button href="/console/integration/webhooks/new" {
                (visit.t("integration-webhook-new"))
            } }
        }
        @if rows.is_empty() {
            (empty(&visit.t("integration-webhooks-none")))
        } @else {
            (table(&visit.t("integration-webhooks"), &columns, &rows))
        }
    };
    Reply::page(Area::Integration, visit.t("integration-webhooks"), body)
}

fn row(visit: &Visit, webhook: &WebhookView) -> Vec<Markup> {
    let path = format!("/console/integration/webhooks/{}", webhook.id);
    vec![
        html! { a.break href=(path) { (webhook.url) } },
        html! { (webhook.events.join(", ")) },
        state(visit, webhook.is_active),
        when(visit, webhook.created_at),
    ]
}
