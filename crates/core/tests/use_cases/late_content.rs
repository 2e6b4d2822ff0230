//! Content that its channel announces as late (X5, X5a).

use std::time::Duration;

use recado_core::inbox::EventOutcome;
use serde_json::{Value, json};

use super::blocks::{PEER, Scene, listed, qr_scene};

async fn after(scene: &Scene, seconds: u64) {
    scene.messaging.kit.clock.advance(Duration::from_secs(seconds));
    while scene.messaging.kit.app.jobs().run_one().await.unwrap() {}
}

fn counts(scene: &Scene) -> (usize, usize) {
    (scene.reported("message.received").len(), scene.reported("message.updated").len())
}

async fn announced(scene: &Scene, id: &str) -> Value {
    listed(scene, id, json!({"type": "unsupported", "is_late": true})).await
}

fn content(id: &str) -> Value {
    json!({"kind": "message", "provider_message_id": id, "from": PEER, "type": "text",
        "content": "Bom dia"})
}

/// X5.
#[tokio::test]
async fn a_message_whose_content_is_late_is_reported_when_it_comes() {
    let scene = qr_scene().await;
    let message = announced(&scene, "m1").await;
    assert_eq!((&message["type"], counts(&scene)), (&json!("unsupported"), (0, 0)));
    let contact = scene.contact_of(&message).await;
    assert_eq!(contact["connections"][0]["unread_count"], 1);
    after(&scene, 59).await;
    assert_eq!(counts(&scene), (0, 0));
    assert_eq!(scene.messaging.tell(content("m1")).await.result, EventOutcome::Stored);
    assert_eq!(counts(&scene), (1, 0));
    assert_eq!(scene.reported("message.received")[0]["content"], "Bom dia");
    after(&scene, 120).await;
    assert_eq!(counts(&scene), (1, 0), "once");
    assert_eq!(scene.contact_of(&message).await["connections"][0]["unread_count"], 1);
}

/// X5, X5a.
#[tokio::test]
async fn after_a_minute_it_is_reported_as_unsupported_and_its_content_as_a_change() {
    let scene = qr_scene().await;
    announced(&scene, "m1").await;
    after(&scene, 60).await;
    assert_eq!(counts(&scene), (1, 0));
    assert_eq!(scene.reported("message.received")[0]["type"], "unsupported");
    for _ in 0..2 {
        scene.messaging.tell(content("m1")).await;
        assert_eq!(counts(&scene), (1, 1));
    }
    let updated = &scene.reported("message.updated")[0];
    let mut changed: Vec<&str> =
        updated["changed"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    changed.sort_unstable();
    assert_eq!(changed, ["content", "type", "unsupported"]);
    assert_eq!(updated["content"], "Bom dia");
}

/// X5.
#[tokio::test]
async fn later_messages_do_not_wait_for_late_content() {
    let scene = qr_scene().await;
    announced(&scene, "m1").await;
    listed(&scene, "m2", json!({"type": "text", "content": "Oi"})).await;
    assert_eq!(scene.reported("message.received")[0]["content"], "Oi");
}

/// X5: an announcement and its content in one call are one message with its content.
#[tokio::test]
async fn content_in_the_same_call_as_its_announcement_is_reported_at_once() {
    let scene = qr_scene().await;
    let late = json!({"kind": "message", "provider_message_id": "m1", "from": PEER,
        "type": "unsupported", "is_late": true});
    let events = [late, content("m1")]
        .iter()
        .map(|event| recado_core::inbox::parse_event(event, "g.us"))
        .collect();
    scene.messaging.receive(events).await;
    assert_eq!(counts(&scene), (1, 0));
    after(&scene, 120).await;
    assert_eq!(counts(&scene), (1, 0));
}

/// X5: what changes before the first event is in that event.
#[tokio::test]
async fn an_edit_of_a_message_whose_content_is_late_stays_when_the_content_comes() {
    let scene = qr_scene().await;
    announced(&scene, "m1").await;
    let edit = json!({"kind": "edit", "provider_message_id": "m1", "content": "Boa tarde"});
    scene.messaging.tell(edit).await;
    assert_eq!(counts(&scene), (0, 0));
    scene.messaging.tell(content("m1")).await;
    assert_eq!(counts(&scene), (1, 0));
    let message = scene.message_of("m1").await;
    assert_eq!((&message["type"], &message["content"]), (&json!("text"), &json!("Boa tarde")));
    assert_eq!(scene.reported("message.received")[0]["content"], "Boa tarde");
}

/// X5: the same for what the operator wrote on the phone.
#[tokio::test]
async fn a_late_own_message_is_reported_once_too() {
    let scene = qr_scene().await;
    let event = |fields: Value| {
        let mut event = json!({"kind": "echo", "provider_message_id": "m1", "to": PEER});
        event.as_object_mut().unwrap().extend(recado_testkit::kit::body(fields));
        event
    };
    scene.messaging.tell(event(json!({"type": "unsupported", "is_late": true}))).await;
    assert_eq!(scene.reported("message.sent").len(), 0);
    scene.messaging.tell(event(json!({"type": "text", "content": "Oi"}))).await;
    after(&scene, 120).await;
    let sent = scene.reported("message.sent");
    assert_eq!((sent.len(), &sent[0]["content"]), (1, &json!("Oi")));
}

/// X5, D65.
#[tokio::test]
async fn late_content_of_a_history_is_not_reported() {
    let scene = qr_scene().await;
    let late = json!({"type": "unsupported", "is_late": true, "history": true});
    listed(&scene, "m1", late).await;
    after(&scene, 120).await;
    assert_eq!(counts(&scene), (0, 0));
}

/// X5: a notice of the channel alone asks for no answer, a missed call does (X2).
#[tokio::test]
async fn a_notice_of_the_channel_counts_as_unread_only_if_the_contact_caused_it() {
    for (kind, unread) in
        [("number_changed", 0), ("identity_changed", 0), ("call", 0), ("missed_call", 1)]
    {
        let scene = qr_scene().await;
        let notice = json!({"type": "system", "system": {"kind": kind}});
        let message = listed(&scene, "m1", notice).await;
        let contact = scene.contact_of(&message).await;
        assert_eq!(contact["connections"][0]["unread_count"], unread, "{kind}");
    }
}
