//! Files of received messages.

use recado_core::gateway::{MediaFile, Provider, ProviderError};
use recado_core::transport::{OutboundRequest, OutboundResponse};
use recado_providers::cloud_api::CloudApi;
use recado_testkit::ScriptedTransport;
use recado_testkit::gateways::{FakeCloud, InProcess, graph_error};
use recado_testkit::transport::header;
use serde_json::{Value, json};

use crate::support::*;

const LIMIT: usize = 1_000;

async fn fetch(fake: &FakeCloud, source: &str) -> Result<MediaFile, ProviderError> {
    let connection = connection_with(&fake.settings(&FakeCloud::base()));
    let file = CloudApi::new().media(&InProcess(fake.clone()), &connection, source, LIMIT).await;
    assert_eq!(fake.violations(), Vec::<String>::new());
    file
}

#[tokio::test]
async fn a_file_is_asked_for_and_fetched_with_the_token() {
    let fake = FakeCloud::new();
    fake.keep_file("77", "image/jpeg", b"jpeg", 0);
    assert_eq!(fetch(&fake, "cloud-media:77").await, Ok(MediaFile::Bytes(b"jpeg".to_vec())));
    assert_eq!(fake.requests(), 2);
}

#[tokio::test]
async fn an_address_that_is_too_old_is_asked_for_once_more() {
    let fake = FakeCloud::new();
    fake.keep_file("77", "image/jpeg", b"jpeg", 1);
    assert_eq!(fetch(&fake, "cloud-media:77").await, Ok(MediaFile::Bytes(b"jpeg".to_vec())));
    fake.keep_file("78", "image/jpeg", b"jpeg", 9);
    assert_eq!(fetch(&fake, "cloud-media:78").await, Ok(MediaFile::Gone));
    assert_eq!(fake.requests(), 8);
}

#[tokio::test]
async fn a_file_that_is_too_large_is_given_up() {
    let fake = FakeCloud::new();
    fake.keep_file("80", "video/mp4", &[0; LIMIT + 1], 0);
    assert_eq!(fetch(&fake, "cloud-media:80").await, Ok(MediaFile::Gone));
    fake.keep_file("81", "video/mp4", &[0; LIMIT], 0);
    assert_eq!(fetch(&fake, "cloud-media:81").await, Ok(MediaFile::Bytes(vec![0; LIMIT])));
}

#[tokio::test]
async fn a_source_that_is_an_address_is_anybodys() {
    let fake = FakeCloud::new();
    let file = fetch(&fake, "https://cdn.example/a.jpg").await;
    assert_eq!(file, Ok(MediaFile::At("https://cdn.example/a.jpg".to_owned())));
    assert_eq!(fake.requests(), 0);
}

async fn with_answers(
    settings: Value,
    answers: Vec<OutboundResponse>,
) -> (Result<MediaFile, ProviderError>, Vec<OutboundRequest>) {
    let transport = ScriptedTransport::new();
    for answer in answers {
        transport.then(Ok(answer));
    }
    let connection = connection(settings);
    let file = CloudApi::new().media(&transport, &connection, "cloud-media:7/7", LIMIT).await;
    (file, transport.requests())
}

fn answer(status: u16, body: &Value) -> OutboundResponse {
    OutboundResponse::new(status, body.to_string().into_bytes())
}

/// R107.
#[tokio::test]
async fn the_token_goes_to_the_api_itself_and_by_tls_to_the_channels_hosts_alone() {
    let bytes = || OutboundResponse::new(200, b"x".to_vec());
    for (base, url, goes) in [
        ("https://graph.facebook.com", "https://lookaside.fbsbx.com/a?b=c", true),
        ("https://graph.facebook.com", "http://lookaside.fbsbx.com/a", false),
        ("https://graph.facebook.com", "ftp://lookaside.fbsbx.com/a", false),
        ("https://graph.facebook.com", "https://files.example/a", false),
        ("https://proxy.example/x", "https://10.0.0.1/file", false),
        ("https://proxy.example/x", "https://proxy.example/file", true),
        ("https://proxy.example/x", "https://proxy.example:444/file", false),
        ("https://proxy.example/x", "http://proxy.example/file", false),
        ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080/file", true),
        ("http://127.0.0.1:8080/x", "http://127.0.0.1:8081/file", false),
        ("http://127.0.0.1:8080/x", "http://localhost:8080/file", false),
        ("http://127.0.0.1:8080/x", "http://files.example/file", false),
        ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080@evil.example/file", false),
    ] {
        let found = answer(200, &json!({"url": url, "file_size": "1"}));
        let (file, requests) =
            with_answers(json!({ "api_base": base }), vec![found, bytes()]).await;
        assert_eq!(requests[0].url, format!("{base}/v23.0/7%2F7?phone_number_id={NUMBER}"));
        let expected = match goes {
            true => MediaFile::Bytes(b"x".to_vec()),
            false => MediaFile::At(url.to_owned()),
        };
        assert_eq!(file, Ok(expected), "{url}");
        assert_eq!(requests.len(), if goes { 2 } else { 1 }, "{url}");
        if let Some(request) = requests.get(1) {
            assert_eq!(request.url, url);
            assert_eq!(header(request, "authorization"), Some("Bearer EAAJB-secret"));
            assert_eq!(request.answer_limit, LIMIT + 1);
        }
    }
}

