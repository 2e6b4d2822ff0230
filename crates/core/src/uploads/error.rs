//! Why a file is not sent or kept (X10, X11).

use serde_json::{Map, Value, json};

use crate::code::Code;
use crate::documents::FileError;
use crate::error::{Rejection, object};
use crate::problems::Problems;
use crate::transport::TransportError;

/// Why the file at an address could not be fetched; `reason` of the refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreachable {
    /// The name does not resolve.
    Dns,
    /// The connection was refused.
    Refused,
    /// TLS failed.
    Tls,
    /// No answer within 20 seconds, or not the whole file within 60.
    TimedOut,
    /// The connection broke.
    Broken,
    /// More than three redirects.
    TooManyRedirects,
    /// A redirect that leads nowhere, or where nobody may be led.
    RedirectRefused,
    /// An answer with another status than 200.
    Status(u16),
    /// The file is empty.
    Empty,
}

impl Unreachable {
    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::Refused => "connection_refused",
            Self::Tls => "tls",
            Self::TimedOut => "timeout",
            Self::Broken => "connection_broken",
            Self::TooManyRedirects => "too_many_redirects",
            Self::RedirectRefused => "redirect_refused",
            Self::Status(_) => "status",
            Self::Empty => "empty",
        }
    }
}

/// Why a file is not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileRefused {
    /// A field about it is not acceptable, such as an address that may not be called.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// The company has no such upload.
    #[error("the company has no such upload")]
    NotFound,
    /// Its first bytes are of none of the types that such messages have.
    #[error("the file is none of the types that such a message may have")]
    TypeUnsupported {
        /// Those.
        allowed: &'static [&'static str],
    },
    /// It is larger than such messages may have.
    #[error("the file is larger than {limit} bytes")]
    TooLarge {
        /// The most bytes.
        limit: u64,
    },
    /// It could not be fetched.
    #[error("the file could not be fetched: {}", .0.as_str())]
    Unreachable(Unreachable),
    /// The object store failed; try again later.
    #[error("the file could not be stored")]
    Files(#[source] FileError),
}

impl FileRefused {
    /// The refusal for a call that failed. `is_first`: no redirect led to it.
    pub(super) fn of_call(error: &TransportError, is_first: bool) -> Self {
        let reason = match error {
            TransportError::InvalidUrl(_) | TransportError::Forbidden if is_first => {
                return Problems::of("url", "may not be called").into();
            }
            TransportError::InvalidUrl(_) | TransportError::Forbidden => {
                Unreachable::RedirectRefused
            }
            TransportError::Dns => Unreachable::Dns,
            TransportError::Refused => Unreachable::Refused,
            TransportError::Tls => Unreachable::Tls,
            TransportError::TimedOut { .. } => Unreachable::TimedOut,
            TransportError::Broken { .. } => Unreachable::Broken,
        };
        Self::Unreachable(reason)
    }
}

impl FileRefused {
    /// The same of a file that stands in a header: that is the field at fault (D8).
    #[must_use]
    pub(crate) fn in_header(self) -> Self {
        match self {
            Self::Invalid(problems) => Problems::of("header", problems.to_string()).into(),
            other => other,
        }
    }
}

impl Rejection for FileRefused {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(problems) => problems.code(),
            Self::NotFound => Code::MediaNotFound,
            Self::TypeUnsupported { .. } => Code::MediaTypeUnsupported,
            Self::TooLarge { .. } => Code::MediaTooLarge,
            Self::Unreachable(_) => Code::MediaUnreachable,
            Self::Files(_) => Code::Unavailable,
        }
    }

    fn details(&self) -> Option<Map<String, Value>> {
        match self {
            Self::Invalid(problems) => problems.details(),
            Self::NotFound | Self::Files(_) => None,
            Self::TypeUnsupported { allowed } => Some(object([("allowed", json!(allowed))])),
            Self::TooLarge { limit } => Some(object([("limit_bytes", json!(limit))])),
            Self::Unreachable(reason) => {
                let mut details = object([("reason", json!(reason.as_str()))]);
                if let Unreachable::Status(status) = reason {
                    details.insert("status".to_owned(), json!(status));
                }
                Some(details)
            }
        }
    }
}
