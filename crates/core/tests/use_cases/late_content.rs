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

/// X5: what is announced has no file yet; the job of a file is made with the content.
#[tokio::test]
async fn a_file_that_is_late_is_fetched_when_it_comes() {
    let scene = qr_scene().await;
    let media = json!({"url": "media:1"});
    let late = json!({"type": "image", "is_late": true, "media": media});
    let message = listed(&scene, "m1", late).await;
    assert_eq!((&message["type"], &message["media_url"]), (&json!("unsupported"), &Value::Null));
    let image = json!({"kind": "message", "provider_message_id": "m1", "from": PEER,
        "type": "image", "media": media});
    assert_eq!(scene.messaging.tell(image).await.result, EventOutcome::Stored);
    assert_ne!(scene.message_of("m1").await["media_url"], Value::Null);
    // A file of a message that nobody can show is fetched, too; its job stays the same.
    let odd = json!({"type": "unsupported", "media": media});
    listed(&scene, "m2", odd).await;
    let image = json!({"kind": "message", "provider_message_id": "m2", "from": PEER,
        "type": "image", "media": media});
    assert_eq!(scene.messaging.tell(image).await.result, EventOutcome::Stored);
}

/// X5, X6, X7: late content that is a vote, a reaction or a poll counts as if it had come at once.
#[tokio::test]
async fn late_votes_reactions_and_polls_are_counted() {
    let scene = qr_scene().await;
    let tell = async |id: &str, fields: Value| {
        let mut event = json!({"kind": "message", "provider_message_id": id, "from": PEER});
        event.as_object_mut().unwrap().extend(recado_testkit::kit::body(fields));
        assert_eq!(scene.messaging.tell(event).await.result, EventOutcome::Stored);
    };
    let late = json!({"type": "unsupported", "is_late": true});
    let vote = |option: &str| {
        json!({"type": "interactive", "quoted_provider_message_id": "poll",
            "interactive": {"kind": "poll_vote", "response": {"options": [option]}}})
    };
    let poll = json!({"type": "poll", "interactive": {"kind": "poll", "body": "?",
        "options": [{"option": "a", "votes": 0}, {"option": "b", "votes": 0}]}});
    let votes = async || {
        let poll = scene.message_of("poll").await;
        let options = poll["interactive"]["options"].as_array().unwrap().clone();
        options.iter().map(|option| option["votes"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    tell("poll", late.clone()).await;
    tell("v1", vote("a")).await;
    tell("poll", poll).await;
    assert_eq!(votes().await, [1, 0]);
    tell("v2", vote("b")).await;
    assert_eq!(votes().await, [0, 1]);
    let scene = qr_scene().await;
    listed(&scene, "poll", json!({"type": "text", "content": "Oi"})).await;
    listed(&scene, "r1", late).await;
    let reaction = |emoji: &str| {
        json!({"kind": "message", "from": PEER, "type": "reaction",
            "reaction": {"emoji": emoji, "provider_message_id": "poll"}})
    };
    for (id, emoji) in [("r1", "👍"), ("r2", "❤️")] {
        let mut event = reaction(emoji);
        event["provider_message_id"] = json!(id);
        scene.messaging.tell(event).await;
    }
    assert_eq!(scene.messaging.messages().await.len(), 2);
}

/// X5, X6: one person has one vote, also where an earlier one comes late.
#[tokio::test]
async fn late_content_that_is_a_second_vote_of_a_person_counts_nowhere() {
    let scene = qr_scene().await;
    let vote = |id: &str, option: &str| {
        json!({"kind": "message", "provider_message_id": id, "from": PEER,
            "type": "interactive", "quoted_provider_message_id": "poll",
            "interactive": {"kind": "poll_vote", "response": {"options": [option]}}})
    };
    let poll = json!({"type": "poll", "interactive": {"kind": "poll", "body": "?",
        "options": [{"option": "a", "votes": 0}, {"option": "b", "votes": 0}]}});
    listed(&scene, "poll", poll).await;
    announced(&scene, "v1").await;
    scene.messaging.tell(vote("v2", "b")).await;
    scene.messaging.tell(vote("v1", "a")).await;
    let poll = scene.message_of("poll").await;
    let options = &poll["interactive"]["options"];
    assert_eq!((&options[0]["votes"], &options[1]["votes"]), (&json!(0), &json!(1)));
}

/// X5: the answer to a notice of a missing file quotes the file once it is there.
#[tokio::test]
async fn an_answer_to_a_missing_file_quotes_the_file_that_comes() {
    let scene = qr_scene().await;
    listed(&scene, "m1", json!({"type": "system", "system": {"kind": "file_missing"}})).await;
    let answer = json!({"type": "text", "content": "Sim", "quoted_provider_message_id": "m1"});
    listed(&scene, "m2", answer).await;
    let file = json!({"type": "image", "media": {"url": "media:1", "caption": "Este?"}});
    listed(&scene, "m1", file).await;
    let answer = scene.message_of("m2").await;
    assert_eq!(
        (&answer["quoted_type"], &answer["quoted_content"]),
        (&json!("image"), &json!("Este?"))
    );
}

/// X5: an event about a message is never before the one that reports it.
#[tokio::test]
async fn no_status_is_reported_of_a_late_own_message_before_it_is_reported_itself() {
    let scene = qr_scene().await;
    let late = json!({"kind": "echo", "provider_message_id": "m1", "to": PEER,
        "type": "unsupported", "is_late": true});
    scene.messaging.tell(late).await;
    scene.messaging.status("m1", "delivered").await;
    assert_eq!(scene.reported("message.status_updated").len(), 0);
    after(&scene, 60).await;
    assert_eq!(scene.reported("message.sent")[0]["status"], "delivered");
    scene.messaging.status("m1", "read").await;
    assert_eq!(scene.reported("message.status_updated").len(), 1);
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
