//! Events of WAHA: messages, messages typed on the phone, acks, changes, files:
//! docs/gateways/waha.md; D27, D28, D31, D31a, D42a, D43.

use std::time::Duration;

use recado_testkit::gateways::WahaEngine;
use recado_tests::{Request, StoreKind, both_stores, digits, keys, mobile, path_of, text, with};
use serde_json::{Value, json};

use crate::gateway_waha::{Waha, chat, raw};

const SECOND: Duration = Duration::from_secs(1);

/// A received photo, in the gateway's form.
fn photo(waha: &Waha, url: &str) -> Value {
    let message = waha.fake.receive(&chat(&mobile(1)), "Maria", "olha isso");
    let media = json!({"url": url, "mimetype": "image/jpeg", "filename": "a.jpg", "error": null});
    with(message, json!({"hasMedia": true, "media": media}))
}

async fn external(waha: &Waha, contact: &str) -> Value {
    waha.full(contact).await["external_ai_enabled"].clone()
}

#[both_stores]
async fn a_message_is_stored_and_reported_on_every_engine(kind: StoreKind) {
    for engine in WahaEngine::ALL {
        let waha = Waha::on(kind, engine).await;
        let reported = waha.fake.receive(&chat(&mobile(1)), "Maria Souza", "Oi, tudo bem? 🙂");
        waha.pass(SECOND * 90);
        let message = waha.brings(&reported).await;
        assert_eq!(message["direction"], "inbound");
        assert_eq!(message["status"], "received");
        assert_eq!(message["type"], "text");
        assert_eq!(message["content"], "Oi, tudo bem? 🙂");
        assert_eq!(message["sender_type"], "contact");
        assert_eq!(message["connection_id"], waha.connection.as_str());
        assert_eq!(message["timestamp"], waha.time_ago(90_000), "the gateway's time");
        let contact = waha.detail(&text(&message["contact_id"])).await;
        assert_eq!(contact["phone"], mobile(1));
        assert_eq!(contact["identifier"], digits(&mobile(1)));
        assert_eq!(
            contact["whatsapp_name"].as_str().or(contact["display_name"].as_str()),
            Some("Maria Souza"),
            "{engine:?} {contact}"
        );
        let events = waha.events_of("message.received").await;
        assert_eq!(events.len(), 1);
        assert_eq!(events[0]["message_id"], message["id"]);
        assert_eq!(events[0]["content"], "Oi, tudo bem? 🙂");
        assert!(keys(&events[0]).contains(&"connection".to_owned()));
        assert_eq!(waha.events_of("contact.created").await.len(), 1);
        waha.well_behaved();
    }
}

#[both_stores]
async fn a_repeated_webhook_changes_nothing(waha: Waha) {
    let reported = waha.fake.receive(&chat(&mobile(1)), "Maria", "oi");
    let webhook = waha.fake.webhook_message(&reported);
    for _ in 0..3 {
        waha.takes(&webhook).await;
    }
    // Another event about the same message: `message` in addition to `message.any`.
    waha.takes(&waha.fake.webhook("message", &reported)).await;
    waha.known(&raw(&reported)).await;
    assert_eq!(waha.all_messages().await.len(), 1);
    assert_eq!(waha.events_of("message.received").await.len(), 1);
    let contact = text(&waha.all_messages().await[0]["contact_id"]);
    assert_eq!(waha.detail(&contact).await["connections"][0]["unread_count"], 1);
}

#[both_stores]
async fn what_is_typed_on_the_phone_hands_over_to_a_person(waha: Waha) {
    for (n, wait, is_reply) in [(1, 3, false), (2, 60, true), (3, 700, false)] {
        let heard = waha.hears(&chat(&mobile(n)), "oi").await;
        let contact = text(&heard["contact_id"]);
        waha.pass(SECOND * wait);
        let typed = waha.fake.type_on_phone(&chat(&mobile(n)), "pois não");
        let message = waha.brings(&typed).await;
        assert_eq!(message["sender_type"], "agent");
        assert_eq!(message["direction"], "outbound");
        assert_eq!(message["status"], "sent");
        assert_eq!(message["contact_id"], contact.as_str());
        assert_eq!(external(&waha, &contact).await, !is_reply, "after {wait} s");
        assert_eq!(waha.detail(&contact).await["connections"][0]["unread_count"], 0);
    }
    assert_eq!(waha.events_of("message.sent").await.len(), 3);
    assert!(waha.fake.accepted().is_empty());
}

