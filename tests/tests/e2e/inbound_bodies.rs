//! The size and the form of a hook's body: 4.9, 4.10, 7.2, 7.3, 8; D8a, D46a.

use std::fmt::Write;

use recado_tests::hooks_in::{FORWARDED, SECRET, dispatching, plain, unknown_client};
use recado_tests::{Answer, Intake, Request, both_stores, mobile, raw};
use serde_json::{Value, json};

const INBOUND: usize = 102_400;
const DISPATCH: usize = 51_200;

/// A body with our phone that has exactly so many bytes.
fn sized(body: &Value, length: usize) -> Vec<u8> {
    let mut object = body.clone();
    object["filler"] = json!("");
    let empty = object.to_string().len();
    object["filler"] = json!("x".repeat(length - empty));
    let bytes = object.to_string().into_bytes();
    assert_eq!(bytes.len(), length);
    bytes
}

/// The head of a call on a raw connection.
fn head(path: &str, secret: &str, more: &str) -> Vec<u8> {
    let mut head = format!("POST {path} HTTP/1.1\r\nhost: recado\r\n");
    write!(head, "{FORWARDED}: {}\r\n", unknown_client()).expect("text");
    if !secret.is_empty() {
        write!(head, "{SECRET}: {secret}\r\n").expect("text");
    }
    write!(head, "{more}\r\n\r\n").expect("text");
    head.into_bytes()
}

/// What is answered to these bytes while the connection stays open.
async fn reported(world: &Intake, bytes: &[u8]) -> Answer {
    raw(world.addr, bytes).await.expect("an answer")
}

/// A body in chunks of this size, without the last one.
fn chunks(body: &[u8], size: usize) -> Vec<u8> {
    let mut all = Vec::new();
    for chunk in body.chunks(size) {
        all.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        all.extend_from_slice(chunk);
        all.extend_from_slice(b"\r\n");
    }
    all
}

#[both_stores]
async fn a_contact_may_have_102400_bytes_and_no_more(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let body = json!({"phone": mobile(1)});
    world.hand_in_bytes(&site, sized(&body, INBOUND)).await.expect_ok();
    let more = world.hand_in_bytes(&site, sized(&json!({"phone": mobile(2)}), INBOUND + 1)).await;
    more.expect_hook_error(413, "INVALID_PAYLOAD");
    assert_eq!(world.list_ids("").await.len(), 1);
}

#[both_stores]
async fn a_dispatch_may_have_51200_bytes_and_no_more(world: Intake) {
    world.silent("official_cloud").await;
    let token = world.token("ola", "UTILITY", "Olá").await;
    let body = json!({"phone_number": mobile(1)});
    let call = |bytes: Vec<u8>| world.knock(Request::new("POST", dispatching(&token)).body(bytes));
    call(sized(&body, DISPATCH + 1)).await.expect_hook_error(413, "INVALID_PAYLOAD");
    assert!(world.all_messages().await.is_empty());
    call(sized(&body, DISPATCH)).await.expect_ok();
}

#[both_stores]
async fn a_length_that_is_too_much_is_refused_without_the_body(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let token = world.token("ola", "UTILITY", "Olá").await;
    for length in ["102401", "5000000000"] {
        let head = head(&site.path(), &site.secret, &format!("content-length: {length}"));
        reported(&world, &head).await.expect_hook_error(413, "INVALID_PAYLOAD");
    }
    for length in ["51201", "102400"] {
        let head = head(&dispatching(&token), "", &format!("content-length: {length}"));
        reported(&world, &head).await.expect_hook_error(413, "INVALID_PAYLOAD");
    }
}

#[both_stores]
async fn a_caller_that_asks_before_it_sends_is_not_asked_to_go_on(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let more = "expect: 100-continue\r\ncontent-length: 102401";
    let huge = head(&site.path(), &site.secret, more);
    reported(&world, &huge).await.expect_hook_error(413, "INVALID_PAYLOAD");
    let wrong = head(&site.path(), "wrong", "expect: 100-continue\r\ncontent-length: 50");
    reported(&world, &wrong).await.expect_hook_error(401, "INVALID_SECRET");
    let fine = head(&site.path(), &site.secret, "expect: 100-continue\r\ncontent-length: 50");
    assert_eq!(reported(&world, &fine).await.status, 100);
}

#[both_stores]
async fn a_refused_caller_is_answered_without_the_body(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let length = "content-length: 500";
    let wrong = head(&site.path(), "wrong", length);
    reported(&world, &wrong).await.expect_hook_error(401, "INVALID_SECRET");
    let unknown = head("/api/webhooks/incoming/nobody-has-this", "", length);
    reported(&world, &unknown).await.expect_hook_error(404, "ENDPOINT_NOT_FOUND");
    let unknown = head(&dispatching("x"), "", length);
    reported(&world, &unknown).await.expect_hook_error(404, "TEMPLATE_NOT_FOUND");
    world.change_endpoint(&site, json!({"is_active": false})).await;
    let off = head(&site.path(), &site.secret, length);
    reported(&world, &off).await.expect_hook_error(410, "ENDPOINT_INACTIVE");
    world.features(&world.us, false, false).await;
    let off = head(&site.path(), &site.secret, length);
    reported(&world, &off).await.expect_hook_error(403, "FEATURE_DISABLED");
}

