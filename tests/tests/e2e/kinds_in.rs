//! Messages of other kinds as gateways report them: what counts of them, what is cut, and what
//! comes in an odd order (X1–X3, X5, X7–X9).

use std::time::Duration;

use recado_tests::{World, both_stores, digits, mobile, text, with};
use serde_json::{Value, json};

const LID: &str = "123456789012345@lid";

fn about(kind: &str, event: &Value, more: Value) -> Value {
    with(json!({"kind": kind, "provider_message_id": event["provider_message_id"]}), more)
}

/// X1.
#[both_stores]
async fn what_a_gateway_calls_voice_or_ptt_is_a_voice_note(world: World) {
    let qr = world.qr().await;
    for (word, is_voice) in [("voice", true), ("ptt", true), ("audio", false)] {
        let file = json!({"type": word, "content": null, "media": {"url": "m:1"}});
        let id = world.stored(&qr, with(world.inbound(&digits(&mobile(1)), ""), file)).await;
        let shown = world.message(&id).await;
        assert_eq!((&shown["type"], &shown["is_voice"]), (&json!("audio"), &json!(is_voice)));
    }
}

/// X1, X9: with the block, whether the gateway wrote one or not.
#[both_stores]
async fn what_nobody_can_show_always_says_so(world: World) {
    let qr = world.qr().await;
    for block in [Value::Null, json!({}), json!({"reason": "new", "provider_type": "hologram"})] {
        let fields = json!({"type": "unsupported", "content": null, "unsupported": block});
        let id = world.stored(&qr, with(world.inbound(&digits(&mobile(1)), ""), fields)).await;
        let shown = world.message(&id).await;
        let expected = json!({"reason": block["reason"], "provider_type": block["provider_type"]});
        assert_eq!(shown["unsupported"], expected);
    }
}

/// X2, R35.
#[both_stores]
async fn what_is_too_long_is_cut_and_never_refused(world: World) {
    let qr = world.qr().await;
    let card = json!({"name": "é".repeat(4_097), "phones": [{"number": "1\u{7}2"}]});
    let cards = json!({"type": "contacts", "content": null, "shared_contacts": vec![card; 101]});
    let id = world.stored(&qr, with(world.inbound(&digits(&mobile(1)), ""), cards)).await;
    let shown = world.message(&id).await;
    let cards = shown["shared_contacts"].as_array().expect("cards");
    assert_eq!(cards.len(), 100);
    let name = text(&cards[0]["name"]);
    assert!(name.chars().count() <= 4_096 && name.ends_with("é…"), "{name}");
    assert_eq!(cards[0]["phones"][0]["number"], "12");

    let one = json!({"type": "contacts", "content": null,
        "shared_contacts": [{"name": "é".repeat(4_097)}]});
    let id = world.stored(&qr, with(world.inbound(&digits(&mobile(1)), ""), one)).await;
    let name = text(&world.message(&id).await["shared_contacts"][0]["name"]);
    assert_eq!(name, "é".repeat(4_095) + "…");

    let long = "é".repeat(65_537);
    let event = with(world.inbound(&digits(&mobile(1)), &long), json!({"quoted_content": long}));
    let shown = world.message(&world.stored(&qr, event).await).await;
    for key in ["content", "quoted_content"] {
        assert_eq!(text(&shown[key]).chars().count(), 65_536, "{key}");
    }
}

/// X3, X5: in whichever order they come, and after ten minutes not any more.
#[both_stores]
async fn an_edit_and_a_deletion_that_come_first_wait_for_their_message(world: World) {
    let qr = world.qr().await;
    let at = world.time();
    for (wait, is_kept) in [(599, true), (601, false)] {
        let event = world.inbound(&digits(&mobile(1)), "Oi");
        let early = [
            about("edit", &event, json!({"content": "Olá", "timestamp": world.time()})),
            about("deleted", &event, json!({"timestamp": at})),
        ];
        for early in early {
            assert_eq!(world.gateway_one(&qr, early).await["result"], "stored");
        }
        world.advance(Duration::from_secs(wait));
        let shown = world.message(&world.stored(&qr, event).await).await;
        assert_eq!(shown["content"], if is_kept { "Olá" } else { "Oi" });
        assert_eq!(shown["is_edited"], is_kept);
        let deleted_at = if is_kept { json!(at) } else { Value::Null };
        assert_eq!(shown["deleted_by_sender_at"], deleted_at);
    }
    assert!(world.events_of("message.updated").await.is_empty(), "nobody knew them before");
    assert_eq!(world.events_of("message.received").await.len(), 2);
}

