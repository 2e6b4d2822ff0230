//! Webhooks with their deliveries, inbound endpoints, keys and the journal.

mod deliveries;
mod delivery;
mod endpoint;
mod endpoint_form;
mod endpoints;
mod journal;
mod keys;
mod webhook;
mod webhook_form;
mod webhooks;

use maud::{Markup, html};
use recado_core::access::OperatorAction;

use crate::route::Route;
use crate::view::tabs::tabs;
use crate::visit::Visit;

pub(super) const WEBHOOKS: &str = "/console/integration";
pub(super) const DELIVERIES: &str = "/console/integration/deliveries";
pub(super) const ENDPOINTS: &str = "/console/integration/endpoints";
pub(super) const KEYS: &str = "/console/integration/keys";
pub(super) const JOURNAL: &str = "/console/integration/journal";

pub(crate) const ROUTES: &[Route] = &[
    Route::get(WEBHOOKS, OperatorAction::ListWebhooks, |ask| Box::pin(webhooks::list(ask))),
    Route::get("/console/integration/webhooks/new", OperatorAction::CreateWebhook, |ask| {
        Box::pin(webhook_form::new(ask))
    }),
    Route::post("/console/integration/webhooks", OperatorAction::CreateWebhook, |ask| {
        Box::pin(webhook_form::create(ask))
    }),
    Route::get("/console/integration/webhooks/{id}", OperatorAction::GetWebhook, |ask| {
        Box::pin(webhook::show(ask))
    }),
    Route::get("/console/integration/webhooks/{id}/edit", OperatorAction::UpdateWebhook, |ask| {
        Box::pin(webhook_form::edit(ask))
    }),
    Route::post("/console/integration/webhooks/{id}", OperatorAction::UpdateWebhook, |ask| {
        Box::pin(webhook_form::change(ask))
    }),
    Route::post("/console/integration/webhooks/{id}/state", OperatorAction::UpdateWebhook, |ask| {
        Box::pin(webhook::switch(ask))
    }),
    Route::post(
        "/console/integration/webhooks/{id}/rotate",
        OperatorAction::RotateWebhookSecret,
        |ask| Box::pin(webhook::rotate(ask)),
    ),
    Route::post("/console/integration/webhooks/{id}/test", OperatorAction::TestWebhook, |ask| {
        Box::pin(webhook::test(ask))
    }),
    Route::post("/console/integration/webhooks/{id}/redeliver", OperatorAction::Redeliver, |ask| {
        Box::pin(webhook::redeliver(ask))
    }),
    Route::post(
        "/console/integration/webhooks/{id}/delete",
        OperatorAction::DeleteWebhook,
        |ask| Box::pin(webhook::delete(ask)),
    ),
    Route::get(DELIVERIES, OperatorAction::ListDeliveries, |ask| Box::pin(deliveries::list(ask))),
    Route::get("/console/integration/deliveries/{id}", OperatorAction::GetDelivery, |ask| {
        Box::pin(delivery::show(ask))
    }),
    Route::post(
        "/console/integration/deliveries/{id}/redeliver",
        OperatorAction::Redeliver,
        |ask| Box::pin(delivery::redeliver(ask)),
    ),
    Route::get(ENDPOINTS, OperatorAction::ListInboundEndpoints, |ask| {
        Box::pin(endpoints::list(ask))
    }),
    Route::get(
        "/console/integration/endpoints/new",
        OperatorAction::CreateInboundEndpoint,
        |ask| Box::pin(endpoint_form::new(ask)),
    ),
    Route::post(ENDPOINTS, OperatorAction::CreateInboundEndpoint, |ask| {
        Box::pin(endpoint_form::create(ask))
    }),
    Route::get("/console/integration/endpoints/{id}", OperatorAction::GetInboundEndpoint, |ask| {
        Box::pin(endpoint::show(ask))
    }),
    Route::post(
        "/console/integration/endpoints/{id}/trial",
        OperatorAction::GetInboundEndpoint,
        |ask| Box::pin(endpoint::try_out(ask)),
    ),
    Route::get(
        "/console/integration/endpoints/{id}/edit",
        OperatorAction::UpdateInboundEndpoint,
        |ask| Box::pin(endpoint_form::edit(ask)),
    ),
    Route::post(
        "/console/integration/endpoints/{id}",
        OperatorAction::UpdateInboundEndpoint,
        |ask| Box::pin(endpoint_form::change(ask)),
    ),
    Route::post(
        "/console/integration/endpoints/{id}/rotate",
        OperatorAction::RotateInboundEndpointSecret,
        |ask| Box::pin(endpoint::rotate(ask)),
    ),
    Route::post(
        "/console/integration/endpoints/{id}/delete",
        OperatorAction::DeleteInboundEndpoint,
        |ask| Box::pin(endpoint::delete(ask)),
    ),
    Route::get(KEYS, OperatorAction::ListKeys, |ask| Box::pin(keys::list(ask))),
    Route::get("/console/integration/keys/new", OperatorAction::CreateKey, |ask| {
        Box::pin(keys::new(ask))
    }),
    Route::post(KEYS, OperatorAction::CreateKey, |ask| Box::pin(keys::create(ask))),
    Route::post("/console/integration/keys/{id}/revoke", OperatorAction::DeleteKey, |ask| {
        Box::pin(keys::revoke(ask))
    }),
    Route::get(JOURNAL, OperatorAction::ListDeliveries, |ask| Box::pin(journal::list(ask))),
    Route::get("/console/integration/journal/{id}", OperatorAction::GetDelivery, |ask| {
        Box::pin(journal::show(ask))
    }),
];

/// The parts of the area.
fn parts(visit: &Visit, current: &str) -> Markup {
    let all = [
        (WEBHOOKS, "integration-webhooks", OperatorAction::ListWebhooks),
        (DELIVERIES, "integration-deliveries", OperatorAction::ListDeliveries),
        (ENDPOINTS, "integration-endpoints", OperatorAction::ListInboundEndpoints),
        (KEYS, "integration-keys", OperatorAction::ListKeys),
        (JOURNAL, "integration-journal", OperatorAction::ListDeliveries),
    ];
    let shown: Vec<(&str, String)> = all
        .into_iter()
        .filter(|(_, _, action)| visit.may(*action))
        .map(|(path, key, _)| (path, visit.t(key)))
        .collect();
    tabs(&visit.t("integration-title"), &shown, current)
}

/// JSON with its parts on lines of their own; what is none as it is.
fn pretty(text: &str) -> String {
    serde_json::from_str::<serde_json::Value>(text)
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| text.to_owned())
}

/// A text of a program, as it is.
fn code_block(text: &str) -> Markup {
    html! { pre.code tabindex="0" { code { (text) } } }
}

#[cfg(test)]
mod tests;
