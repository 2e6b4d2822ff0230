//! The name of a gateway: any, as the programs that embed the core bring their own.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use crate::form::text_form;

/// The longest name.
const MAX: usize = 64;

/// The name of a connection's gateway: 1 to 64 lower-case letters, digits and `_`, a letter first.
/// Which gateways there are is known by the [`Providers`](crate::gateway::Providers) of a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct GatewayName(Cow<'static, str>);

impl GatewayName {
    /// The name of a gateway, for names that are written in the source.
    ///
    /// # Panics
    ///
    /// When it is no name; in a constant that is an error of the compiler.
    pub const fn new(name: &'static str) -> Self {
        assert!(is_name(name), "a gateway's name has lower-case letters, digits and _");
        Self(Cow::Borrowed(name))
    }

    /// Reads a name; `None` when it is none.
    pub fn parse(name: &str) -> Option<Self> {
        is_name(name).then(|| Self(Cow::Owned(name.to_owned())))
    }

    /// The name itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes.len() > MAX || !bytes[0].is_ascii_lowercase() {
        return false;
    }
    let mut at = 0;
    while at < bytes.len() {
        if !(bytes[at].is_ascii_lowercase() || bytes[at].is_ascii_digit() || bytes[at] == b'_') {
            return false;
        }
        at += 1;
    }
    true
}

impl fmt::Display for GatewayName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

fn read(text: &str) -> Result<GatewayName, &'static str> {
    GatewayName::parse(text).ok_or("must be the name of a gateway of GET /gateways")
}

text_form!(GatewayName, read, GatewayName::as_str, |text| text
    .pattern(Some("^[a-z][a-z0-9_]*$"))
    .max_length(Some(MAX)));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_lower_case_letters_digits_and_underscores_and_begins_with_a_letter() {
        for name in ["waha", "cloud_api", "house2", &"x".repeat(64)] {
            assert_eq!(GatewayName::parse(name).expect("a name").as_str(), name);
        }
        for name in ["", "2waha", "_x", "Waha", "cloud-api", "a b", "é", "a\0", &"x".repeat(65)] {
            assert_eq!(GatewayName::parse(name), None, "{name:?}");
        }
    }
}
