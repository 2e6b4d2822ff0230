//! Changes of messages, over HTTP: what webhooks, the journal and the listings show of edits,
//! deletions, reactions, votes and late content: 6.1, 6.4; X3, X5, X5a, X6, X7.

use std::time::Duration;

use recado_tests::{Hooks, both_stores, digits, mobile, text, with};
use serde_json::{Value, json};

/// The data of the requests of this event to `/a`, in order.
fn reported(hooks: &Hooks, event: &str) -> Vec<Value> {
    let all = hooks.receiver.to("/a").into_iter();
    all.filter(|request| request.event() == event)
        .map(|request| request.json()["data"].clone())
        .collect()
}

fn about(kind: &str, provider_id: &Value, more: Value) -> Value {
    with(json!({"kind": kind, "provider_message_id": provider_id}), more)
}

async fn erases(hooks: &Hooks, value: bool) -> Value {
    let path = format!("/companies/{}", hooks.us.id);
    hooks.operator("PATCH", &path, json!({"erase_deleted_messages": value})).await.expect(200)
}

async fn jobs(hooks: &Hooks) {
    hooks.server.run_due_jobs().await;
}

#[both_stores]
async fn an_edit_reaches_webhooks_and_the_journal_once(hooks: Hooks) {
    hooks.hook("/a", &["message.updated"]).await;
    hooks.hook("/all", &["*"]).await;
    let qr = hooks.qr().await;
    let event = hooks.inbound(&digits(&mobile(1)), "Oi");
    let id = hooks.stored(&qr, event.clone()).await;
    let edit = about("edit", &event["provider_message_id"], json!({"content": "Olá"}));
    for result in ["stored", "duplicate"] {
        assert_eq!(hooks.gateway_one(&qr, edit.clone()).await["result"], result);
    }
    hooks.drain().await;
    let updates = reported(&hooks, "message.updated");
    assert_eq!(updates.len(), 1);
    assert_eq!(updates[0]["changed"], json!(["content"]));
    assert_eq!((&updates[0]["message_id"], &updates[0]["content"]), (&json!(id), &json!("Olá")));
    let told: Vec<String> = hooks.receiver.to("/all").iter().map(|told| told.event()).collect();
    assert_eq!(told, ["contact.created", "message.received", "message.updated"]);
    let key = hooks.journal_key().await;
    let journal = hooks.journal(&key, "event=message.updated").await;
    journal.expect(200);
    let entries = journal.items();
    assert_eq!((entries.len(), &entries[0]["data"]), (1, &updates[0]));
    assert_eq!(hooks.message(&id).await["is_edited"], true);
}

#[both_stores]
async fn a_deletion_is_marked_and_the_content_stays_by_default(hooks: Hooks) {
    hooks.hook("/a", &["message.updated"]).await;
    let qr = hooks.qr().await;
    let event = hooks.inbound(&digits(&mobile(1)), "Oi");
    let id = hooks.stored(&qr, event.clone()).await;
    let at = hooks.time();
    let deletion = about("deleted", &event["provider_message_id"], json!({"timestamp": at}));
    hooks.gateway_one(&qr, deletion).await;
    hooks.drain().await;
    let message = hooks.message(&id).await;
    assert_eq!((&message["deleted_by_sender_at"], &message["content"]), (&json!(at), &json!("Oi")));
    assert_eq!(reported(&hooks, "message.updated")[0]["changed"], json!(["deleted_by_sender_at"]));
}

