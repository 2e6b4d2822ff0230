//! Events of gateways: stored once, however often they are reported (D28, D31, D62, D65, D67).

use std::sync::Arc;
use std::time::Duration;

use recado_core::gateway::Incoming;
use recado_core::inbox::{EventOutcome, parse_event};
use recado_testkit::kit::body;
use recado_testkit::{FaultyStore, Kit, MemoryStore};
use serde_json::{Value, json};

use super::messaging::Messaging;
use super::{create_phone, shown};

async fn messaging() -> (Messaging, MemoryStore) {
    let model = MemoryStore::new();
    (Messaging::on(Kit::on(Arc::new(model.clone())).await).await, model)
}

fn reported(model: &MemoryStore, messaging: &Messaging, event: &str) -> Vec<Value> {
    model
        .events(messaging.kit.company.id)
        .iter()
        .filter(|known| known.event_type.as_str() == event)
        .map(|known| serde_json::from_str(&known.data).unwrap())
        .collect()
}

#[tokio::test]
async fn a_message_reported_a_hundred_times_at_once_is_one_message_one_reopening_one_event() {
    let (messaging, model) = messaging().await;
    let contact = create_phone(&messaging.kit, "+5534991230001").await;
    let conversations = messaging.kit.app.conversations();
    let close = recado_core::conversations::ActionName::Close;
    conversations.act(messaging.kit.company.id, contact, close, &body(json!({}))).await.unwrap();
    let tellings = (0..100).map(|_| messaging.hear("m1", "553491230001", "Oi"));
    let results = futures_util::future::join_all(tellings).await;
    let stored = results.iter().filter(|r| r.result == EventOutcome::Stored).count();
    let known = results.iter().filter(|r| r.result == EventOutcome::Duplicate).count();
    assert_eq!((stored, known), (1, 99));
    assert!(results.iter().all(|r| r.message_id == results[0].message_id));
    assert_eq!(messaging.messages().await.len(), 1);
    assert_eq!(reported(&model, &messaging, "message.received").len(), 1);
    let contact = shown(&messaging.kit, contact).await;
    assert_eq!(contact["inbox_status"], "open");
    assert_eq!(
        (&contact["is_ai_enabled"], &contact["connections"][0]["unread_count"]),
        (&json!(false), &json!(1))
    );
}

#[tokio::test]
async fn either_form_of_a_brazilian_mobile_is_the_one_contact() {
    let (messaging, _) = messaging().await;
    let contact = create_phone(&messaging.kit, "+5534991230001").await;
    for (n, from) in ["5534991230001", "553491230001", "553491230001@c.us"].iter().enumerate() {
        messaging.hear(&format!("m{n}"), from, "Oi").await;
    }
    let messages = messaging.messages().await;
    assert!(messages.iter().all(|m| m["contact_id"] == contact.to_string()), "{messages:?}");
    let shown = shown(&messaging.kit, contact).await;
    assert_eq!(shown["identifier"], "5534991230001");
    assert_eq!(shown["connections"][0]["identifier"], "553491230001@c.us");
}

#[tokio::test]
async fn first_messages_of_one_person_under_two_names_at_once_make_one_contact() {
    let (messaging, model) = messaging().await;
    let (one, other) = tokio::join!(
        messaging.hear("m1", "5534991230001", "Oi"),
        messaging.hear("m2", "553491230001", "Olá"),
    );
    assert_eq!((one.result, other.result), (EventOutcome::Stored, EventOutcome::Stored));
    assert_eq!(reported(&model, &messaging, "contact.created").len(), 1);
}

#[tokio::test]
async fn a_phone_learnt_of_a_contact_known_by_lid_finds_it_from_then_on() {
    let (messaging, model) = messaging().await;
    messaging.hear("m1", "123456@lid", "Oi").await;
    let event = json!({
        "kind": "message", "provider_message_id": "m2", "from": "123456@lid",
        "aliases": ["553491230001"], "type": "text", "content": "de novo",
    });
    messaging.tell(event).await;
    messaging.hear("m3", "5534991230001", "agora pelo número").await;
    assert_eq!(reported(&model, &messaging, "contact.created").len(), 1);
    let message = messaging.newest().await;
    assert_eq!(message["contacts"]["phone"], "+5534991230001");
}

