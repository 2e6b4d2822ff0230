//! What a replay of kept events leaves alone: what was said since, other connections' people, the
//! gateway's secrets (X9).

use std::time::Duration;

use recado_core::Clock as _;
use recado_core::gateway::{GatewayEvent, Incoming, Preference, PreferenceReport, ProviderWebhook};
use recado_core::messages::{Blocks, MessageType, Unsupported};
use serde_json::{Value, json};

use super::gateway_scene::*;
use super::shown;

/// A connection of the official channel with a contact.
async fn official() -> Scene {
    let scene = scene("cloud_api").await;
    scene.call(here([heard("m1", PEER)])).await.unwrap();
    scene
}

async fn blocked(scene: &Scene) -> bool {
    let message = scene.messaging.messages().await.remove(0);
    let id = recado_core::ids::ContactId::parse(message["contact_id"].as_str().unwrap()).unwrap();
    shown(&scene.kit, id).await["opted_out_at"] != Value::Null
}

async fn replay(scene: &Scene) -> (u64, u64) {
    let step = scene.kit.app.inbox().replay(scene.kit.company.id, None, None).await.unwrap();
    (step.0.looked_at, step.0.told)
}

fn wish(scene: &Scene, preference: Preference) -> Incoming {
    let timestamp = Some(scene.kit.clock.now());
    Ok(GatewayEvent::Preference(PreferenceReport {
        timestamp,
        ..PreferenceReport::new(PEER, preference)
    }))
}

/// X9, D43, D44: a wish of the past does not undo what the person said since.
#[tokio::test]
async fn a_kept_wish_counts_only_if_nothing_was_said_since() {
    let day = Duration::from_secs(86_400);
    for (first, last) in
        [(Preference::Stop, Preference::Resume), (Preference::Resume, Preference::Stop)]
    {
        let scene = official().await;
        // The wish was told when it came; its call is kept because of what stood beside it.
        let early = wish(&scene, first);
        let call = vec![early.clone(), Err("an item that says nothing".to_owned())];
        scene.kit.provider.set_received(Ok(here(call)));
        let (inbox, webhook) = (scene.kit.app.inbox(), ProviderWebhook::new("{}"));
        let called = inbox.called(&scene.connection().to_string(), &webhook).await.unwrap();
        inbox.take_webhook(&called, &webhook).await.unwrap();
        scene.kit.clock.advance(day * 9);
        scene.call(here([wish(&scene, Preference::Resume)])).await.unwrap();
        scene.call(here([wish(&scene, last)])).await.unwrap();
        let before = (blocked(&scene).await, scene.reported("contact.opted_out").len());
        scene.kit.provider.set_read(move |_| vec![early.clone()]);
        scene.kit.clock.advance(day);
        assert_eq!(replay(&scene).await, (1, 1), "{first:?}");
        let after = (blocked(&scene).await, scene.reported("contact.opted_out").len());
        assert_eq!(after, before, "{first:?}, then {last:?}");
    }
}

/// X9: what means nothing to a later adapter is understood; what nobody reads stays.
#[tokio::test]
async fn what_means_nothing_to_a_later_adapter_is_kept_no_longer() {
    let scene = scene("waha").await;
    let report = recado_core::gateway::UnknownReport::new("pin", json!({"a": 1}));
    scene.call(here([Ok(GatewayEvent::Unknown(report))])).await.unwrap();
    assert_eq!(replay(&scene).await, (1, 0));
    scene.kit.provider.set_read(|_| Vec::new());
    assert_eq!(replay(&scene).await, (1, 1));
}

/// X9, D67: calls of another session are of other people, and not kept.
#[tokio::test]
async fn what_is_not_ours_is_refused_and_not_kept() {
    let scene = scene("waha").await;
    let call = here([Ok(GatewayEvent::NotOurs("of another session".to_owned()))]);
    let taken = scene.call(call).await.unwrap();
    assert_eq!(taken.refused, ["of another session"]);
    assert!(taken.not_understood.is_empty());
    assert_eq!(scene.shown_connection().await["not_understood"], 0);
}

/// X5, X9: late content of a kind that nobody knows yet is kept beside its announcement.
#[tokio::test]
async fn late_content_of_an_unknown_kind_is_kept_too() {
    let scene = scene("waha").await;
    let unsupported = |kind: &str| {
        let block = Unsupported { reason: None, provider_type: Some(kind.to_owned()) };
        let mut event = text("m1", PEER, "");
        event.message_type = MessageType::Unsupported;
        event.content = None;
        event.blocks = Blocks { unsupported: Some(block), ..Blocks::default() };
        event.raw = Some(json!({"id": "m1", "kind": kind, "body": format!("{kind} body")}));
        Ok(GatewayEvent::Message(event))
    };
    for kind in ["waiting", "hologram", "hologram"] {
        scene.call(here([unsupported(kind)])).await.unwrap();
        scene.kit.clock.advance(Duration::from_secs(1));
    }
    assert_eq!(scene.shown_connection().await["not_understood"], 2);
    scene.kit.provider.set_read(|raw| match raw["kind"].as_str() {
        Some("hologram") => vec![Ok(GatewayEvent::Message(text("m1", PEER, "um gato")))],
        _ => vec![Err("not yet".to_owned())],
    });
    assert_eq!(replay(&scene).await, (2, 1));
    assert_eq!(scene.messaging.newest().await["content"], "um gato");
    assert_eq!(replay(&scene).await, (0, 0), "the announcement has its content now");
}

/// X9, X3: what was erased is not kept in another place.
#[tokio::test]
async fn nothing_is_kept_of_a_message_that_was_erased_before_it_came() {
    let scene = scene("waha").await;
    let setting = recado_testkit::kit::body(json!({"erase_deleted_messages": true}));
    scene.kit.app.access().change_company(scene.kit.company.id, &setting).await.unwrap();
    scene.messaging.tell(json!({"kind": "deleted", "provider_message_id": "m1"})).await;
    let event = json!({"kind": "message", "provider_message_id": "m1", "from": PEER,
        "type": "unsupported", "content": "segredo"});
    scene.messaging.tell(event).await;
    assert_eq!(scene.shown_connection().await["not_understood"], 0);
}