#[both_stores]
async fn an_echo_is_read_when_its_ack_says_so(waha: Waha) {
    waha.hears(&chat(&mobile(1)), "oi").await;
    let typed = waha.fake.type_on_phone(&chat(&mobile(1)), "pois não");
    waha.brings(&typed).await;
    for (ack, status) in [(2, "delivered"), (3, "read"), (2, "read")] {
        waha.takes(&waha.fake.webhook_ack(&raw(&typed), ack)).await;
        assert_eq!(waha.known(&raw(&typed)).await["status"], status);
    }
}

#[both_stores]
async fn acks_in_any_order_never_move_a_message_back(waha: Waha) {
    for order in
        [vec![1, 2, 3, 4], vec![4, 3, 2, 1], vec![3, 3, 1, 2], vec![2, 0, 3, 0], vec![1, 4, 2]]
    {
        let id = waha.sends(&mobile(1), "oi").await;
        let mut reached = 0;
        for ack in &order {
            waha.takes(&waha.fake.webhook_ack(&id, *ack)).await;
            reached = reached.max(*ack);
            let expected = ["sent", "sent", "delivered", "read", "read"];
            let expected = expected[usize::try_from(reached).expect("an ack")];
            assert_eq!(waha.known(&id).await["status"], expected, "{ack} of {order:?}");
        }
        let message = text(&waha.known(&id).await["id"]);
        let reported = waha.announced(&message).await;
        assert!(reported.len() <= 2, "each change is told once: {reported:?}");
        assert_eq!(reported.last().map(String::as_str), Some("read"), "{order:?}");
    }
    waha.well_behaved();
}

#[both_stores]
async fn a_failed_ack_fails_what_was_not_delivered(waha: Waha) {
    let id = waha.sends(&mobile(1), "oi").await;
    waha.takes(&waha.fake.webhook_ack(&id, -1)).await;
    let failed = waha.known(&id).await;
    assert_eq!(failed["status"], "failed");
    assert_eq!(failed["error_type"], "unknown", "WAHA gives no reason");
    assert_eq!(failed["delivery_error"]["code"], "UNKNOWN");
    waha.takes(&waha.fake.webhook_ack(&id, 3)).await;
    assert_eq!(waha.known(&id).await["status"], "failed", "failed is final");
    let other = waha.sends(&mobile(1), "oi").await;
    waha.takes(&waha.fake.webhook_ack(&other, 2)).await;
    waha.takes(&waha.fake.webhook_ack(&other, -1)).await;
    assert_eq!(waha.known(&other).await["status"], "delivered");
}

#[both_stores]
async fn an_ack_of_a_message_that_nobody_knows_changes_nothing(waha: Waha) {
    waha.takes(&waha.fake.webhook_ack("3EB0FFFFFFFFFFFFFFFFFF", 3)).await;
    assert!(waha.all_messages().await.is_empty());
    assert!(waha.list_ids("limit=10").await.is_empty());
}

#[both_stores]
async fn an_ack_of_one_member_of_a_group_is_not_the_groups(waha: Waha) {
    waha.fake.set_groups(vec![recado_testkit::gateways::WahaGroup::new("1203@g.us", "G")]);
    waha.asks("sync-groups").await.expect(200);
    let id = waha.sends("1203@g.us", "bom dia").await;
    let payload = json!({"id": format!("true_1203@g.us_{id}_123@lid"), "from": "1203@g.us",
        "to": "551140028922@c.us", "participant": "123@lid", "fromMe": true, "ack": 3,
        "ackName": "READ", "_data": {}});
    for event in ["message.ack", "message.ack.group"] {
        waha.takes(&waha.fake.webhook(event, &payload)).await;
        assert_eq!(waha.known(&id).await["status"], "sent", "{event}");
    }
    waha.well_behaved();
}

#[both_stores]
async fn an_edit_changes_the_text_and_a_revoke_does_not(waha: Waha) {
    let reported = waha.fake.receive(&chat(&mobile(1)), "Maria", "preço?");
    waha.brings(&reported).await;
    waha.pass(SECOND * 20);
    let edit = with(
        waha.fake.receive(&chat(&mobile(1)), "Maria", "qual o preço?"),
        json!({"editedMessageId": raw(&reported)}),
    );
    waha.takes(&waha.fake.webhook("message.edited", &edit)).await;
    let message = waha.known(&raw(&reported)).await;
    assert_eq!(message["content"], "qual o preço?");
    assert_eq!(message["is_edited"], true);
    let revoke = json!({"after": reported, "before": null, "revokedMessageId": raw(&reported)});
    waha.takes(&waha.fake.webhook("message.revoked", &revoke)).await;
    assert_eq!(waha.known(&raw(&reported)).await["content"], "qual o preço?");
    assert_eq!(waha.all_messages().await.len(), 1);
}

