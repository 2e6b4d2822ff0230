//! Edits and deletions by the sender, before and after their message (D31a, X3, X5, X5a).

use std::time::Duration;

use recado_core::inbox::{EventOutcome, REPORT_KEPT};
use recado_core::jobs::JobKind;
use recado_testkit::kit::body;
use serde_json::{Value, json};

use super::blocks::{PEER, Scene, listed, qr_scene};

fn edit(id: &str, content: &str) -> Value {
    json!({"kind": "edit", "provider_message_id": id, "content": content})
}

fn deletion(id: &str) -> Value {
    json!({"kind": "deleted", "provider_message_id": id,
        "timestamp": "2025-11-13T12:00:00.000Z"})
}

fn text(id: &str, content: &str) -> Value {
    json!({"kind": "message", "provider_message_id": id, "from": PEER, "type": "text",
        "content": content})
}

async fn told(scene: &Scene, event: Value) -> EventOutcome {
    scene.messaging.tell(event).await.result
}

async fn erases(scene: &Scene) {
    let setting = body(json!({"erase_deleted_messages": true}));
    let company = scene.messaging.kit.company.id;
    scene.messaging.kit.app.access().change_company(company, &setting).await.unwrap();
}

/// The data of every event, as far as it was not erased.
fn stored_data(scene: &Scene) -> Vec<String> {
    let events = scene.model.events(scene.messaging.kit.company.id);
    events.into_iter().map(|event| event.data).collect()
}

async fn work(scene: &Scene) {
    while scene.messaging.kit.app.jobs().run_one().await.unwrap() {}
}

/// X5a.
#[tokio::test]
async fn an_edit_is_reported_once_with_what_changed() {
    let scene = qr_scene().await;
    listed(&scene, "m1", json!({"type": "text", "content": "Oi"})).await;
    for expected in [EventOutcome::Stored, EventOutcome::Duplicate] {
        assert_eq!(told(&scene, edit("m1", "Olá")).await, expected);
    }
    let events = scene.reported("message.updated");
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["changed"], json!(["content"]));
    assert_eq!(events[0]["content"], "Olá");
    assert_eq!(events[0]["direction"], "inbound");
    assert_eq!(events[0]["contact"]["phone"], "+5511987654321");
}

/// X5a.
#[tokio::test]
async fn an_edit_of_an_own_message_is_reported_in_the_form_of_message_sent() {
    let scene = qr_scene().await;
    scene.messaging.echo("m1", PEER, "Oi").await;
    told(&scene, edit("m1", "Olá")).await;
    let events = scene.reported("message.updated");
    assert_eq!((&events[0]["wamid"], &events[0]["direction"]), (&json!("m1"), &json!("outbound")));
}

/// X5, R48.
#[tokio::test]
async fn an_edit_that_comes_before_its_message_waits_ten_minutes_for_it() {
    let scene = qr_scene().await;
    assert_eq!(told(&scene, edit("m1", "Olá")).await, EventOutcome::Stored);
    let message = listed(&scene, "m1", json!({"type": "text", "content": "Oi"})).await;
    assert_eq!((&message["content"], &message["is_edited"]), (&json!("Olá"), &json!(true)));
    assert_eq!(scene.reported("message.received")[0]["content"], "Olá");
    assert_eq!(scene.reported("message.updated").len(), 0, "it was reported as it is");
    told(&scene, edit("m2", "Olá")).await;
    scene.messaging.kit.clock.advance(REPORT_KEPT + Duration::from_millis(1));
    let message = listed(&scene, "m2", json!({"type": "text", "content": "Oi"})).await;
    assert_eq!(message["content"], "Oi");
}

/// X5, D28: what comes before the gateway has answered a send is kept for the message.
#[tokio::test]
async fn an_edit_and_a_reply_that_come_before_the_answer_to_a_send_find_its_message() {
    let scene = qr_scene().await;
    let id = recado_testkit::ScriptedProvider::id(1);
    let gate = scene.messaging.kit.provider.hold();
    let send = scene.messaging.send("+5511987654321", "Oi");
    let report = async {
        gate.reached(1).await;
        told(&scene, edit(id.as_str(), "Olá")).await;
        let reply = json!({"type": "text", "content": "Sim",
            "quoted_provider_message_id": id.as_str()});
        listed(&scene, "m1", reply).await;
        gate.open();
    };
    let (sent, ()) = tokio::join!(send, report);
    let sent = sent.unwrap();
    let message = scene.message_of(id.as_str()).await;
    assert_eq!(message["content"], "Olá");
    let reply = scene.message_of("m1").await;
    assert_eq!(reply["quoted_message_id"], sent.message_id.to_string());
}

