//! The listing of deliveries.

use maud::{Markup, html};
use recado_core::deliveries::{DeliveryRequest, DeliveryStatus, DeliveryView};
use recado_core::events::EventType;
use recado_core::webhooks::WebhookView;

use super::{DELIVERIES, parts};
use crate::ask::Ask;
use crate::reply::{Outcome, Reply};
use crate::view::empty::{Tone, badge, empty};
use crate::view::field::{FieldErrors, select};
use crate::view::layout::Area;
use crate::view::pager::pager;
use crate::view::table::table;
use crate::view::when::when;
use crate::visit::Visit;

const PARAMETERS: &[&str] = &["status", "webhook_id", "event", "page", "limit"];

/// How a delivery stands, in a word.
pub(super) fn status(visit: &Visit, status: DeliveryStatus) -> Markup {
    let tone = match status {
        DeliveryStatus::Delivered => Tone::Good,
        DeliveryStatus::Pending => Tone::Warn,
        DeliveryStatus::Failed => Tone::Bad,
    };
    badge(tone, &visit.word_of("integration-delivery", status.as_str()))
}

/// A table of deliveries; with their webhooks where they are of several.
pub(super) fn listed(
    visit: &Visit,
    items: &[DeliveryView],
    webhooks: Option<&[WebhookView]>,
) -> Markup {
    let mut names = vec!["event", "state", "created", "attempts", "next"];
    if webhooks.is_some() {
        names.push("url");
    }
    let columns: Vec<String> =
        names.iter().map(|name| visit.t(&format!("integration-column-{name}"))).collect();
    let row = |delivery: &DeliveryView| {
        let path = format!("{DELIVERIES}/{}", delivery.id);
        let mut cells = vec![
            html! { a href=(path) { (delivery.event.as_str()) } },
            status(visit, delivery.status),
            when(visit, delivery.created_at),
            html! { (delivery.attempts) },
            html! {
                @if let Some(at) = delivery.next_attempt_at { (when(visit, at)) } @else { "–" }
            },
        ];
        if let Some(all) = webhooks {
            let url = all.iter().find(|webhook| webhook.id == delivery.webhook_id);
            let url =
                url.map_or_else(|| visit.t("integration-webhook-deleted"), |it| it.url.clone());
            cells.push(html! { span.break { (url) } });
        }
        cells
    };
    let rows: Vec<Vec<Markup>> = items.iter().map(row).collect();
    table(&visit.t("integration-deliveries"), &columns, &rows)
}

pub(super) async fn list(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let request = DeliveryRequest::parse(&ask.query.params(PARAMETERS))?;
    let webhooks = visit.recado.webhooks().all(visit.company.id).await?;
    let found = visit.recado.deliveries().list(visit.company.id, &request).await?;
    let body = html! {
        (parts(visit, DELIVERIES))
        (filters(&ask, &webhooks))
        @if found.items.is_empty() {
            (empty(&visit.t("integration-deliveries-none")))
        } @else {
            (listed(visit, &found.items, Some(&webhooks)))
        }
        (pager(visit, DELIVERIES, &ask.query, request.page, found.total))
    };
    Reply::page(Area::Integration, visit.t("integration-deliveries"), body)
}

fn filters(ask: &Ask, webhooks: &[WebhookView]) -> Markup {
    let visit = &ask.visit;
    let any = || (String::new(), visit.t("integration-any"));
    let states = DeliveryStatus::ALL.iter().map(|state| {
        let word = state.as_str();
        (word.to_owned(), visit.word_of("integration-delivery", word))
    });
    let states: Vec<_> = std::iter::once(any()).chain(states).collect();
    let events =
        EventType::ALL.iter().map(|event| (event.as_str().to_owned(), event.as_str().to_owned()));
    let events: Vec<_> = std::iter::once(any()).chain(events).collect();
    let urls = webhooks.iter().map(|webhook| (webhook.id.to_string(), webhook.url.clone()));
    let urls: Vec<_> = std::iter::once(any()).chain(urls).collect();
    let none = FieldErrors::default();
    let chosen = |name: &str| ask.query.get(name).unwrap_or_default().to_owned();
    let label = |name: &str| visit.t(&format!("integration-column-{name}"));
    html! {
        form.filters method="get" action=(DELIVERIES) {
            (select("status", &label("state"), &states, &chosen("status"), &none))
            (select("event", &label("event"), &events, &chosen("event"), &none))
            (select("webhook_id", &label("url"), &urls, &chosen("webhook_id"), &none))
            button type="submit" { (visit.t("integration-filter")) }
        }
    }
}
