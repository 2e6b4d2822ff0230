//! The outcomes of sends.

use std::fmt;
use std::time::Duration;

use crate::messages::{DeliveryCode, Failure, ProviderMessageId};
use crate::transport::{OutboundResponse, TransportError};

/// A provider's confirmation that it accepted a message.
#[derive(Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The provider's id of it.
    pub provider_id: ProviderMessageId,
    /// The channel's name for the recipient, if it was reported (D15).
    pub recipient: Option<String>,
    /// Other names of the recipient, if that was reported.
    pub aliases: Vec<String>,
}

impl Accepted {
    /// Accepted under this id, without names of the recipient.
    pub const fn new(provider_id: ProviderMessageId) -> Self {
        Self { provider_id, recipient: None, aliases: Vec::new() }
    }
}

impl fmt::Debug for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accepted").field("provider_id", &self.provider_id).finish_non_exhaustive()
    }
}

/// Why a provider did not accept a message, classified by the consequences for the message and the
/// connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendFailure {
    /// Surely not sent, and never will be in this form.
    Refused(Failure),
    /// Surely not sent; the same message may be accepted later.
    TryLater {
        /// Why.
        failure: Failure,
        /// After how long, if the gateway reports it.
        wait: Option<Duration>,
    },
    /// Surely not sent: this recipient got too many messages lately. Messages to others may be
    /// accepted.
    RecipientLimited(Failure),
    /// Surely not sent, because of the connection's credentials, settings or state.
    Connection(Failure),
    /// The gateway could not be reached; surely not sent.
    Unreachable(Failure),
    /// It may have arrived: never sent again automatically.
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

    /// The gateway accepts no more messages for now; `wait` is the wait that it reported.
    pub fn limited(message: impl Into<String>, wait: Option<Duration>) -> Self {
        let failure = Failure::new(DeliveryCode::RateLimitedByProvider, message.into());
        Self::TryLater { failure, wait }
    }

    /// What a transport's failure means for a message (D38): surely not sent unless the request may
    /// have been written. The text does not contain the address, which may hold secrets.
    pub fn of_transport(error: &TransportError) -> Self {
        let text = match error {
            TransportError::InvalidUrl(_) => "the address cannot be called".to_owned(),
            other => other.to_string(),
        };
        match error {
            error if error.may_have_arrived() => Self::uncertain(text),
            // The address is a setting: later calls fail too until it is changed.
            TransportError::InvalidUrl(_) | TransportError::Forbidden => {
                Self::Connection(Failure::new(DeliveryCode::Configuration, text))
            }
            _ => Self::Unreachable(Failure::new(DeliveryCode::Network, text)),
        }
    }

    /// The failure for the status of an answer without a message id and without further details
    /// (D38). 400, 413, 415 and 422 mean that the message was refused; 3xx, 401, 403 and 404 that
    /// the connection's credentials or address are wrong; 429 is a rate limit with its
    /// `Retry-After`; for other statuses the outcome is unknown. Use it only for a gateway that
    /// answers 4xx before it has sent anything.
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

    /// The failure that the message records.
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

    /// The kind of the cause: its consequence for the messages after this one.
    pub const fn fault(&self) -> Fault {
        match self {
            Self::Refused(_) | Self::RecipientLimited(_) | Self::Uncertain(_) => Fault::Message,
            Self::TryLater { wait, .. } => Fault::Moment { wait: *wait },
            Self::Connection(_) | Self::Unreachable(_) => Fault::Connection,
        }
    }
}

/// The kind of cause for which a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The message or its recipient: other messages may be accepted.
    Message,
    /// A temporary limit: the gateway accepts no more messages for now.
    Moment {
        /// For how long, if the gateway reports it.
        wait: Option<Duration>,
    },
    /// The connection, its account or its gateway: nothing is sent until that is repaired.
    Connection,
}

/// The outcome of a send.
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
