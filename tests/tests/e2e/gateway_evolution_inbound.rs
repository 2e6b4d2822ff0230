//! Events of Evolution: messages, messages typed on the phone, acks, changes, files, history:
//! docs/gateways/evolution.md; D27, D28, D31, D31a, D42a, D43, D65.

use std::time::Duration;

use recado_testkit::gateways::EvolutionVersion;
use recado_tests::backend::Setup;
use recado_tests::{Request, StoreKind, both_stores, digits, mobile, path_of, text, with};
use serde_json::{Value, json};

use crate::gateway_evolution::{Evolution, id};

const SECOND: Duration = Duration::from_secs(1);
const MINAS: &str = "+5534991234567";
const VERSIONS: [EvolutionVersion; 4] = [
    EvolutionVersion::V2_3_3,
    EvolutionVersion::V2_3_6,
    EvolutionVersion::V2_3_7,
    EvolutionVersion::V2_4,
];

async fn of_version(kind: StoreKind, version: EvolutionVersion) -> Evolution {
    let world = Evolution::with(kind, Setup::default(), json!({"status": "connected"})).await;
    world.fake.version(version);
    world
}

fn photo(world: &Evolution) -> Value {
    let image = json!({"url": "https://mmg.whatsapp.net/x.enc", "mimetype": "image/jpeg",
        "caption": "olha isso", "mediaKey": "AAAA", "fileLength": "9"});
    let from = digits(&mobile(1));
    world.fake.incoming_message(&from, "imageMessage", json!({"imageMessage": image}))
}

async fn opted_out(world: &Evolution, contact: &Value) -> Value {
    world.full(&text(contact)).await["opted_out_at"].clone()
}

#[both_stores]
async fn a_message_is_stored_once_and_reported(world: Evolution) {
    let record = world.fake.incoming(&digits(&mobile(1)), "Oi, tudo bem? 🙂");
    world.pass(SECOND * 90);
    let message = world.brings(&record).await;
    assert_eq!(message["direction"], "inbound");
    assert_eq!(message["status"], "received");
    assert_eq!(message["content"], "Oi, tudo bem? 🙂");
    assert_eq!(message["timestamp"], world.time_ago(90_000), "not the time of the call");
    let contact = world.detail(&text(&message["contact_id"])).await;
    assert_eq!((&contact["phone"], &contact["display_name"]), (&json!(mobile(1)), &json!("Maria")));
    for _ in 0..2 {
        world.takes(&world.fake.webhook_message(&record)).await;
    }
    world.known(&id(&record)).await;
    assert_eq!(world.events_of("message.received").await.len(), 1);
    assert_eq!(contact["connections"][0]["unread_count"], 1);
    world.well_behaved();
}

#[both_stores]
async fn people_are_one_in_every_version_whatever_they_are_called(kind: StoreKind) {
    for version in VERSIONS {
        let world = of_version(kind, version).await;
        let contact = world.create_id(json!({"phone": MINAS})).await;
        let first = world.hears(MINAS, "sem lid").await;
        assert_eq!(first["contact_id"], contact.as_str(), "{version:?}");
        world.fake.add_lid(&digits(MINAS), "123456@lid");
        let second = world.hears(MINAS, "com lid").await;
        assert_eq!(second["contact_id"], contact.as_str(), "{version:?}");
        world.sent(MINAS, "olá").await;
        assert_eq!(world.fake.accepted()[0].remote_jid, "553491234567@s.whatsapp.net");
        assert_eq!(world.list_ids("limit=10").await, [contact], "{version:?}");
        world.well_behaved();
    }
}

#[both_stores]
async fn an_update_of_the_gateway_splits_nobody(world: Evolution) {
    world.fake.add_lid(&digits(MINAS), "123456@lid");
    let mut contacts = Vec::new();
    for version in VERSIONS.into_iter().chain(VERSIONS.into_iter().rev()) {
        world.fake.version(version);
        contacts.push(text(&world.hears(MINAS, "oi").await["contact_id"]));
    }
    contacts.dedup();
    assert_eq!(world.list_ids("limit=10").await, contacts);
    assert_eq!(world.detail(&contacts[0]).await["phone"], MINAS);
    world.act(&contacts[0], "reply", json!({"message": "olá"})).await.expect(200);
    assert_eq!(world.fake.accepted()[0].remote_jid, "553491234567@s.whatsapp.net");
    world.well_behaved();
}

