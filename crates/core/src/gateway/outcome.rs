//! How sends end.

use std::fmt;
use std::time::Duration;

use crate::messages::{DeliveryCode, Failure, ProviderMessageId};
use crate::transport::{OutboundResponse, TransportError};

/// A provider's word that it took a message.
#[derive(Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The provider's id of it.
    pub provider_id: ProviderMessageId,
    /// What the channel calls the recipient, if that was reported (D15).
    pub recipient: Option<String>,
    /// Other names of the recipient, if that was reported.
    pub aliases: Vec<String>,
}

impl Accepted {
    /// Taken under this id, with nothing said of the recipient.
    pub const fn new(provider_id: ProviderMessageId) -> Self {
        Self { provider_id, recipient: None, aliases: Vec::new() }
    }
}

impl fmt::Debug for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accepted").field("provider_id", &self.provider_id).finish_non_exhaustive()
    }
}

/// Why a provider did not take a message, by what it means for the message and the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendFailure {
    /// Surely not sent, and never will be in this form.
    Refused(Failure),
    /// Surely not sent; the same message may pass later.
    TryLater {
        /// Why.
        failure: Failure,
        /// After how long, where the gateway says so.
        wait: Option<Duration>,
    },
    /// Surely not sent: this recipient got too much of late. What is for others may pass.
    RecipientLimited(Failure),
    /// Surely not sent; the connection's credentials, settings or state are at fault.
    Connection(Failure),
    /// The gateway could not be reached; surely not sent.
    Unreachable(Failure),
    /// It may have arrived: never sent again by itself.
    Uncertain(Failure),
}

impl SendFailure {
    /// A refusal with a code of the catalogue.
    pub fn refused(code: DeliveryCode, message: impl Into<String>) -> Self {
        Self::Refused(Failure::new(code, message.into()))
    }

    /// It may have arrived.
    pub fn uncertain(message: impl Into<String>) -> Self {
        Self::Uncertain(Failure::uncertain(message.into()))
    }

    /// The gateway takes no more for the moment; `wait` is what it said of when to try again.
    pub fn limited(message: impl Into<String>, wait: Option<Duration>) -> Self {
        let failure = Failure::new(DeliveryCode::RateLimitedByProvider, message.into());
        Self::TryLater { failure, wait }
    }

    /// What a transport's failure means for a message (D38): surely not sent unless the request may
    /// have been written. The address, which may hold secrets, is not told.
    pub fn of_transport(error: &TransportError) -> Self {
        let text = match error {
            TransportError::InvalidUrl(_) => "the address cannot be called".to_owned(),
            other => other.to_string(),
        };
        match error {
            error if error.may_have_arrived() => Self::uncertain(text),
            // The address is a setting: no later call fares better.
            TransportError::InvalidUrl(_) | TransportError::Forbidden => {
                Self::Connection(Failure::new(DeliveryCode::Configuration, text))
            }
            _ => Self::Unreachable(Failure::new(DeliveryCode::Network, text)),
        }
    }

    /// What the status of an answer that names no message means where the gateway says no more: a
    /// request that was refused was not sent, credentials and addresses are the connection's
    /// trouble, 429 is a limit with its `Retry-After`, and of anything else it is not known (D38).
    /// For a gateway that answers 4xx only before it has sent something.
    pub fn of_answer(answer: &OutboundResponse) -> Self {
        let text = format!("the gateway answered {}", answer.status);
        match answer.status {
            400 | 413 | 415 | 422 => Self::refused(DeliveryCode::ContentRejected, text),
            300..=399 | 401 | 403 | 404 => {
                Self::Connection(Failure::new(DeliveryCode::Configuration, text))
            }
            429 => Self::limited(text, answer.retry_after()),
            _ => Self::uncertain(text),
        }
    }

    /// The same failure with its text changed.
    #[must_use]
    pub fn with_text(mut self, change: impl FnOnce(String) -> String) -> Self {
        let (Self::Refused(failure)
        | Self::TryLater { failure, .. }
        | Self::RecipientLimited(failure)
        | Self::Connection(failure)
        | Self::Unreachable(failure)
        | Self::Uncertain(failure)) = &mut self;
        failure.message = failure.message.take().map(change);
        self
    }

    /// What the message records.
    pub const fn failure(&self) -> &Failure {
        match self {
            Self::Refused(failure)
            | Self::TryLater { failure, .. }
            | Self::RecipientLimited(failure)
            | Self::Connection(failure)
            | Self::Unreachable(failure)
            | Self::Uncertain(failure) => failure,
        }
    }

    /// Whose fault it is: what it says of the messages that come after this one.
    pub const fn fault(&self) -> Fault {
        match self {
            Self::Refused(_) | Self::RecipientLimited(_) | Self::Uncertain(_) => Fault::Message,
            Self::TryLater { wait, .. } => Fault::Moment { wait: *wait },
            Self::Connection(_) | Self::Unreachable(_) => Fault::Connection,
        }
    }
}

/// Whose fault it is that a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The message's or its recipient's: others may pass.
    Message,
    /// Nobody's: the gateway takes no more for the moment.
    Moment {
        /// For how long, where it says so.
        wait: Option<Duration>,
    },
    /// The connection's, its account's or its gateway's: nothing is sent until that is repaired.
    Connection,
}

/// How a send ended.
pub type SendResult = Result<Accepted, SendFailure>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_have_been_written_is_uncertain() {
        for after_sending in [false, true] {
            for error in [
                TransportError::TimedOut { after_sending },
                TransportError::Broken { after_sending },
            ] {
                let uncertain =
                    matches!(SendFailure::of_transport(&error), SendFailure::Uncertain(_));
                assert_eq!(uncertain, after_sending, "{error:?}");
            }
        }
        for error in [TransportError::Dns, TransportError::Refused, TransportError::Tls] {
            let failure = SendFailure::of_transport(&error);
            assert!(matches!(failure, SendFailure::Unreachable(_)), "{error:?}");
        }
        let invalid = TransportError::InvalidUrl("https://token@host".to_owned());
        let failure = SendFailure::of_transport(&invalid);
        assert!(matches!(failure, SendFailure::Connection(_)));
        assert!(!format!("{failure:?}").contains("token"));
    }

    #[test]
    fn an_answer_that_does_not_surely_refuse_is_uncertain() {
        for status in [200, 204, 408, 409, 500, 502, 503] {
            let failure = SendFailure::of_answer(&OutboundResponse::new(status, ""));
            assert!(matches!(failure, SendFailure::Uncertain(_)), "{status}");
        }
        let limit = OutboundResponse::new(429, "").with_header("retry-after", "7");
        let wait = Some(Duration::from_secs(7));
        assert_eq!(SendFailure::of_answer(&limit).fault(), Fault::Moment { wait });
    }
}
