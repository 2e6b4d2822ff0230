//! Why a contact is not deleted.

use crate::code::Code;
use crate::error::{NotFound, Rejection};

/// Why a contact was not deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeleteContactError {
    /// There is no such contact in the company.
    #[error("no such contact")]
    NotFound,
    /// The contact's documents could not be deleted; the contact and every document are unchanged.
    /// Try again when the document store works.
    #[error("the contact's documents could not be deleted; nothing was deleted")]
    PurgeFailed,
}

impl Rejection for DeleteContactError {
    fn code(&self) -> Code {
        match self {
            Self::NotFound => Code::NotFound,
            Self::PurgeFailed => Code::PurgeFailed,
        }
    }
}

impl From<NotFound> for DeleteContactError {
    fn from(_: NotFound) -> Self {
        Self::NotFound
    }
}