#[both_stores]
async fn a_body_of_unknown_length_has_the_same_bound(world: Intake) {
    world.silent("official_cloud").await;
    let site = world.endpoint("site-leads", plain()).await;
    let token = world.token("ola", "UTILITY", "Olá").await;
    let inbound = json!({"phone": mobile(1)});
    let dispatch = json!({"phone_number": mobile(1)});
    for (path, secret, limit, body) in [
        (site.path(), site.secret.as_str(), INBOUND, inbound),
        (dispatching(&token), "", DISPATCH, dispatch),
    ] {
        for size in [1_000, limit + 1] {
            // Neither the last chunk nor the end of the connection ever comes.
            let mut bytes = head(&path, secret, "transfer-encoding: chunked");
            bytes.extend(chunks(&sized(&body, limit + 1), size));
            reported(&world, &bytes).await.expect_hook_error(413, "INVALID_PAYLOAD");
        }
        let mut bytes = head(&path, secret, "transfer-encoding: chunked");
        bytes.extend(chunks(&sized(&body, limit), 999));
        bytes.extend_from_slice(b"0\r\n\r\n");
        reported(&world, &bytes).await.expect_ok();
    }
}

#[both_stores]
async fn a_body_that_is_not_json_is_refused(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let phone = mobile(1);
    for body in [
        String::new(),
        " ".to_owned(),
        "{".to_owned(),
        format!(r#"{{"phone": "{phone}"}} x"#),
        format!(r#"{{"phone": "{phone}",}}"#),
        format!(r#"{{phone: "{phone}"}}"#),
        format!(r#"{{"phone": '{phone}'}}"#),
        format!("phone={phone}"),
        format!("\u{feff}{{\"phone\": \"{phone}\"}}"),
        format!(r#"{{"phone": "{phone}", "n": NaN}}"#),
        format!(r#"{{"phone": "{phone}", "n": 01}}"#),
    ] {
        let answer = world.hand_in_bytes(&site, body.clone()).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.show());
        answer.expect_hook_error(400, "INVALID_PAYLOAD");
    }
    let mut bytes = format!(r#"{{"phone": "{phone}", "name": ""#).into_bytes();
    bytes.extend_from_slice(b"\xff\"}");
    world.hand_in_bytes(&site, bytes).await.expect_hook_error(400, "INVALID_PAYLOAD");
    let mut utf16 = vec![0xff, 0xfe];
    utf16.extend(format!(r#"{{"phone":"{phone}"}}"#).encode_utf16().flat_map(u16::to_le_bytes));
    world.hand_in_bytes(&site, utf16).await.expect_hook_error(400, "INVALID_PAYLOAD");
    assert!(world.list_ids("").await.is_empty());
}

#[both_stores]
async fn json_that_is_no_object_has_what_the_mapping_finds_in_it(world: Intake) {
    let first = json!({"phone_number": "$[0].phone"});
    let list = world.endpoint("list-leads", first).await;
    world.taken(&list, json!([{"phone": mobile(1)}, {"phone": mobile(2)}])).await;
    let whole = world.endpoint("text-leads", json!({"phone_number": "$"})).await;
    world.taken(&whole, json!(mobile(3))).await;
    for body in [json!(null), json!([]), json!({}), json!(true), json!(7)] {
        world.hand_in(&list, &body).await.expect_hook_error(400, "MISSING_PHONE");
    }
}

#[both_stores]
async fn a_body_nested_as_deep_as_it_fits_brings_nothing_down(world: Intake) {
    let site = world.endpoint("site-leads", json!({"phone_number": "$..phone"})).await;
    for depth in [100, 1_000, 50_000] {
        let body = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let answer = world.hand_in_bytes(&site, body).await;
        assert_eq!(answer.status, 400, "{depth}: {}", answer.show());
    }
    world.taken(&site, json!({"a": {"phone": mobile(1)}})).await;
}

#[both_stores]
async fn an_encoded_body_is_415(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let token = world.token("ola", "UTILITY", "Olá").await;
    let body = json!({"phone": mobile(1), "phone_number": mobile(1)});
    for encoding in ["gzip", "deflate", "br", "zstd", "identity"] {
        let request = site.request().header("content-encoding", encoding).json(&body);
        world.knock(request).await.expect_hook_error(415, "UNSUPPORTED_MEDIA_TYPE");
        let request = Request::new("POST", dispatching(&token));
        let request = request.header("content-encoding", encoding).json(&body);
        world.knock(request).await.expect_hook_error(415, "UNSUPPORTED_MEDIA_TYPE");
    }
    assert!(world.list_ids("").await.is_empty());
}

#[both_stores]
async fn a_caller_that_never_ends_its_body_leaves_nothing(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let bytes = head(&site.path(), &site.secret, "content-length: 100");
    let mut stream = tokio::net::TcpStream::connect(world.addr).await.expect("connects");
    tokio::io::AsyncWriteExt::write_all(&mut stream, &bytes).await.expect("written");
    tokio::io::AsyncWriteExt::write_all(&mut stream, b"{\"phone\"").await.expect("written");
    drop(stream);
    world.taken(&site, json!({"phone": mobile(1)})).await;
    assert_eq!(world.list_ids("").await.len(), 1);
}