#[tokio::test]
async fn an_alias_of_another_contact_leaves_both_as_they_are() {
    let (messaging, _) = messaging().await;
    let ana = create_phone(&messaging.kit, "+5534991230001").await;
    messaging.hear("m1", "777@lid", "Oi").await;
    messaging
        .tell(json!({
            "kind": "message", "provider_message_id": "m2", "from": "777@lid",
            "aliases": ["5534991230001"], "type": "text", "content": "Oi",
        }))
        .await;
    messaging.hear("m3", "5534991230001", "Sou a Ana").await;
    let messages = messaging.messages().await;
    assert_eq!(messages[0]["contact_id"], ana.to_string());
    assert_ne!(messages[1]["contact_id"], ana.to_string());
}

#[tokio::test]
async fn one_bad_event_loses_none_of_the_others() {
    let (messaging, _) = messaging().await;
    let events: Vec<Incoming> = (0..50)
        .map(|n| match n {
            20 => json!({ "kind": "message", "from": "5534991230001" }),
            30 => json!("nonsense"),
            n => json!({
                "kind": "message", "provider_message_id": format!("m{n}"),
                "from": "5534991230001", "type": "text", "content": "Oi",
            }),
        })
        .map(|event| parse_event(&event, "g.us"))
        .collect();
    let results = messaging.receive(events).await;
    let refused: Vec<usize> = results
        .iter()
        .enumerate()
        .filter(|(_, r)| r.result == EventOutcome::Refused)
        .map(|(n, _)| n)
        .collect();
    assert_eq!(refused, [20, 30]);
    assert_eq!(messaging.messages().await.len(), 48);
}

#[tokio::test]
async fn a_message_and_its_reaction_and_edit_in_one_call_know_of_each_other() {
    let (messaging, _) = messaging().await;
    let events = [
        json!({ "kind": "message", "provider_message_id": "m1", "from": "5534991230001",
                "type": "text", "content": "Oi" }),
        json!({ "kind": "message", "provider_message_id": "m2", "from": "5534991230001",
                "type": "reaction", "content": "👍", "quoted_provider_message_id": "m1" }),
        json!({ "kind": "edit", "provider_message_id": "m1", "content": "Olá" }),
    ];
    messaging.receive(events.iter().map(|event| parse_event(event, "g.us")).collect()).await;
    let messages = messaging.messages().await;
    let (text, reaction) = (&messages[1], &messages[0]);
    assert_eq!((&text["content"], &text["is_edited"]), (&json!("Olá"), &json!(true)));
    assert_eq!(reaction["quoted_message_id"], text["id"]);
}

/// D31a.
#[tokio::test]
async fn a_quoted_picture_is_reported_by_its_caption() {
    let (messaging, _) = messaging().await;
    messaging.tell(json!({
        "kind": "message", "provider_message_id": "p1", "from": "5534991230001", "type": "image",
        "media": { "caption": "o bolo" },
    }))
    .await;
    messaging
        .tell(json!({
            "kind": "message", "provider_message_id": "p2", "from": "5534991230001", "type": "text",
            "content": "este", "quoted_provider_message_id": "p1",
        }))
        .await;
    let message = messaging.newest().await;
    assert_eq!(
        (&message["quoted_type"], &message["quoted_content"]),
        (&json!("image"), &json!("o bolo"))
    );
}

#[tokio::test]
async fn reports_in_any_order_end_in_the_same_state_with_one_event_for_each_change() {
    for order in [
        ["sent", "delivered", "read"],
        ["read", "delivered", "sent"],
        ["delivered", "read", "sent"],
    ] {
        let (messaging, model) = messaging().await;
        let sent = messaging.send("+5534991230001", "Oi").await.unwrap();
        for status in order {
            messaging.status(sent.wamid.as_deref().unwrap(), status).await;
            messaging.status(sent.wamid.as_deref().unwrap(), status).await;
        }
        assert_eq!(messaging.newest().await["status"], "read");
        let updates = reported(&model, &messaging, "message.status_updated");
        let mut steps = updates.iter().map(|u| (u["previous_status"].clone(), u["status"].clone()));
        let mut last = json!("sent");
        assert!(steps.all(|(from, to)| from == std::mem::replace(&mut last, to)), "{updates:?}");
    }
}

