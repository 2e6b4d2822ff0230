//! The failure for each answer to a send.

use std::time::Duration;

use recado_core::gateway::Provider;
use recado_core::gateway::{Content, Outgoing, SendFailure};
use recado_core::messages::DeliveryCode;
use recado_core::templates::TemplateContent;
use recado_core::transport::{Transport, TransportError};
use recado_providers::evolution::Evolution;
use recado_testkit::ScriptedTransport;
use recado_testkit::gateways::{FakeEvolution, SendBehaviour};
use serde_json::{Value, json};

use crate::scene::{Scene, connection, text_to, text_to_group};

const PERSON: &str = "5534991234567";

/// The failure of a send that is answered with an error with this `message`.
async fn failed(status: u16, message: Value) -> SendFailure {
    answered(status, FakeEvolution::error(status, &message)).await
}

async fn answered(status: u16, body: Value) -> SendFailure {
    let scene = Scene::new();
    scene.fake.script([SendBehaviour::Error(status, body)]);
    scene.send(&text_to(PERSON, "Oi")).await.expect_err("it failed")
}

fn class(failure: &SendFailure) -> (&'static str, DeliveryCode) {
    let class = match failure {
        SendFailure::Refused(_) => "refused",
        SendFailure::RecipientLimited(_) => "limited",
        SendFailure::TryLater { .. } => "later",
        SendFailure::Connection(_) => "connection",
        SendFailure::Unreachable(_) => "unreachable",
        SendFailure::Uncertain(_) => "uncertain",
    };
    (class, failure.failure().code)
}

#[tokio::test]
async fn a_text_of_a_400_says_nothing_of_whether_it_was_sent() {
    for message in [
        json!(["Error: Connection Closed"]),
        json!(["Error: Timed Out"]),
        json!(["SessionError: No sessions"]),
        json!("Error: Connection Closed"),
        json!(null),
        json!([]),
        json!([{"jid": "553491234567@s.whatsapp.net", "exists": true}]),
        json!([7]),
        // Only the validation of a body writes lists in a list.
        json!("instance requires property \"number\""),
        json!(["instance requires property \"text\""]),
        json!(["Text is required"]),
        json!([["instance requires property \"text\""], "Error: Timed Out"]),
    ] {
        let failure = failed(400, message.clone()).await;
        let expected = ("uncertain", DeliveryCode::DeliveryUncertain);
        assert_eq!(class(&failure), expected, "{message}");
    }
}

#[tokio::test]
async fn the_gateways_text_is_kept_for_people() {
    let failure = failed(400, json!(["Error: Connection Closed"])).await;
    assert_eq!(failure.failure().message.as_deref(), Some("Error: Connection Closed"));
}

/// R134.
#[tokio::test]
async fn what_was_refused_before_it_left_is_refused() {
    for (status, message, code) in [
        (400, json!([["instance requires property \"number\""]]), DeliveryCode::ContentRejected),
        (
            400,
            json!([{"jid": "553491234567@s.whatsapp.net", "exists": false, "number": PERSON}]),
            DeliveryCode::RecipientUnreachable,
        ),
        (400, json!("Group not found"), DeliveryCode::Group),
        (400, json!(["Group not found"]), DeliveryCode::Group),
        (404, json!("Group not found"), DeliveryCode::Group),
        (413, json!("request entity too large"), DeliveryCode::ContentRejected),
    ] {
        let failure = failed(status, message.clone()).await;
        assert_eq!(class(&failure), ("refused", code), "{message}");
    }
    assert_eq!(
        class(&failed(429, json!("too many")).await),
        ("later", DeliveryCode::RateLimitedByProvider)
    );
}

#[tokio::test]
async fn a_number_that_is_not_on_the_channel_is_not_repeated_in_the_reason() {
    let reported =
        json!([{"jid": "553491234567@s.whatsapp.net", "exists": false, "number": PERSON}]);
    let failure = failed(400, reported).await;
    assert!(!format!("{failure:?}").contains("1234567"), "{failure:?}");
}

#[tokio::test]
async fn keys_instances_and_licences_are_the_connections_fault() {
    let unlicensed = json!({"error": "service not activated", "code": "LICENSE_REQUIRED",
        "register_url": "https://license.example", "message": "activate"});
    let none = json!(["The \"loja1\" instance does not exist"]);
    let expected = ("connection", DeliveryCode::Configuration);
    assert_eq!(class(&answered(503, unlicensed).await), expected);
    assert_eq!(class(&failed(401, json!("Unauthorized")).await), expected);
    assert_eq!(class(&failed(403, json!("Forbidden")).await), expected);
    assert_eq!(class(&failed(404, none.clone()).await), expected);
    assert_eq!(class(&failed(400, none).await), expected);
    // A redirect, or the address of another server.
    assert_eq!(class(&answered(301, Value::Null).await), expected);
    assert_eq!(class(&answered(404, json!({"message": "no such page"})).await), expected);
}

/// D38: the check of the number, which comes before the send, found no connection.
#[tokio::test]
async fn an_instance_that_is_not_connected_has_sent_nothing() {
    let expected = ("connection", DeliveryCode::ConnectionOffline);
    for message in [json!("Connection Closed"), json!(["Connection Closed"])] {
        assert_eq!(class(&failed(500, message.clone()).await), expected, "{message}");
    }
    let uncertain = ("uncertain", DeliveryCode::DeliveryUncertain);
    for (status, message) in [
        (500, json!("Error: Connection Closed")),
        (500, json!(["Connection Closed", "Timed Out"])),
        (500, json!([])),
        (502, json!("Connection Closed")),
        (400, json!("Connection Closed")),
    ] {
        assert_eq!(class(&failed(status, message.clone()).await), uncertain, "{message}");
    }
}

