//! Messages of other kinds than text, and marks on messages (4.8; X7, X10, X12–X14).

use std::time::Duration;

use recado_tests::{World, both_stores, digits, mobile, text, unknown_id};
use serde_json::{Value, json};

/// What the data of an answer names as its message, as it is listed.
async fn shown(world: &World, data: &Value) -> Value {
    world.message(&text(&data["message_id"])).await
}

fn buttons() -> Value {
    json!({"to": mobile(1), "kind": "buttons", "body": "Vamos?", "footer": "Clínica",
        "buttons": [{"id": "y", "title": "Sim"}, {"id": "n", "title": "Não"}]})
}

/// 4.13, X12.
#[both_stores]
async fn each_offer_is_sent_and_read_back(world: World) {
    world.silent("qr").await;
    let offers = [
        (buttons(), "interactive"),
        (
            json!({"to": mobile(1), "kind": "list", "body": "Qual?", "button": "Ver",
                "sections": [{"rows": [{"id": "1", "title": "Um", "description": "só"}]}]}),
            "interactive",
        ),
        (
            json!({"to": mobile(1), "kind": "cta_url", "body": "Veja", "label": "Abrir",
                "url": "https://a.example/b"}),
            "interactive",
        ),
        (json!({"to": mobile(1), "kind": "location_request", "body": "Onde?"}), "interactive"),
        (json!({"to": mobile(1), "kind": "poll", "body": "Qual?", "options": ["a", "b"]}), "poll"),
    ];
    for (offer, message_type) in offers {
        let data = world.post("/api/v1/send/interactive", offer.clone()).await.expect(200);
        assert_eq!(data["type"], message_type, "{offer}");
        let message = shown(&world, &data).await;
        assert_eq!((&message["type"], &message["status"]), (&data["type"], &json!("sent")));
        let block = &message["interactive"];
        assert_eq!((&block["kind"], &block["body"]), (&offer["kind"], &offer["body"]), "{message}");
    }
    let sent = world.events_of("message.sent").await;
    assert_eq!(sent.len(), 5);
    assert_eq!(sent[0]["interactive"]["buttons"][1], json!({"id": "n", "title": "Não"}));
}

/// X12: polls on QR-code connections only; the refusal names what the connection carries.
#[both_stores]
async fn a_poll_on_the_official_api_is_refused_by_name_unless_a_text_may_stand_for_it(
    world: World,
) {
    world.silent("official_cloud").await;
    let mut poll = json!({"to": mobile(1), "kind": "poll", "body": "Qual?", "options": ["a", "b"]});
    let answer = world.post("/api/v1/send/interactive", poll.clone()).await;
    let details = answer.expect_error(422, "NOT_SUPPORTED_BY_CONNECTION");
    assert_eq!(
        (&details["kind"], &details["provider"]),
        (&json!("poll"), &json!("official_cloud"))
    );
    let supported = details["supported"].as_array().expect("kinds");
    assert!(supported.contains(&json!("buttons")) && !supported.contains(&json!("poll")));
    assert!(world.all_messages().await.is_empty());

    poll["fallback"] = json!("text");
    let data = world.post("/api/v1/send/interactive", poll).await.expect(200);
    assert_eq!(data["type"], "text");
    let message = shown(&world, &data).await;
    assert_eq!(message["content"], "Qual?\n\n1. a\n2. b");
    assert_eq!(message["interactive"]["kind"], "poll");
}

/// X13.
#[both_stores]
async fn a_place_and_cards_are_sent_and_read_back(world: World) {
    world.silent("qr").await;
    let place = json!({"to": mobile(1), "latitude": -23.5614, "longitude": -46.6559,
        "name": "MASP", "address": "Av. Paulista, 1578"});
    let data = world.post("/api/v1/send/location", place).await.expect(200);
    let message = shown(&world, &data).await;
    assert_eq!((&data["type"], &message["type"]), (&json!("location"), &json!("location")));
    assert_eq!(message["location"]["latitude"], -23.5614);
    assert_eq!(message["location"]["address"], "Av. Paulista, 1578");
    assert!(text(&message["content"]).starts_with("-23.5614,-46.6559"), "{message}");

    let cards = json!({"to": mobile(1), "contacts": [{"name": "Ana Souza",
        "phones": ["+55 11 91234-5678"], "emails": ["ana@a.example"], "organization": "Clínica"}]});
    let data = world.post("/api/v1/send/contacts", cards).await.expect(200);
    let message = shown(&world, &data).await;
    assert_eq!(message["type"], "contacts");
    let card = &message["shared_contacts"][0];
    assert_eq!((&card["name"], &card["organization"]), (&json!("Ana Souza"), &json!("Clínica")));
    assert_eq!(card["emails"][0]["email"], "ana@a.example");
}