#[both_stores]
async fn a_reaction_is_a_message_about_another(waha: Waha) {
    let id = waha.sends(&mobile(1), "oi").await;
    let ours = text(&waha.known(&id).await["id"]);
    let reaction = json!({
        "id": format!("false_{}_3AREACTION", chat(&mobile(1))), "from": chat(&mobile(1)),
        "to": "551140028922@c.us", "fromMe": false, "participant": null,
        "timestamp": 1_795_176_000.5,
        "reaction": {"text": "👍", "messageId": format!("true_{}_{id}", chat(&mobile(1)))},
    });
    waha.takes(&waha.fake.webhook("message.reaction", &reaction)).await;
    let message = waha.known("3AREACTION").await;
    assert_eq!((&message["type"], &message["content"]), (&json!("reaction"), &json!("👍")));
    assert_eq!(message["quoted_message_id"], ours.as_str());
    let back = json!({"text": "", "messageId": format!("true_{}_{id}", chat(&mobile(1)))});
    let back = with(reaction, json!({"reaction": back, "id": "false_x@c.us_3ABACK"}));
    waha.takes(&waha.fake.webhook("message.reaction", &back)).await;
    assert_eq!(waha.all_messages().await.len(), 2, "one taken back is none");
}

#[both_stores]
async fn a_quote_names_our_message_or_says_what_it_was(waha: Waha) {
    let id = waha.sends(&mobile(1), "temos de R$ 10").await;
    let ours = waha.known(&id).await;
    let quoting = |id: &str, words: &str| {
        with(
            waha.fake.receive(&chat(&mobile(1)), "Maria", "quero"),
            json!({
                "replyTo": {"id": id, "participant": "551140028922@c.us", "body": words},
            }),
        )
    };
    let known = waha.brings(&quoting(&id, "temos de R$ 10")).await;
    assert_eq!(known["quoted_message_id"], ours["id"]);
    assert_eq!(known["quoted_content"], "temos de R$ 10");
    let unknown = waha.brings(&quoting("3EB0DEAD", "de antes")).await;
    assert_eq!(unknown["quoted_message_id"], Value::Null);
    assert_eq!(unknown["quoted_content"], "de antes");
}

#[both_stores]
async fn a_file_is_fetched_with_the_key_and_read_by_a_link_of_ours(waha: Waha) {
    let url = waha.fake.add_file("x.jpg", b"\xff\xd8\xff a photo");
    let message = waha.brings(&photo(&waha, &url)).await;
    assert_eq!(message["type"], "image");
    assert_eq!(message["media_caption"], "olha isso");
    assert_eq!(message["media_mimetype"], "image/jpeg");
    assert_eq!(message["media_filename"], "a.jpg");
    let path = path_of(&message["media_url"]);
    let early = waha.send(Request::new("GET", &path)).await;
    assert_eq!(early.status, 503, "the message does not wait for its file");
    waha.jobs().await;
    waha.fake.expire_files();
    let file = waha.send(Request::new("GET", &path)).await;
    assert_eq!((file.status, file.body.as_ref()), (200, &b"\xff\xd8\xff a photo"[..]));
    assert_eq!(file.header("content-type"), "image/jpeg");
    let forged = waha.send(Request::new("GET", format!("{path}A"))).await;
    assert_eq!(forged.status, 404, "{}", forged.show());
    assert!(!text(&message["media_url"]).contains("waha-api-key"));
    waha.well_behaved();
}

#[both_stores]
async fn a_file_that_is_gone_leaves_its_message(waha: Waha) {
    let url = waha.fake.add_file("x.jpg", b"a photo");
    let reported = photo(&waha, &url);
    waha.fake.expire_files();
    let message = waha.brings(&reported).await;
    for _ in 0..5 {
        waha.later(SECOND * 600).await;
    }
    let message = waha.message(&text(&message["id"])).await;
    assert_eq!((&message["type"], &message["media_url"]), (&json!("image"), &Value::Null));
    assert_eq!(message["media_caption"], "olha isso");
    assert!(waha.server.files_on_disk().is_empty());
    waha.well_behaved();
}

