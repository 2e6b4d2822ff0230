//! Requests that are too large, too slow or malformed: a 4xx or a closed connection, and a server
//! that goes on answering.

use std::time::Duration;

use recado_http_hyper::ServeOptions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::site::{Setup, Site, TOKEN, read_reply};

const MIB: usize = 1_048_576;

async fn is_well(site: &Site) {
    assert_eq!(site.api("GET", "/contacts", "").await.status, 200);
}

fn padded(length: usize) -> Vec<u8> {
    let mut body = br#"{"phone":"+5511987654321"}"#.to_vec();
    body.resize(length, b' ');
    body
}

#[tokio::test]
async fn a_mebibyte_is_read_and_one_byte_more_is_413() {
    let site = Site::new().await;
    let bearer = site.bearer();
    let reply = site.send("POST", "/api/v1/contacts", &bearer, &padded(MIB)).await;
    assert_eq!(reply.status, 201);
    let reply = site.send("POST", "/api/v1/contacts", &bearer, &padded(MIB + 1)).await;
    assert_eq!(reply.refusal(), (413, "PAYLOAD_TOO_LARGE".to_owned()));
    is_well(&site).await;
}

#[tokio::test]
async fn a_declared_length_is_refused_before_any_of_it_is_sent() {
    let site = Site::new().await;
    let head = format!(
        "POST /api/v1/contacts HTTP/1.1\r\nHost: t\r\n{}Content-Length: 1048577\r\nExpect: \
         100-continue\r\n\r\n",
        site.bearer()
    );
    assert_eq!(site.raw(head.as_bytes()).await.expect("an answer").status, 413);
}

#[tokio::test]
async fn a_chunked_body_is_cut_off_at_the_limit() {
    let site = Site::new().await;
    let mut stream = site.connect().await;
    let head = format!(
        "POST /api/v1/contacts HTTP/1.1\r\nHost: t\r\n{}Transfer-Encoding: chunked\r\n\r\n",
        site.bearer()
    );
    stream.write_all(head.as_bytes()).await.expect("written");
    let chunk = [b"10000\r\n".as_slice(), &[b' '; 0x10000], b"\r\n"].concat();
    for _ in 0..17 {
        // The server may have answered and closed by now.
        if stream.write_all(&chunk).await.is_err() {
            break;
        }
    }
    let reply = read_reply(&mut stream, false).await.expect("an answer");
    assert_eq!(reply.refusal(), (413, "PAYLOAD_TOO_LARGE".to_owned()));
    is_well(&site).await;
}

#[tokio::test]
async fn bodies_that_are_no_json_object_are_400() {
    let site = Site::new().await;
    let bearer = site.bearer();
    let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
    let nested = [br#"{"name":"#.to_vec(), deep.clone(), b"}".to_vec()].concat();
    let bad: [&[u8]; 8] = [
        b"",
        br#"{"phone":"+55119"#,
        b"{\"phone\":\"\xff\xfe\"}",
        b"\xef\xbb\xbf{}",
        b"[]",
        b"7",
        &deep,
        &nested,
    ];
    for body in bad {
        let reply = site.send("POST", "/api/v1/contacts", &bearer, body).await;
        assert_eq!(reply.refusal(), (400, "INVALID_BODY".to_owned()));
    }
    is_well(&site).await;
}

#[tokio::test]
async fn any_content_encoding_but_identity_is_415_on_every_surface() {
    let site = Site::new().await;
    let operator = format!("/operator/v1/companies/{}/tags", site.kit.company.id);
    let surfaces = [
        ("/api/v1/contacts", site.bearer()),
        (&operator, format!("Authorization: Bearer {TOKEN}\r\n")),
    ];
    for (path, authorization) in surfaces {
        for encoding in ["gzip", "identity, gzip", "x"] {
            let headers = format!("{authorization}Content-Encoding: {encoding}\r\n");
            let reply = site.send("POST", path, &headers, b"{}").await;
            assert_eq!(reply.refusal(), (415, "UNSUPPORTED_MEDIA_TYPE".to_owned()), "{encoding}");
        }
        for none in ["", "identity", "Identity"] {
            let headers = format!("{authorization}Content-Encoding: {none}\r\n");
            assert_eq!(site.send("POST", path, &headers, b"{}").await.status, 422, "{none}");
        }
    }
}

#[tokio::test]
async fn absurd_heads_get_a_4xx() {
    let site = Site::new().await;
    let many: String = (0..1000).map(|n| format!("X-{n}: y\r\n")).collect();
    let long = format!("X-Long: {}\r\n", "y".repeat(200_000));
    for headers in [many, long] {
        let request = format!("GET /healthz HTTP/1.1\r\nHost: t\r\n{headers}\r\n");
        assert_eq!(site.raw(request.as_bytes()).await.expect("an answer").status, 431);
    }
    let path = format!("GET /{} HTTP/1.1\r\nHost: t\r\n\r\n", "a".repeat(100_000));
    let status = site.raw(path.as_bytes()).await.expect("an answer").status;
    assert!(status == 414 || status == 431, "{status}");
    for garbage in ["\x16\x03\x01\x02", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "{}\r\n\r\n"] {
        if let Some(reply) = site.raw(garbage.as_bytes()).await {
            assert_eq!(reply.status, 400, "{garbage:?}");
        }
    }
    let two = b"POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n12";
    assert_eq!(site.raw(two).await.expect("an answer").status, 400);
    is_well(&site).await;
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let site = Site::new().await;
    let mut stream = site.connect().await;
    let get = |id: &str| format!("GET /healthz HTTP/1.1\r\nHost: t\r\nX-Request-Id: {id}\r\n\r\n");
    let all = [get("one"), get("two"), get("three")].concat();
    stream.write_all(all.as_bytes()).await.expect("written");
    for id in ["one", "two", "three"] {
        let reply = read_reply(&mut stream, false).await.expect("an answer");
        assert_eq!(reply.header("x-request-id"), Some(id));
    }
}

#[tokio::test]
async fn a_client_that_closes_its_side_still_gets_its_answer() {
    let site = Site::new().await;
    let mut stream = site.connect().await;
    let request = format!("GET /api/v1/contacts HTTP/1.1\r\nHost: t\r\n{}\r\n", site.bearer());
    stream.write_all(request.as_bytes()).await.expect("written");
    stream.shutdown().await.expect("closed");
    assert_eq!(read_reply(&mut stream, false).await.expect("an answer").status, 200);
}

async fn impatient() -> Site {
    let serve = ServeOptions { head_timeout: Duration::from_millis(150), ..Default::default() };
    Setup { serve, ..Setup::new().await }.start().await
}

/// Begins a head and waits for the server to give up on it.
async fn trickle(site: &Site) {
    let mut stream = site.connect().await;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: t\r\nX-Slow: ").await.expect("written");
    let mut rest = Vec::new();
    let closed = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut rest)).await;
    assert!(closed.is_ok(), "the server must give up");
}

#[tokio::test]
async fn a_head_that_trickles_in_is_cut_off() {
    let site = impatient().await;
    trickle(&site).await;
    is_well(&site).await;
}

#[tokio::test]
async fn an_idle_connection_outlives_a_slow_head() {
    let site = impatient().await;
    let mut stream = site.connect().await;
    for _ in 0..2 {
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n").await.expect("written");
        assert_eq!(read_reply(&mut stream, false).await.expect("an answer").status, 200);
        trickle(&site).await;
    }
}
