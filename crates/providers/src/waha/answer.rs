//! Interpreting WAHA's answers to a send (D38).

use recado_core::gateway::{Accepted, SendFailure};
use recado_core::messages::{DeliveryCode, Failure};
use recado_core::transport::OutboundResponse;
use serde_json::Value;

use super::address::ChatAddress;
use super::api::{names_session, said, session_state};
use super::ids::MessageKey;
use crate::shared::{clip, text_at};

/// The message in an answer, or in a lookup: an object with an `id` or, on NOWEB, a `key`.
pub(super) fn key_of(message: &Value) -> Option<MessageKey> {
    message
        .get("id")
        .and_then(MessageKey::of)
        .or_else(|| message.get("key").and_then(MessageKey::of))
        .or_else(|| message.get("_data")?.get("key").and_then(MessageKey::of))
}

/// The acceptance in an answer; `None` if it names no message. `recipient` is the person's name at
/// the channel, if it is known.
pub(super) fn accepted(message: &Value, recipient: Option<&str>) -> Option<Accepted> {
    let key = key_of(message)?;
    let mut names: Vec<String> = Vec::new();
    let reported = [
        key.chat.as_deref(),
        text_at(message, &["key", "remoteJid"]),
        text_at(message, &["key", "remoteJidAlt"]),
        text_at(message, &["_data", "key", "remoteJidAlt"]),
        text_at(message, &["_data", "Info", "Chat"]),
        text_at(message, &["_data", "Info", "RecipientAlt"]),
        recipient,
    ];
    for name in reported.into_iter().flatten().filter_map(ChatAddress::person) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut names = names.into_iter();
    Some(Accepted { provider_id: key.raw, recipient: names.next(), aliases: names.collect() })
}

/// The failure of a send through a session that is not ready.
pub(super) fn session_failure(state: &str) -> SendFailure {
    let text = format!("the session is {}", clip(state));
    SendFailure::Connection(Failure::new(DeliveryCode::ConnectionOffline, text))
}

/// How the gateway says that a body is too large, in an answer of status 500.
const TOO_LARGE: &str = "request entity too large";

/// Whether these words say that the gateway has no such operation. Texts can be sent by every
/// version: where even that is missing, the address is wrong.
fn lacks_operation(words: &str) -> bool {
    let path = ["POST", "PUT", "DELETE"]
        .iter()
        .find_map(|method| words.strip_prefix("Cannot ")?.strip_prefix(method)?.strip_prefix(' '));
    path.is_some_and(|path| path.contains("/api/") && !path.ends_with("/api/sendText"))
}

/// The failure for an error answer: a message that the gateway refused before it acted was surely
/// not sent; otherwise the outcome is unknown.
pub(super) fn failure(answer: &OutboundResponse, body: Option<&Value>) -> SendFailure {
    let status = answer.status;
    let words = body.and_then(said);
    let with = |code| {
        let text = words.clone().unwrap_or_else(|| format!("the gateway answered {status}"));
        Failure::new(code, text)
    };
    match status {
        422 if body.is_some_and(names_session) => body.and_then(session_state).map_or_else(
            || SendFailure::Connection(with(DeliveryCode::ConnectionOffline)),
            session_failure,
        ),
        400 | 413 | 415 | 422 | 501 => SendFailure::Refused(with(DeliveryCode::ContentRejected)),
        // The body was not even read.
        500 if words.as_deref() == Some(TOO_LARGE) => {
            SendFailure::Refused(with(DeliveryCode::ContentRejected))
        }
        // An older version, which has no such operation.
        404 if words.as_deref().is_some_and(lacks_operation) => {
            SendFailure::Refused(with(DeliveryCode::ContentRejected))
        }
        401 | 403 => {
            let text = "the gateway refuses the API key".to_owned();
            SendFailure::Connection(Failure::new(DeliveryCode::Configuration, text))
        }
        // An unknown session or a wrong address, which may also redirect.
        404 | 300..=399 => SendFailure::Connection(with(DeliveryCode::Configuration)),
        429 => SendFailure::TryLater {
            failure: with(DeliveryCode::RateLimitedByProvider),
            wait: answer.retry_after(),
        },
        _ => SendFailure::Uncertain(with(DeliveryCode::DeliveryUncertain)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(
        message: &Value,
        sent_to: Option<&str>,
    ) -> Option<(String, Option<String>, Vec<String>)> {
        let reported = accepted(message, sent_to)?;
        Some((reported.provider_id.as_str().to_owned(), reported.recipient, reported.aliases))
    }

    #[test]
    fn every_engines_answer_is_read() {
        let digits = Some("553491234567".to_owned());
        let expected = Some(("3EB0".to_owned(), digits, Vec::new()));
        for answer in [
            json!({"id": "true_553491234567@c.us_3EB0", "_data": {"Info": {}}}),
            json!({"id": {"_serialized": "true_553491234567@c.us_3EB0", "id": "3EB0"}}),
            json!({"key": {"remoteJid": "553491234567@s.whatsapp.net", "fromMe": true,
                "id": "3EB0"}, "message": {}, "messageTimestamp": "1760000000", "status": 1}),
        ] {
            assert_eq!(names(&answer, None), expected, "{answer}");
        }
        assert_eq!(names(&json!({"id": "3EB0"}), Some("553491234567")), expected);
        let unknown = Some(("3EB0".to_owned(), None, Vec::new()));
        assert_eq!(names(&json!({"id": "3EB0"}), None), unknown);
    }

    #[test]
    fn an_answer_with_a_lid_reports_both_names() {
        let answer = json!({"id": "true_123@lid_3EB0"});
        let reported = names(&answer, Some("553491234567")).expect("an id");
        assert_eq!(
            (reported.1.as_deref(), reported.2),
            (Some("123@lid"), vec!["553491234567".to_owned()])
        );
        let group = json!({"id": "true_12036@g.us_3EB0_551140028922@c.us"});
        assert_eq!(names(&group, None), Some(("3EB0".to_owned(), None, Vec::new())));
    }

    #[test]
    fn an_answer_without_an_id_accepts_nothing() {
        for answer in [json!(null), json!({}), json!({"id": null}), json!({"key": {}}), json!([])] {
            assert_eq!(accepted(&answer, None), None, "{answer}");
        }
    }
}