/// D65.
#[tokio::test]
async fn history_moves_nothing_but_an_opt_out() {
    let (messaging, model) = messaging().await;
    let contact = create_phone(&messaging.kit, "+5534991230001").await;
    let before = shown(&messaging.kit, contact).await;
    for (id, text) in [("h1", "Oi"), ("h2", "sair")] {
        messaging.tell(json!({
            "kind": "message", "provider_message_id": id, "from": "5534991230001", "type": "text",
            "content": text, "history": true, "timestamp": "2026-01-01T00:00:00.000Z",
        }))
        .await;
    }
    let after = shown(&messaging.kit, contact).await;
    for field in ["last_message_at", "last_inbound_at", "inbox_status", "last_connection_id"] {
        assert_eq!(before[field], after[field], "{field}");
    }
    assert_eq!(after["opted_out_at"], "2026-01-01T00:00:00.000Z");
    assert_eq!(reported(&model, &messaging, "message.received"), Vec::<Value>::new());
    assert_eq!(reported(&model, &messaging, "contact.opted_out")[0]["source"], "qr_inbound");
}

#[tokio::test]
async fn a_request_to_stop_that_follows_a_campaign_is_a_reply_to_it() {
    let (messaging, model) = messaging().await;
    let contact = create_phone(&messaging.kit, "+5534991230001").await;
    let import = body(json!({
        "contact_id": contact, "connection_id": messaging.connection, "direction": "outbound",
        "sender_type": "campaign", "content": "Promoção",
    }));
    messaging.kit.app.messages().import(messaging.kit.company.id, &import).await.unwrap();
    messaging.kit.clock.advance(Duration::from_secs(1));
    messaging.hear("m1", "5534991230001", "Parar!").await;
    let reported = reported(&model, &messaging, "contact.opted_out");
    assert_eq!((reported.len(), &reported[0]["source"]), (1, &json!("campaign_reply")));
}

#[tokio::test]
async fn reports_are_reported_with_both_ais_on_while_contacts_cannot_be_read() {
    let model = MemoryStore::new();
    let store = FaultyStore::new(Arc::new(model.clone()));
    let messaging =
        Messaging::on(Kit::builder().store(Arc::new(store.clone())).build().await).await;
    let sent = messaging.send("+5534991230001", "Oi").await.unwrap();
    store.fail_contact_reads();
    messaging.status(sent.wamid.as_deref().unwrap(), "delivered").await;
    store.heal();
    let update = reported(&model, &messaging, "message.status_updated").pop().unwrap();
    assert_eq!(update["contact"]["is_ai_enabled"], true);
    assert_eq!(update["contact"]["external_ai_enabled"], true);
    assert_eq!(update["contact"]["id"], sent.contact_id.to_string());
}

/// R32.
#[tokio::test]
async fn a_group_message_is_the_groups_and_lets_it_be_answered() {
    let (messaging, _) = messaging().await;
    messaging
        .tell(json!({
            "kind": "message", "provider_message_id": "g1", "from": "120363041234567890@g.us",
            "participant": "5534991230001", "push_name": "Ana", "type": "text", "content": "sair",
        }))
        .await;
    let message = messaging.newest().await;
    assert_eq!(message["contacts"]["phone"], "120363041234567890@g.us");
    let sent = messaging.send("120363041234567890@g.us", "Oi, grupo").await.unwrap();
    assert_eq!(sent.group_jid.as_deref(), Some("120363041234567890@g.us"));
    let group = shown(&messaging.kit, sent.contact_id).await;
    assert_eq!((&group["is_group"], &group["opted_out_at"]), (&json!(true), &Value::Null));
    assert_eq!(group["wa_push_name"], Value::Null);
}

