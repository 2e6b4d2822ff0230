//! Errors of sends: each code of the reference, and answers without a code.

use recado_core::gateway::SendFailure;
use recado_core::messages::{DeliveryCode, ErrorType};
use recado_testkit::ScriptedTransport;
use recado_testkit::gateways::graph_error;
use serde_json::json;

use crate::support::*;

fn class(failure: &SendFailure) -> char {
    match failure {
        SendFailure::Refused(_) => 'P',
        SendFailure::Connection(_) => 'C',
        SendFailure::TryLater { .. } => 'T',
        SendFailure::RecipientLimited(_) => 'R',
        SendFailure::Uncertain(_) => 'U',
        SendFailure::Unreachable(_) => 'N',
    }
}

/// Every code of the reference with its class.
const CODES: &[(&[u32], char)] = &[
    (&[0, 3, 10, 33, 190, 200, 250, 299, 368], 'C'),
    (&[131_005, 131_031, 131_037, 131_042, 131_044, 131_045], 'C'),
    (&[133_000, 133_005, 133_006, 133_008, 133_009, 133_010, 133_016], 'C'),
    (&[1, 2, 131_000, 131_016], 'U'),
    (&[17, 32, 613], 'T'),
    (&[4, 80_007, 130_429, 131_048, 131_057, 132_069, 133_004, 133_015], 'T'),
    (&[131_056], 'R'),
    (&[100, 130_472, 130_497, 131_008, 131_009, 131_020, 131_021, 131_026, 131_030], 'P'),
    (&[131_041, 131_047, 131_049, 131_050, 131_051, 131_052, 131_053, 131_055, 131_059], 'P'),
    (&[131_062, 131_063, 131_064, 131_201, 131_208, 131_215], 'P'),
    (&[132_008, 132_018], 'P'),
    (&[132_000, 132_001, 132_005, 132_007, 132_012, 132_015, 132_016, 132_068], 'P'),
    (&[134_011, 134_100, 134_101, 134_102, 135_000, 137_000, 2_593_107, 2_593_108], 'P'),
];

#[tokio::test]
async fn every_code_has_its_class_whatever_the_status() {
    for (codes, expected) in CODES {
        for code in *codes {
            let (usual, body) = graph_error(*code, "details");
            for status in [usual, 400, 500] {
                let failure = send_to(status, &body, &text("1")).await.0.expect_err("an error");
                assert_eq!(class(&failure), *expected, "{code} with {status}");
                assert_eq!(failure.failure().code, DeliveryCode::of_official(*code), "{code}");
            }
        }
    }
}

#[tokio::test]
async fn an_unknown_code_is_judged_by_its_status() {
    for (status, expected) in [
        (400, 'P'),
        (404, 'P'),
        (401, 'C'),
        (403, 'C'),
        (429, 'T'),
        (500, 'U'),
        (503, 'U'),
        (408, 'U'),
        (302, 'U'),
    ] {
        let body = json!({"error": {"code": 999_999, "message": "new"}});
        let failure = send_to(status, &body, &text("1")).await.0.expect_err("an error");
        assert_eq!(class(&failure), expected, "{status}");
    }
}

/// R128.
#[tokio::test]
async fn whoever_was_refused_by_the_api_was_refused_by_the_provider() {
    let unknown = json!({"error": {"code": 999_999, "message": "new"}});
    for (status, body) in [
        (400, unknown.clone()),
        (404, unknown),
        (400, json!({})),
        (400, json!({"error": {"code": 2_593_108, "message": "history"}})),
    ] {
        let failure = send_to(status, &body, &text("1")).await.0.expect_err("an error");
        let failure = failure.failure();
        assert_eq!(failure.error_type, ErrorType::Provider, "{status} {body}");
        assert_eq!(failure.code, DeliveryCode::Unknown, "{status} {body}");
    }
}

/// R128.
#[tokio::test]
async fn what_is_answered_403_is_a_matter_of_the_connections_settings() {
    for (status, code, kind, expected) in [
        (403, 368, ErrorType::Config, DeliveryCode::AccountRestricted),
        (403, 131_031, ErrorType::Config, DeliveryCode::AccountRestricted),
        (401, 131_042, ErrorType::Config, DeliveryCode::Payment),
        (400, 131_042, ErrorType::Provider, DeliveryCode::Payment),
        (403, 131_005, ErrorType::Config, DeliveryCode::Configuration),
        // The cause is this recipient, not the connection.
        (403, 130_497, ErrorType::Provider, DeliveryCode::RecipientUnreachable),
    ] {
        let (_, body) = graph_error(code, "x");
        let failure = send_to(status, &body, &text("1")).await.0.expect_err("an error");
        let failure = failure.failure();
        assert_eq!((failure.error_type, failure.code), (kind, expected), "{status} {code}");
    }
}

#[tokio::test]
async fn an_answer_without_an_error_of_the_api_is_judged_by_its_status() {
    for body in [&b"<html>Bad Gateway</html>"[..], b"", b"{}", b"{\"error\": \"x\"}", b"\xff\xfe"] {
        for (status, expected) in [
            (400, 'P'),
            (404, 'P'),
            (413, 'P'),
            (401, 'C'),
            (403, 'C'),
            (429, 'T'),
            (500, 'U'),
            (502, 'U'),
            (504, 'U'),
            (301, 'U'),
            (199, 'U'),
        ] {
            let transport = ScriptedTransport::new();
            let body = body.to_vec();
            transport.then(Ok(recado_core::transport::OutboundResponse::new(status, body)));
            let failure = send(&transport, &plain(), &text("1")).await.expect_err("an error");
            assert_eq!(class(&failure), expected, "{status}");
        }
    }
}

#[tokio::test]
async fn the_details_are_the_text_and_else_the_message() {
    let body = json!({"error": {"code": 131_056, "message": "(#131056) limit",
        "error_data": {"details": "too many messages"}}});
    let failure = send_to(400, &body, &text("1")).await.0.expect_err("an error");
    assert_eq!(failure.failure().message.as_deref(), Some("131056: too many messages"));
    let body = json!({"error": {"code": "190", "message": "expired"}});
    let failure = send_to(401, &body, &text("1")).await.0.expect_err("an error");
    assert_eq!(failure.failure().message.as_deref(), Some("190: expired"));
    assert_eq!(class(&failure), 'C');
}

#[tokio::test]
async fn a_token_that_the_api_repeats_is_not_kept() {
    let body = json!({"error": {"code": 190,
        "message": format!("Malformed access token {TOKEN}")}});
    let failure = send_to(401, &body, &text("1")).await.0.expect_err("an error");
    let reported = failure.failure().message.clone().expect("a text");
    assert!(!reported.contains(TOKEN) && reported.contains("***"), "{reported}");
}
