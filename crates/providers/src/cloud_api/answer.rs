//! Interpreting the API's answers (D38).

use recado_core::gateway::{Accepted, SendFailure, SendResult};
use recado_core::messages::{DeliveryCode, ErrorType, Failure, ProviderMessageId};
use recado_core::transport::OutboundResponse;
use serde_json::Value;

use super::errors::{ErrorClass, class_of};
use super::people::plain_name;
use super::settings::ApiSettings;
use super::upload;
use crate::shared::{array, at, integer, parse, text, text_at, word};

/// Too many messages to one person lately: messages to others may be accepted.
const PAIR_LIMIT: u32 = 131_056;
/// A parameter is wrong: of an upload, the media type is none that the API takes.
const PARAMETER: u32 = 100;
/// The subcode for an object that does not exist.
const NOT_THERE: i64 = 33;

/// An error of the API: its code and text.
pub(super) struct GraphError {
    pub(super) code: u32,
    /// What a general error is about; old, and not always there.
    subcode: Option<i64>,
    pub(super) text: String,
}

impl GraphError {
    /// The error in an answer's body; `None` if there is none with a code.
    pub(super) fn of(access: &ApiSettings<'_>, body: &Value) -> Option<Self> {
        let error = at(body, &["error"])?;
        let code = u32::try_from(integer(error, "code")?).ok()?;
        let reported =
            text_at(error, &["error_data", "details"]).or_else(|| text(error, "message"));
        let subcode = integer(error, "error_subcode");
        Some(Self { code, subcode, text: access.reported(reported.unwrap_or_default()) })
    }

    fn failure(&self, code: DeliveryCode) -> Failure {
        Failure::new(code, format!("{}: {}", self.code, self.text))
    }
}

/// What the answer to a send means.
pub(super) fn sent(access: &ApiSettings<'_>, answer: &OutboundResponse) -> SendResult {
    let body = parse(&answer.body);
    if (200..300).contains(&answer.status) {
        return accepted(body.as_ref());
    }
    let error = body.as_ref().and_then(|body| GraphError::of(access, body));
    Err(failure(answer, error.as_ref()))
}

/// What an answer that refuses an upload means. No message was sent, so nothing is uncertain: what
/// may have failed within the API counts as a gateway that was not reached (R330).
pub(super) fn refused_upload(access: &ApiSettings<'_>, answer: &OutboundResponse) -> SendFailure {
    let error = parse(&answer.body).and_then(|body| GraphError::of(access, &body));
    let reported = match &error {
        Some(error) => format!("{}: {}", error.code, error.text),
        None => format!("HTTP {}", answer.status),
    };
    let is_of_the_file = match &error {
        // The same code says that the number is not there.
        Some(error) => error.code == PARAMETER && error.subcode != Some(NOT_THERE),
        None => matches!(answer.status, 413 | 415),
    };
    match failure(answer, error.as_ref()) {
        SendFailure::Refused(_) if is_of_the_file => {
            SendFailure::refused(DeliveryCode::Media, reported)
        }
        SendFailure::Uncertain(_) => upload::unreachable(&reported),
        sure => sure,
    }
}

/// What an answer that is no success means.
fn failure(answer: &OutboundResponse, error: Option<&GraphError>) -> SendFailure {
    match error {
        Some(error) => coded(answer, error),
        None => uncoded(answer, &format!("HTTP {}", answer.status), DeliveryCode::Unknown),
    }
}

fn accepted(body: Option<&Value>) -> SendResult {
    let body = body.unwrap_or(&Value::Null);
    let message = array(body, "messages").first().unwrap_or(&Value::Null);
    let id = text(message, "id").and_then(ProviderMessageId::parse);
    let Some(provider_id) = id else {
        return Err(SendFailure::uncertain("the gateway accepted without naming the message"));
    };
    // In any other state: a message with an id was accepted.
    if text(message, "message_status")
        .is_some_and(|reported| reported.eq_ignore_ascii_case("paused"))
    {
        let reported = "the template is paused";
        return Err(SendFailure::refused(DeliveryCode::TemplateRejected, reported));
    }
    let contact = array(body, "contacts").first().unwrap_or(&Value::Null);
    let name = |field| word(contact, field).and_then(|name| plain_name(&name));
    let mut names = [name("wa_id"), name("user_id")].into_iter().flatten();
    let recipient = names.next();
    Ok(Accepted { provider_id, recipient, aliases: names.collect() })
}

fn coded(answer: &OutboundResponse, error: &GraphError) -> SendFailure {
    let code = DeliveryCode::of_official(error.code);
    match class_of(error.code) {
        Some(ErrorClass::Refused) => SendFailure::Refused(answered(error.failure(code))),
        Some(ErrorClass::Connection) => {
            SendFailure::Connection(forbidden(answer.status, error, code))
        }
        Some(ErrorClass::TryLater) if error.code == PAIR_LIMIT => {
            SendFailure::RecipientLimited(error.failure(code))
        }
        Some(ErrorClass::TryLater) => {
            let (failure, wait) = (error.failure(code), answer.retry_after());
            SendFailure::TryLater { failure, wait }
        }
        Some(ErrorClass::Uncertain) => SendFailure::Uncertain(error.failure(code)),
        None => uncoded(answer, &format!("{}: {}", error.code, error.text), code),
    }
}

/// A refusal by the API: even if its reason is unknown, it counts as the provider's refusal (D38).
fn answered(failure: Failure) -> Failure {
    match failure.code {
        DeliveryCode::Unknown => Failure { error_type: ErrorType::Provider, ..failure },
        _ => failure,
    }
}

/// A failure of the connection. A status of 401 or 403 means wrong credentials or missing
/// permissions, whatever the code is (D38, R128).
fn forbidden(status: u16, error: &GraphError, code: DeliveryCode) -> Failure {
    let failure = error.failure(code);
    match status {
        401 | 403 => Failure { error_type: ErrorType::Config, ..failure },
        _ => failure,
    }
}

/// The failure for an answer without a known code: only a client error surely means that the
/// message was not sent.
fn uncoded(answer: &OutboundResponse, reported: &str, code: DeliveryCode) -> SendFailure {
    let failure = |code| Failure::new(code, reported.to_owned());
    match answer.status {
        401 | 403 => SendFailure::Connection(failure(DeliveryCode::Configuration)),
        429 => SendFailure::limited(reported, answer.retry_after()),
        // The peer timed out while reading a request, which it may have processed all the same.
        408 => SendFailure::uncertain(reported),
        400..=499 => SendFailure::Refused(answered(failure(code))),
        _ => SendFailure::uncertain(reported),
    }
}
