//! Attacks with messages, by unknown callers and faulty gateways: D5, D7, D9, D37, D67.

use recado_tests::{Request, World, both_stores, digits, keys, mobile, raw, text, wamid, with};
use serde_json::{Value, json};

#[both_stores]
async fn odd_texts_in_events_are_stored_or_refused_and_never_an_error(world: World) {
    let qr = world.qr().await;
    let odd = [
        "\u{0}".to_owned(),
        "nul \u{0} inside".to_owned(),
        "\u{7}\u{1b}[31m".to_owned(),
        "'; DROP TABLE messages; --".to_owned(),
        "%_\\".to_owned(),
        "\u{202e}oi\u{feff}\u{200b}".to_owned(),
        "👩‍👩‍👧‍👦".repeat(50),
        "é".repeat(100_000),
        String::new(),
        "   ".to_owned(),
    ];
    let mut events = Vec::new();
    for text in &odd {
        for name in [
            "content",
            "push_name",
            "provider_message_id",
            "from",
            "participant",
            "type",
            "quoted_provider_message_id",
            "timestamp",
            "kind",
        ] {
            events.push(with(world.inbound(&digits(&mobile(1)), "oi"), json!({name: text})));
        }
        events.push(with(world.inbound(&digits(&mobile(1)), "oi"), json!({"aliases": [text]})));
        let media = json!({"url": text, "mimetype": text, "filename": text, "caption": text});
        events.push(with(world.inbound(&digits(&mobile(1)), "oi"), json!({"media": media})));
        let button = json!({"id": text, "payload": text, "title": text});
        events.push(with(world.inbound(&digits(&mobile(1)), "oi"), json!({"button": button})));
    }
    let sane = events.len();
    events.push(world.inbound(&digits(&mobile(2)), "e eu?"));
    let results = world.gateway(&qr, events.clone()).await;
    for (event, result) in events.iter().zip(&results) {
        let result_text = text(&result["result"]);
        assert!(
            ["stored", "ignored", "refused", "duplicate"].contains(&result_text.as_str()),
            "{event} gave {result}"
        );
    }
    assert_eq!(results[sane]["result"], "stored", "the sane one among them");
    world.get("/api/v1/messages?limit=100").await.expect(200);
    for id in world.list_ids("limit=100").await {
        world.detail(&id).await;
        world.messages_of(&id).await;
    }
}

#[both_stores]
async fn odd_times_in_events_are_stored_or_refused_and_never_an_error(world: World) {
    let qr = world.qr().await;
    let mut events = Vec::new();
    for time in [
        json!("9999-12-31T23:59:59.999Z"),
        json!("0001-01-01T00:00:00Z"),
        json!("-000001-01-01T00:00:00Z"),
        json!("10000-01-01T00:00:00Z"),
        json!("1970-01-01T00:00:00Z"),
        json!(0),
        json!(-1),
        json!(1e300),
        json!(9_007_199_254_740_993_i64),
        json!("1795176000"),
        json!([]),
        Value::Null,
    ] {
        events.push(with(world.inbound(&digits(&mobile(1)), "oi"), json!({"timestamp": time})));
        events.push(with(world.echo(&digits(&mobile(1)), "oi"), json!({"timestamp": time})));
        events.push(with(world.inbound(&digits(&mobile(1)), "sair"), json!({"timestamp": time})));
    }
    let results = world.gateway(&qr, events).await;
    assert!(results.iter().all(|one| one["result"] != Value::Null));
    for id in world.list_ids("").await {
        world.full(&id).await;
        world.messages_of(&id).await;
    }
}

#[both_stores]
async fn odd_senders_become_odd_contacts_or_nothing(world: World) {
    let qr = world.qr().await;
    for from in [
        "0",
        "+",
        "@",
        "@g.us",
        "x@g.us@g.us",
        "status@broadcast",
        "5511",
        "1".repeat(300).as_str(),
        "..",
        "/etc/passwd",
        "🙂",
        "5511980001001:12@s.whatsapp.net",
    ] {
        let result = world.gateway_one(&qr, world.inbound(from, "oi")).await;
        let word = text(&result["result"]);
        assert!(["stored", "ignored", "refused"].contains(&word.as_str()), "{from}: {result}");
    }
    for id in world.list_ids("limit=100").await {
        world.detail(&id).await;
    }
}