/// X10: the same problems for every kind.
#[both_stores]
async fn what_is_wrong_with_a_send_of_a_kind_is_named(world: World) {
    world.silent("qr").await;
    let missing = world.post("/api/v1/send/interactive", json!({"to": mobile(1)})).await;
    let fields = missing.expect_error(400, "MISSING_FIELD")["fields"].clone();
    assert_eq!(fields, json!(["kind", "body"]));
    let mut wrong = buttons();
    wrong["options"] = json!(["a", "b"]);
    wrong["colour"] = json!("red");
    let answer = world.post("/api/v1/send/interactive", wrong).await;
    assert_eq!(answer.expect_invalid(), ["colour"]);
    let mut wrong = buttons();
    wrong["options"] = json!(["a", "b"]);
    let answer = world.post("/api/v1/send/interactive", wrong).await;
    assert_eq!(answer.expect_invalid(), ["options"]);
    let place = json!({"to": mobile(1), "latitude": 91, "longitude": 0});
    assert_eq!(world.post("/api/v1/send/location", place).await.expect_invalid(), ["latitude"]);
    let cards = json!({"to": mobile(1), "contacts": [{"name": "Ana", "phones": []}]});
    assert_eq!(world.post("/api/v1/send/contacts", cards).await.expect_invalid(), ["contacts"]);
    let phone = json!({"to": "12", "latitude": 1, "longitude": 0});
    world.post("/api/v1/send/location", phone).await.expect_error(400, "INVALID_PHONE");
    let nobody = json!({"contact_id": unknown_id(), "latitude": 1, "longitude": 0});
    world.post("/api/v1/send/location", nobody).await.expect_error(404, "NOT_FOUND");
    assert!(world.all_messages().await.is_empty());
}

/// D37, X10.
#[both_stores]
async fn a_repeated_send_of_a_kind_with_one_key_is_sent_once(world: World) {
    world.silent("qr").await;
    let first = world.keyed("/api/v1/send/interactive", "k1", &buttons());
    let first = world.send(first).await.expect(200);
    let again = world.keyed("/api/v1/send/interactive", "k1", &buttons());
    assert_eq!(world.send(again).await.expect(200), first);
    assert_eq!(world.all_messages().await.len(), 1);
}

/// X10, R324.
#[both_stores]
async fn a_message_answers_another_one_of_its_contact(world: World) {
    let qr = world.silent("qr").await;
    let asked = world.receive(&qr, &digits(&mobile(1)), "Quando?").await;
    let theirs = world.receive(&qr, &digits(&mobile(2)), "Onde?").await;
    let quoting =
        |quoted: &str| json!({"to": mobile(1), "message": "Amanhã", "quoted_message_id": quoted});
    world.post_send(quoting(&theirs)).await.expect_error(404, "NOT_FOUND");
    world.post_send(quoting(&unknown_id())).await.expect_error(404, "NOT_FOUND");
    let data = world.post_send(quoting(&asked)).await.expect(200);
    let message = shown(&world, &data).await;
    assert_eq!(message["quoted_message_id"], asked.as_str());
    assert_eq!(
        (&message["quoted_content"], &message["quoted_type"]),
        (&json!("Quando?"), &json!("text"))
    );
}