/// X3, X5a.
#[tokio::test]
async fn a_deleted_message_says_since_when_and_keeps_its_content() {
    let scene = qr_scene().await;
    listed(&scene, "m1", json!({"type": "text", "content": "Oi"})).await;
    for expected in [EventOutcome::Stored, EventOutcome::Duplicate] {
        assert_eq!(told(&scene, deletion("m1")).await, expected);
    }
    let message = scene.message_of("m1").await;
    assert_eq!(message["deleted_by_sender_at"], "2025-11-13T12:00:00.000Z");
    assert_eq!(message["content"], "Oi");
    let events = scene.reported("message.updated");
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["changed"], json!(["deleted_by_sender_at"]));
}

/// X3, X5.
#[tokio::test]
async fn a_deletion_that_comes_before_its_message_marks_it() {
    let scene = qr_scene().await;
    assert_eq!(told(&scene, deletion("m1")).await, EventOutcome::Stored);
    assert_eq!(told(&scene, deletion("m1")).await, EventOutcome::Duplicate);
    let message = listed(&scene, "m1", json!({"type": "text", "content": "Oi"})).await;
    assert_eq!(message["deleted_by_sender_at"], "2025-11-13T12:00:00.000Z");
    assert_eq!(scene.reported("message.updated").len(), 0);
}

/// X3, D74: text, file, blocks and quotes go, in stored events too.
#[tokio::test]
async fn where_the_company_erases_deleted_messages_nothing_of_them_is_left() {
    let scene = qr_scene().await;
    erases(&scene).await;
    let image = json!({"type": "image", "media": {"url": "media:1", "caption": "Segredo"},
        "referral": {"headline": "Segredo"}});
    listed(&scene, "m1", image).await;
    let reply = json!({"type": "text", "content": "Como?", "quoted_provider_message_id": "m1"});
    let reply = listed(&scene, "m2", reply).await;
    assert_eq!(reply["quoted_content"], "Segredo");
    told(&scene, deletion("m1")).await;
    work(&scene).await;
    scene.messaging.kit.clock.advance(Duration::from_secs(60));
    work(&scene).await;
    let message = scene.message_of("m1").await;
    for key in ["content", "media_url", "media_caption", "media_mimetype", "referral"] {
        assert_eq!(message[key], Value::Null, "{key}");
    }
    assert_eq!(message["type"], "image");
    let reply = scene.message_of("m2").await;
    assert_eq!((&reply["quoted_content"], &reply["content"]), (&Value::Null, &json!("Como?")));
    let company = scene.messaging.kit.company.id;
    let kept = stored_data(&scene);
    assert!(kept.iter().all(|data| !data.contains("Segredo")), "{kept:?}");
    assert_eq!(kept.iter().filter(|data| data.contains("Como?")).count(), 1);
    let jobs = scene.model.jobs(company);
    assert!(!jobs.iter().any(|job| matches!(job.kind, JobKind::EraseMessage { .. })));
}

/// X3.
#[tokio::test]
async fn neither_a_late_edit_nor_late_content_brings_back_what_was_erased() {
    let scene = qr_scene().await;
    erases(&scene).await;
    listed(&scene, "m1", json!({"type": "unsupported"})).await;
    told(&scene, deletion("m1")).await;
    assert_eq!(told(&scene, edit("m1", "Segredo")).await, EventOutcome::Ignored);
    told(&scene, text("m1", "Segredo")).await;
    let message = scene.message_of("m1").await;
    assert_eq!(message["content"], Value::Null);
    told(&scene, deletion("m2")).await;
    let early = listed(&scene, "m2", json!({"type": "text", "content": "Segredo"})).await;
    assert_eq!(early["content"], Value::Null);
    assert!(stored_data(&scene).iter().all(|data| !data.contains("Segredo")));
}

/// X3: the company's setting counts when the deletion is reported.
#[tokio::test]
async fn what_was_erased_stays_so_and_what_was_kept_stays_when_the_setting_changes() {
    let scene = qr_scene().await;
    let company = scene.messaging.kit.company.id;
    listed(&scene, "m1", json!({"type": "text", "content": "Oi"})).await;
    told(&scene, deletion("m1")).await;
    erases(&scene).await;
    listed(&scene, "m2", json!({"type": "text", "content": "Segredo"})).await;
    told(&scene, deletion("m2")).await;
    let setting = body(json!({"erase_deleted_messages": false}));
    scene.messaging.kit.app.access().change_company(company, &setting).await.unwrap();
    assert_eq!(told(&scene, edit("m1", "Olá")).await, EventOutcome::Stored);
    assert_eq!(told(&scene, edit("m2", "Segredo")).await, EventOutcome::Ignored);
    assert_eq!(scene.message_of("m1").await["content"], "Olá");
    assert_eq!(scene.message_of("m2").await["content"], Value::Null);
}

