//! What careless callers, and strangers, ask for: messages of other kinds, marks on messages, and
//! their repeats (X7, X10–X14; D37).

use std::time::Duration;

use recado_core::transport::OutboundResponse;
use recado_tests::{
    Request, Setup, StoreKind, World, both_stores, digits, mobile, path_of, text, unknown_id, with,
};
use serde_json::{Value, json};

const URL: &str = "https://files.example/foto.png";

fn png() -> Vec<u8> {
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR...".to_vec()
}

fn place(more: Value) -> Value {
    with(json!({"to": mobile(1), "latitude": 1, "longitude": 2}), more)
}

/// A call with a key for its repeats.
fn keyed(world: &World, method: &str, path: &str, key: &str) -> Request {
    Request::new(method, path).bearer(&world.us.key).header("idempotency-key", key)
}

/// X10: who is no contact yet has no messages to be quoted.
#[both_stores]
async fn nobody_new_is_shown_a_message_of_another_contact(world: World) {
    let qr = world.silent("qr").await;
    let theirs = world.receive(&qr, &digits(&mobile(2)), "Um segredo").await;
    let quote = json!({"quoted_message_id": theirs});
    let body = with(json!({"to": mobile(1), "message": "Oi"}), quote.clone());
    world.post_send(body).await.expect_error(404, "NOT_FOUND");
    let located = world.post("/api/v1/send/location", place(quote.clone())).await;
    located.expect_error(404, "NOT_FOUND");
    let image = json!({"to": mobile(1), "type": "image", "url": URL});
    let image = world.post("/api/v1/send/media", with(image, quote)).await;
    image.expect_error(404, "NOT_FOUND");
    assert_eq!(world.all_messages().await.len(), 1);
    assert_eq!(world.list_ids("").await.len(), 1, "no contact was made");
}

/// Messages, contacts and uploads of other companies are unknown ids.
#[both_stores]
async fn what_another_company_has_is_unknown(world: World) {
    let qr = world.silent("qr").await;
    let heard = world.receive(&qr, &digits(&mobile(1)), "Oi").await;
    let sent = text(&world.sent(&mobile(1), "Oi").await["message_id"]);
    let contact = text(&world.message(&heard).await["contact_id"]);
    let upload = Request::new("POST", "/api/v1/media").bearer(&world.us.key).body(png());
    let upload = world.send(upload).await.expect(201)["id"].clone();
    let other = world.tenant("Other").await;
    world.connection_of(&other, "qr", json!({})).await;
    let key = other.key.as_str();
    let message = |id: &str| format!("/api/v1/messages/{id}");
    let calls = [
        ("POST", format!("{}/read", message(&heard)), json!({})),
        ("PATCH", message(&sent), json!({"message": "Ei"})),
        ("DELETE", message(&sent), json!({})),
        ("POST", format!("/api/v1/contacts/{contact}/typing"), json!({"state": "typing"})),
        ("POST", "/api/v1/send/reaction".to_owned(), json!({"message_id": heard, "emoji": "👍"})),
        ("POST", "/api/v1/send/location".to_owned(), place(json!({"quoted_message_id": heard}))),
    ];
    for (method, path, body) in calls {
        let request = Request::new(method, &path).bearer(key).json(&body);
        world.send(request).await.expect_error(404, "NOT_FOUND");
    }
    let image = json!({"to": mobile(1), "type": "image", "media_id": upload});
    let image = world.post_as(key, "/api/v1/send/media", image).await;
    image.expect_error(404, "MEDIA_NOT_FOUND");
    let header = json!({"to": mobile(1), "kind": "cta_url", "body": "x", "label": "l",
        "url": "https://a.example", "header": {"type": "image", "media_id": upload}});
    let header = world.post_as(key, "/api/v1/send/interactive", header).await;
    header.expect_error(404, "MEDIA_NOT_FOUND");
    assert_eq!(world.all_messages().await.len(), 2);
}

