//! Refusals: their stable codes, their kinds, and their further fields (7, D5).

use std::time::Duration;

use serde_json::{Map, Value};

use crate::code::{Code, Kind};

/// A refusal: a stable code, a sentence for people, and details.
pub trait Rejection: std::error::Error {
    /// The stable code.
    fn code(&self) -> Code;

    /// The kind of the error: that of its code.
    fn kind(&self) -> Kind {
        self.code().kind()
    }

    /// The `details` object, if there are details.
    fn details(&self) -> Option<Map<String, Value>> {
        None
    }

    /// When to try again, if that is known.
    fn retry_after(&self) -> Option<Duration> {
        None
    }

    /// Fields that stand at the root of the error body beside `code` (D4).
    fn extra(&self) -> Option<Map<String, Value>> {
        None
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
