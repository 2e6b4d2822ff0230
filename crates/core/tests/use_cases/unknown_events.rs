//! Events of unknown kinds: kept by their kind, without anything that a person wrote.

use std::time::Duration;

use recado_core::Clock as _;
use recado_core::gateway::{GatewayEvent, MAX_KIND, UnknownKind, UnknownReport};
use recado_core::store::{Stored, Upkeep as _};
use recado_testkit::kit::body;
use recado_testkit::{StoreFailure, StoreOp};
use serde_json::{Value, json};

use super::gateway_scene::*;

fn unknown(kind: &str, body: Value) -> GatewayEvent {
    GatewayEvent::Unknown(UnknownReport::new(kind, body))
}

async fn kept(scene: &Scene) -> Vec<Stored<UnknownKind>> {
    use recado_core::connections::ConnectionReads as _;
    scene.model.unknown_kinds(scene.kit.company.id, scene.connection()).await.unwrap()
}

/// R105.
#[tokio::test]
async fn kinds_are_counted_with_the_shape_of_the_newest() {
    let scene = scene("waha").await;
    let first = scene.kit.clock.now();
    let call = |from: &str| json!({ "event": "call.received", "from": from, "at": 17 });
    let events = [
        Ok(unknown("call.received", call("5534991230001@c.us"))),
        heard("m1", PEER),
        Ok(unknown("label.upsert", json!([{ "name": "Cliente VIP" }]))),
    ];
    let taken = scene.call(here(events)).await.unwrap();
    assert_eq!((taken.stored, taken.refused_in_all), (3, 0));
    assert_eq!(taken.unknown, ["call.received", "label.upsert"]);
    scene.kit.clock.advance(Duration::from_secs(1));
    scene.call(here([Ok(unknown("call.received", json!({ "who": "Ana" })))])).await.unwrap();
    let kept = kept(&scene).await;
    let seen: Vec<(&str, u64)> = kept.iter().map(|kind| (kind.kind.as_str(), kind.seen)).collect();
    assert_eq!(seen, [("call.received", 2), ("label.upsert", 1)]);
    assert_eq!((kept[0].first_at, kept[0].last_at), (first, scene.kit.clock.now()));
    assert_eq!(kept[0].shape, json!({ "who": "xxx" }));
    assert_eq!(kept[1].shape, json!([{ "name": "xxxxxxx xxx" }]));
    assert_eq!(scene.messaging.messages().await.len(), 1);
}

#[tokio::test]
async fn nothing_that_anybody_wrote_is_kept() {
    let scene = scene("evolution").await;
    let secret = json!({ "5534991230001": { "texto": "meu CPF é 529.982.247-25" },
        "url": "https://x.example/?token=abc", "valor": 1234.5 });
    scene.call(here([Ok(unknown("novo", secret))])).await.unwrap();
    let shape = kept(&scene).await[0].shape.to_string();
    for word in ["5534991230001", "CPF", "529", "token", "abc", "1234", "example"] {
        assert!(!shape.contains(word), "{word} in {shape}");
    }
}

#[tokio::test]
async fn a_kind_has_a_name_of_bounded_length_and_no_control_characters() {
    let scene = scene("waha").await;
    let long = format!("a\u{0}\n{}", "é".repeat(5_000));
    let taken = scene.call(here([Ok(unknown(&long, json!({})))])).await.unwrap();
    assert_eq!(taken.stored, 1);
    let name = kept(&scene).await[0].kind.clone();
    assert_eq!(name.chars().count(), MAX_KIND);
    assert!(name.starts_with("aé") && !name.chars().any(char::is_control));
    assert_eq!(scene.call(here([Ok(unknown("", json!(null)))])).await.unwrap().refused_in_all, 0);
}

/// R105.
#[tokio::test]
async fn a_connection_keeps_no_more_kinds_than_can_be_looked_at() {
    let scene = scene("waha").await;
    let events = (0..230).map(|n| Ok(unknown(&format!("k{n}"), json!({}))));
    let taken = scene.call(here(events)).await.unwrap();
    assert_eq!((taken.stored, taken.passed_over, taken.unknown.len()), (200, 30, 20));
    assert_eq!(kept(&scene).await.len(), 200);
    // Those that are known go on being counted.
    scene.call(here([Ok(unknown("k7", json!({})))])).await.unwrap();
    let kept = kept(&scene).await;
    assert_eq!(kept.iter().find(|kind| kind.kind == "k7").map(|kind| kind.seen), Some(2));
}

#[tokio::test]
async fn kinds_that_come_at_once_are_all_counted() {
    let scene = scene("waha").await;
    scene.kit.provider.set_received(Ok(here([Ok(unknown("call", json!({})))])));
    let id = scene.connection().to_string();
    let calls = futures_util::future::join_all((0..8).map(|_| scene.call_of(&id))).await;
    assert!(calls.iter().all(Result::is_ok), "{calls:?}");
    let kept = kept(&scene).await;
    assert_eq!((kept.len(), kept[0].seen), (1, 8));
}

#[tokio::test]
async fn a_kind_that_the_store_fails_to_keep_fails_the_call() {
    let scene = scene("waha").await;
    scene.store.fail_nth(StoreOp::Commit, 0, StoreFailure::Unavailable);
    assert!(scene.call(here([Ok(unknown("call", json!({})))])).await.is_err());
    assert_eq!(kept(&scene).await, []);
}

/// R105.
#[tokio::test]
async fn kinds_go_with_their_connection_and_with_time() {
    let scene = scene("waha").await;
    scene.call(here([Ok(unknown("call", json!({})))])).await.unwrap();
    let day = Duration::from_secs(24 * 60 * 60);
    scene.model.upkeep(scene.kit.clock.now().plus(29 * day)).await.unwrap();
    assert_eq!(kept(&scene).await.len(), 1);
    scene.model.upkeep(scene.kit.clock.now().plus(30 * day)).await.unwrap();
    assert_eq!(kept(&scene).await.len(), 0);
    scene.call(here([Ok(unknown("call", json!({})))])).await.unwrap();
    let connections = scene.kit.app.connections();
    // One that nothing else refers to is deleted with all that is kept for it.
    connections.delete(scene.kit.company.id, scene.connection()).await.unwrap();
    assert_eq!(kept(&scene).await, []);
    let body = body(json!({}));
    let gone = connections.change(scene.kit.company.id, scene.connection(), &body).await;
    assert_eq!(super::code(gone), "NOT_FOUND");
}
