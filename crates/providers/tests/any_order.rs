//! What the gateways report, in recorded shapes, played forwards, backwards and twice through the
//! adapters and the core: the messages are the same in the end (D28, D31, D31a, X2-X7).
#![cfg(all(feature = "cloud-api", feature = "evolution", feature = "waha"))]

#[path = "any_order/cloud_api.rs"]
mod cloud_api;
#[path = "any_order/evolution.rs"]
mod evolution;
#[path = "any_order/waha.rs"]
mod waha;

use std::sync::Arc;

use recado_core::gateway::Providers;
use recado_core::ids::ConnectionId;
use recado_core::query::Params;
use recado_providers::cloud_api::CloudApi;
use recado_providers::evolution::Evolution;
use recado_providers::waha::Waha;
use recado_testkit::Kit;
use recado_testkit::gateways::SignedWebhook;
use recado_testkit::kit::body;
use serde_json::{Value, json};

/// A gateway with sequences of its calls, each with a name, and how many messages are listed after
/// it.
struct Recorded {
    gateway: &'static str,
    kind: &'static str,
    settings: Value,
    sequences: Vec<(&'static str, Vec<SignedWebhook>, usize)>,
}

async fn kit() -> Kit {
    let providers = Providers::none()
        .with(Arc::new(CloudApi::new()))
        .with(Arc::new(Evolution::new("g.us")))
        .with(Arc::new(Waha::new("g.us")));
    Kit::builder().providers(providers).build().await
}

/// The messages after these calls, without what depends on when they came and on random ids: each
/// id of a message is the provider's.
async fn end(of: &Recorded, calls: &[&SignedWebhook]) -> Vec<Value> {
    let kit = kit().await;
    let connection = body(json!({"kind": of.kind, "name": "Loja", "identifier": "551140028922",
        "gateway": of.gateway, "settings": of.settings, "status": "connected"}));
    let made = kit.app.connections().create(kit.company.id, &connection).await.expect("it fits");
    let made = serde_json::to_value(made).expect("JSON");
    let id = made["id"].as_str().expect("an id").to_owned();
    assert!(ConnectionId::parse(&id).is_some());
    for call in calls {
        let (inbox, webhook) = (kit.app.inbox(), call.webhook());
        let called = inbox.called(&id, &webhook).await.expect("it is admitted");
        let taken = inbox.take_webhook(&called, &webhook).await.expect("it is taken");
        assert_eq!(taken.refused, Vec::<String>::new());
    }
    let params = Params::new(vec![("limit".to_owned(), "100".to_owned())]);
    let listed = kit.app.messages().list(&kit.caller, &params).await.expect("a listing").items;
    let listed: Vec<Value> =
        listed.iter().map(|item| serde_json::to_value(item).expect("JSON")).collect();
    let mut text = Value::from(listed.clone()).to_string();
    for message in &listed {
        let known = message["id"].as_str().zip(message["wamid"].as_str());
        let (own, providers) = known.expect("a received message has both");
        text = text.replace(own, providers);
    }
    let mut messages: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    for message in &mut messages {
        let fields = message.as_object_mut().expect("an object");
        for key in ["created_at", "contact_id", "contacts", "connection_id", "media_url"] {
            fields.remove(key);
        }
    }
    messages.sort_by_key(|message| message["wamid"].to_string());
    messages
}

async fn same_in_any_order(of: Recorded) {
    for (name, calls, messages) in &of.sequences {
        let forwards: Vec<&SignedWebhook> = calls.iter().collect();
        let backwards: Vec<&SignedWebhook> = calls.iter().rev().collect();
        let twice: Vec<&SignedWebhook> = calls.iter().chain(calls).collect();
        let expected = end(&of, &forwards).await;
        assert_eq!(expected.len(), *messages, "{}, {name}: {expected:?}", of.gateway);
        let is_shown = |message: &Value| {
            ["content", "media_mimetype"].iter().any(|key| message[*key].is_string())
                || message["type"] == "unsupported"
                || message["reaction"].is_object()
        };
        assert!(expected.iter().all(is_shown), "{}, {name}: {expected:?}", of.gateway);
        for (order, calls) in [("backwards", backwards), ("twice", twice)] {
            assert_eq!(end(&of, &calls).await, expected, "{}, {name}, {order}", of.gateway);
        }
    }
}

#[tokio::test]
async fn what_the_official_api_reports_ends_the_same_in_any_order() {
    same_in_any_order(cloud_api::recorded()).await;
}

#[tokio::test]
async fn what_evolution_reports_ends_the_same_in_any_order() {
    same_in_any_order(evolution::recorded()).await;
}

#[tokio::test]
async fn what_waha_reports_ends_the_same_in_any_order() {
    same_in_any_order(waha::recorded()).await;
}