#[both_stores]
async fn somebody_known_by_lid_alone_is_answered_there(world: Evolution) {
    let mut record = world.fake.incoming(&digits(&mobile(1)), "oi");
    record["key"]["remoteJid"] = json!("123456@lid");
    let heard = world.brings(&record).await;
    let contact = text(&heard["contact_id"]);
    assert_eq!(world.detail(&contact).await["identifier"], "123456@lid");
    let said = world.act(&contact, "reply", json!({"message": "olá"})).await.expect(200);
    assert_eq!(said["messages"][0]["status"], "sent", "{said}");
    assert_eq!(world.fake.accepted()[0].number, "123456@lid");
    world.well_behaved();
}

#[both_stores]
async fn what_is_typed_on_the_phone_hands_over_to_a_person(world: Evolution) {
    for (n, wait, is_reply) in [(1, 3, false), (2, 60, true), (3, 700, false)] {
        let heard = world.hears(&mobile(n), "oi").await;
        let contact = text(&heard["contact_id"]);
        world.pass(SECOND * wait);
        let typed = world.fake.typed(&digits(&mobile(n)), "pois não");
        let message = world.brings(&typed).await;
        assert_eq!(
            (&message["sender_type"], &message["status"]),
            (&json!("agent"), &json!("sent"))
        );
        assert_eq!(message["contact_id"], contact.as_str());
        assert_eq!(world.full(&contact).await["external_ai_enabled"], !is_reply, "{wait} s");
    }
    assert_eq!(world.events_of("message.sent").await.len(), 3);
}

#[both_stores]
async fn an_own_message_that_the_gateway_shows_is_no_echo(world: Evolution) {
    let heard = world.hears(&mobile(1), "oi").await;
    world.pass(SECOND * 30);
    let sent = world.sends(&mobile(1), "olá").await;
    world.takes(&world.fake.webhook_sent(&sent)).await;
    let row = world.fake.rows().pop().expect("it is kept");
    world.takes(&world.fake.webhook_message(&row)).await;
    assert_eq!(world.all_messages().await.len(), 2);
    let contact = text(&heard["contact_id"]);
    assert_eq!(world.full(&contact).await["external_ai_enabled"], true);
}

#[both_stores]
async fn acks_in_any_order_never_move_a_message_back(world: Evolution) {
    for order in [
        ["SERVER_ACK", "DELIVERY_ACK", "READ", "PLAYED"],
        ["PLAYED", "READ", "DELIVERY_ACK", "SERVER_ACK"],
        ["READ", "DELETED", "SERVER_ACK", "PENDING"],
        ["DELIVERY_ACK", "DELIVERY_ACK", "ERROR", "READ"],
    ] {
        let sent = world.sends(&mobile(1), "oi").await;
        for status in order {
            world.takes(&world.fake.acknowledge(&sent, status)).await;
        }
        let message = world.known(&sent).await;
        assert_eq!(message["status"], "read", "{order:?}");
        assert_eq!(message["content"], "oi");
        let reported = world.announced(&text(&message["id"])).await;
        assert_eq!(reported.last().map(String::as_str), Some("read"), "{order:?}");
        assert!(reported.len() <= 2, "{reported:?}");
    }
    let sent = world.sends(&mobile(1), "oi").await;
    world.takes(&world.fake.acknowledge(&sent, "ERROR")).await;
    let failed = world.known(&sent).await;
    assert_eq!(
        (&failed["status"], &failed["delivery_error"]["code"]),
        (&json!("failed"), &json!("UNKNOWN"))
    );
    world.takes(&world.fake.acknowledge(&sent, "READ")).await;
    assert_eq!(world.known(&sent).await["status"], "failed", "failed is final");
    world.takes(&world.fake.acknowledge("3EB0NOBODYKNOWS", "READ")).await;
    assert_eq!(world.all_messages().await.len(), 5);
}

