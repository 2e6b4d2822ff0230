//! Why a page is not shown.

use http::StatusCode;
use recado_core::query::InvalidParameter;
use recado_core::store::StoreError;
use recado_core::{Error, Kind, Rejection};

use crate::i18n::Refused;

/// Why a request is not answered as it asks.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Nobody is signed in.
    SignIn,
    /// There is no such page or record.
    NotFound,
    /// The path takes another method.
    Method,
    /// The role does not include it.
    Role,
    /// The write does not come from a page of this session (R420).
    Forged,
    /// The body is too large.
    TooLarge,
    /// The body cannot be read.
    Unreadable,
    /// The use case refuses it.
    Rejected(Refused),
    /// Try again later.
    Unavailable,
    /// A failure of this service; the text is for the log.
    Internal(String),
}

impl Refusal {
    /// What a use case refused.
    pub(crate) fn of(rejection: &dyn Rejection) -> Self {
        match rejection.kind() {
            Kind::NotFound => Self::NotFound,
            _ => Self::Rejected(Refused::of(rejection)),
        }
    }

    /// The status of the answer.
    pub(crate) const fn status(&self) -> StatusCode {
        match self {
            Self::SignIn => StatusCode::UNAUTHORIZED,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Role | Self::Forged => StatusCode::FORBIDDEN,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Unreadable => StatusCode::BAD_REQUEST,
            Self::Rejected(refused) => match refused.code.kind() {
                Kind::Limited => StatusCode::TOO_MANY_REQUESTS,
                Kind::Conflict | Kind::Gone => StatusCode::CONFLICT,
                Kind::Forbidden | Kind::Unauthenticated => StatusCode::FORBIDDEN,
                Kind::Upstream => StatusCode::BAD_GATEWAY,
                Kind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
                Kind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
                _ => StatusCode::UNPROCESSABLE_ENTITY,
            },
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The key of its text.
    pub(crate) const fn key(&self) -> &'static str {
        match self {
            Self::SignIn => "refusal-sign-in",
            Self::NotFound => "refusal-not-found",
            Self::Method => "refusal-method",
            Self::Role => "refusal-role",
            Self::Forged => "refusal-forged",
            Self::TooLarge => "refusal-too-large",
            Self::Unreadable => "refusal-unreadable",
            Self::Rejected(..) => "refusal-rejected",
            Self::Unavailable => "refusal-unavailable",
            Self::Internal(_) => "refusal-internal",
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) => Self::Unavailable,
            other => Self::Internal(other.to_string()),
        }
    }
}

impl From<InvalidParameter> for Refusal {
    fn from(error: InvalidParameter) -> Self {
        Self::of(&error)
    }
}

impl<R: Rejection> From<Error<R>> for Refusal {
    fn from(error: Error<R>) -> Self {
        match error {
            Error::Rejected(rejection) => Self::of(&rejection),
            Error::Denied(denied) => Self::of(&denied),
            Error::Busy => Self::Unavailable,
            Error::Store(error) => error.into(),
        }
    }
}
