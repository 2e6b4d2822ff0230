//! Files out: X10, X11; 4.5, D37.

use std::time::Duration;

use recado_core::transport::OutboundResponse;
use recado_tests::http::form;
use recado_tests::{
    Request, ScriptedAnswer, Setup, StoreKind, World, both_stores, digits, mobile, path_of, text,
};
use serde_json::{Value, json};

const URL: &str = "https://files.example/a/contrato.pdf";

fn pdf(bytes: usize) -> Vec<u8> {
    let mut pdf = b"%PDF-1.7\n".to_vec();
    pdf.resize(bytes.max(9), b' ');
    pdf
}

pub(super) fn png() -> Vec<u8> {
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR...".to_vec()
}

fn post_form(world: &World, path: &str, form: Vec<u8>) -> Request {
    let request = Request::new("POST", path).bearer(&world.us.key);
    request.header("content-type", "multipart/form-data; boundary=xyz").body(form)
}

async fn send_form(world: &World, fields: &[(&str, &str)], file: &[u8]) -> ScriptedAnswer {
    let form = form(fields, "../../contrato.pdf", file);
    world.send(post_form(world, "/api/v1/send/media", form)).await
}

pub(super) async fn upload(world: &World, file: Vec<u8>) -> Value {
    let request = Request::new("POST", "/api/v1/media?filename=a%2Fcontrato.pdf");
    let answer = world.send(request.bearer(&world.us.key).body(file)).await;
    answer.expect(201);
    answer.data()
}

pub(super) async fn send(world: &World, body: Value) -> ScriptedAnswer {
    world.post("/api/v1/send/media", body).await
}

fn serves(world: &World, bytes: Vec<u8>) {
    world.server.transport.then(Ok(OutboundResponse::new(200, bytes)));
}

fn to() -> String {
    mobile(1)
}

/// The bytes behind the link of a message.
async fn file_of(world: &World, message: &Value) -> Vec<u8> {
    let shown = world.message(&text(message)).await;
    let answer = world.send(Request::new("GET", path_of(&shown["media_url"]))).await;
    assert_eq!(answer.status, 200, "{}", answer.show());
    answer.body.to_vec()
}

/// X10.
#[both_stores]
async fn a_document_is_sent_from_an_address_an_upload_and_a_form_and_read_back(world: World) {
    world.qr().await;
    serves(&world, pdf(200_000));
    let body = json!({"to": to(), "type": "document", "url": URL, "caption": "O contrato"});
    let by_url = send(&world, body).await.expect(200).clone();
    assert_eq!(by_url["type"], "document");
    let kept = upload(&world, pdf(300_000)).await;
    let body = json!({"to": to(), "type": "document", "media_id": kept["id"], "filename": "b.pdf"});
    let by_upload = send(&world, body).await.expect(200).clone();
    let fields = [("to", to()), ("type", "document".to_owned()), ("caption", "Olá".to_owned())];
    let fields: Vec<(&str, &str)> = fields.iter().map(|(k, v)| (*k, v.as_str())).collect();
    let by_form = send_form(&world, &fields, &pdf(400_000)).await.expect(200).clone();
    for (sent, bytes, name, caption) in [
        (&by_url, 200_000, "contrato.pdf", json!("O contrato")),
        (&by_upload, 300_000, "b.pdf", json!(null)),
        (&by_form, 400_000, "contrato.pdf", json!("Olá")),
    ] {
        let shown = world.message(&text(&sent["message_id"])).await;
        assert_eq!((&shown["type"], &shown["direction"]), (&json!("document"), &json!("outbound")));
        assert_eq!(shown["media_mimetype"], "application/pdf");
        assert_eq!((&shown["media_filename"], &shown["media_caption"]), (&json!(name), &caption));
        assert!(file_of(&world, &sent["message_id"]).await == pdf(bytes), "{name}");
    }
    let events = world.events_of("message.sent").await;
    assert_eq!((events.len(), &events[0]["media_mimetype"]), (3, &json!("application/pdf")));
}

