//! Media of inbound messages: 2.4; D26, D31a.

use std::time::Duration;

use recado_core::transport::{OutboundResponse, TransportError};
use recado_testkit::files::{FailureAt, FileOp};
use recado_tests::{
    Hooks, Reply, Request, ScriptedAnswer, Setup, StoreKind, World, both_stores, digits,
    eventually, mobile, path_of, text, wamid,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const SOURCE: &str = "https://gateway.example/files/7";

fn photo(world: &World) -> Value {
    json!({
        "kind": "message", "provider_message_id": wamid(), "timestamp": world.time(),
        "from": digits(&mobile(1)), "type": "image",
        "media": {
            "url": SOURCE, "mimetype": "image/jpeg", "filename": "a.jpg", "caption": "olha isso",
        },
    })
}

/// Waits until the file of a message was fetched, and returns the path of its address.
async fn fetched(world: &World, message: &str) -> String {
    let path = path_of(&world.message(message).await["media_url"]);
    eventually("the file is here", || async {
        let answer = world.send(Request::new("HEAD", &path)).await;
        (answer.status == 200).then_some(())
    })
    .await;
    path
}

fn serves(world: &World, bytes: &[u8]) {
    let response = OutboundResponse::new(200, bytes.to_vec());
    world.server.transport.otherwise(Ok(response));
}

#[both_stores]
async fn a_message_with_media_is_stored_before_its_file_is_fetched(world: World) {
    let qr = world.qr().await;
    world.server.transport.otherwise(Err(TransportError::Refused));
    let id = world.stored(&qr, photo(&world)).await;
    let shown = world.message(&id).await;
    assert_eq!(shown["type"], "image");
    assert_eq!(shown["media_mimetype"], "image/jpeg");
    assert_eq!(shown["media_filename"], "a.jpg");
    assert_eq!(shown["media_caption"], "olha isso");
    let events = world.events_of("message.received").await;
    assert_eq!(events[0]["media_url"], shown["media_url"]);
    assert_eq!(events[0]["media_mimetype"], "image/jpeg");
    assert_eq!(events[0]["media_caption"], "olha isso");
}

/// A message, or an echo, whose file the receiver keeps, and what the event about it says.
async fn told(hooks: &Hooks, kind: &str, event: &str) -> (String, Value) {
    let qr = hooks.qr().await;
    hooks.hook("/a", &[event]).await;
    let peer = if kind == "echo" { "to" } else { "from" };
    let reported = json!({
        "kind": kind, "provider_message_id": wamid(), "timestamp": hooks.time(),
        peer: digits(&mobile(1)), "type": "image",
        "media": {"url": hooks.receiver.url("/file"), "mimetype": "image/jpeg"},
    });
    let id = hooks.stored(&qr, reported).await;
    hooks.drain().await;
    (id, hooks.receiver.only("/a").data())
}

async fn follow(hooks: &Hooks, method: &str, link: &Value) -> ScriptedAnswer {
    hooks.send(Request::new(method, path_of(link))).await
}

/// What both listings say of where the file of a message is.
async fn media_urls(hooks: &Hooks, message: &str) -> Vec<Value> {
    let shown = hooks.message(message).await;
    let contact = text(&shown["contact_id"]);
    let listed = hooks.messages_of(&contact).await;
    let single = listed.into_iter().find(|one| one["id"] == message).expect("it is listed");
    vec![shown["media_url"].clone(), single["media_url"].clone()]
}

/// Follows the link that the event about a message tells, before and after its file was fetched.
async fn link_leads_to_the_file_once_it_is_there(hooks: &Hooks, kind: &str, event: &str) {
    let (id, data) = told(hooks, kind, event).await;
    let link = &data["media_url"];
    assert_eq!(media_urls(hooks, &id).await, [link.clone(), link.clone()]);
    for method in ["GET", "HEAD"] {
        let answer = follow(hooks, method, link).await;
        assert_eq!((answer.status, answer.header("retry-after").as_str()), (503, "2"));
    }
    follow(hooks, "GET", link).await.expect_error(503, "UNAVAILABLE");
    // The gateway fails once; the next try is in five seconds.
    hooks.receiver.then("/file", Reply::status(503));
    hooks.server.run_due_jobs().await;
    assert_eq!(follow(hooks, "GET", link).await.header("retry-after"), "5");
    hooks.receiver.answers("/file", Reply::body(200, "the bytes of a photo"));
    hooks.advance(Duration::from_secs(5));
    hooks.server.run_due_jobs().await;
    let file = follow(hooks, "GET", link).await;
    assert_eq!((file.status, file.body.as_ref()), (200, &b"the bytes of a photo"[..]));
    let head = follow(hooks, "HEAD", link).await;
    assert_eq!((head.status, head.header("content-length").as_str()), (200, "20"));
    assert_eq!(media_urls(hooks, &id).await, [link.clone(), link.clone()], "it stays");
    // What is sent again is what was sent: its link leads to the file by now.
    let first = hooks.receiver.only("/a");
    hooks.redeliver(&first.delivery()).await.expect(200);
    hooks.drain().await;
    let all = hooks.receiver.to("/a");
    assert_eq!((all.len(), &all[1].body), (2, &first.body));
}

// D31a
#[both_stores]
async fn media_url_is_a_link_from_the_first_moment_that_answers_503_until_the_file_is_there(
    hooks: Hooks,
) {
    link_leads_to_the_file_once_it_is_there(&hooks, "message", "message.received").await;
}

// D31a
#[both_stores]
async fn media_url_of_an_echo_is_a_link_from_the_first_moment_too(hooks: Hooks) {
    link_leads_to_the_file_once_it_is_there(&hooks, "echo", "message.sent").await;
}

// D31a
#[both_stores]
async fn a_link_is_404_once_it_is_certain_that_the_gateway_has_the_file_no_more(hooks: Hooks) {
    hooks.receiver.answers("/file", Reply::status(410));
    let (id, data) = told(&hooks, "message", "message.received").await;
    let body = hooks.receiver.only("/a").body;
    assert_eq!(follow(&hooks, "GET", &data["media_url"]).await.status, 503);
    hooks.server.run_due_jobs().await;
    for method in ["GET", "HEAD"] {
        assert_eq!(follow(&hooks, method, &data["media_url"]).await.status, 404);
    }
    follow(&hooks, "GET", &data["media_url"]).await.expect_error(404, "NOT_FOUND");
    assert_eq!(media_urls(&hooks, &id).await, [Value::Null, Value::Null]);
    // The event says what it said.
    let delivery = hooks.only_delivery().await;
    assert_eq!(text(&delivery["body"]).as_bytes(), body);
}

// D31a
#[both_stores]
async fn a_link_is_404_once_the_fetch_was_given_up_after_a_week(hooks: Hooks) {
    hooks.receiver.answers("/file", Reply::status(404));
    let (id, data) = told(&hooks, "message", "message.received").await;
    for wait in [0, 5, 30, 120, 600, 3_600].into_iter().chain([6 * 3_600; 28]) {
        hooks.advance(Duration::from_secs(wait));
        assert_eq!(follow(&hooks, "GET", &data["media_url"]).await.status, 503);
        hooks.server.run_due_jobs().await;
    }
    assert_eq!(hooks.receiver.count("/file"), 34);
    assert_eq!(follow(&hooks, "GET", &data["media_url"]).await.status, 404);
    assert_eq!(media_urls(&hooks, &id).await, [Value::Null, Value::Null]);
}

// D31a, D70
#[both_stores]
async fn a_link_is_404_once_the_file_turned_out_to_be_larger_than_25_mib(hooks: Hooks) {
    hooks.receiver.answers("/file", Reply::Huge(200, 25 * 1024 * 1024 + 1));
    let (id, data) = told(&hooks, "message", "message.received").await;
    hooks.server.run_due_jobs().await;
    assert_eq!(follow(&hooks, "GET", &data["media_url"]).await.status, 404);
    assert_eq!(media_urls(&hooks, &id).await, [Value::Null, Value::Null]);
    assert!(hooks.server.files_on_disk().is_empty());
}

// D31a, D26
#[both_stores]
async fn a_link_is_404_once_the_contact_was_deleted_before_the_file_came(hooks: Hooks) {
    let (id, data) = told(&hooks, "message", "message.received").await;
    let contact = text(&hooks.message(&id).await["contact_id"]);
    hooks.delete(&format!("/api/v1/contacts/{contact}")).await.expect_deleted();
    assert_eq!(follow(&hooks, "GET", &data["media_url"]).await.status, 404);
    hooks.server.run_due_jobs().await;
    assert_eq!(hooks.receiver.count("/file"), 0, "nobody asks for it any more");
    assert_eq!(follow(&hooks, "GET", &data["media_url"]).await.status, 404);
}

// D31a
#[both_stores]
async fn a_forged_link_is_404_before_the_file_is_there_too(hooks: Hooks) {
    let (_, data) = told(&hooks, "message", "message.received").await;
    let path = path_of(&data["media_url"]);
    let (folder, signature) = path.rsplit_once('/').expect("a path");
    let forged: String = signature.chars().rev().collect();
    assert_eq!(hooks.send(Request::new("GET", format!("{folder}/{forged}"))).await.status, 404);
    let other = path.replace(&hooks.us.id, &recado_tests::unknown_id());
    assert_eq!(hooks.send(Request::new("GET", other)).await.status, 404);
}

#[both_stores]
async fn a_fetched_file_is_read_through_a_link_of_ours(world: World) {
    let qr = world.qr().await;
    serves(&world, b"the bytes of a photo");
    let id = world.stored(&qr, photo(&world)).await;
    let path = fetched(&world, &id).await;
    let asked = world.server.transport.requests();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].url, SOURCE);
    // The link needs no key: its token is the credential.
    let file = world.send(Request::new("GET", &path)).await;
    assert_eq!(file.status, 200, "{}", file.show());
    assert_eq!(file.body.as_ref(), b"the bytes of a photo");
    assert_eq!(file.header("content-type"), "image/jpeg");
}