#[tokio::test]
async fn a_failure_of_the_gateway_is_uncertain() {
    let expected = ("uncertain", DeliveryCode::DeliveryUncertain);
    for status in [402, 409, 418, 500, 502, 503, 504] {
        let failure = failed(status, json!("Internal Server Error")).await;
        assert_eq!(class(&failure), expected, "{status}");
    }
    let scene = Scene::new();
    scene.fake.script([
        SendBehaviour::Broken(500),
        SendBehaviour::Broken(400),
        SendBehaviour::Broken(201),
    ]);
    for _ in 0..3 {
        let failure = scene.send(&text_to(PERSON, "Oi")).await.expect_err("it failed");
        assert_eq!(class(&failure), expected);
    }
}

#[tokio::test]
async fn a_success_without_an_id_is_uncertain() {
    for body in [
        json!({"error": true, "message": "Error: Timed Out"}),
        json!({"key": {"id": ""}}),
        json!({"key": {"id": 7}}),
        json!({"key": null}),
        json!([]),
        Value::Null,
    ] {
        for status in [200, 201] {
            let failure = answered(status, body.clone()).await;
            let expected = ("uncertain", DeliveryCode::DeliveryUncertain);
            assert_eq!(class(&failure), expected, "{body}");
        }
    }
}

#[tokio::test]
async fn a_transports_failure_is_uncertain_only_once_the_request_was_written() {
    let provider = Evolution::new("g.us");
    let connection = connection(&FakeEvolution::new().settings());
    for (error, expected) in [
        (TransportError::Refused, ("unreachable", DeliveryCode::Network)),
        (TransportError::Dns, ("unreachable", DeliveryCode::Network)),
        (TransportError::Tls, ("unreachable", DeliveryCode::Network)),
        (TransportError::TimedOut { after_sending: false }, ("unreachable", DeliveryCode::Network)),
        (
            TransportError::TimedOut { after_sending: true },
            ("uncertain", DeliveryCode::DeliveryUncertain),
        ),
        (
            TransportError::Broken { after_sending: true },
            ("uncertain", DeliveryCode::DeliveryUncertain),
        ),
    ] {
        let transport = ScriptedTransport::new();
        transport.then(Err(error.clone()));
        let sent = provider.send(&transport, &connection, &text_to(PERSON, "Oi")).await;
        assert_eq!(class(&sent.expect_err("it failed")), expected, "{error}");
    }
}

#[tokio::test]
async fn a_send_is_one_request_that_is_never_repeated_and_keeps_to_the_time_limit() {
    let provider = Evolution::new("g.us");
    let mut settings = FakeEvolution::new().settings();
    settings.insert("timeout_ms".to_owned(), json!(7_000));
    settings.insert("base_url".to_owned(), json!("https://gw.example/evo/"));
    settings.insert("instance".to_owned(), json!("loja 1/é"));
    let connection = connection(&settings);
    let transport = ScriptedTransport::new();
    transport.then_json(500, &json!({}));
    let sent = provider.send(&transport, &connection, &text_to(PERSON, "Oi")).await;
    assert!(sent.is_err());
    let requests = transport.requests();
    let [request] = requests.as_slice() else { panic!("one request: {requests:?}") };
    assert_eq!(request.url, "https://gw.example/evo/message/sendText/loja%201%2F%C3%A9");
    assert!(!request.repeatable && request.max_idle.is_some());
    assert_eq!(request.timeout, Duration::from_secs(7));
    transport.check(&request.url).await.expect("an address that can be called");
}

#[tokio::test]
async fn what_the_gateway_cannot_take_is_refused_without_a_call() {
    let scene = Scene::new();
    let template = Outgoing {
        content: Content::Template(TemplateContent::new("oi", "pt_BR", [], "Oi")),
        ..text_to(PERSON, "")
    };
    let failure = scene.send(&template).await.expect_err("refused");
    assert_eq!(class(&failure), ("refused", DeliveryCode::TemplateRejected));
    // The gateway would treat so many digits as a group.
    for recipient in ["BR.13491208655302741918", "1234567890123456789", "", "1@newsletter"] {
        let failure = scene.send(&text_to(recipient, "Oi")).await.expect_err("refused");
        assert_eq!(class(&failure), ("refused", DeliveryCode::RecipientUnreachable));
    }
    assert_eq!(scene.fake.requests(), 0);
}

#[tokio::test]
async fn the_gateway_itself_reports_what_is_wrong() {
    let scene = Scene::new();
    scene.fake.remove_number(PERSON);
    let failure = scene.send(&text_to(PERSON, "Oi")).await.expect_err("refused");
    assert_eq!(class(&failure), ("refused", DeliveryCode::RecipientUnreachable));
    let group = text_to_group("120363041234567890@grupos.example", "Oi");
    let failure = scene.send(&group).await.expect_err("refused");
    assert_eq!(class(&failure), ("refused", DeliveryCode::Group));
    scene.fake.lose_license();
    let failure = scene.send(&text_to("5511987654321", "Oi")).await.expect_err("refused");
    assert_eq!(class(&failure), ("connection", DeliveryCode::Configuration));
    assert_eq!(scene.fake.violations(), [""; 0]);
}