/// X5: the first one has counted; a request to stop in the text counts all the same.
#[both_stores]
async fn late_content_is_neither_unread_again_nor_reopens_but_is_heard(world: World) {
    let cloud = world.cloud().await;
    let event = world.inbound(&digits(&mobile(1)), "Parar!");
    let nothing = json!({"type": "unsupported", "content": null});
    let id = world.stored(&cloud, with(event.clone(), nothing)).await;
    let contact = text(&world.message(&id).await["contact_id"]);
    assert_eq!(world.detail(&contact).await["connections"][0]["unread_count"], 1);
    let member = world.member("Bia").await;
    world.act(&contact, "close", json!({"member_id": member})).await.expect(200);
    let before = world.detail(&contact).await;
    assert_eq!(before["inbox_status"], "resolved");
    world.advance(Duration::from_secs(5));
    assert_eq!(world.stored(&cloud, event).await, id);
    let after = world.detail(&contact).await;
    assert_eq!(after["inbox_status"], "resolved");
    assert_eq!(after["connections"][0]["unread_count"], before["connections"][0]["unread_count"]);
    assert_eq!(world.message(&id).await["content"], "Parar!");
    let send = world.send_text(&mobile(1), "Oi").await;
    send.expect_error(403, "CONTACT_OPTED_OUT");
    assert_eq!(world.events_of("contact.opted_out").await.len(), 1);
}

/// X5: what comes after it is reported at once.
#[both_stores]
async fn later_messages_do_not_wait_for_late_content(world: World) {
    let qr = world.qr().await;
    let from = digits(&mobile(1));
    let late = world.inbound(&from, "primeira");
    let nothing = json!({"type": "text", "content": null, "is_late": true});
    let first = world.stored(&qr, with(late.clone(), nothing)).await;
    world.advance(Duration::from_secs(1));
    let second = world.receive(&qr, &from, "segunda").await;
    let ids = async || -> Vec<String> {
        let events = world.events_of("message.received").await;
        events.iter().map(|data| text(&data["message_id"])).collect()
    };
    assert_eq!(ids().await, [second.clone()]);
    let shown = world.all_messages().await;
    assert_eq!((&shown[1]["id"], &shown[1]["type"]), (&json!(first), &json!("unsupported")));
    world.advance(Duration::from_secs(1));
    world.stored(&qr, late).await;
    assert_eq!(ids().await, [second, first.clone()]);
    assert_eq!(world.all_messages().await[1]["id"], first.as_str(), "its place in the order stays");
}

/// X7.
#[both_stores]
async fn a_reaction_of_a_contact_is_never_unread_and_never_reopens(world: World) {
    let qr = world.silent("qr").await;
    let sent = world.sent(&mobile(1), "Pronto").await;
    let contact = text(&sent["contact_id"]);
    let target = world.message(&text(&sent["message_id"])).await["wamid"].clone();
    let member = world.member("Bia").await;
    world.act(&contact, "close", json!({"member_id": member})).await.expect(200);
    for emoji in [json!("👍"), json!("❤️"), Value::Null] {
        world.advance(Duration::from_secs(1));
        let reaction = json!({"type": "reaction", "content": null,
            "reaction": {"emoji": emoji, "provider_message_id": target}});
        world.stored(&qr, with(world.inbound(&digits(&mobile(1)), ""), reaction)).await;
        let detail = world.detail(&contact).await;
        assert_eq!(detail["inbox_status"], "resolved", "{emoji}");
        assert_eq!(detail["connections"][0]["unread_count"], 0, "{emoji}");
        assert!(world.list_ids("unread=true").await.is_empty(), "{emoji}");
    }
    assert_eq!(world.all_messages().await.len(), 2);
    assert_eq!(world.events_of("message.received").await.len(), 1);
    assert_eq!(world.events_of("message.updated").await.len(), 2);
}

/// X8.
#[both_stores]
async fn a_status_teaches_another_name_of_its_recipient_and_makes_no_contact(world: World) {
    let qr = world.silent("qr").await;
    let sent = world.sent(&mobile(1), "Oi").await;
    let wamid = text(&world.message(&text(&sent["message_id"])).await["wamid"]);
    let named = |id: &str| with(world.report(id, "delivered"), json!({"aliases": [LID]}));
    world.gateway_one(&qr, named("unknown")).await;
    assert_eq!(world.list_ids("").await.len(), 1, "no contact was made");
    world.gateway_one(&qr, named(&wamid)).await;
    let heard = world.receive(&qr, LID, "Oi").await;
    assert_eq!(world.message(&heard).await["contact_id"], sent["contact_id"]);
    assert_eq!(world.list_ids("").await.len(), 1);
}
