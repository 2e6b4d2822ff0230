//! A tracked link and its clicks (D60).

use std::fmt;

use serde::Serialize;

use crate::Timestamp;
use crate::ids::{ClickId, CompanyId, ContactId, LinkId};
use crate::keyed_hash::{HashKey, keyed_hash};
use crate::secret::masked;

/// The code of a tracked link: 22 base64url characters, 128 random bits, so that codes cannot be
/// guessed (R18).
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkCode(String);

impl LinkCode {
    /// Makes a code out of random bits.
    pub fn from_random(bytes: [u8; 16]) -> Self {
        use base64::Engine;
        Self(base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Reads a code; `None` for what cannot be one.
    pub fn parse(text: &str) -> Option<Self> {
        let well_formed = text.len() == 22
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        well_formed.then(|| Self(text.to_owned()))
    }

    /// The code itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for LinkCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        masked(f, "LinkCode", "***", &self.0)
    }
}

keyed_hash! {
    /// The keyed hash of a link's code: all that is stored of it, and what a link is found by
    /// (R222).
    LinkCodeHash of "link code"
}

impl LinkCode {
    /// The hash that the store keeps.
    pub fn hash(&self, key: &HashKey) -> LinkCodeHash {
        LinkCodeHash::of(key, self.0.as_bytes())
    }
}

/// A tracked link of a contact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its id.
    pub id: LinkId,
    /// Its company.
    pub company: CompanyId,
    /// The contact whose clicks it counts.
    pub contact: ContactId,
    /// The hash of its code.
    pub code_hash: LinkCodeHash,
    /// Where it leads.
    pub url: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// The clicks of people that were recorded. They are counted here because the clicks themselves
    /// are not kept forever (R207).
    pub clicks: LinkClicks,
}

/// A click on a tracked link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Click {
    /// Its id.
    pub id: ClickId,
    /// The company of the link.
    pub company: CompanyId,
    /// The link.
    pub link: LinkId,
    /// The contact of the link.
    pub contact: ContactId,
    /// When it happened.
    pub at: Timestamp,
    /// Whether a person clicked; previews and bots do not count.
    pub human: bool,
}

/// The human clicks on all links of a contact (2.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LinkClicks {
    /// How many.
    pub total: u64,
    /// The last one.
    pub last_at: Option<Timestamp>,
}

impl LinkClicks {
    /// With one more, at `at`.
    #[must_use]
    pub fn and(self, at: Timestamp) -> Self {
        Self { total: self.total + 1, last_at: self.last_at.max(Some(at)) }
    }
}

#[cfg(test)]
mod tests {
    use super::LinkCode;

    /// R18.
    #[test]
    fn a_code_is_22_characters_of_base64url() {
        let code = LinkCode::from_random([0xfb; 16]);
        assert_eq!(code.as_str().len(), 22);
        assert_eq!(LinkCode::parse(code.as_str()), Some(code));
        for other in ["a".repeat(21), "a".repeat(23), format!("{}+", "a".repeat(21))] {
            assert_eq!(LinkCode::parse(&other), None, "{other}");
        }
    }
}