/// X3, D74.
#[both_stores]
async fn a_company_that_erases_deleted_messages_hands_nothing_of_them_out_again(hooks: Hooks) {
    assert_eq!(erases(&hooks, true).await["erase_deleted_messages"], true);
    hooks.hook("/a", &["*"]).await;
    let qr = hooks.qr().await;
    let from = digits(&mobile(1));
    let event = hooks.inbound(&from, "um segredo");
    let id = hooks.stored(&qr, event.clone()).await;
    let wamid = &event["provider_message_id"];
    let reply = with(hooks.echo(&from, "Certo"), json!({"quoted_provider_message_id": wamid}));
    let reply = hooks.stored(&qr, reply).await;
    assert_eq!(hooks.message(&reply).await["quoted_content"], "um segredo");
    hooks.drain().await;
    let deliveries = hooks.deliveries("event=message.received").await;
    hooks.gateway_one(&qr, about("deleted", wamid, json!({}))).await;
    let message = hooks.message(&id).await;
    assert_eq!(message["content"], Value::Null, "at once");
    jobs(&hooks).await;
    hooks.drain().await;
    assert_eq!(hooks.message(&reply).await["quoted_content"], Value::Null);
    assert_eq!(hooks.message(&reply).await["content"], "Certo");
    let key = hooks.journal_key().await;
    let journal = hooks.journal(&key, "").await;
    let shown = |event: &str| -> Vec<Value> {
        let entries = journal.items().into_iter().filter(|entry| entry["event"] == event);
        entries.map(|entry| entry["data"].clone()).collect()
    };
    assert_eq!(shown("message.received"), [Value::Null]);
    assert_eq!(shown("message.sent")[0]["content"], "Certo");
    assert_eq!(shown("message.updated")[0]["content"], Value::Null);
    assert_ne!(shown("message.updated")[0]["deleted_by_sender_at"], Value::Null);
    let delivery = text(&deliveries[0]["id"]);
    hooks.redeliver(&delivery).await.expect_error(409, "BODY_ERASED");
}

/// X5, X5a.
#[both_stores]
async fn late_content_is_reported_with_the_message_or_as_its_change(hooks: Hooks) {
    hooks.hook("/a", &["*"]).await;
    let qr = hooks.qr().await;
    let from = digits(&mobile(1));
    for (n, wait) in [(1, 59), (2, 60)] {
        let event = hooks.inbound(&from, "Oi");
        let late = with(
            event.clone(),
            json!({"type": "unsupported", "content": null,
            "is_late": true, "unsupported": {"reason": "131060"}}),
        );
        let id = hooks.stored(&qr, late).await;
        hooks.advance(Duration::from_secs(wait));
        jobs(&hooks).await;
        assert_eq!(hooks.gateway_one(&qr, event).await["message_id"], id);
        hooks.advance(Duration::from_secs(120));
        jobs(&hooks).await;
        hooks.drain().await;
        assert_eq!(hooks.message(&id).await["content"], "Oi");
        let received = reported(&hooks, "message.received");
        assert_eq!(received.len(), n);
        assert_eq!(received[n - 1]["type"], if wait < 60 { "text" } else { "unsupported" });
    }
    let updated = reported(&hooks, "message.updated");
    assert_eq!((updated.len(), &updated[0]["content"]), (1, &json!("Oi")));
}

/// X6, X7: before and after a restart.
#[both_stores]
async fn reactions_and_votes_stand_once_for_each_person(mut hooks: Hooks) {
    let qr = hooks.qr().await;
    let from = digits(&mobile(1));
    let options = json!([{"option": "Sim", "votes": 0}, {"option": "Não", "votes": 0}]);
    let poll = with(
        hooks.echo(&from, ""),
        json!({"type": "poll", "content": null,
        "interactive": {"kind": "poll", "body": "Vem?", "options": options}}),
    );
    let id = hooks.stored(&qr, poll.clone()).await;
    let target = &poll["provider_message_id"];
    for (emoji, choice) in [(json!("👍"), "Sim"), (Value::Null, "Não")] {
        let reaction = with(
            hooks.inbound(&from, ""),
            json!({"type": "reaction", "content": null,
            "reaction": {"emoji": emoji, "provider_message_id": target}}),
        );
        let vote = with(
            hooks.inbound(&from, ""),
            json!({"type": "interactive", "content": null,
            "quoted_provider_message_id": target,
            "interactive": {"kind": "poll_vote", "response": {"options": [choice]}}}),
        );
        for event in [reaction, vote] {
            assert_eq!(hooks.gateway_one(&qr, event).await["result"], "stored");
        }
        hooks.world.restart().await;
    }
    let messages = hooks.all_messages().await;
    assert_eq!(messages.len(), 3, "{messages:?}");
    let of = |kind: &str| messages.iter().find(|message| message["type"] == kind).expect("one");
    assert_eq!(
        (&of("reaction")["reaction"]["emoji"], &of("reaction")["content"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(of("reaction")["reaction"]["message_id"], id);
    assert_eq!(of("interactive")["content"], "Não");
    let options = &of("poll")["interactive"]["options"];
    assert_eq!((&options[0]["votes"], &options[1]["votes"]), (&json!(0), &json!(1)));
}
