//! Why calls about accounts are refused.

use std::time::Duration;

use serde_json::{Map, Value};

use super::PasswordProblem;
use crate::access::OperatorDenied;
use crate::code::Code;
use crate::error::Rejection;
use crate::manage::ManageError;

/// Why somebody is not signed in (R396).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignInRefused {
    /// The address, the password or the code is wrong, or the login is disabled. Which of them is
    /// not said.
    #[error("the e-mail address, the password or the code is wrong")]
    Wrong,
    /// The password is right; ask for a code of the second factor.
    #[error("a code of the second factor is needed")]
    CodeNeeded,
    /// Too many wrong attempts (R398).
    #[error("too many attempts; try again later")]
    Limited {
        /// The wait until one attempt is looked at.
        retry_after: Duration,
    },
}

/// Why what a member does with the own account is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccountRefused {
    /// The login is gone or disabled.
    #[error("the login does not work any more")]
    SignedOut,
    /// The password that was shown is wrong.
    #[error("the password is wrong")]
    WrongPassword,
    /// The code that was shown is wrong.
    #[error("the code is wrong")]
    WrongCode,
    /// Too many wrong attempts (R398).
    #[error("too many attempts; try again later")]
    Limited {
        /// The wait until one attempt is looked at.
        retry_after: Duration,
    },
    /// The new password may not be chosen (R395).
    #[error("the password {0}")]
    Password(PasswordProblem),
    /// The second factor is confirmed already: remove it first.
    #[error("the second factor is set up already")]
    TotpOn,
    /// The second factor has not been begun.
    #[error("the second factor is not being set up")]
    TotpOff,
    /// The link is unknown, was used, was replaced, or has ended (R399).
    #[error("the link does not work any more")]
    LinkEnded,
}

/// Why an operator's change of a login is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoginRefused {
    /// As for other records.
    #[error(transparent)]
    Managed(#[from] ManageError),
    /// The login, or the role to give, is above the own role (R402).
    #[error(transparent)]
    Role(OperatorDenied),
    /// Another login has the address.
    #[error("another login has this e-mail address")]
    EmailTaken,
    /// The member uses the login already: make a link to reset its password.
    #[error("the member has a login already")]
    LoginExists,
}

impl Rejection for LoginRefused {
    fn code(&self) -> Code {
        match self {
            Self::Managed(refused) => refused.code(),
            Self::Role(denied) => denied.code(),
            Self::EmailTaken => Code::EmailTaken,
            Self::LoginExists => Code::LoginExists,
        }
    }

    fn details(&self) -> Option<Map<String, Value>> {
        match self {
            Self::Managed(refused) => refused.details(),
            Self::Role(denied) => denied.details(),
            Self::EmailTaken | Self::LoginExists => None,
        }
    }
}
