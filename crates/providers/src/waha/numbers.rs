//! Checking numbers before the first send where the channel's own form of them cannot be derived:
//! of Brazilian mobiles it may lack the ninth digit, of Mexican numbers it may have the former 1,
//! and an Argentine one may be given without its 9 (D15).

use std::time::Duration;

use recado_core::connections::Connection;
use recado_core::gateway::SendFailure;
use recado_core::messages::{DeliveryCode, Failure};
use recado_core::transport::Transport;

use super::address::ChatAddress;
use super::answer::session_failure;
use super::api::{Api, RequestError, ask, names_session};
use super::known::SessionCache;
use crate::shared::{boolean, digits, text};

/// The result of a check.
#[derive(Debug)]
pub(super) enum NumberCheck {
    /// The channel's form of the number.
    Is(String),
    /// The number is not on the channel.
    Missing,
    /// The gateway does not report it.
    Unknown,
}

/// Whether the channel may call this number otherwise: a Brazilian mobile with its ninth digit, a
/// Mexican number without the 1, an Argentine one. Brazilian ones without and Mexican ones with it
/// were learnt from the channel, as ours are all in the form of the plan (D15).
pub(super) fn wants_check(number: &str) -> bool {
    match digits(number).unwrap_or_default().as_bytes() {
        [b'5', b'5', _, _, b'9', b'6'..=b'9', rest @ ..] => rest.len() == 7,
        [b'5', b'2', rest @ ..] => rest.len() == 10,
        [b'5', b'4', b'9', rest @ ..] if rest.len() == 10 => true,
        [b'5', b'4', rest @ ..] => rest.len() == 10,
        _ => false,
    }
}

/// Whether this is a number as only the channel writes it: a Brazilian mobile without its ninth
/// digit, or a Mexican number with the 1.
pub(super) fn is_channels_own(number: &str) -> bool {
    match digits(number).unwrap_or_default().as_bytes() {
        [b'5', b'5', _, _, b'6'..=b'9', rest @ ..] => rest.len() == 7,
        [b'5', b'2', b'1', rest @ ..] => rest.len() == 10,
        _ => false,
    }
}

/// Requests the channel's form of a number (R113).
pub(super) async fn check(
    transport: &dyn Transport,
    known: &SessionCache,
    connection: &Connection,
    number: &str,
    time: Duration,
) -> Result<NumberCheck, RequestError> {
    let api = Api::of(connection);
    let parameters = [("phone", number), ("session", api.session)];
    let request = api.get(&["contacts", "check-exists"], &parameters).with_timeout(time);
    let reported = ask(transport, request).await?;
    let name = text(&reported, "chatId").and_then(ChatAddress::person);
    Ok(match (boolean(&reported, "numberExists"), name) {
        (Some(false), _) => NumberCheck::Missing,
        (Some(true), Some(name)) => {
            known.learn_number(connection, number, &name);
            // The next send uses this form, which needs no second check.
            known.learn_number(connection, &name, &name);
            NumberCheck::Is(name)
        }
        _ => NumberCheck::Unknown,
    })
}

/// The consequence of a failed check for the send: `None` if the send may be tried without it.
pub(super) fn failure(trouble: &RequestError) -> Option<SendFailure> {
    if let Some(state) = trouble.session_state() {
        return Some(session_failure(state));
    }
    match trouble {
        RequestError::Transport(error) if !error.may_have_arrived() => {
            Some(SendFailure::of_transport(error))
        }
        RequestError::Status(422, Some(body)) if names_session(body) => {
            let failure = Failure::new(DeliveryCode::ConnectionOffline, trouble.text());
            Some(SendFailure::Connection(failure))
        }
        RequestError::Status(401 | 403, _) => {
            let failure = Failure::new(DeliveryCode::Configuration, trouble.text());
            Some(SendFailure::Connection(failure))
        }
        RequestError::Transport(_) | RequestError::Status(..) | RequestError::Unreadable => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mexican_and_argentine_numbers_are_checked_unless_the_channel_wrote_them() {
        for number in ["525512345678", "541123456789", "5491123456789"] {
            assert!(wants_check(number) && !is_channels_own(number), "{number}");
        }
        assert!(is_channels_own("5215512345678") && !wants_check("5215512345678"));
        for number in ["52551234567", "54112345678", "54911234567890", "54", "52"] {
            assert!(!wants_check(number) && !is_channels_own(number), "{number}");
        }
    }

    #[test]
    fn of_brazilian_numbers_only_mobiles_with_their_ninth_digit_are_checked() {
        for number in ["5534991234567", "5511961234567"] {
            assert!(wants_check(number) && !is_channels_own(number), "{number}");
        }
        assert!(is_channels_own("553491234567") && !is_channels_own("553432345678"));
        for number in [
            "553491234567",
            "551161234567",
            "553432345678",
            "5534891234567",
            "351912345678",
            "55349912345678",
            "5534",
            "",
            "123@lid",
        ] {
            assert!(!wants_check(number), "{number}");
        }
    }
}
