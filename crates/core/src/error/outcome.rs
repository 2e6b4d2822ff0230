//! Why a use case did not succeed (7, D4).

use std::convert::Infallible;

use crate::access::Denied;
use crate::store::StoreError;

/// The error of a use case.
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

/// A decision that refuses nothing fails only by the store, or by too many concurrent changes.
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
