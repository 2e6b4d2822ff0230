//! The gateway's errors. One status code has several causes, which the four shapes of the text
//! distinguish.

use std::time::Duration;

use recado_core::gateway::{ProviderError, SendFailure};
use recado_core::messages::{DeliveryCode, Failure};
use recado_core::transport::{OutboundResponse, TransportError};
use serde_json::Value;

use crate::shared::{at, clip, parse, text, transport_text};

/// The meaning of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The gateway itself reports that it has no such instance.
    NoInstance,
    /// There is no gateway at this address; the answer may come from another server.
    NotHere,
    /// The key is wrong.
    BadKey,
    /// The gateway's license is not activated.
    NoLicense,
    /// The gateway does not accept the form of the request.
    Invalid,
    /// The number is not on the channel.
    NotOnChannel,
    /// The instance is in no such group.
    NoGroup,
    /// Too many requests.
    TooMany,
    /// The instance does not reach the channel, as the gateway noticed before it acted.
    Offline,
    /// Any other error, after which the outcome is unknown.
    Other,
}

/// An error answer.
#[derive(Debug)]
pub(super) struct ErrorAnswer {
    /// The status code.
    pub(super) status: u16,
    /// What it means.
    pub(super) meaning: Meaning,
    /// The gateway's own text.
    text: Option<String>,
    /// After how long to try again, if reported.
    wait: Option<Duration>,
}

/// Whether a status code means success.
pub(super) const fn is_success(status: u16) -> bool {
    matches!(status, 200..=299)
}

impl ErrorAnswer {
    /// Reads an error answer.
    pub(super) fn read(response: &OutboundResponse) -> Self {
        let body = parse(&response.body).unwrap_or_default();
        let message = at(&body, &["response", "message"]).or_else(|| at(&body, &["message"]));
        let message = message.unwrap_or(&Value::Null);
        let mut words = Vec::new();
        strings(message, &mut words);
        let text = words.first().map(|first| clip(first)).filter(|text| !text.is_empty());
        let (status, wait) = (response.status, response.retry_after());
        Self { status, meaning: meaning(status, &body, message), text, wait }
    }

    /// The failure for a send (D38).
    pub(super) fn send_failure(&self) -> SendFailure {
        let reported = || self.text.clone().unwrap_or_else(|| self.describe());
        let failure = |code| Failure::new(code, reported());
        match self.meaning {
            Meaning::NoInstance | Meaning::NotHere | Meaning::BadKey | Meaning::NoLicense => {
                let text = self.describe();
                SendFailure::Connection(Failure::new(DeliveryCode::Configuration, text))
            }
            Meaning::Invalid => SendFailure::Refused(failure(DeliveryCode::ContentRejected)),
            Meaning::NotOnChannel => {
                SendFailure::refused(DeliveryCode::RecipientUnreachable, self.describe())
            }
            Meaning::NoGroup => SendFailure::Refused(failure(DeliveryCode::Group)),
            Meaning::Offline => {
                let text = self.describe();
                SendFailure::Connection(Failure::new(DeliveryCode::ConnectionOffline, text))
            }
            Meaning::TooMany => SendFailure::TryLater {
                failure: failure(DeliveryCode::RateLimitedByProvider),
                wait: self.wait,
            },
            Meaning::Other => SendFailure::uncertain(reported()),
        }
    }

    /// The failure for other requests.
    pub(super) fn provider_error(&self) -> ProviderError {
        ProviderError::Failed(self.describe())
    }

    /// Whether the gateway itself reports that it will not serve this connection until an operator
    /// acts. An answer without the gateway's known text may be that of a proxy, or the result of a
    /// wrong request (R134).
    pub(super) fn is_denial(&self) -> bool {
        match self.meaning {
            Meaning::NoInstance | Meaning::NoLicense => true,
            Meaning::BadKey => self.status == 401,
            _ => false,
        }
    }

    /// The error for people, without the gateway's text, which may contain names.
    pub(super) fn describe(&self) -> String {
        let known = match self.meaning {
            Meaning::NoInstance => "the gateway has no such instance",
            Meaning::NotHere => "no instance of a gateway answers at this address",
            Meaning::BadKey => "the gateway refuses the API key",
            Meaning::NoLicense => "the gateway is not activated (LICENSE_REQUIRED)",
            Meaning::NotOnChannel => "the number is not on the channel",
            Meaning::Offline => "the instance is not connected (Connection Closed)",
            Meaning::Invalid | Meaning::NoGroup | Meaning::TooMany | Meaning::Other => {
                return format!("the gateway answered {}", self.status);
            }
        };
        known.to_owned()
    }
}

/// The failure of a request without an answer.
pub(super) fn unreachable(error: &TransportError) -> ProviderError {
    ProviderError::Failed(transport_text(error))
}

fn meaning(status: u16, body: &Value, message: &Value) -> Meaning {
    let mut words = Vec::new();
    strings(message, &mut words);
    let says = |part: &str| words.iter().any(|word| word.to_lowercase().contains(part));
    if text(body, "code") == Some("LICENSE_REQUIRED") {
        return Meaning::NoLicense;
    }
    if says("instance does not exist") {
        return Meaning::NoInstance;
    }
    match status {
        400 | 404 if says("group not found") => Meaning::NoGroup,
        400 if is_not_on_channel(message) => Meaning::NotOnChannel,
        400 if is_validation(message) => Meaning::Invalid,
        401 | 403 => Meaning::BadKey,
        // A redirect, or an address without a resource, means that nothing was done.
        300..=399 | 404 | 405 => Meaning::NotHere,
        413 | 414 => Meaning::Invalid,
        429 => Meaning::TooMany,
        500 if is_closed(message) => Meaning::Offline,
        _ => Meaning::Other,
    }
}

/// All texts of a message, in order, at most one level of lists deep.
fn strings<'a>(message: &'a Value, found: &mut Vec<&'a str>) {
    match message {
        Value::String(text) => found.push(text),
        Value::Array(items) => {
            for item in items {
                match item {
                    Value::String(text) => found.push(text),
                    Value::Array(inner) => found.extend(inner.iter().filter_map(Value::as_str)),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// Whether the check of the number before a send found the instance without the channel. What fails
/// in the send itself, maybe after the message left, is answered with 400 and `Error: …`.
fn is_closed(message: &Value) -> bool {
    let text = match message {
        Value::Array(items) if items.len() == 1 => &items[0],
        other => other,
    };
    text.as_str() == Some("Connection Closed")
}

/// `[{"exists": false, …}]`.
fn is_not_on_channel(message: &Value) -> bool {
    let denies = |item: &Value| item.get("exists").and_then(Value::as_bool) == Some(false);
    match message {
        Value::Array(items) => items.iter().any(denies),
        other => denies(other),
    }
}

/// Whether it is an error of the body's validation: lists in the list. Any other text may be of an
/// error after the message was sent.
fn is_validation(message: &Value) -> bool {
    let lists = message.as_array().filter(|items| !items.is_empty());
    lists.is_some_and(|items| items.iter().all(Value::is_array))
}
