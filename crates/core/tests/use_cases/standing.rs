//! Reactions and votes: one for each person and message, the last one counting (X6, X7).

use recado_core::inbox::EventOutcome;
use recado_testkit::kit::body;
use serde_json::{Value, json};

use super::blocks::{PEER, Scene, listed, qr_scene};

const GROUP: &str = "120363@g.us";

/// A message of a contact, or an echo, so many seconds after the start.
fn said(kind: &str, peer: &str, id: &str, seconds: u32, fields: Value) -> Value {
    let side = if kind == "echo" { "to" } else { "from" };
    let mut event = json!({"kind": kind, "provider_message_id": id,
        "timestamp": format!("2025-11-13T12:00:{seconds:02}.000Z")});
    event[side] = json!(peer);
    event.as_object_mut().unwrap().extend(body(fields));
    event
}

fn reaction(emoji: Value) -> Value {
    json!({"type": "reaction", "quoted_provider_message_id": "m0",
        "reaction": {"emoji": emoji, "provider_message_id": "m0"}})
}

fn vote(options: &[&str]) -> Value {
    json!({"type": "interactive", "quoted_provider_message_id": "m0",
        "interactive": {"kind": "poll_vote", "response": {"options": options}}})
}

async fn tell(scene: &Scene, event: Value) -> EventOutcome {
    scene.messaging.tell(event).await.result
}

async fn of_type(scene: &Scene, kind: &str) -> Vec<Value> {
    let messages = scene.messaging.messages().await.into_iter();
    messages.filter(|message| message["type"] == kind).collect()
}

async fn poll(scene: &Scene, peer: &str) {
    let options = json!([{"option": "Hoje", "votes": 0}, {"option": "Amanhã", "votes": 0}]);
    let poll = json!({"type": "poll", "interactive": {"kind": "poll", "body": "Quando?",
        "options": options}});
    assert_eq!(tell(scene, said("echo", peer, "m0", 0, poll)).await, EventOutcome::Stored);
}

async fn votes(scene: &Scene) -> Vec<u64> {
    let poll = scene.message_of("m0").await;
    let options = poll["interactive"]["options"].as_array().unwrap();
    options.iter().map(|option| option["votes"].as_u64().unwrap()).collect()
}

/// X7, X5a.
#[tokio::test]
async fn a_new_emoji_replaces_the_persons_reaction_and_a_withdrawal_empties_it() {
    let scene = qr_scene().await;
    listed(&scene, "m0", json!({"type": "text", "content": "Oi"})).await;
    for (n, (emoji, content)) in
        [(json!("👍"), json!("👍")), (json!("❤️"), json!("❤️")), (Value::Null, Value::Null)]
            .into_iter()
            .enumerate()
    {
        let event = said("message", PEER, &format!("r{n}"), n as u32, reaction(emoji.clone()));
        assert_eq!(tell(&scene, event.clone()).await, EventOutcome::Stored);
        assert_eq!(tell(&scene, event).await, EventOutcome::Duplicate);
        let reactions = of_type(&scene, "reaction").await;
        assert_eq!(reactions.len(), 1);
        assert_eq!(reactions[0]["reaction"]["emoji"], emoji);
        assert_eq!(reactions[0]["content"], content);
        assert_eq!(scene.reported("message.updated").len(), n);
    }
    let updated = scene.reported("message.updated");
    assert_eq!(updated[1]["changed"], json!(["content", "reaction"]));
    assert_eq!(scene.reported("message.received").len(), 2, "the text and one reaction");
}

/// X7.
#[tokio::test]
async fn both_sides_of_a_chat_and_each_participant_of_a_group_have_a_reaction_of_their_own() {
    let scene = qr_scene().await;
    listed(&scene, "m0", json!({"type": "text", "content": "Oi"})).await;
    tell(&scene, said("message", PEER, "r1", 1, reaction(json!("👍")))).await;
    tell(&scene, said("echo", PEER, "r2", 2, reaction(json!("👎")))).await;
    assert_eq!(of_type(&scene, "reaction").await.len(), 2);
    let scene = qr_scene().await;
    for (n, who) in ["5511987650001", "5511987650002", "5511987650001"].iter().enumerate() {
        let mut event =
            said("message", GROUP, &format!("r{n}"), n as u32, reaction(json!(n.to_string())));
        event["participant"] = json!(who);
        tell(&scene, event).await;
    }
    let mut emojis: Vec<String> = of_type(&scene, "reaction")
        .await
        .iter()
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .collect();
    emojis.sort();
    assert_eq!(emojis, ["1", "2"]);
}

/// X7: gateways may report in any order.
#[tokio::test]
async fn an_older_reaction_does_not_undo_a_newer_one() {
    let scene = qr_scene().await;
    tell(&scene, said("message", PEER, "r2", 9, reaction(Value::Null))).await;
    tell(&scene, said("message", PEER, "r1", 5, reaction(json!("👍")))).await;
    let reactions = of_type(&scene, "reaction").await;
    assert_eq!((reactions.len(), &reactions[0]["content"]), (1, &Value::Null));
    assert_eq!(reactions[0]["timestamp"], "2025-11-13T12:00:05.000Z");
    assert_eq!(reactions[0]["edited_at"], "2025-11-13T12:00:09.000Z");
}

