//! Errors: what went wrong in our own answer never shares a type with our trouble (7, D4, D5).

use std::convert::Infallible;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::access::Denied;
use crate::code::{Code, Kind};
use crate::store::StoreError;

/// An answer that refuses: a stable code, a sentence for people, and what it is about.
pub trait Rejection: std::error::Error {
    /// The stable code.
    fn code(&self) -> Code;

    /// What sort of answer this is: that of its code.
    fn kind(&self) -> Kind {
        self.code().kind()
    }

    /// The `details` object, where there is something to detail.
    fn details(&self) -> Option<Map<String, Value>> {
        None
    }

    /// When to try again, where that is known.
    fn retry_after(&self) -> Option<Duration> {
        None
    }

    /// Fields that stand at the root of the error body beside `code` (D4).
    fn extra(&self) -> Option<Map<String, Value>> {
        None
    }
}

/// What a use case answers when it does not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error<E> {
    /// The request is refused; nothing was changed.
    #[error(transparent)]
    Rejected(E),
    /// The caller lacks the plan or the scope.
    #[error(transparent)]
    Denied(Denied),
    /// Others kept changing the same records; try again shortly.
    #[error("too many concurrent changes of the same record")]
    Busy,
    /// The store failed; try again later.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl<E> Error<E> {
    /// The same error with its rejection translated.
    pub fn map<F>(self, translate: impl FnOnce(E) -> F) -> Error<F> {
        match self {
            Self::Rejected(rejection) => Error::Rejected(translate(rejection)),
            Self::Denied(denied) => Error::Denied(denied),
            Self::Busy => Error::Busy,
            Self::Store(error) => Error::Store(error),
        }
    }
}

/// A decision that refuses nothing ends by the store, or by too many others at once.
impl From<Error<Infallible>> for StoreError {
    fn from(error: Error<Infallible>) -> Self {
        match error {
            Error::Store(error) => error,
            Error::Busy | Error::Denied(_) | Error::Rejected(_) => Self::Unavailable(None),
        }
    }
}

impl<E> From<Denied> for Error<E> {
    fn from(denied: Denied) -> Self {
        Self::Denied(denied)
    }
}

/// There is no such record in the caller's company.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such record")]
pub struct NotFound;

impl Rejection for NotFound {
    fn code(&self) -> Code {
        Code::NotFound
    }
}

/// Builds the map of [`Rejection::details`].
pub(crate) fn object<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