/// X5a, X7, X13, R321, R353.
#[both_stores]
async fn a_reaction_is_changed_and_withdrawn_in_its_one_message(world: World) {
    let qr = world.silent("qr").await;
    let heard = world.receive(&qr, &digits(&mobile(1)), "Pronto").await;
    let react = async |emoji: Value| {
        let body = json!({"message_id": heard, "emoji": emoji});
        world.post("/api/v1/send/reaction", body).await.expect(200)
    };
    let first = react(json!("👍")).await;
    assert_eq!(first["type"], "reaction");
    world.advance(Duration::from_secs(1));
    let second = react(json!("❤️")).await;
    assert_eq!(second["message_id"], first["message_id"]);
    let message = shown(&world, &second).await;
    assert_eq!((&message["content"], &message["reaction"]["emoji"]), (&json!("❤️"), &json!("❤️")));
    assert_eq!(message["reaction"]["message_id"], heard.as_str());
    world.advance(Duration::from_secs(1));
    let withdrawn = react(Value::Null).await;
    let message = shown(&world, &withdrawn).await;
    assert_eq!((&message["content"], &message["reaction"]["emoji"]), (&Value::Null, &Value::Null));
    assert_eq!(world.all_messages().await.len(), 2);
    assert_eq!(world.events_of("message.sent").await.len(), 1);
    let updated = world.events_of("message.updated").await;
    let told: Vec<_> =
        updated.iter().map(|one| (&one["reaction"]["emoji"], &one["changed"])).collect();
    let changed = json!(["content", "reaction"]);
    assert_eq!(told, [(&json!("❤️"), &changed), (&Value::Null, &changed)]);

    let missing = json!({"message_id": heard});
    let answer = world.post("/api/v1/send/reaction", missing).await;
    answer.expect_error(400, "MISSING_FIELD");
    for wrong in [json!("ok"), json!("👍👍"), json!(5)] {
        let body = json!({"message_id": heard, "emoji": wrong});
        assert_eq!(world.post("/api/v1/send/reaction", body).await.expect_invalid(), ["emoji"]);
    }
    let nobody = json!({"message_id": unknown_id(), "emoji": "👍"});
    world.post("/api/v1/send/reaction", nobody).await.expect_error(404, "NOT_FOUND");
}

/// X5a, X14.
#[both_stores]
async fn a_text_is_changed_and_taken_back(world: World) {
    world.silent("qr").await;
    let id = text(&world.sent(&mobile(1), "Oi").await["message_id"]);
    let path = format!("/api/v1/messages/{id}");
    world.advance(Duration::from_secs(60));
    let shown = world.patch(&path, json!({"message": "Olá"})).await.expect(200);
    assert_eq!((&shown["content"], &shown["is_edited"]), (&json!("Olá"), &json!(true)));
    world.patch(&path, json!({"message": "Olá"})).await.expect(200);
    let shown = world.delete(&path).await.expect(200);
    assert!(shown["deleted_by_sender_at"].is_string());
    world.delete(&path).await.expect(200);
    let changed: Vec<Value> =
        world.events_of("message.updated").await.iter().map(|one| one["changed"].clone()).collect();
    assert_eq!(changed, [json!(["content"]), json!(["deleted_by_sender_at"])]);
    world.patch(&path, json!({"message": "Ei"})).await.expect_error(422, "VALIDATION_ERROR");
}

/// X14.
#[both_stores]
async fn edits_and_withdrawals_end_with_their_time(world: World) {
    world.silent("qr").await;
    let id = text(&world.sent(&mobile(1), "Oi").await["message_id"]);
    let path = format!("/api/v1/messages/{id}");
    world.advance(Duration::from_secs(15 * 60 + 1));
    world.patch(&path, json!({"message": "Ei"})).await.expect_error(409, "TOO_LATE");
    world.advance(Duration::from_secs(48 * 60 * 60));
    world.delete(&path).await.expect_error(409, "TOO_LATE");
}

/// X14.
#[both_stores]
async fn a_received_message_is_marked_read_at_the_channel_and_here(world: World) {
    let qr = world.silent("qr").await;
    let heard = world.receive(&qr, &digits(&mobile(1)), "Oi").await;
    let contact = text(&world.message(&heard).await["contact_id"]);
    assert_eq!(world.detail(&contact).await["connections"][0]["unread_count"], 1);
    let read = world.post(&format!("/api/v1/messages/{heard}/read"), json!({})).await.expect(200);
    assert_eq!((&read["message_id"], &read["read_at"]), (&json!(heard), &json!(world.time())));
    assert_eq!(world.detail(&contact).await["connections"][0]["unread_count"], 0);
    let ours = text(&world.sent(&mobile(1), "Oi").await["message_id"]);
    let answer = world.post(&format!("/api/v1/messages/{ours}/read"), json!({})).await;
    answer.expect_error(422, "VALIDATION_ERROR");
}