/// X12, X13: however much is asked for, it is refused by name before anything is stored.
#[both_stores]
async fn what_is_too_much_or_no_number_is_named(world: World) {
    world.silent("qr").await;
    let rows: Vec<Value> = (0..5_000).map(|n| json!({"id": n.to_string(), "title": "t"})).collect();
    let cards = vec![json!({"name": "Ana", "phones": ["1"]}); 5_000];
    let offer =
        |kind: &str, more: Value| with(json!({"to": mobile(1), "kind": kind, "body": "x"}), more);
    for (path, body, field) in [
        ("interactive", offer("buttons", json!({"buttons": rows})), "buttons"),
        (
            "interactive",
            offer("list", json!({"button": "b", "sections": [{"rows": rows}]})),
            "sections",
        ),
        ("interactive", offer("poll", json!({"options": vec!["a"; 5_000]})), "options"),
        ("contacts", json!({"to": mobile(1), "contacts": cards}), "contacts"),
        ("location", place(json!({"latitude": 1e300})), "latitude"),
        ("location", place(json!({"longitude": "NaN"})), "longitude"),
        ("location", place(json!({"latitude": [1]})), "latitude"),
    ] {
        let answer = world.post(&format!("/api/v1/send/{path}"), body).await;
        assert_eq!(answer.expect_invalid(), [field]);
    }
    let raw = |number: &str| {
        let body = format!(r#"{{"to":"{}","latitude":{number},"longitude":0}}"#, mobile(1));
        Request::new("POST", "/api/v1/send/location").bearer(&world.us.key).body(body)
    };
    for number in ["NaN", "Infinity", "-Infinity", "0x5", "+1", "01"] {
        world.send(raw(number)).await.expect_error(400, "INVALID_BODY");
    }
    for number in ["1e400", "-1e400", "90.0000001"] {
        assert_eq!(world.send(raw(number)).await.expect_invalid(), ["latitude"], "{number}");
    }
    assert!(world.all_messages().await.is_empty());
    let digits = format!("-23.{}", "5".repeat(10_000));
    let sent = world.send(raw(&digits)).await.expect(200);
    let shown = world.message(&text(&sent["message_id"])).await;
    assert_eq!(shown["location"]["latitude"], json!(-23.555_555_556));
}

/// X13, R360.
#[both_stores]
async fn what_is_no_emoji_is_no_reaction(world: World) {
    let qr = world.silent("qr").await;
    let heard = world.receive(&qr, &digits(&mobile(1)), "Oi").await;
    for emoji in ["", " ", "ok", "a", "—", "\u{200b}", "\u{200d}", "\u{202e}", "👍👍", "<b>"]
    {
        let body = json!({"message_id": heard, "emoji": emoji});
        let answer = world.post("/api/v1/send/reaction", body).await;
        assert_eq!(answer.expect_invalid(), ["emoji"], "{emoji:?}");
    }
    assert_eq!(world.all_messages().await.len(), 1);
}

/// X5a, R353: a reaction is sent once, and changed afterwards.
#[both_stores]
async fn a_changed_reaction_is_reported_as_a_change(world: World) {
    let qr = world.silent("qr").await;
    let heard = world.receive(&qr, &digits(&mobile(1)), "Oi").await;
    for emoji in [json!("👍"), json!("❤️"), Value::Null] {
        world.advance(Duration::from_secs(1));
        let body = json!({"message_id": heard, "emoji": emoji});
        world.post("/api/v1/send/reaction", body).await.expect(200);
    }
    assert_eq!(world.events_of("message.sent").await.len(), 1);
    let updated = world.events_of("message.updated").await;
    let emoji: Vec<&Value> = updated.iter().map(|data| &data["reaction"]["emoji"]).collect();
    assert_eq!(emoji, [&json!("❤️"), &Value::Null]);
    assert!(updated.iter().all(|data| data["changed"] == json!(["content", "reaction"])));
}

/// D37, X14, R361: a key belongs to the message of the path, and its answer to the contact.
#[both_stores]
async fn marks_are_repeated_with_their_key_and_forgotten_with_their_contact(world: World) {
    let qr = world.silent("qr").await;
    let heard = world.receive(&qr, &digits(&mobile(1)), "Oi").await;
    let one = text(&world.sent(&mobile(1), "Um").await["message_id"]);
    world.advance(Duration::from_secs(1));
    let sent = world.sent(&mobile(1), "Dois").await;
    let (two, contact) = (text(&sent["message_id"]), text(&sent["contact_id"]));
    let edit = async |id: &str, said: &str| {
        let request = keyed(&world, "PATCH", &format!("/api/v1/messages/{id}"), "k");
        world.send(request.json(&json!({"message": said}))).await
    };
    let first = edit(&one, "Olá").await;
    assert_eq!(first.expect(200)["contact_id"], contact.as_str());
    world.advance(Duration::from_secs(16 * 60));
    let again = edit(&one, "Olá").await;
    assert_eq!(
        (again.header("idempotent-replayed"), &again.body),
        ("true".to_owned(), &first.body)
    );
    edit(&one, "Ei").await.expect_error(422, "IDEMPOTENCY_KEY_REUSED");
    edit(&two, "Olá").await.expect_error(409, "TOO_LATE");
    let calls = [
        ("DELETE", format!("/api/v1/messages/{two}")),
        ("POST", format!("/api/v1/messages/{heard}/read")),
    ];
    for (method, path) in &calls {
        let first = world.send(keyed(&world, method, path, "k")).await;
        first.expect(200);
        world.advance(Duration::from_secs(1));
        let again = world.send(keyed(&world, method, path, "k")).await;
        assert_eq!(again.body, first.body);
        assert_eq!(again.header("idempotent-replayed"), "true", "{method}");
    }
    let typing = async || {
        let path = format!("/api/v1/contacts/{contact}/typing");
        let request = keyed(&world, "POST", &path, "k").json(&json!({"state": "typing"}));
        world.send(request).await.expect(200)["done"].clone()
    };
    assert_eq!((typing().await, typing().await), (json!(true), json!(true)), "a replay");
    world.delete(&format!("/api/v1/contacts/{contact}")).await.expect_deleted();
    edit(&one, "Olá").await.expect_error(404, "NOT_FOUND");
    let (method, path) = &calls[0];
    world.send(keyed(&world, method, path, "k")).await.expect_error(404, "NOT_FOUND");
}

/// X14.
#[both_stores]
async fn marks_name_what_is_wrong_with_them(world: World) {
    let qr = world.silent("qr").await;
    let heard = world.receive(&qr, &digits(&mobile(1)), "Oi").await;
    let sent = text(&world.sent(&mobile(1), "Oi").await["message_id"]);
    let path = |id: &str| format!("/api/v1/messages/{id}");
    for body in [json!({}), json!({"message": " "}), json!({"message": null})] {
        assert_eq!(world.patch(&path(&sent), body).await.expect_invalid(), ["message"]);
    }
    let body = json!({"message": "x".repeat(4_097)});
    assert_eq!(world.patch(&path(&sent), body).await.expect_invalid(), ["message"]);
    let body = json!({"message": "Ei", "to": mobile(1)});
    assert_eq!(world.patch(&path(&sent), body).await.expect_invalid(), ["to"]);
    assert_eq!(world.patch(&path(&heard), json!({"message": "Ei"})).await.expect_invalid(), ["id"]);
    assert_eq!(world.delete(&path(&heard)).await.expect_invalid(), ["id"]);
    for id in ["x".to_owned(), unknown_id()] {
        world.patch(&path(&id), json!({"message": "Ei"})).await.expect_error(404, "NOT_FOUND");
        world.delete(&path(&id)).await.expect_error(404, "NOT_FOUND");
        let read = world.post(&format!("{}/read", path(&id)), json!({})).await;
        read.expect_error(404, "NOT_FOUND");
        world.get(&format!("/api/v1/media/{id}")).await.expect_error(404, "MEDIA_NOT_FOUND");
    }
    let located = world.post("/api/v1/send/location", place(json!({}))).await.expect(200);
    let located = path(&text(&located["message_id"]));
    assert_eq!(world.patch(&located, json!({"message": "Ei"})).await.expect_invalid(), ["message"]);
}

/// X3, R363: the file that a message was sent with is gone with it, unless it is kept elsewhere.
#[both_stores]
async fn the_file_of_an_erased_message_goes(kind: StoreKind) {
    let world = World::with(kind, Setup { no_background: true, ..Setup::default() }).await;
    world.silent("qr").await;
    let company = format!("/companies/{}", world.us.id);
    let erases = json!({"erase_deleted_messages": true});
    world.operator("PATCH", &company, erases).await.expect(200);
    let upload = Request::new("POST", "/api/v1/media").bearer(&world.us.key).body(png());
    let upload = world.send(upload).await.expect(201)["id"].clone();
    world.server.transport.then(Ok(OutboundResponse::new(200, png())));
    for (source, left) in [(json!({"url": URL}), 1), (json!({"media_id": upload}), 1)] {
        let body = with(json!({"to": mobile(1), "type": "image", "caption": "Veja"}), source);
        let sent = world.post("/api/v1/send/media", body).await.expect(200);
        let id = text(&sent["message_id"]);
        let link = path_of(&world.message(&id).await["media_url"]);
        let shown = world.delete(&format!("/api/v1/messages/{id}")).await.expect(200);
        assert_eq!((&shown["media_url"], &shown["media_caption"]), (&Value::Null, &Value::Null));
        world.server.run_due_jobs().await;
        assert_eq!(world.server.files_on_disk().len(), left, "the upload is one of the company's");
        world.send(Request::new("GET", link)).await.expect_error(404, "NOT_FOUND");
        world.advance(Duration::from_secs(1));
    }
    let shown = world.get(&format!("/api/v1/media/{}", text(&upload))).await;
    assert!(shown.expect(200)["expires_at"].is_string(), "no message has it any more");
}

/// D33, X10.
#[both_stores]
async fn that_only_administrators_write_comes_last(world: World) {
    let qr = world.silent("qr").await;
    let group = json!([{"code": "1@g.us", "subject": "Avisos", "announce_only": true}]);
    world.put_groups(&qr, group).await.expect(200);
    let image = json!({"to": "1@g.us", "type": "image", "media_id": unknown_id()});
    let image = world.post("/api/v1/send/media", image).await;
    image.expect_error(404, "MEDIA_NOT_FOUND");
    let located = world.post("/api/v1/send/location", place(json!({"to": "1@g.us"}))).await;
    located.expect_error(403, "GROUP_ANNOUNCE_ONLY");
}

/// X12, X13: the examples of the OpenAPI document are sent as they stand.
#[both_stores]
async fn every_example_of_a_send_is_accepted(world: World) {
    world.silent("qr").await;
    let document = world.send(Request::new("GET", "/api/openapi.json")).await.json();
    let mut kinds = Vec::new();
    for path in ["interactive", "location", "contacts"] {
        let path = format!("/api/v1/send/{path}");
        let body = &document["paths"][&path]["post"]["requestBody"]["content"]["application/json"];
        let named = body["examples"].as_object().into_iter().flatten();
        let named = named.map(|(_, example)| example["value"].clone());
        for example in named.chain(body.get("example").cloned()) {
            kinds.push(example["kind"].clone());
            let sent = world.post(&path, example.clone()).await;
            assert_eq!(sent.status, 200, "{example}: {}", sent.show());
        }
    }
    let all = ["buttons", "cta_url", "list", "location_request", "poll"];
    assert_eq!(
        kinds,
        all.map(Value::from).into_iter().chain([Value::Null, Value::Null]).collect::<Vec<_>>()
    );
}
