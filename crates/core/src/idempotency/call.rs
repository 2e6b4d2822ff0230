//! A call that is remembered (D37).

use std::fmt;

use crate::Timestamp;
use crate::code::{Code, Kind};
use crate::error::Rejection;
use crate::ids::{CompanyId, ContactId, WorkerId};
use crate::query::InvalidParameter;

/// The header that carries the key. A refused key is named by it.
pub const HEADER: &str = "Idempotency-Key";

/// Most characters of a key (D37).
pub const KEY_CHARS: usize = 255;

/// The key of a remembered call: the operation (method and path) and the caller's key.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallKey {
    /// Method and path.
    pub operation: String,
    /// The `Idempotency-Key`.
    pub key: String,
}

impl CallKey {
    /// The key of a call of `operation`, its method and path.
    ///
    /// # Errors
    ///
    /// When the caller's key is empty or has more than 255 characters.
    pub fn parse(operation: impl Into<String>, key: &str) -> Result<Self, InvalidParameter> {
        if key.is_empty() || key.chars().count() > KEY_CHARS || key.contains('\0') {
            return Err(InvalidParameter::new(HEADER, "must have 1 to 255 characters"));
        }
        Ok(Self { operation: operation.into(), key: key.to_owned() })
    }
}

/// Whether a refusal is remembered and answered again (D37): one that was decided after the request
/// itself was accepted. Invalid requests, rate limits and failures of this server are not
/// remembered. Successful answers always are.
pub fn is_remembered(refusal: &(impl Rejection + ?Sized)) -> bool {
    let before_validation = matches!(
        refusal.code(),
        Code::PlanRequired
            | Code::InsufficientScope
            | Code::MethodNotAllowed
            | Code::IdempotencyKeyReused
            | Code::RequestInProgress
    );
    match refusal.kind() {
        Kind::Forbidden | Kind::NotFound | Kind::Conflict | Kind::Gone | Kind::Upstream => {
            !before_validation
        }
        Kind::Unauthenticated
        | Kind::Malformed
        | Kind::Invalid
        | Kind::TooLarge
        | Kind::Limited
        | Kind::Unavailable
        | Kind::Internal => false,
    }
}

impl fmt::Debug for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallKey({}, ***)", self.operation)
    }
}

/// The state of a remembered call.
#[derive(Clone, PartialEq, Eq)]
pub enum CallState {
    /// A process is handling it. If the process's lease has lapsed, the outcome is unknown.
    InFlight {
        /// The process.
        worker: WorkerId,
    },
    /// It was answered; the answer is in the adapter's own form.
    Answered {
        /// The answer.
        answer: String,
    },
}

impl fmt::Debug for CallState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InFlight { worker } => {
                f.debug_struct("InFlight").field("worker", worker).finish()
            }
            Self::Answered { .. } => f.write_str("Answered(***)"),
        }
    }
}

/// A remembered call. It is deleted with the contact that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberedCall {
    /// The company.
    pub company: CompanyId,
    /// Its key.
    pub key: CallKey,
    /// SHA-256 of the body's bytes.
    pub body_hash: [u8; 32],
    /// Its state.
    pub state: CallState,
    /// The contact its answer is about.
    pub contact: Option<ContactId>,
    /// From this time on it is not remembered any more.
    pub expires_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::NotFound;
    use crate::problems::Problems;

    #[derive(Debug, thiserror::Error)]
    #[error("refused")]
    struct Refused(Code, Kind);

    impl Rejection for Refused {
        fn code(&self) -> Code {
            self.0
        }

        fn kind(&self) -> Kind {
            self.1
        }
    }

    #[test]
    fn a_key_has_one_to_255_characters() {
        for key in ["", &"ã".repeat(256), "a\0b"] {
            let refused = CallKey::parse("POST /x", key).unwrap_err();
            assert_eq!(refused.parameter, HEADER, "{key:?}");
        }
        for key in ["a", " ", &"ã".repeat(255)] {
            let parsed = CallKey::parse("POST /x", key).unwrap();
            assert_eq!((parsed.operation.as_str(), parsed.key.as_str()), ("POST /x", key));
        }
    }

    #[test]
    fn a_key_is_not_printed() {
        let key = CallKey::parse("POST /x", "quite-secret").unwrap();
        assert!(!format!("{key:?}").contains("secret"));
    }

    #[test]
    fn what_was_decided_on_a_valid_request_is_remembered() {
        assert!(is_remembered(&NotFound));
        for (code, kind) in [
            (Code::ContactOptedOut, Kind::Forbidden),
            (Code::ContactExists, Kind::Conflict),
            (Code::ProviderError, Kind::Upstream),
            (Code::DeliveryUncertain, Kind::Upstream),
        ] {
            assert!(is_remembered(&Refused(code, kind)), "{code:?}");
        }
    }

    #[test]
    fn what_is_wrong_with_the_request_and_our_own_trouble_are_not_remembered() {
        assert!(!is_remembered(&Problems::of("to", "is required")));
        for (code, kind) in [
            (Code::MissingField, Kind::Malformed),
            (Code::Unauthorized, Kind::Unauthenticated),
            (Code::PlanRequired, Kind::Forbidden),
            (Code::InsufficientScope, Kind::Forbidden),
            (Code::PayloadTooLarge, Kind::TooLarge),
            (Code::RateLimited, Kind::Limited),
            (Code::InternalError, Kind::Internal),
            (Code::ContactStateUnavailable, Kind::Unavailable),
            (Code::RequestInProgress, Kind::Conflict),
        ] {
            assert!(!is_remembered(&Refused(code, kind)), "{code:?}");
        }
    }
}
