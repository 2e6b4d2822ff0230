//! Why events of a connection are not accepted.

use crate::code::Code;
use crate::error::{Error, NotFound, Rejection};

/// Why events of a connection are not accepted (D67, D70). Some events of the call may be stored:
/// send all of them again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InboxError {
    /// The company has no such connection; correct the id.
    #[error("there is no such connection")]
    NotFound,
    /// The contacts that the events name could not be read; try again after the wait.
    #[error("the contact's state could not be read")]
    ContactStateUnavailable,
}

impl Rejection for InboxError {
    fn code(&self) -> Code {
        match self {
            Self::NotFound => Code::NotFound,
            Self::ContactStateUnavailable => Code::ContactStateUnavailable,
        }
    }
}

impl From<NotFound> for InboxError {
    fn from(NotFound: NotFound) -> Self {
        Self::NotFound
    }
}

/// An error of a use case on the connection itself, as one of the inbox.
pub(super) fn of_connection(error: Error<NotFound>) -> Error<InboxError> {
    error.map(InboxError::from)
}