/// X11.
#[both_stores]
async fn uploads_are_made_read_and_taken_away_by_their_company_alone(world: World) {
    let kept = upload(&world, png()).await;
    assert_eq!((&kept["mimetype"], &kept["size"]), (&json!("image/png"), &json!(png().len())));
    assert_eq!(kept["filename"], "contrato.pdf");
    assert!(kept.get("url").is_none() && kept["sha256"].as_str().is_some_and(|h| h.len() == 64));
    let path = format!("/api/v1/media/{}", text(&kept["id"]));
    let shown = world.get(&path).await.expect(200).clone();
    let read = world.send(Request::new("GET", path_of(&shown["url"]))).await;
    assert_eq!((read.status, read.body.to_vec()), (200, png()));
    assert_eq!(read.header("content-type"), "image/png");
    let by_form = form::<&str>(&[], "a.png", &png());
    world.send(post_form(&world, "/api/v1/media", by_form)).await.expect(201);

    let other = world.tenant("Other").await;
    world.get_as(&other.key, &path).await.expect_error(404, "MEDIA_NOT_FOUND");
    let taking = Request::new("DELETE", &path).bearer(&other.key);
    world.send(taking).await.expect_error(404, "MEDIA_NOT_FOUND");
    let scoped = world.key_with(&["messages:read"]).await;
    world.get_as(&scoped, &path).await.expect_error(403, "INSUFFICIENT_SCOPE");
    world.delete(&path).await.expect_deleted();
    world.get(&path).await.expect_error(404, "MEDIA_NOT_FOUND");
    let gone = world.send(Request::new("GET", path_of(&shown["url"]))).await;
    gone.expect_error(404, "NOT_FOUND");
    let empty = Request::new("POST", "/api/v1/media").bearer(&world.us.key);
    assert_eq!(world.send(empty).await.expect_invalid(), ["file"]);
    let nothing = b"--xyz--\r\n".to_vec();
    let nothing = world.send(post_form(&world, "/api/v1/media", nothing)).await;
    assert_eq!(nothing.expect_invalid(), ["file"]);
    assert_eq!(world.server.files_on_disk().len(), 1, "of the form");
}

/// X10: refused before anything is stored or sent, with what would be accepted.
#[both_stores]
async fn refusals_say_what_would_be_accepted_and_leave_nothing_behind(world: World) {
    let connection = world.qr().await;
    let body = |more: Value| {
        let mut body = json!({"to": to(), "type": "image", "url": URL});
        for (key, value) in more.as_object().expect("an object") {
            body[key] = value.clone();
        }
        body
    };
    serves(&world, pdf(9_000));
    let refused = send(&world, body(json!({}))).await.expect_error(422, "MEDIA_TYPE_UNSUPPORTED");
    assert_eq!(refused["allowed"], json!(["image/jpeg", "image/png"]));
    serves(&world, [png(), vec![0; 5 * 1024 * 1024]].concat());
    let refused = send(&world, body(json!({}))).await.expect_error(413, "MEDIA_TOO_LARGE");
    assert_eq!(refused["limit_bytes"], 5 * 1024 * 1024);
    world.server.transport.then(Ok(OutboundResponse::new(403, "")));
    let refused = send(&world, body(json!({}))).await.expect_error(422, "MEDIA_UNREACHABLE");
    assert_eq!(refused, json!({"reason": "status", "status": 403}));
    world.server.transport.forbid("169.254.169.254");
    let metadata = body(json!({"url": "http://169.254.169.254/latest"}));
    assert_eq!(send(&world, metadata).await.expect_invalid(), ["url"]);
    let unknown = json!({"to": to(), "type": "image", "media_id": connection});
    send(&world, unknown).await.expect_error(404, "MEDIA_NOT_FOUND");
    let both = body(json!({"media_id": connection}));
    assert_eq!(send(&world, both).await.expect_invalid(), ["url"]);
    for (more, field) in [
        (json!({"type": "sticker", "caption": "x"}), "caption"),
        (json!({"is_voice": true}), "is_voice"),
        (json!({"type": "gif"}), "type"),
    ] {
        assert_eq!(send(&world, body(more)).await.expect_invalid(), [field]);
    }
    let fields = [("to", "12"), ("type", "image")];
    send_form(&world, &fields, &png()).await.expect_error(400, "INVALID_PHONE");
    assert_eq!(world.server.files_on_disk(), Vec::<String>::new());
    assert_eq!(world.get("/api/v1/messages").await.items(), Vec::<Value>::new());
}

