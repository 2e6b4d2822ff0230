//! A webhook: its facts, its newest deliveries, and what can be done with it.

use maud::{Markup, html};
use recado_core::access::OperatorAction;
use recado_core::deliveries::{DeliveryFilter, DeliveryRequest, DeliveryStatus};
use recado_core::ids::WebhookId;
use recado_core::page::PageRequest;
use recado_core::webhooks::WebhookView;
use serde_json::Map;

use super::deliveries::listed;
use super::webhooks::state;
use super::{DELIVERIES, WEBHOOKS, parts};
use crate::ask::Ask;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::view::confirm::confirm;
use crate::view::empty::{Tone, empty};
use crate::view::layout::{Area, csrf_field};
use crate::view::secret::{act, secret};
use crate::view::table::facts;
use crate::view::toast::notice;
use crate::view::when::when;
use crate::visit::Visit;

/// How many of its deliveries the page of a webhook has.
const NEWEST: u32 = 10;

pub(super) async fn show(ask: Ask) -> Outcome {
    page(&ask.visit, ask.path.id("id", WebhookId::parse), html! {}).await
}

/// The page of a webhook, with news above it.
async fn page(visit: &Visit, id: WebhookId, news: Markup) -> Outcome {
    let webhook = visit.recado.webhooks().get(visit.company.id, id).await?;
    let of = |status| DeliveryFilter { status, webhook: Some(id), event: None };
    let list = async |status, limit| {
        let request = DeliveryRequest { filter: of(status), page: PageRequest::first(limit) };
        visit.recado.deliveries().list(visit.company.id, &request).await
    };
    let newest = list(None, NEWEST).await?;
    let failed = list(Some(DeliveryStatus::Failed), 1).await?.total;
    let all = format!("{DELIVERIES}?webhook_id={id}");
    let body = html! {
        (parts(visit, WEBHOOKS))
        (news)
        (known(visit, &webhook))
        (acts(visit, &webhook, failed))
        h2 { (visit.t("integration-deliveries")) }
        @if newest.items.is_empty() {
            (empty(&visit.t("integration-deliveries-none")))
        } @else {
            (listed(visit, &newest.items, None))
            p { a href=(all) {
                (visit.t_with("integration-deliveries-all", &[("total", newest.total.into())]))
            } }
        }
    };
    Reply::page(Area::Integration, visit.t("integration-webhook"), body)
}

fn known(visit: &Visit, webhook: &WebhookView) -> Markup {
    let name = |key: &str| visit.t(&format!("integration-column-{key}"));
    let mut pairs = vec![
        (name("url"), html! { span.break { (webhook.url) } }),
        (name("events"), html! { (webhook.events.join(", ")) }),
        (name("state"), state(visit, webhook.is_active)),
        (name("created"), when(visit, webhook.created_at)),
        (name("updated"), when(visit, webhook.updated_at)),
    ];
    if webhook.standard_headers {
        pairs.push((name("headers"), html! { "Standard Webhooks" }));
    }
    if let Some(until) = webhook.previous_secret_until {
        pairs.push((name("previous-secret"), when(visit, until)));
    }
    facts(&pairs)
}

fn acts(visit: &Visit, webhook: &WebhookView, failed: u64) -> Markup {
    let path = format!("/console/integration/webhooks/{}", webhook.id);
    let to = |act: &str| format!("{path}/{act}");
    html! {
        div.actions {
            @if visit.may(OperatorAction::TestWebhook) && webhook.is_active {
                (act(visit, &to("test"), &visit.t("integration-webhook-test")))
            }
            @if visit.may(OperatorAction::Redeliver) && failed > 0 {
                (act(visit, &to("redeliver"), &visit.t_with(
                    "integration-redeliver-failed", &[("total", failed.into())],
                )))
            }
            @if visit.may(OperatorAction::UpdateWebhook) {
                a.button href=(to("edit")) { (visit.t("integration-edit")) }
                form.inline method="post" action=(to("state")) {
                    (csrf_field(visit))
                    @if webhook.is_active {
                        button type="submit" { (visit.t("integration-switch-off")) }
                    } @else {
                        input type="hidden" name="is_active" value="on";
                        button type="submit" { (visit.t("integration-switch-on")) }
                    }
                }
            }
            @if visit.may(OperatorAction::RotateWebhookSecret) {
                (confirm(visit, &to("rotate"), &visit.t("integration-rotate"),
                    &visit.t("integration-webhook-rotate-ask")))
            }
            @if visit.may(OperatorAction::DeleteWebhook) {
                (confirm(visit, &to("delete"), &visit.t("integration-delete"),
                    &visit.t("integration-webhook-delete-ask")))
            }
        }
    }
}

pub(super) async fn switch(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let id = ask.path.id("id", WebhookId::parse);
    let body = ask.form.body().checked("is_active").finish();
    visit.recado.webhooks().change(visit.company.id, id, &body).await?;
    Reply::goto(format!("/console/integration/webhooks/{id}"))
}

pub(super) async fn rotate(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let id = ask.path.id("id", WebhookId::parse);
    let rotated = visit.recado.webhooks().rotate_secret(visit.company.id, id, &Map::new()).await?;
    page(visit, id, secret(visit, &visit.t("integration-webhook-secret"), &rotated.secret)).await
}

pub(super) async fn test(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let id = ask.path.id("id", WebhookId::parse);
    let sent = visit.recado.webhooks().test(visit.company.id, id).await?;
    Reply::goto(format!("{DELIVERIES}/{}", sent.id))
}

pub(super) async fn redeliver(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let id = ask.path.id("id", WebhookId::parse);
    visit.recado.webhooks().get(visit.company.id, id).await?;
    let done = visit.recado.deliveries().redeliver_failed(visit.company.id, id).await;
    let done = done.map_err(Refusal::from)?;
    let text = visit.t_with(
        "integration-redelivered",
        &[
            ("redelivered", done.redelivered.into()),
            ("passed", done.passed_over.into()),
            ("left", done.left.into()),
        ],
    );
    page(visit, id, notice(Tone::Good, &text)).await
}

pub(super) async fn delete(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let id = ask.path.id("id", WebhookId::parse);
    visit.recado.webhooks().delete(visit.company.id, id).await?;
    Reply::goto(WEBHOOKS)
}
