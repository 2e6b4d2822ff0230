//! A delivery: its body and its attempts.

use maud::{Markup, html};
use recado_core::access::OperatorAction;
use recado_core::deliveries::{AttemptView, DeliveryStatus};
use recado_core::ids::DeliveryId;

use super::deliveries::status;
use super::{DELIVERIES, code_block, parts, pretty};
use crate::ask::Ask;
use crate::reply::{Outcome, Reply};
use crate::view::empty::empty;
use crate::view::layout::Area;
use crate::view::secret::act;
use crate::view::table::facts;
use crate::view::when::when;
use crate::visit::Visit;

pub(super) async fn show(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let id = ask.path.id("id", DeliveryId::parse);
    let detail = visit.recado.deliveries().get(visit.company.id, id).await?;
    let delivery = &detail.delivery;
    let name = |key: &str| visit.t(&format!("integration-column-{key}"));
    let webhook = format!("/console/integration/webhooks/{}", delivery.webhook_id);
    let mut pairs = vec![
        (name("event"), html! { code { (delivery.event.as_str()) } }),
        (name("state"), status(visit, delivery.status)),
        (name("created"), when(visit, delivery.created_at)),
        (name("attempts"), html! { (delivery.attempts) }),
        (name("webhook"), html! { a href=(webhook) { (visit.t("integration-webhook")) } }),
        (name("id"), html! { code.break { (delivery.id) } }),
    ];
    if let Some(at) = delivery.next_attempt_at {
        pairs.push((name("next"), when(visit, at)));
    }
    if let Some(at) = delivery.delivered_at {
        pairs.push((name("delivered"), when(visit, at)));
    }
    let is_finished = delivery.status != DeliveryStatus::Pending;
    let body = html! {
        (parts(visit, DELIVERIES))
        (facts(&pairs))
        @if is_finished && detail.body.is_some() && visit.may(OperatorAction::Redeliver) {
            div.actions {
                (act(visit, &format!("{DELIVERIES}/{id}/redeliver"),
                    &visit.t("integration-redeliver")))
            }
        }
        h2 { (visit.t("integration-delivery-body")) }
        @match &detail.body {
            Some(body) => (code_block(&pretty(body))),
            None => (empty(&visit.t("integration-delivery-erased"))),
        }
        h2 { (visit.t("integration-attempts")) }
        @if detail.attempt_log.is_empty() {
            (empty(&visit.t("integration-attempts-none")))
        }
        @for attempt in &detail.attempt_log { (tried(visit, attempt)) }
    };
    Reply::page(Area::Integration, visit.t("integration-delivery"), body)
}

fn tried(visit: &Visit, attempt: &AttemptView) -> Markup {
    let name = |key: &str| visit.t(&format!("integration-column-{key}"));
    let mut pairs = vec![
        (name("started"), when(visit, attempt.started_at)),
        (name("duration"), html! { (attempt.duration_ms) " ms" }),
    ];
    if let Some(code) = attempt.status_code {
        pairs.push((name("status-code"), html! { code { (code) } }));
    }
    if let Some(error) = &attempt.error {
        pairs.push((name("error"), html! { (error) }));
    }
    html! {
        section {
            h3 { (visit.t_with("integration-attempt", &[("number", attempt.attempt.into())])) }
            (facts(&pairs))
            @if let Some(response) = &attempt.response {
                details {
                    summary { (visit.t("integration-attempt-answer")) }
                    (code_block(&pretty(response)))
                }
            }
        }
    }
}

pub(super) async fn redeliver(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let id = ask.path.id("id", DeliveryId::parse);
    visit.recado.deliveries().redeliver(visit.company.id, id).await?;
    Reply::goto(format!("{DELIVERIES}/{id}"))
}