#[both_stores]
async fn deep_and_wide_json_is_refused_and_not_followed(world: World) {
    let qr = world.qr().await;
    let path = format!("/operator/v1/companies/{}/connections/{qr}/events", world.us.id);
    let deep = format!("{{\"events\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let request = Request::new("POST", &path).bearer(recado_tests::OPERATOR).body(deep);
    let answer = world.send(request).await;
    assert!([400, 422].contains(&answer.status), "{}", answer.show());
    let twice = "{\"events\":[],\"events\":[{}]}";
    let request = Request::new("POST", &path).bearer(recado_tests::OPERATOR).body(twice);
    assert!(world.send(request).await.status < 500);
    let lone = r#"{"to":"+5511980001001","message":"\ud800"}"#;
    let answer = world.call(Request::new("POST", "/api/v1/send/message").body(lone)).await;
    assert!([400, 422].contains(&answer.status), "{}", answer.show());
    let bytes = b"{\"to\":\"+5511980001001\",\"message\":\"\xff\"}".as_slice();
    let answer = world.call(Request::new("POST", "/api/v1/send/message").body(bytes)).await;
    answer.expect_error(400, "INVALID_BODY");
    assert!(world.all_messages().await.is_empty());
}

#[both_stores]
async fn a_send_body_over_the_limit_is_413(world: World) {
    let body = json!({"to": mobile(1), "message": "x".repeat(1_100_000)});
    let answer = world.post_send(body).await;
    answer.expect_error(413, "PAYLOAD_TOO_LARGE");
}

#[both_stores]
async fn filters_do_not_reach_the_database_as_code(world: World) {
    let qr = world.qr().await;
    world.contact_by_message(&qr, &mobile(1)).await;
    for query in [
        "contact_id=%27%20OR%201%3D1--",
        "connection_id=*",
        "from=%27%3B--",
        "to=%00",
        "status=%27received%27",
        "type=text%27",
        "direction=inbound%00",
        "page=1%3B--",
    ] {
        let answer = world.get(&format!("/api/v1/messages?{query}")).await;
        answer.expect_error(400, "INVALID_PARAMETER");
    }
    for page in ["4000000000", "9223372036854775807", "18446744073709551615"] {
        let answer = world.get(&format!("/api/v1/messages?page={page}&limit=100")).await;
        assert!([200, 400].contains(&answer.status), "{}", answer.show());
    }
}

#[both_stores]
async fn two_idempotency_keys_or_one_of_odd_bytes_are_refused(world: World) {
    world.qr().await;
    let body = json!({"to": mobile(1), "message": "oi"});
    let request = world.keyed("/api/v1/send/message", "a", &body).header("idempotency-key", "b");
    world.send(request).await.expect_error(400, "INVALID_PARAMETER");
    let body = body.to_string();
    let head = format!(
        "POST /api/v1/send/message HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\
         content-length: {}\r\nidempotency-key: a",
        world.us.key,
        body.len(),
    );
    let bytes = [head.as_bytes(), b"\xff\xfe\r\n\r\n", body.as_bytes()].concat();
    if let Some(answer) = raw(world.addr, &bytes).await {
        assert!(answer.status < 500, "{}", answer.show());
    }
    assert!(world.all_messages().await.len() <= 1);
}

#[both_stores]
async fn a_gateway_that_claims_our_provider_id_changes_no_message_of_another_contact(world: World) {
    let qr = world.silent("qr").await;
    let sent = world.sent(&mobile(1), "a verdadeira").await;
    let forged = with(
        world.inbound(&digits(&mobile(2)), "a falsa"),
        json!({"provider_message_id": sent["wamid"]}),
    );
    let result = world.gateway_one(&qr, forged).await;
    assert_ne!(result["result"], "stored", "{result}");
    let shown = world.message(&text(&sent["message_id"])).await;
    assert_eq!(shown["content"], "a verdadeira");
    assert_eq!(shown["direction"], "outbound");
    assert_eq!(world.all_messages().await.len(), 1);
}

#[both_stores]
async fn an_unknown_member_of_a_known_event_is_no_reason_to_lose_it(world: World) {
    // The event may also be refused, but then by its name, and no other event with it.
    let qr = world.qr().await;
    let event = with(world.inbound(&digits(&mobile(1)), "oi"), json!({"nope": {"a": 1}}));
    let results = world.gateway(&qr, vec![event, world.inbound(&digits(&mobile(1)), "e aí")]).await;
    if results[0]["result"] == "refused" {
        assert!(text(&results[0]["reason"]).contains("nope"), "{results:?}");
    }
    assert_eq!(results[1]["result"], "stored");
    assert_eq!(keys(&results[1]), ["index", "message_id", "result"]);
}

#[both_stores]
async fn without_the_operator_token_nobody_hands_events_in(world: World) {
    let qr = world.qr().await;
    let path = format!("/operator/v1/companies/{}/connections/{qr}/events", world.us.id);
    let event = json!({
        "kind": "message", "provider_message_id": wamid(), "timestamp": world.time(),
        "from": digits(&mobile(1)), "type": "text", "content": "oi",
    });
    let body = json!({"events": [event]});
    for key in [Some(world.us.key.as_str()), Some("x"), None] {
        let request = Request::new("POST", &path).json(&body);
        let request = match key {
            Some(key) => request.bearer(key),
            None => request,
        };
        assert_eq!(world.send(request).await.status, 401);
    }
    assert!(world.all_messages().await.is_empty());
}