/// X6, X5a.
#[tokio::test]
async fn each_persons_last_vote_counts_and_the_poll_is_reported() {
    let scene = qr_scene().await;
    poll(&scene, GROUP).await;
    let ballot = async |id: &str, seconds, who: &str, options: &[&str]| {
        let mut event = said("message", GROUP, id, seconds, vote(options));
        event["participant"] = json!(who);
        assert_eq!(tell(&scene, event.clone()).await, EventOutcome::Stored);
        assert_eq!(tell(&scene, event).await, EventOutcome::Duplicate);
        votes(&scene).await
    };
    assert_eq!(ballot("v1", 1, "1@lid", &["Hoje"]).await, [1, 0]);
    assert_eq!(ballot("v2", 2, "2@lid", &["Hoje", "Amanhã"]).await, [2, 1]);
    assert_eq!(ballot("v3", 3, "1@lid", &["Amanhã"]).await, [1, 2]);
    assert_eq!(ballot("v4", 4, "2@lid", &[]).await, [0, 1]);
    let updated = scene.reported("message.updated");
    let polls = updated.iter().filter(|event| event["type"] == "poll").count();
    assert_eq!((polls, updated.len()), (4, 6), "two votes were changed");
    let mut said: Vec<Value> =
        of_type(&scene, "interactive").await.iter().map(|vote| vote["content"].clone()).collect();
    said.sort_by_key(Value::to_string);
    assert_eq!(said, [json!("Amanhã"), Value::Null]);
}

/// X6.
#[tokio::test]
async fn a_vote_stands_as_one_message_that_says_what_was_chosen() {
    let scene = qr_scene().await;
    poll(&scene, PEER).await;
    tell(&scene, said("message", PEER, "v1", 1, vote(&["Hoje", "Amanhã"]))).await;
    let message = scene.message_of("v1").await;
    assert_eq!(message["content"], "Hoje, Amanhã");
    assert_eq!(message["interactive"]["title"], "Hoje, Amanhã");
    assert_eq!(message["interactive"]["response"], json!({"options": ["Hoje", "Amanhã"]}));
    assert_eq!(message["interactive"]["in_reply_to"], scene.message_of("m0").await["id"]);
}

/// X6, D28: ids of events differ, whatever one echo causes.
#[tokio::test]
async fn an_own_vote_whose_status_came_first_is_stored_with_both() {
    let scene = qr_scene().await;
    poll(&scene, PEER).await;
    scene.messaging.status("v1", "delivered").await;
    let own = said("echo", PEER, "v1", 1, vote(&["Hoje"]));
    assert_eq!(tell(&scene, own).await, EventOutcome::Stored);
    assert_eq!(votes(&scene).await, [1, 0]);
    assert_eq!(scene.message_of("v1").await["status"], "delivered");
    assert_eq!(scene.reported("message.status_updated").len(), 1);
    assert_eq!(scene.reported("message.updated").len(), 1);
}

/// X6: a vote that was not counted takes nothing away.
#[tokio::test]
async fn a_vote_from_long_before_its_poll_counts_once_it_is_changed() {
    let scene = qr_scene().await;
    tell(&scene, said("message", PEER, "v1", 1, vote(&["Hoje"]))).await;
    scene.messaging.kit.clock.advance(std::time::Duration::from_secs(11 * 60));
    poll(&scene, PEER).await;
    tell(&scene, said("echo", PEER, "v2", 2, vote(&["Hoje"]))).await;
    assert_eq!(votes(&scene).await, [1, 0]);
    tell(&scene, said("message", PEER, "v3", 3, vote(&["Amanhã"]))).await;
    assert_eq!(votes(&scene).await, [1, 1]);
}

/// X6, D43: the words of a poll's option are not the contact's.
#[tokio::test]
async fn a_vote_is_no_request_to_stop() {
    let scene = qr_scene().await;
    poll(&scene, PEER).await;
    let mut vote = said("message", PEER, "v1", 1, vote(&["Sair"]));
    vote["content"] = json!("Sair");
    tell(&scene, vote).await;
    assert_eq!(scene.reported("contact.opted_out").len(), 0);
}

/// X7, R145: each change of a reaction has an id of its own.
#[tokio::test]
async fn a_changed_reaction_of_a_deleted_contact_does_not_bring_them_back() {
    let scene = qr_scene().await;
    let first = said("message", PEER, "r1", 1, reaction(json!("👍")));
    let second = said("message", PEER, "r2", 2, reaction(json!("❤️")));
    tell(&scene, first.clone()).await;
    tell(&scene, second.clone()).await;
    let contact = super::blocks::contact_id(&scene.message_of("r1").await);
    let kit = &scene.messaging.kit;
    kit.app.contacts().delete(&kit.caller, contact).await.unwrap();
    for event in [second, first] {
        assert_eq!(tell(&scene, event).await, EventOutcome::Duplicate);
    }
    assert_eq!(scene.messaging.messages().await.len(), 0);
}

/// X6, X5: a vote that comes before its poll.
#[tokio::test]
async fn a_vote_that_comes_before_its_poll_is_counted_when_the_poll_comes() {
    let scene = qr_scene().await;
    tell(&scene, said("message", PEER, "v1", 1, vote(&["Hoje"]))).await;
    poll(&scene, PEER).await;
    assert_eq!(votes(&scene).await, [1, 0]);
    let (poll, vote) = (scene.message_of("m0").await, scene.message_of("v1").await);
    assert_eq!(vote["interactive"]["in_reply_to"], poll["id"]);
    assert_eq!(scene.reported("message.sent")[0]["interactive"], poll["interactive"]);
    tell(&scene, said("message", PEER, "v2", 2, super::standing::vote(&["Amanhã"]))).await;
    assert_eq!(votes(&scene).await, [0, 1]);
}