/// X14.
#[both_stores]
async fn typing_is_shown_once_a_second(world: World) {
    let qr = world.silent("qr").await;
    let heard = world.receive(&qr, &digits(&mobile(1)), "Oi").await;
    let contact = text(&world.message(&heard).await["contact_id"]);
    let path = format!("/api/v1/contacts/{contact}/typing");
    let show =
        async || world.post(&path, json!({"state": "typing"})).await.expect(200)["done"].clone();
    assert_eq!((show().await, show().await), (json!(true), json!(false)));
    world.post(&path, json!({"state": "x"})).await.expect_error(422, "VALIDATION_ERROR");
    let elsewhere = format!("/api/v1/contacts/{}/typing", unknown_id());
    world.post(&elsewhere, json!({"state": "typing"})).await.expect_error(404, "NOT_FOUND");
}

/// R323.
#[both_stores]
async fn operators_answer_with_every_kind(world: World) {
    let qr = world.silent("qr").await;
    let heard = world.receive(&qr, &digits(&mobile(1)), "Oi").await;
    let contact = text(&world.message(&heard).await["contact_id"]);
    let mut offer = buttons();
    offer.as_object_mut().expect("an object").remove("to");
    let replies = [
        (json!({"interactive": offer}), "interactive"),
        (json!({"location": {"latitude": 1, "longitude": 2}}), "location"),
        (json!({"contacts": [{"name": "Ana", "phones": ["+5511912345678"]}]}), "contacts"),
        (json!({"message": "Oi", "quoted_message_id": heard}), "text"),
    ];
    for (reply, message_type) in replies {
        let answer = world.act(&contact, "reply", reply).await.expect(200);
        let message = &answer["messages"][0];
        assert_eq!(
            (&message["type"], &message["sender_type"]),
            (&json!(message_type), &json!("agent"))
        );
        assert_eq!(answer["connections"][0]["unread_count"], 0);
        world.advance(Duration::from_secs(1));
    }
    let nothing = world.act(&contact, "reply", json!({})).await;
    assert_eq!(nothing.expect_invalid(), ["message"]);
    let both = json!({"message": "Oi", "location": {"latitude": 1, "longitude": 2}});
    assert_eq!(world.act(&contact, "reply", both).await.expect_invalid(), ["location"]);
}

/// X13, X14, R323.
#[both_stores]
async fn operators_react_read_change_and_take_back(world: World) {
    let qr = world.silent("qr").await;
    let heard = world.receive(&qr, &digits(&mobile(1)), "Oi").await;
    let contact = text(&world.message(&heard).await["contact_id"]);
    let operator = async |method: &str, path: String, body: Value| {
        world.operator(method, &path, body).await.expect(200)
    };
    let react = format!("C/messages/{heard}/reaction");
    let shown = operator("POST", react, json!({"emoji": "👍"})).await;
    assert_eq!((&shown["type"], &shown["sender_type"]), (&json!("reaction"), &json!("agent")));
    operator("POST", format!("C/messages/{heard}/read"), json!({})).await;
    assert_eq!(world.detail(&contact).await["connections"][0]["unread_count"], 0);
    let id = text(&world.sent(&mobile(1), "Oi").await["message_id"]);
    let shown = operator("PATCH", format!("C/messages/{id}"), json!({"message": "Olá"})).await;
    assert_eq!(shown["content"], "Olá");
    let shown = operator("DELETE", format!("C/messages/{id}"), json!({})).await;
    assert!(shown["deleted_by_sender_at"].is_string());
    let typed =
        operator("POST", format!("C/contacts/{contact}/typing"), json!({"state": "typing"}));
    assert_eq!(typed.await["done"], true);
}