#[both_stores]
async fn a_forged_link_is_404(world: World) {
    let qr = world.qr().await;
    serves(&world, b"secret");
    let id = world.stored(&qr, photo(&world)).await;
    let path = fetched(&world, &id).await;
    let last = path.chars().next_back().expect("a character");
    let flipped = if last == 'A' { 'B' } else { 'A' };
    let (folder, _) = path.rsplit_once('/').expect("a path");
    for forged in [
        format!("{}{flipped}", &path[..path.len() - 1]),
        path[..path.len() - 1].to_owned(),
        format!("{path}A"),
        format!("{folder}/"),
        folder.to_owned(),
        path.replace(&world.us.id, &recado_tests::unknown_id()),
    ] {
        let answer = world.send(Request::new("GET", &forged)).await;
        assert_eq!(answer.status, 404, "{forged}: {}", answer.show());
        assert!(!answer.body.as_ref().windows(6).any(|window| window == b"secret"));
    }
}

#[both_stores]
async fn a_fetched_file_goes_with_its_contact(world: World) {
    let qr = world.qr().await;
    serves(&world, b"the bytes of a photo");
    let id = world.stored(&qr, photo(&world)).await;
    let path = fetched(&world, &id).await;
    assert_eq!(world.server.files_on_disk().len(), 1);
    let contact = text(&world.message(&id).await["contact_id"]);
    world.delete(&format!("/api/v1/contacts/{contact}")).await.expect_deleted();
    assert!(world.server.files_on_disk().is_empty());
    assert_eq!(world.send(Request::new("GET", &path)).await.status, 404);
}