#[both_stores]
async fn a_file_that_the_gateway_had_not_loaded_is_asked_for_by_its_message(waha: Waha) {
    let message = waha.fake.receive(&chat(&mobile(1)), "Maria", "");
    waha.fake.attach_file(&text(&message["id"]), "late.jpg", b"late");
    let reported = with(
        message,
        json!({"hasMedia": true, "media": null,
        "_data": {"Info": {"PushName": "Maria"},
            "Message": {"imageMessage": {"mimetype": "image/jpeg"}}}}),
    );
    let stored = waha.brings(&reported).await;
    assert_eq!(stored["type"], "image");
    waha.jobs().await;
    let shown = waha.message(&text(&stored["id"])).await;
    let file = waha.send(Request::new("GET", path_of(&shown["media_url"]))).await;
    assert_eq!(file.body.as_ref(), b"late");
    waha.well_behaved();
}

#[both_stores]
async fn a_file_elsewhere_is_fetched_without_the_key(waha: Waha) {
    let response = recado_core::transport::OutboundResponse::new(200, b"s3".to_vec());
    waha.server.transport.otherwise(Ok(response));
    let stored = waha.brings(&photo(&waha, "https://bucket.example/x.jpg?sig=1")).await;
    waha.jobs().await;
    let shown = waha.message(&text(&stored["id"])).await;
    let file = waha.send(Request::new("GET", path_of(&shown["media_url"]))).await;
    assert_eq!(file.body.as_ref(), b"s3");
    let asked = waha.server.transport.requests();
    assert_eq!(asked.len(), 1);
    assert!(!format!("{:?}", asked[0].headers).contains("waha-api-key"));
}

#[both_stores]
async fn a_request_to_stop_in_any_form_opts_out(waha: Waha) {
    for (n, words) in [(1, "sair"), (2, "  NÃO quero receber mensagens!! "), (3, "Stop.")] {
        let heard = waha.hears(&chat(&mobile(n)), words).await;
        let contact = text(&heard["contact_id"]);
        assert_eq!(waha.full(&contact).await["opted_out_at"], heard["timestamp"], "{words}");
    }
    let reported = waha.hears(&chat(&mobile(4)), "quero sair com você").await;
    assert_eq!(waha.full(&text(&reported["contact_id"])).await["opted_out_at"], Value::Null);
    let sources: Vec<Value> = waha
        .events_of("contact.opted_out")
        .await
        .iter()
        .map(|data| data["source"].clone())
        .collect();
    assert_eq!(sources, ["qr_inbound", "qr_inbound", "qr_inbound"]);
    assert_eq!(waha.events_of("message.received").await.len(), 4);
}

#[both_stores]
async fn a_block_button_opts_out(waha: Waha) {
    let pressed = with(
        waha.fake.receive(&chat(&mobile(1)), "Maria", "Bloquear mensagens"),
        json!({"_data": {"Info": {"PushName": "Maria"}, "Message": {"buttonsResponseMessage":
            {"selectedButtonID": "b1", "selectedDisplayText": "Bloquear mensagens"}}}}),
    );
    let heard = waha.brings(&pressed).await;
    assert_eq!(heard["type"], "interactive");
    assert_eq!(heard["content"], "Bloquear mensagens");
    let reported = waha.events_of("contact.opted_out").await;
    assert_eq!(reported.len(), 1);
    assert_eq!(reported[0]["source"], "qr_inbound");
    waha.send_text(&mobile(1), "oi").await.expect_error(403, "CONTACT_OPTED_OUT");
}

#[both_stores]
async fn stories_channels_and_broadcasts_are_left_out(waha: Waha) {
    for from in ["status@broadcast", "120363@newsletter", "123@broadcast"] {
        let reported = waha.fake.receive(from, "Maria", "promo");
        waha.takes(&waha.fake.webhook_message(&reported)).await;
    }
    for event in ["presence.update", "call.received", "label.upsert", "chat.archive"] {
        waha.takes(&waha.fake.webhook(event, &json!({"id": chat(&mobile(1))}))).await;
    }
    assert!(waha.all_messages().await.is_empty());
    assert!(waha.list_ids("limit=10").await.is_empty());
    assert_eq!(waha.about("unknown-events").await, json!([]));
}