/// D37: of a form the parts are compared, with the hash of the file.
#[both_stores]
async fn a_form_that_is_repeated_with_its_key_sends_once(world: World) {
    world.qr().await;
    let fields = |caption: &'static str| {
        vec![("to", to()), ("type", "image".to_owned()), ("caption", caption.to_owned())]
    };
    let send = async |caption, file: Vec<u8>, boundary: &str| {
        let fields = fields(caption);
        let fields: Vec<(&str, &str)> = fields.iter().map(|(k, v)| (*k, v.as_str())).collect();
        let form = String::from_utf8_lossy(&form(&fields, "a.png", b"FILE")).into_owned();
        let form = form.replace("xyz", boundary);
        let (before, after) = form.split_once("FILE").expect("a file");
        let form = [before.as_bytes(), &file, after.as_bytes()].concat();
        let request = Request::new("POST", "/api/v1/send/media").bearer(&world.us.key);
        let said = format!("multipart/form-data; boundary={boundary}");
        let request = request.header("content-type", said).header("idempotency-key", "one");
        world.send(request.body(form)).await
    };
    let first = send("Oi", png(), "aaa").await.expect(200);
    assert_eq!(send("Oi", png(), "bbb").await.expect(200), first);
    send("Olá", png(), "aaa").await.expect_error(422, "IDEMPOTENCY_KEY_REUSED");
    let other = [png(), b"!".to_vec()].concat();
    send("Oi", other, "aaa").await.expect_error(422, "IDEMPOTENCY_KEY_REUSED");
    assert_eq!(world.get("/api/v1/messages").await.items().len(), 1);
    assert_eq!(world.server.files_on_disk().len(), 1, "repeats leave no files");
}

/// 4.5, X11.
#[both_stores]
async fn deleting_a_contact_removes_what_was_sent_to_it_and_leaves_uploads_of_others(
    kind: StoreKind,
) {
    // A job that frees files might be under way in the background when the call answers.
    let world = World::with(kind, Setup { no_background: true, ..Setup::default() }).await;
    world.qr().await;
    serves(&world, pdf(10_000));
    let by_url = json!({"to": to(), "type": "document", "url": URL});
    let sent = send(&world, by_url).await.expect(200).clone();
    let kept = upload(&world, png()).await;
    for n in [1, 2] {
        let body = json!({"to": mobile(n), "type": "image", "media_id": kept["id"]});
        send(&world, body).await.expect(200);
    }
    let path = format!("/api/v1/media/{}", text(&kept["id"]));
    assert_eq!(world.get(&path).await.data()["expires_at"], Value::Null);
    assert_eq!(world.server.files_on_disk().len(), 2);
    let contact = format!("/api/v1/contacts/{}", text(&sent["contact_id"]));
    let link = path_of(&world.message(&text(&sent["message_id"])).await["media_url"]);
    world.delete(&contact).await.expect_deleted();
    assert_eq!(world.server.files_on_disk().len(), 1);
    world.send(Request::new("GET", link)).await.expect_error(404, "NOT_FOUND");
    assert_eq!(world.get(&path).await.data()["expires_at"], Value::Null, "another has it");
    world.advance(Duration::from_secs(60 * 24 * 60 * 60));
    world.server.sweep_records().await;
    assert_eq!(world.get(&path).await.data()["expires_at"], Value::Null);
}

/// X10.
#[both_stores]
async fn an_operator_replies_with_a_file(world: World) {
    world.qr().await;
    let contact = world.create_id(json!({"phone": to()})).await;
    let path = format!("C/contacts/{contact}/reply-media");
    serves(&world, png());
    let body = json!({"type": "image", "url": URL, "caption": "Veja"});
    let answer = world.operator("POST", &path, body).await.expect(200);
    let message = &answer["messages"][0];
    assert_eq!((&message["type"], &message["sender_type"]), (&json!("image"), &json!("agent")));
    assert_eq!(message["media_caption"], "Veja");
    assert_eq!(digits(&to()).len(), 13);
    assert!(file_of(&world, &message["id"]).await == png());
}
