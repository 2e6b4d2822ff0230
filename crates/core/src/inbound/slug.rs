//! The last part of an inbound endpoint's path (D46a).

use std::fmt;

use serde_json::Value;

use crate::form::{Form, to_json};

/// A slug: 3 to 64 of `a-z`, `0-9` and `-`, beginning with a letter or digit.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EndpointSlug(String);

impl EndpointSlug {
    /// Reads a slug as it is written; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let well_formed =
            (3..=64).contains(&text.len()) && text.bytes().all(allowed) && !text.starts_with('-');
        well_formed.then(|| Self(text.to_owned()))
    }

    /// The slug itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for EndpointSlug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

to_json!(EndpointSlug, |slug| slug.as_str());

impl Form for EndpointSlug {
    type Value = Self;

    fn read(value: &Value) -> Result<Self, String> {
        value.as_str().and_then(Self::parse).ok_or_else(|| {
            "must be 3 to 64 lower-case letters, digits and hyphens, beginning with a letter or \
             digit"
                .to_owned()
        })
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::text(|text| text.pattern(Some("^[a-z0-9][a-z0-9-]{2,63}$")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_has_3_to_64_lower_case_letters_digits_and_hyphens() {
        for good in ["abc", "0-0", "a--", &"a".repeat(64)] {
            assert!(EndpointSlug::parse(good).is_some(), "{good}");
        }
        for bad in ["", "ab", "-ab", "Abc", "a_b", "a b", "ção", &"a".repeat(65)] {
            assert!(EndpointSlug::parse(bad).is_none(), "{bad}");
        }
    }
}
