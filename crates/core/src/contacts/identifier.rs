//! The name of a contact in the system it comes from (D17).

use std::fmt;

use super::Phone;
use crate::secret::masked;
use crate::text;

/// The messaging channel of a contact: `source_platform` (D2).
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Platform(String);

impl Platform {
    /// The default channel (D2).
    pub fn whatsapp() -> Self {
        Self("whatsapp".to_owned())
    }

    /// Reads 1 to 32 of `a-z`, `0-9`, `_` and `-`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let allowed =
            |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-');
        let well_formed = (1..=32).contains(&text.len()) && text.bytes().all(allowed);
        well_formed.then(|| Self(text.to_owned()))
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id of a contact on its channel; immutable (2.1).
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identifier(String);

impl Identifier {
    /// The identifier of a contact made by API: the digits of its phone (D15).
    pub fn of_phone(phone: &Phone) -> Self {
        Self(phone.digits().to_owned())
    }

    /// Reads 1 to 200 characters without control characters.
    pub fn parse(input: &str) -> Option<Self> {
        let cleaned = text::clean(input, text::SHORT).ok()?;
        let well_formed = !cleaned.is_empty() && !cleaned.chars().any(char::is_control);
        well_formed.then_some(Self(cleaned))
    }

    /// The identifier itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        masked(f, "Identifier", "***", &self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2.1.
    #[test]
    fn an_identifier_has_1_to_200_characters_and_no_control_characters() {
        for (text, is_one) in [
            ("5511987654321", true),
            ("é".repeat(200).as_str(), true),
            ("é".repeat(201).as_str(), false),
            ("", false),
            ("  ", false),
            ("a\u{1}b", false),
        ] {
            assert_eq!(Identifier::parse(text).is_some(), is_one, "{text:?}");
        }
    }

    #[test]
    fn a_platform_is_printed_by_its_name_and_an_identifier_is_not() {
        assert_eq!(format!("{:?}", Platform::whatsapp()), Platform::whatsapp().as_str());
        let identifier = Identifier::parse("5511987654321").expect("an identifier");
        assert!(!format!("{identifier:?}").contains("98765"));
    }
}
