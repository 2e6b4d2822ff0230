//! Checking Brazilian mobile numbers before the first send: the channel's form of them may lack the
//! ninth digit, and cannot be derived (D15).

use std::time::Duration;

use recado_core::connections::Connection;
use recado_core::gateway::SendFailure;
use recado_core::messages::{DeliveryCode, Failure};
use recado_core::transport::Transport;

use super::address::ChatAddress;
use super::answer::session_failure;
use super::api::{Api, RequestError, ask};
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

/// Whether the channel may have another form of this number: a Brazilian mobile with its ninth
/// digit. One without came from the channel, as stored phones always have it (D15).
pub(super) fn wants_check(number: &str) -> bool {
    let Some(national) = digits(number).and_then(|number| number.strip_prefix("55")) else {
        return false;
    };
    let subscriber = national.len() == 11 && national[2..].starts_with('9');
    subscriber && matches!(national.as_bytes()[3], b'6'..=b'9')
}

/// Whether this is a Brazilian mobile in the channel's form: without its ninth digit.
pub(super) fn is_channels_own(number: &str) -> bool {
    let national = digits(number).and_then(|number| number.strip_prefix("55"));
    national.is_some_and(|national| {
        national.len() == 10 && matches!(national.as_bytes()[2], b'6'..=b'9')
    })
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
    fn only_brazilian_mobiles_with_their_ninth_digit_are_checked() {
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