#[both_stores]
async fn a_repeated_message_fetches_nothing_again(world: World) {
    let qr = world.qr().await;
    serves(&world, b"the bytes of a photo");
    let event = photo(&world);
    let id = world.stored(&qr, event.clone()).await;
    fetched(&world, &id).await;
    world.gateway_one(&qr, event).await;
    let other = world.stored(&qr, photo(&world)).await;
    fetched(&world, &other).await;
    assert_eq!(world.server.transport.requests().len(), 2);
}

// R190
#[both_stores]
async fn a_part_of_a_file_is_206_and_head_reads_none_of_it(world: World) {
    let qr = world.qr().await;
    let bytes: Vec<u8> = (0..300_000_u32).map(|n| n.to_le_bytes()[0]).collect();
    serves(&world, &bytes);
    let id = world.stored(&qr, photo(&world)).await;
    let path = fetched(&world, &id).await;
    let part = |range: &str| world.send(Request::new("GET", &path).header("range", range));
    for (range, from, to) in
        [("bytes=0-1", 0, 1), ("bytes=100000-", 100_000, 299_999), ("bytes=-5", 299_995, 299_999)]
    {
        let answer = part(range).await;
        assert_eq!(answer.status, 206, "{}", answer.show());
        assert_eq!(answer.body.as_ref(), &bytes[from..=to]);
        assert_eq!(answer.header("content-range"), format!("bytes {from}-{to}/300000"));
    }
    let whole = part("bytes=300000-").await;
    assert_eq!((whole.status, whole.body.as_ref()), (200, &bytes[..]));
    assert_eq!(whole.header("accept-ranges"), "bytes");

    world.server.files.fail_every(FileOp::Open, FailureAt::Before);
    let head = world.send(Request::new("HEAD", &path).header("range", "bytes=0-1")).await;
    assert_eq!((head.status, head.header("content-length").as_str()), (200, "300000"));
    assert_eq!(world.send(Request::new("GET", &path)).await.status, 503);
    world.server.files.heal();
    world.server.lose_all_files();
    assert_eq!(world.send(Request::new("HEAD", &path)).await.status, 404);
}

