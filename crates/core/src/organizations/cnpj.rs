//! The Brazilian registration number of an organization (D21).

use std::fmt;

use serde::{Serialize, Serializer};

use crate::form::text_form;

const LENGTH: usize = 14;

/// Why an input is not a CNPJ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CnpjError {
    /// A character that is no letter A–Z, no digit and no customary punctuation.
    #[error("must be written with digits, letters A-Z, spaces and . - / only")]
    Character,
    /// Not twelve letters or digits and two digits.
    #[error("must have 14 characters, of which the last two are digits")]
    Length,
    /// The check digits are wrong, or all digits are the same.
    #[error("must be a valid CNPJ: its check digits are wrong")]
    CheckDigits,
}

/// A CNPJ: twelve digits or capital letters (letters since July 2026), and two check digits.
/// Compared and stored as text; leading zeros matter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cnpj(String);

impl Cnpj {
    /// Reads a CNPJ with or without its `.`, `-`, `/` and spaces, letters in either case (D21).
    ///
    /// # Errors
    ///
    /// [`CnpjError`] says which rule is broken. Fourteen times the same digit is refused though
    /// its check digits may be right.
    pub fn parse(input: &str) -> Result<Self, CnpjError> {
        let number: String = input
            .trim()
            .chars()
            .filter(|c| !matches!(c, '.' | '-' | '/' | ' '))
            .map(|c| c.to_ascii_uppercase())
            .collect();
        if !number.bytes().all(is_part) {
            return Err(CnpjError::Character);
        }
        let number = Self::from_stored(number)?;
        let bytes = number.0.as_bytes();
        let one_digit = bytes.iter().all(|b| Some(b) == bytes.first());
        let (base, given) = number.0.split_at(LENGTH - 2);
        if one_digit || given != check_digits(base) {
            return Err(CnpjError::CheckDigits);
        }
        Ok(number)
    }

    /// Takes a stored CNPJ back; only its form is examined.
    ///
    /// # Errors
    ///
    /// [`CnpjError::Length`] when it is not twelve digits or capitals and two digits.
    pub fn from_stored(stored: String) -> Result<Self, CnpjError> {
        let fits = stored.len() == LENGTH
            && stored.bytes().all(is_part)
            && stored.bytes().skip(LENGTH - 2).all(|b| b.is_ascii_digit());
        if fits { Ok(Self(stored)) } else { Err(CnpjError::Length) }
    }

    /// The fourteen characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Cnpj {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Cnpj {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

fn is_part(b: u8) -> bool {
    b.is_ascii_digit() || b.is_ascii_uppercase()
}

/// The two check digits of the first twelve characters: a character is worth its ASCII code less
/// 48; weights go 2 to 9 from the right and start again.
fn check_digits(base: &str) -> String {
    let check = |number: &str| {
        let weights = (2..=9).cycle();
        let sum: u32 =
            number.bytes().rev().zip(weights).map(|(b, weight)| u32::from(b - b'0') * weight).sum();
        match sum % 11 {
            0 | 1 => 0,
            rest => 11 - rest,
        }
    };
    let first = check(base);
    let second = check(&format!("{base}{first}"));
    format!("{first}{second}")
}

text_form!(Cnpj, Cnpj::parse, Cnpj::as_str, blank is null, |text| text);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::strategies;

    #[test]
    fn the_published_alphanumeric_example_is_valid() {
        for input in ["12.ABC.345/01DE-35", "12abc34501de35", " 12 ABC 345 01DE 35 "] {
            assert_eq!(Cnpj::parse(input).unwrap().as_str(), "12ABC34501DE35", "{input}");
        }
        assert_eq!(Cnpj::parse("12.ABC.345/01DE-36"), Err(CnpjError::CheckDigits));
        assert_eq!(Cnpj::parse("12.ABC.345/01DF-35"), Err(CnpjError::CheckDigits));
    }

    #[test]
    fn numbers_of_digits_stay_valid() {
        for (input, expected) in [
            ("19.131.243/0001-97", "19131243000197"),
            ("00.000.000/0001-91", "00000000000191"),
            ("33000167000101", "33000167000101"),
        ] {
            assert_eq!(Cnpj::parse(input).unwrap().as_str(), expected, "{input}");
        }
        assert_eq!(Cnpj::parse("19.131.243/0001-98"), Err(CnpjError::CheckDigits));
    }

    #[test]
    fn one_repeated_digit_is_refused() {
        for digit in 0..=9 {
            let input = digit.to_string().repeat(14);
            assert_eq!(Cnpj::parse(&input), Err(CnpjError::CheckDigits), "{input}");
        }
    }

    #[test]
    fn other_characters_and_forms_are_refused() {
        for input in ["12.ABC.345/01DÉ-35", "19131243_000197", "19131243\n000197", "ß2ABC34501DE35"]
        {
            assert_eq!(Cnpj::parse(input), Err(CnpjError::Character), "{input}");
        }
        for input in ["", "1913124300019", "191312430001977", "12ABC34501DE3F"] {
            assert_eq!(Cnpj::parse(input), Err(CnpjError::Length), "{input}");
        }
    }

    proptest! {
        #[test]
        fn no_input_panics(input in any::<String>()) {
            let _ = Cnpj::parse(&input);
        }

        #[test]
        fn a_cnpj_is_read_in_any_notation(cnpj in strategies::cnpjs()) {
            let n = cnpj.as_str();
            let (a, b, c, d, e) = (&n[..2], &n[2..5], &n[5..8], &n[8..12], &n[12..]);
            let written = format!("{a}.{b}.{c}/{d}-{e}");
            prop_assert_eq!(Cnpj::parse(&written), Ok(cnpj.clone()));
            prop_assert_eq!(Cnpj::parse(&written.to_lowercase()), Ok(cnpj.clone()));
            prop_assert_eq!(Cnpj::from_stored(cnpj.to_string()), Ok(cnpj));
        }

        #[test]
        fn only_one_pair_of_check_digits_fits(cnpj in strategies::cnpjs(), by in 1_u32..100) {
            let (base, given) = cnpj.as_str().split_at(12);
            let other = (given.parse::<u32>().unwrap() + by) % 100;
            let wrong = format!("{base}{other:02}");
            prop_assert_eq!(Cnpj::parse(&wrong), Err(CnpjError::CheckDigits));
        }
    }
}