#[both_stores]
async fn edits_reactions_and_deletions_are_taken_for_what_they_are(world: Evolution) {
    let record = world.fake.incoming(&digits(&mobile(1)), "preço?");
    world.brings(&record).await;
    let edit = json!({"protocolMessage": {"type": "MESSAGE_EDIT", "key": record["key"],
        "editedMessage": {"conversation": "qual o preço?"}}});
    let edit = world.fake.incoming_message(
        &digits(&mobile(1)),
        "editedMessage",
        json!({"editedMessage": {"message": edit}}),
    );
    world.takes(&world.fake.webhook_message(&edit)).await;
    let message = world.known(&id(&record)).await;
    assert_eq!(
        (&message["content"], &message["is_edited"]),
        (&json!("qual o preço?"), &json!(true))
    );
    world.takes(&world.fake.webhook("messages.delete", record["key"].clone())).await;
    assert_eq!(world.known(&id(&record)).await["content"], "qual o preço?");
    let sent = world.sends(&mobile(1), "R$ 10").await;
    let ours = world.known(&sent).await;
    let reaction = json!({"reactionMessage": {"text": "👍",
        "key": {"id": sent, "fromMe": true, "remoteJid": "x@s.whatsapp.net"}}});
    let reaction = world.fake.incoming_message(&digits(&mobile(1)), "reactionMessage", reaction);
    let shown = world.brings(&reaction).await;
    assert_eq!((&shown["type"], &shown["content"]), (&json!("reaction"), &json!("👍")));
    assert_eq!(shown["quoted_message_id"], ours["id"]);
    assert_eq!(world.all_messages().await.len(), 3);
}

#[both_stores]
async fn a_quote_names_our_message_or_says_what_it_was(world: Evolution) {
    let sent = world.sends(&mobile(1), "temos de R$ 10").await;
    let ours = world.known(&sent).await;
    let quoting = |id: &str, words: &str| {
        with(
            world.fake.incoming(&digits(&mobile(1)), "quero"),
            json!({"contextInfo": {
            "stanzaId": id, "participant": "551140028922@s.whatsapp.net",
            "quotedMessage": {"conversation": words}}}),
        )
    };
    let known = world.brings(&quoting(&sent, "temos de R$ 10")).await;
    assert_eq!(known["quoted_message_id"], ours["id"]);
    let unknown = world.brings(&quoting("3EB0DEAD", "de antes")).await;
    assert_eq!(
        (&unknown["quoted_message_id"], &unknown["quoted_content"]),
        (&Value::Null, &json!("de antes"))
    );
    assert_eq!(unknown["quoted_type"], "text");
}

#[both_stores]
async fn a_file_is_fetched_with_the_key_and_read_by_a_link_of_ours(world: Evolution) {
    let record = photo(&world);
    world.fake.add_file(&id(&record), b"\xff\xd8\xff a photo");
    let message = world.brings(&record).await;
    assert_eq!(
        (&message["type"], &message["media_caption"]),
        (&json!("image"), &json!("olha isso"))
    );
    let early = world.send(Request::new("GET", path_of(&message["media_url"]))).await;
    assert_eq!(early.status, 503);
    world.jobs().await;
    let shown = world.known(&id(&record)).await;
    let file = world.send(Request::new("GET", path_of(&shown["media_url"]))).await;
    assert_eq!((file.status, file.body.as_ref()), (200, &b"\xff\xd8\xff a photo"[..]));
    assert_eq!(file.header("content-type"), "image/jpeg");
    assert!(world.server.transport.requests().is_empty(), "the channel's own address is none");
    let gone = photo(&world);
    world.brings(&gone).await;
    for _ in 0..5 {
        world.later(SECOND * 600).await;
    }
    let gone = world.known(&id(&gone)).await;
    assert_eq!((&gone["type"], &gone["media_url"]), (&json!("image"), &Value::Null));
    world.well_behaved();
}