/// A connection over which a file is being read: its head has come, and nothing more is taken.
async fn reader(world: &World, path: &str, client: &str) -> (u16, TcpStream) {
    let mut stream = TcpStream::connect(world.addr).await.expect("connected");
    let asked = format!("GET {path} HTTP/1.1\r\nHost: t\r\nX-Forwarded-For: {client}\r\n\r\n");
    stream.write_all(asked.as_bytes()).await.expect("written");
    let mut head = [0; 12];
    stream.read_exact(&mut head).await.expect("an answer");
    let status = std::str::from_utf8(&head[9..]).expect("a status").parse();
    (status.expect("a number"), stream)
}

// R191
#[both_stores]
async fn a_file_has_four_readers_at_once_and_a_client_reads_sixteen(kind: StoreKind) {
    let setup = Setup { trusted_proxies: &["127.0.0.0/8"], ..Setup::default() };
    let world = World::with(kind, setup).await;
    let qr = world.qr().await;
    serves(&world, &vec![7; 25 * 1024 * 1024]);
    let mut paths = Vec::new();
    for _ in 0..5 {
        let id = world.stored(&qr, photo(&world)).await;
        paths.push(fetched(&world, &id).await);
    }
    let mut reading = Vec::new();
    for path in &paths[..4] {
        for _ in 0..4 {
            let (status, stream) = reader(&world, path, "192.0.2.1").await;
            assert_eq!(status, 200);
            reading.push(stream);
        }
    }
    let get = |path: &str, client: &str| {
        world.send(Request::new("GET", path).header("x-forwarded-for", client))
    };
    for (path, client) in [(&paths[0], "192.0.2.2"), (&paths[4], "192.0.2.1")] {
        let refused = get(path, client).await;
        refused.expect_error(429, "RATE_LIMITED");
        assert_eq!(refused.header("retry-after"), "5");
        let head = Request::new("HEAD", path).header("x-forwarded-for", client);
        assert_eq!(world.send(head).await.status, 200);
    }
    assert_eq!(reader(&world, &paths[4], "192.0.2.2").await.0, 200);
    // A forged link says nothing of who reads the good one.
    let (start, last) = paths[0].split_at(paths[0].len() - 1);
    let forged = format!("{start}{}", if last == "A" { "E" } else { "A" });
    assert_eq!(get(&forged, "192.0.2.2").await.status, 404);
    drop(reading);
    eventually("the readers are gone", || async {
        let (status, _) = reader(&world, &paths[0], "192.0.2.1").await;
        (status == 200).then_some(())
    })
    .await;
}

// R193
#[both_stores]
async fn a_link_ends_after_thirty_days_and_listings_give_a_fresh_one(hooks: Hooks) {
    hooks.receiver.answers("/file", Reply::body(200, "the bytes of a photo"));
    let (id, data) = told(&hooks, "message", "message.received").await;
    hooks.server.run_due_jobs().await;
    let day = Duration::from_secs(24 * 3_600);
    hooks.advance(30 * day);
    assert_eq!(follow(&hooks, "GET", &data["media_url"]).await.status, 200);
    hooks.advance(day);
    for method in ["GET", "HEAD"] {
        assert_eq!(follow(&hooks, method, &data["media_url"]).await.status, 404);
    }
    for fresh in media_urls(&hooks, &id).await {
        assert_ne!(fresh, data["media_url"]);
        assert_eq!(follow(&hooks, "GET", &fresh).await.status, 200);
    }
}

// R194
#[both_stores]
async fn links_outlive_a_rotation_of_their_key_unless_it_ends_them(hooks: Hooks) {
    hooks.receiver.answers("/file", Reply::body(200, "the bytes of a photo"));
    let (id, data) = told(&hooks, "message", "message.received").await;
    hooks.server.run_due_jobs().await;
    let mut given = vec![data["media_url"].clone()];
    for _ in 0..2 {
        hooks.server.rotate_media_key(false).await;
        given.push(media_urls(&hooks, &id).await.remove(0));
    }
    assert!(given[0] != given[1] && given[1] != given[2]);
    for link in &given {
        assert_eq!(follow(&hooks, "GET", link).await.status, 200);
    }
    hooks.server.rotate_media_key(true).await;
    for link in &given {
        assert_eq!(follow(&hooks, "GET", link).await.status, 404);
    }
    let fresh = media_urls(&hooks, &id).await.remove(0);
    assert_eq!(follow(&hooks, "GET", &fresh).await.status, 200);
}
