//! The size and the form of an inbound call's body: 4.9, 4.10, 7.2, 7.3, 8; D8a, D46a.

use std::fmt::Write;

use recado_tests::hooks_in::{FORWARDED, SECRET, dispatching, plain, unknown_client};
use recado_tests::{Intake, Request, ScriptedAnswer, both_stores, mobile, raw};
use serde_json::{Value, json};

const INBOUND: usize = 102_400;
const DISPATCH: usize = 51_200;

/// A body with our phone that has exactly this many bytes.
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

/// The answer to these bytes while the connection stays open.
async fn reported(world: &Intake, bytes: &[u8]) -> ScriptedAnswer {
    raw(world.addr, bytes).await.expect("an answer")
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
