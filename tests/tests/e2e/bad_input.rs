//! Invalid bodies, headers and requests: D4, D5, D8, D8a.

use recado_tests::{Request, World, both_stores, join_all, phone, raw, text, unknown_id};
use serde_json::{Value, json};

const PATH: &str = "/api/v1/contacts";
const MIB: usize = 1024 * 1024;

async fn assert_well(world: &World) {
    world.send(Request::new("GET", "/healthz")).await;
    world.get(PATH).await.expect(200);
}

async fn post_bytes(world: &World, body: impl Into<Vec<u8>>) -> recado_tests::ScriptedAnswer {
    world.call(Request::new("POST", PATH).body(body.into())).await
}

/// A body of exactly `size` bytes with a valid phone.
fn padded(size: usize, n: u32) -> Vec<u8> {
    let mut body = json!({"phone": phone(n)}).to_string().into_bytes();
    body.resize(size, b' ');
    body
}

#[both_stores]
async fn a_body_of_one_mebibyte_passes_and_one_byte_more_is_413(world: World) {
    post_bytes(&world, padded(MIB, 1)).await.expect(201);
    post_bytes(&world, padded(MIB + 1, 2)).await.expect_error(413, "PAYLOAD_TOO_LARGE");
    let id = unknown_id();
    let patch = Request::new("PATCH", format!("{PATH}/{id}")).body(padded(MIB + 1, 2));
    world.call(patch).await.expect_error(413, "PAYLOAD_TOO_LARGE");
    assert_eq!(world.list_ids("").await.len(), 1);
    assert_well(&world).await;
}

#[both_stores]
async fn what_is_no_json_object_is_400(world: World) {
    let bodies: [&[u8]; 22] = [
        b"",
        b" ",
        b"{",
        b"}",
        b"{\"phone\":",
        b"{\"phone\":\"+5511987654321\"",
        b"[]",
        b"[{}]",
        b"null",
        b"\"x\"",
        b"1",
        b"true",
        b"nope",
        b"{'phone':'1'}",
        b"{\"a\":1,}",
        b"{\"a\" 1}",
        b"{}{}",
        b"{} x",
        b"{\"a\":01}",
        b"{\"a\":NaN}",
        b"\x00",
        b"phone=%2B5511987654321",
    ];
    for body in bodies {
        let answer = post_bytes(&world, body).await;
        assert_eq!(answer.status, 400, "{:?}: {}", String::from_utf8_lossy(body), answer.show());
        answer.expect_error(400, "INVALID_BODY");
    }
    let id = world.create_id(json!({"phone": phone(1)})).await;
    for body in ["", "{", "[]", "null"] {
        let patch = Request::new("PATCH", format!("{PATH}/{id}")).body(body);
        world.call(patch).await.expect_error(400, "INVALID_BODY");
    }
}

#[both_stores]
async fn truncated_json_is_400_at_every_length(world: World) {
    let whole = json!({"phone": "+5511987654321", "name": "Jo\u{e3}o \u{1f600}", "custom_fields": {"a": "b"}, "list_ids": []}).to_string();
    let bytes = whole.as_bytes();
    for length in 0..bytes.len() {
        post_bytes(&world, &bytes[..length]).await.expect_error(400, "INVALID_BODY");
    }
    assert!(world.list_ids("").await.is_empty());
}

#[both_stores]
async fn a_hundred_thousand_nested_arrays_are_a_4xx_and_the_server_stays_well(world: World) {
    let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    let objects = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    for body in [
        nested(100_000),
        "[".repeat(100_000),
        objects,
        format!("{{\"name\":{}}}", nested(100_000)),
        format!("{{\"custom_fields\":{}}}", nested(100_000)),
        format!("{{\"unknown\":{}}}", nested(100_000)),
    ] {
        let answer = post_bytes(&world, body).await;
        assert!((400..500).contains(&answer.status), "{}", answer.show());
        assert_eq!(answer.json()["success"], false);
    }
    assert_well(&world).await;
}

#[both_stores]
async fn invalid_utf8_is_400(world: World) {
    for bytes in [
        &b"{\"name\":\"\xff\xfe\"}"[..],
        b"\xff\xfe{}",
        b"{\"name\":\"\xed\xa0\x80\"}",
        b"{\"\xc3\x28\":1}",
        b"{\"name\":\"\xc0\xaf\"}",
    ] {
        post_bytes(&world, bytes).await.expect_error(400, "INVALID_BODY");
    }
    assert_well(&world).await;
}

#[both_stores]
async fn lone_surrogates_are_refused(world: World) {
    for body in [r#"{"name":"\ud800"}"#, r#"{"name":"\udc00\ud800"}"#, r#"{"\ud800":1}"#] {
        let answer = post_bytes(&world, body).await;
        assert!([400, 422].contains(&answer.status), "{}", answer.show());
    }
}