/// X3: whoever quotes it, and whenever the quote was stored.
#[tokio::test]
async fn quotes_of_an_erased_message_go_in_other_chats_and_in_earlier_answers_too() {
    let scene = qr_scene().await;
    erases(&scene).await;
    let early = json!({"type": "text", "content": "Sim", "quoted_provider_message_id": "m1"});
    listed(&scene, "early", early).await;
    scene.messaging.kit.clock.advance(Duration::from_secs(5));
    listed(&scene, "m1", json!({"type": "text", "content": "Segredo"})).await;
    let elsewhere = json!({"kind": "message", "provider_message_id": "other",
        "from": "5511987650002", "type": "text", "content": "E isto?",
        "quoted_provider_message_id": "m1"});
    told(&scene, elsewhere).await;
    for id in ["early", "other"] {
        assert_eq!(scene.message_of(id).await["quoted_content"], "Segredo");
    }
    told(&scene, deletion("m1")).await;
    work(&scene).await;
    for id in ["early", "other"] {
        assert_eq!(scene.message_of(id).await["quoted_content"], Value::Null);
    }
}

/// X3: a check of the history lists a message that was deleted since.
#[tokio::test]
async fn a_stored_message_that_comes_again_as_deleted_is_marked() {
    let scene = qr_scene().await;
    listed(&scene, "m1", json!({"type": "text", "content": "Oi"})).await;
    let mut again = text("m1", "");
    again["deleted_by_sender_at"] = json!("2025-11-13T12:00:00.000Z");
    again["history"] = json!(true);
    assert_eq!(told(&scene, again.clone()).await, EventOutcome::Stored);
    assert_eq!(told(&scene, again).await, EventOutcome::Duplicate);
    let message = scene.message_of("m1").await;
    assert_eq!(message["deleted_by_sender_at"], "2025-11-13T12:00:00.000Z");
    assert_eq!(scene.reported("message.updated").len(), 1);
}

/// X5: an edit back to an earlier text is the latest one all the same.
#[tokio::test]
async fn the_latest_of_edits_counts_where_two_have_the_same_text() {
    let scene = qr_scene().await;
    let at = |seconds: u32, content: &str| {
        let mut edit = edit("m1", content);
        edit["timestamp"] = json!(format!("2099-01-01T00:00:{seconds:02}.000Z"));
        edit
    };
    listed(&scene, "m1", json!({"type": "text", "content": "a"})).await;
    for event in [at(2, "a"), at(1, "b"), at(5, "c"), at(7, "c"), at(6, "d")] {
        told(&scene, event).await;
    }
    let message = scene.message_of("m1").await;
    assert_eq!(
        (&message["content"], &message["edited_at"]),
        (&json!("c"), &json!("2099-01-01T00:00:07.000Z"))
    );
}

/// D65.
#[tokio::test]
async fn nothing_is_reported_of_a_change_of_a_message_from_a_history() {
    let scene = qr_scene().await;
    listed(&scene, "m1", json!({"type": "text", "content": "Oi", "history": true})).await;
    told(&scene, edit("m1", "Olá")).await;
    told(&scene, deletion("m1")).await;
    assert_eq!(scene.reported("message.updated").len(), 0);
    assert_eq!(scene.message_of("m1").await["content"], "Olá");
}

/// X8: a status of an own message adds the recipient's other names, and makes no contact.
#[tokio::test]
async fn a_status_teaches_a_name_of_its_recipient() {
    let scene = qr_scene().await;
    scene.messaging.echo("m1", PEER, "Oi").await;
    let status = |id: &str| {
        json!({"kind": "status", "provider_message_id": id,
        "status": "delivered", "aliases": ["123456@lid"]})
    };
    assert_eq!(told(&scene, status("m1")).await, EventOutcome::Stored);
    assert_eq!(told(&scene, status("m1")).await, EventOutcome::Duplicate);
    assert_eq!(told(&scene, status("unknown")).await, EventOutcome::Stored);
    let by_lid = json!({"kind": "message", "provider_message_id": "m2", "from": "123456@lid",
        "type": "text", "content": "Oi"});
    told(&scene, by_lid).await;
    let (sent, heard) = (scene.message_of("m1").await, scene.message_of("m2").await);
    assert_eq!(sent["contact_id"], heard["contact_id"]);
    assert_eq!(scene.reported("contact.created").len(), 1);
}

/// X8: in a group the recipient of a status is a participant, not the group.
#[tokio::test]
async fn a_status_in_a_group_teaches_nothing_about_the_group() {
    let scene = qr_scene().await;
    scene.messaging.echo("m1", "120363@g.us", "Oi").await;
    let status = json!({"kind": "status", "provider_message_id": "m1", "status": "delivered",
        "aliases": ["123456@lid"]});
    told(&scene, status).await;
    let by_lid = json!({"kind": "message", "provider_message_id": "m2", "from": "123456@lid",
        "type": "text", "content": "Oi"});
    told(&scene, by_lid).await;
    let (sent, heard) = (scene.message_of("m1").await, scene.message_of("m2").await);
    assert_ne!(sent["contact_id"], heard["contact_id"]);
}
