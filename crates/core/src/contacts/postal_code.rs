//! The Brazilian postal code, CEP (D21).

use std::fmt;

use serde::{Serialize, Serializer};

use crate::form::text_form;

const LENGTH: usize = 8;

/// Why an input is not a postal code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PostalCodeError {
    /// A character that is no digit and no customary punctuation.
    #[error("must be written with digits, spaces and . - / only")]
    Character,
    /// Not eight digits.
    #[error("must have 8 digits")]
    Length,
}

/// A postal code: eight digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PostalCode(String);

impl PostalCode {
    /// Reads a postal code with or without its `.`, `-`, `/` and spaces (D21).
    ///
    /// # Errors
    ///
    /// [`PostalCodeError`] says which rule is broken.
    pub fn parse(input: &str) -> Result<Self, PostalCodeError> {
        let digits: String =
            input.trim().chars().filter(|c| !matches!(c, '.' | '-' | '/' | ' ')).collect();
        if !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(PostalCodeError::Character);
        }
        Self::from_stored(digits)
    }

    /// Takes a stored postal code back.
    ///
    /// # Errors
    ///
    /// [`PostalCodeError::Length`] when it is not eight digits.
    pub fn from_stored(stored: String) -> Result<Self, PostalCodeError> {
        let fits = stored.len() == LENGTH && stored.bytes().all(|b| b.is_ascii_digit());
        if fits { Ok(Self(stored)) } else { Err(PostalCodeError::Length) }
    }

    /// The eight digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PostalCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for PostalCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

text_form!(PostalCode, PostalCode::parse, PostalCode::as_str, blank is null, |text| text);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::strategies;

    #[test]
    fn punctuation_is_stripped_and_leading_zeros_stay() {
        assert_eq!(PostalCode::parse("38400-100").unwrap().as_str(), "38400100");
        assert_eq!(PostalCode::parse(" 01.310-100 ").unwrap().as_str(), "01310100");
    }

    #[test]
    fn other_characters_and_lengths_are_refused() {
        assert_eq!(PostalCode::parse("38400_100"), Err(PostalCodeError::Character));
        assert_eq!(PostalCode::parse("SW1A 1AA"), Err(PostalCodeError::Character));
        for input in ["", "-", "3840010", "384001000"] {
            assert_eq!(PostalCode::parse(input), Err(PostalCodeError::Length), "{input}");
        }
    }

    proptest! {
        #[test]
        fn no_input_panics(input in any::<String>()) {
            let _ = PostalCode::parse(&input);
        }

        #[test]
        fn a_postal_code_is_read_with_and_without_its_hyphen(code in strategies::postal_codes()) {
            let (start, end) = code.as_str().split_at(5);
            prop_assert_eq!(PostalCode::parse(&format!("{start}-{end}")), Ok(code.clone()));
            prop_assert_eq!(PostalCode::from_stored(code.to_string()), Ok(code));
        }
    }
}