#[both_stores]
async fn a_byte_order_mark_is_400(world: World) {
    let body = format!("\u{feff}{}", json!({"phone": phone(1)}));
    post_bytes(&world, body).await.expect_error(400, "INVALID_BODY");
}

#[both_stores]
async fn a_content_encoding_is_415(world: World) {
    for encoding in ["gzip", "br", "deflate", "identity, gzip", "nonsense"] {
        let request = Request::new("POST", PATH)
            .header("content-encoding", encoding)
            .body(json!({"phone": phone(1)}).to_string());
        world.call(request).await.expect_error(415, "UNSUPPORTED_MEDIA_TYPE");
    }
    assert!(world.list_ids("").await.is_empty());
}

#[both_stores]
async fn huge_numbers_and_long_strings_are_refused_politely(world: World) {
    let digits = "9".repeat(100_000);
    for body in [
        format!(r#"{{"phone":{digits}}}"#),
        format!(r#"{{"phone":"{digits}"}}"#),
        r#"{"phone":1e999}"#.to_owned(),
        format!(r#"{{"name":"{}"}}"#, "x".repeat(500_000)),
        format!(r#"{{"cnpj":"{digits}"}}"#),
        format!(r#"{{"email":"{}@x.com"}}"#, "a".repeat(500_000)),
        format!(r#"{{"cpf":"{}"}}"#, ".".repeat(500_000)),
        format!(r#"{{"birthday":"{digits}"}}"#),
    ] {
        let answer = post_bytes(&world, body).await;
        assert!([400, 422].contains(&answer.status), "{}", answer.show());
        assert!(answer.body.len() < 20_000, "the answer does not echo it all");
    }
    assert_well(&world).await;
}

#[both_stores]
async fn very_many_unknown_keys_are_one_422(world: World) {
    let keys: serde_json::Map<String, Value> =
        (0..20_000).map(|n| (format!("key{n}"), json!(n))).collect();
    let answer = post_bytes(&world, Value::Object(keys).to_string()).await;
    answer.expect_error(422, "VALIDATION_ERROR");
    assert_well(&world).await;
}

#[both_stores]
async fn very_many_list_ids_are_answered(world: World) {
    let ids: Vec<String> = (0..20_000).map(|_| unknown_id()).collect();
    let answer = world.post_contact(json!({"phone": phone(1), "list_ids": ids})).await;
    assert!([404, 422].contains(&answer.status), "{}", answer.show());
    let ids: Vec<String> = (0..20_000).map(|n| format!("no-{n}")).collect();
    world
        .post_contact(json!({"phone": phone(1), "list_ids": ids}))
        .await
        .expect_error(422, "VALIDATION_ERROR");
    assert_well(&world).await;
}

#[both_stores]
async fn a_repeated_key_in_a_body_does_no_harm(world: World) {
    let body = r#"{"phone":"+5511987654321","phone":"+5511987654322"}"#;
    let answer = post_bytes(&world, body).await;
    assert!([201, 400, 422].contains(&answer.status), "{}", answer.show());
    assert_well(&world).await;
}

// Raw requests

#[both_stores]
async fn malformed_requests_get_a_4xx_or_a_closed_connection_and_the_server_stays_well(
    world: World,
) {
    let key = &world.us.key;
    let many: String = (0..5_000).map(|n| format!("x-h{n}: y\r\n")).collect();
    let requests: Vec<Vec<u8>> = vec![
        b"nonsense\r\n\r\n".to_vec(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        b"GET /api/v1/contacts HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n".to_vec(),
        b"GET /api/v1/contacts HTTP/1.1\r\nhost: x\r\n\x00: y\r\n\r\n".to_vec(),
        b"GET /\xff\xfe HTTP/1.1\r\nhost: x\r\n\r\n".to_vec(),
        b"GET /api/v1/contacts\x00 HTTP/1.1\r\nhost: x\r\n\r\n".to_vec(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".iter().chain([0; 512].iter()).copied().collect(),
        format!("GET {PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\nx-long: {}\r\n\r\n", "a".repeat(2_000_000)).into_bytes(),
        format!("GET {PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\n{many}\r\n").into_bytes(),
        format!("GET {PATH}?{} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\n\r\n", "a".repeat(2_000_000)).into_bytes(),
        format!("POST {PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\ncontent-length: -1\r\n\r\n{{}}").into_bytes(),
        format!("POST {PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{{}}").into_bytes(),
        format!("POST {PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n").into_bytes(),
    ];
    for request in requests {
        let head = String::from_utf8_lossy(&request[..request.len().min(60)]).into_owned();
        if let Some(answer) = raw(world.addr, &request).await {
            assert!((400..500).contains(&answer.status), "{head}: {}", answer.show());
        }
    }
    assert_well(&world).await;
}

#[both_stores]
async fn absurd_header_values_change_nothing(world: World) {
    let request = Request::new("GET", PATH)
        .header("accept", "text/html;q=nonsense, */*;;;")
        .header("accept-encoding", "x".repeat(1_000))
        .header("content-type", "\u{7f}x".replace('\u{7f}', "~"))
        .header("x-forwarded-for", "not an address, ,,")
        .header("forwarded", "for=\"[::1]\";;")
        .header("if-none-match", "*")
        .header("range", "bytes=5-1")
        .header("expect", "nothing")
        .header("cookie", "a=b; c")
        .header("host", "evil.example:99999");
    let answer = world.call(request).await;
    assert!(answer.status == 200 || (400..500).contains(&answer.status), "{}", answer.show());
    assert_well(&world).await;
}

#[both_stores]
async fn a_get_with_a_body_is_answered(world: World) {
    world.call(Request::new("GET", PATH).body("{\"x\":1}")).await.expect(200);
}

#[both_stores]
async fn odd_text_is_stored_as_it_is(world: World) {
    for (n, name) in (0..).zip([
        "'; DROP TABLE contacts; --",
        "<script>alert(1)</script>",
        "👩‍👩‍👧‍👦",
        "%s%n%x",
        "${jndi:ldap://x}",
        "../../etc/passwd",
        "a\u{300}\u{301}\u{302}",
        "\u{fdfa}",
        "ﬁ",
        "İstanbul",
        "\\u0000",
        "NULL",
        "\u{10ffff}",
    ]) {
        let id = world.create_id(json!({"phone": phone(n), "name": name})).await;
        assert_eq!(world.detail(&id).await["name"], name);
        assert_eq!(world.listed(&id).await["display_name"], name);
    }
    assert_well(&world).await;
}

#[both_stores]
async fn odd_searches_are_answered(world: World) {
    world.create(json!({"phone": phone(1), "name": "Ana"})).await;
    for term in [
        "%00",
        "%27",
        "%22",
        "%5C",
        "%25%25%25",
        "%F0%9F%98%80",
        "%E2%80%AE",
        "*",
        "AND",
        "NEAR%281%2C2%29",
        "%28%28%28",
        "%2B%2B%2B",
        "-",
        "---",
        "%EF%B7%BA",
        "%CC%81",
        "a%CC%81%CC%81",
        "%0A",
    ] {
        let answer = world.get(&format!("{PATH}?search={term}")).await;
        assert!([200, 400].contains(&answer.status), "{term}: {}", answer.show());
    }
    let long = "a".repeat(20_000);
    let answer = world.get(&format!("{PATH}?search={long}")).await;
    assert!([200, 400, 414, 431].contains(&answer.status), "{}", answer.show());
    assert_well(&world).await;
}

#[both_stores]
async fn a_slow_client_does_not_stop_others(world: World) {
    let mut half_open = Vec::new();
    for _ in 0..100 {
        use tokio::io::AsyncWriteExt;
        let mut stream = tokio::net::TcpStream::connect(world.addr).await.expect("connects");
        stream
            .write_all(b"POST /api/v1/contacts HTTP/1.1\r\nhost: x\r\ncontent-le")
            .await
            .expect("writes");
        half_open.push(stream);
    }
    assert_well(&world).await;
    drop(half_open);
    assert_well(&world).await;
}

#[both_stores]
async fn callers_that_hang_up_do_no_harm(world: World) {
    let body = json!({"phone": phone(1)}).to_string();
    let request = format!(
        "POST {PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-length: {}\r\n\r\n{body}",
        world.us.key,
        body.len()
    );
    for _ in 0..30 {
        use tokio::io::AsyncWriteExt;
        let mut stream = tokio::net::TcpStream::connect(world.addr).await.expect("connects");
        stream.write_all(request.as_bytes()).await.expect("writes");
    }
    assert_well(&world).await;
    assert!(world.list_ids("").await.len() <= 1);
}

#[both_stores]
async fn no_error_leaks_internals(world: World) {
    let answers = join_all(vec![
        world.get(&format!("{PATH}?cursor=x&order_by=created_at")),
        world.get(&format!("{PATH}/x")),
    ])
    .await;
    for answer in answers {
        let body = String::from_utf8_lossy(&answer.body).to_lowercase();
        for word in ["sql", "panic", "rusqlite", "tokio", "postgres", ".rs", "table"] {
            assert!(!body.contains(word), "{word} in {body}");
        }
    }
    let answer = post_bytes(&world, "{").await;
    assert!(!text(&answer.json()["message"]).is_empty());
}