#[both_stores]
async fn a_request_to_stop_by_words_or_button_opts_out(world: Evolution) {
    let heard = world.hears(&mobile(1), " Não quero receber mensagens! ").await;
    assert_eq!(opted_out(&world, &heard["contact_id"]).await, heard["timestamp"]);
    let buttons = [
        (
            "buttonsResponseMessage",
            json!({"selectedButtonId": "b",
            "selectedDisplayText": "Bloquear mensagens"}),
        ),
        (
            "templateButtonReplyMessage",
            json!({"selectedId": "parar", "selectedIndex": 0,
            "selectedDisplayText": "Não, obrigado"}),
        ),
        (
            "listResponseMessage",
            json!({"title": "Parar promoções",
            "singleSelectReply": {"selectedRowId": "r1"}}),
        ),
    ];
    for (n, (kind, part)) in (2..).zip(buttons) {
        let from = digits(&mobile(n));
        let pressed = world.fake.incoming_message(&from, kind, json!({ kind: part }));
        let shown = world.brings(&pressed).await;
        assert_eq!(shown["type"], "interactive", "{kind}");
        assert_eq!(opted_out(&world, &shown["contact_id"]).await, shown["timestamp"], "{kind}");
        world.send_text(&mobile(n), "oi").await.expect_error(403, "CONTACT_OPTED_OUT");
    }
    let other = world.hears(&mobile(9), "quero sair com você").await;
    assert_eq!(opted_out(&world, &other["contact_id"]).await, Value::Null);
    let reported = world.events_of("contact.opted_out").await;
    assert_eq!(reported.len(), 4);
    assert!(reported.iter().all(|data| data["source"] == "qr_inbound"), "{reported:?}");
    assert!(world.fake.accepted().is_empty());
}

#[both_stores]
async fn history_reports_no_messages_but_new_contacts_and_opt_outs(world: Evolution) {
    let first = world.fake.incoming(&digits(&mobile(1)), "faz tempo");
    let second = world.fake.incoming(&digits(&mobile(2)), "parar");
    let own = world.fake.typed(&digits(&mobile(1)), "verdade");
    world.pass(SECOND * 86_400);
    let webhook = world.fake.webhook_history(&[first.clone(), second.clone(), own]);
    for _ in 0..2 {
        world.takes(&webhook).await;
    }
    let message = world.known(&id(&first)).await;
    assert_eq!(
        (&message["content"], &message["timestamp"]),
        (&json!("faz tempo"), &json!(world.time_ago(86_400_000)))
    );
    assert_eq!(world.all_messages().await.len(), 3);
    for event in ["message.received", "message.sent"] {
        assert!(world.events_of(event).await.is_empty(), "{event}");
    }
    // D65: both are new.
    assert_eq!(world.events_of("contact.created").await.len(), 2);
    let reported = world.events_of("contact.opted_out").await;
    assert_eq!(reported.len(), 1);
    assert_eq!(
        (&reported[0]["phone"], &reported[0]["source"], &reported[0]["opted_out_at"]),
        (&json!(mobile(2)), &json!("qr_inbound"), &json!(world.time_ago(86_400_000)),)
    );
    let contact = world.detail(&text(&message["contact_id"])).await;
    assert_eq!(contact["connections"][0]["unread_count"], 0);
    assert_eq!(contact["last_message_at"], Value::Null);
    world.send_text(&mobile(2), "oi").await.expect_error(403, "CONTACT_OPTED_OUT");
}

#[both_stores]
async fn stories_and_events_that_mean_nothing_are_left_out(world: Evolution) {
    let mut story = world.fake.incoming(&digits(&mobile(1)), "promo");
    story["key"]["remoteJid"] = json!("status@broadcast");
    let mut channel = story.clone();
    channel["key"]["remoteJid"] = json!("120363@newsletter");
    for record in [story, channel] {
        world.takes(&world.fake.webhook_message(&record)).await;
    }
    for event in [
        "presence.update",
        "chats.upsert",
        "contacts.update",
        "labels.edit",
        "qrcode.updated",
        "application.startup",
    ] {
        world.takes(&world.fake.webhook(event, json!({"id": "x@s.whatsapp.net"}))).await;
    }
    assert!(world.all_messages().await.is_empty());
    assert!(world.list_ids("limit=10").await.is_empty());
    assert_eq!(world.about("unknown-events").await, json!([]));
}