/// R50.
#[tokio::test]
async fn calls_that_come_at_once_share_their_commits_and_each_gets_its_own_results() {
    let model = MemoryStore::new();
    let store = FaultyStore::new(Arc::new(model.clone()));
    let messaging =
        Messaging::on(Kit::builder().store(Arc::new(store.clone())).build().await).await;
    messaging.hear("m0", "5534991230000", "Oi").await;
    let commits = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counted = commits.clone();
    store.plan(move |op| {
        let is_commit = u32::from(op == recado_testkit::StoreOp::Commit);
        counted.fetch_add(is_commit, std::sync::atomic::Ordering::Relaxed);
        None
    });
    let ids: Vec<String> = (1..=60).map(|n| format!("m{n}")).collect();
    let hear = |id: &String| {
        let (id, from) = (id.clone(), format!("55349912300{:02}", id[1..].parse::<u32>().unwrap()));
        let messaging = &messaging;
        async move { messaging.hear(&id, &from, &id).await }
    };
    let results = futures_util::future::join_all(ids.iter().map(hear)).await;
    let messages = messaging.messages().await;
    for (id, result) in ids.iter().zip(&results) {
        let message = messages.iter().find(|message| message["content"] == json!(id)).unwrap();
        assert_eq!(json!(result.message_id), message["id"]);
    }
    assert!(commits.load(std::sync::atomic::Ordering::Relaxed) < 20);
}

/// R50.
#[tokio::test]
async fn a_call_that_is_given_up_half_way_holds_up_nobody() {
    let kit = super::interleaving().await;
    let messaging = Messaging::on(kit).await;
    messaging.hear("m0", "5534991230000", "Oi").await;
    for steps in 0..100 {
        let (one, other) = (format!("a{steps}"), format!("b{steps}"));
        let mut given_up = Box::pin(messaging.hear(&one, "5534991230001", "Oi"));
        for _ in 0..steps {
            let waker = std::task::Waker::noop();
            let mut context = std::task::Context::from_waker(waker);
            if given_up.as_mut().poll(&mut context).is_ready() {
                return;
            }
        }
        let (result, ()) = tokio::join!(messaging.hear(&other, "5534991230002", "Oi"), async {
            tokio::task::yield_now().await;
            drop(given_up);
        });
        assert_eq!(result.result, EventOutcome::Stored, "after {steps} steps");
    }
}

/// R48.
#[tokio::test]
async fn an_edit_that_is_older_than_another_is_ignored() {
    let (messaging, _) = messaging().await;
    let edit = |id: &str, content: &str, at: Value| json!({ "kind": "edit", "provider_message_id": id, "content": content, "timestamp": at });
    messaging.hear("m1", "5534991230001", "um").await;
    let now = messaging.kit.app.now();
    let later = messaging.tell(edit("m1", "três", json!(now.minus(Duration::from_secs(1))))).await;
    assert_eq!(later.result, EventOutcome::Stored);
    let older = messaging.tell(edit("m1", "dois", json!(now.minus(Duration::from_secs(2))))).await;
    assert_eq!(older.result, EventOutcome::Ignored);
    assert_eq!(messaging.newest().await["content"], "três");
    messaging.tell(edit("m1", "quatro", Value::Null)).await;
    let message = messaging.newest().await;
    assert_eq!((&message["content"], &message["edited_at"]), (&json!("quatro"), &json!(now)));
    let sent = messaging.send("+5534991230001", "Oi").await.unwrap();
    messaging.tell(edit(sent.wamid.as_deref().unwrap(), "Olá", Value::Null)).await;
    assert_eq!(messaging.newest().await["content"], "Olá");
}

/// R30.
#[tokio::test]
async fn a_report_says_what_became_of_the_message() {
    let (messaging, _) = messaging().await;
    messaging.hear("m1", "5534991230001", "Oi").await;
    let sent = messaging.send("+5534991230001", "Oi").await.unwrap();
    let id = sent.wamid.as_deref().unwrap();
    for (id, status, result) in [
        (id, "delivered", EventOutcome::Stored),
        (id, "delivered", EventOutcome::Duplicate),
        (id, "sent", EventOutcome::Ignored),
        ("m1", "read", EventOutcome::Ignored),
        ("nobody knows it yet", "read", EventOutcome::Stored),
    ] {
        assert_eq!(messaging.status(id, status).await.result, result, "{id} {status}");
    }
}