#[tokio::test]
async fn a_file_without_an_id_is_fetched_from_the_address_that_was_reported() {
    let bytes = || OutboundResponse::new(200, b"x".to_vec());
    let fetched = async |url: &str, answer: OutboundResponse| {
        let transport = ScriptedTransport::new();
        transport.then(Ok(answer));
        let source = format!("cloud-file:{url}");
        let file = CloudApi::new().media(&transport, &plain(), &source, LIMIT).await;
        (file, transport.requests())
    };
    let known = "https://lookaside.fbsbx.com/a?b=c";
    let (file, requests) = fetched(known, bytes()).await;
    assert_eq!(file, Ok(MediaFile::Bytes(b"x".to_vec())));
    assert_eq!((requests.len(), requests[0].url.as_str()), (1, known));
    assert_eq!(header(&requests[0], "authorization"), Some("Bearer EAAJB-secret"));
    let (file, _) = fetched(known, answer(404, &json!({}))).await;
    assert_eq!(file, Ok(MediaFile::Gone));
    let (file, _) = fetched(known, answer(500, &json!({}))).await;
    assert!(file.is_err());
    // Another host does not get the token.
    for url in ["https://evilfbsbx.com/a", "http://lookaside.fbsbx.com/a", "https://a.example/a"] {
        let (file, requests) = fetched(url, bytes()).await;
        assert_eq!(file, Ok(MediaFile::At(url.to_owned())));
        assert!(requests.is_empty(), "{url}");
    }
}

/// D31a.
#[tokio::test]
async fn a_file_that_the_api_cannot_download_is_gone() {
    let (status, body) = graph_error(131_052, "Media download error");
    assert_eq!(with_answers(json!({}), vec![answer(status, &body)]).await.0, Ok(MediaFile::Gone));
}

/// D31a. The API answers the same where permissions are missing.
#[tokio::test]
async fn a_file_that_the_api_does_not_find_may_be_there_later() {
    let fake = FakeCloud::new();
    assert!(matches!(fetch(&fake, "cloud-media:79").await, Err(ProviderError::Failed(_))));
    fake.keep_file("79", "image/jpeg", b"jpeg", 0);
    assert_eq!(fetch(&fake, "cloud-media:79").await, Ok(MediaFile::Bytes(b"jpeg".to_vec())));
}

#[tokio::test]
async fn failures_that_may_pass_are_failures() {
    let (status, expired) = graph_error(190, "expired");
    for answers in [
        vec![answer(status, &expired)],
        vec![answer(500, &json!("x"))],
        vec![answer(404, &json!("a proxy knows no such path"))],
        vec![answer(200, &json!({}))],
        vec![answer(200, &json!({"url": "https://a.fbsbx.com"})), answer(500, &json!("x"))],
        vec![answer(200, &json!({"url": "https://a.fbsbx.com"})), answer(401, &json!("x"))],
        vec![],
    ] {
        let (file, _) = with_answers(json!({}), answers).await;
        assert!(matches!(file, Err(ProviderError::Failed(_))), "{file:?}");
    }
}

#[tokio::test]
async fn a_file_that_is_larger_than_it_was_said_to_be_is_gone() {
    let found = answer(200, &json!({"url": "https://a.fbsbx.com", "file_size": 1}));
    let large = OutboundResponse::new(200, vec![0; LIMIT + 1]);
    assert_eq!(with_answers(json!({}), vec![found, large]).await.0, Ok(MediaFile::Gone));
}
