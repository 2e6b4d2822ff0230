//! The Brazilian taxpayer number of a person (D21).

use std::fmt;

use serde::{Serialize, Serializer};

use crate::form::text_form;
use crate::secret::masked;

const LENGTH: usize = 11;

/// Why an input is not a CPF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CpfError {
    /// A character that is no digit and no customary punctuation.
    #[error("must be written with digits, spaces and . - / only")]
    Character,
    /// Not eleven digits.
    #[error("must have 11 digits")]
    Length,
    /// The check digits are wrong, or all digits are the same.
    #[error("must be a valid CPF: its check digits are wrong")]
    CheckDigits,
}

/// A CPF: eleven digits with right check digits. `Debug` hides most of them.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cpf(String);

impl Cpf {
    /// Reads a CPF with or without its `.`, `-`, `/` and spaces (D21).
    ///
    /// # Errors
    ///
    /// [`CpfError`] says which rule is broken. Eleven times the same digit is refused though its
    /// check digits are right.
    pub fn parse(input: &str) -> Result<Self, CpfError> {
        let digits: String =
            input.trim().chars().filter(|c| !matches!(c, '.' | '-' | '/' | ' ')).collect();
        if !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(CpfError::Character);
        }
        if digits.len() != LENGTH {
            return Err(CpfError::Length);
        }
        let one_digit = digits.bytes().all(|b| Some(&b) == digits.as_bytes().first());
        if one_digit || !digits.ends_with(&check_digits(&digits[..LENGTH - 2])) {
            return Err(CpfError::CheckDigits);
        }
        Ok(Self(digits))
    }

    /// Takes a stored CPF back; only its form is examined.
    ///
    /// # Errors
    ///
    /// [`CpfError::Length`] when it is not eleven digits.
    pub fn from_stored(stored: String) -> Result<Self, CpfError> {
        let fits = stored.len() == LENGTH && stored.bytes().all(|b| b.is_ascii_digit());
        if fits { Ok(Self(stored)) } else { Err(CpfError::Length) }
    }

    /// The eleven digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Cpf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Cpf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mask = format!("*********{}", &self.0[LENGTH - 2..]);
        masked(f, "Cpf", mask, &self.0)
    }
}

impl Serialize for Cpf {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// The two check digits of the first nine: weights count up from 2 at the right.
fn check_digits(base: &str) -> String {
    let check = |digits: &str| {
        let sum: u32 =
            digits.bytes().rev().zip(2..).map(|(b, weight)| u32::from(b - b'0') * weight).sum();
        match sum % 11 {
            0 | 1 => 0,
            rest => 11 - rest,
        }
    };
    let first = check(base);
    let second = check(&format!("{base}{first}"));
    format!("{first}{second}")
}

text_form!(Cpf, Cpf::parse, Cpf::as_str, blank is null, |text| text);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::strategies;

    #[test]
    fn punctuation_is_stripped() {
        for input in ["529.982.247-25", "52998224725", " 529 982 247/25 ", "529.982.247-25\n"] {
            assert_eq!(Cpf::parse(input).unwrap().as_str(), "52998224725", "{input}");
        }
    }

    #[test]
    fn leading_zeros_stay() {
        assert_eq!(Cpf::parse("000.000.001-91").unwrap().as_str(), "00000000191");
    }

    #[test]
    fn wrong_check_digits_and_one_repeated_digit_are_refused() {
        for input in ["52998224724", "52998224735", "12345678900"] {
            assert_eq!(Cpf::parse(input), Err(CpfError::CheckDigits), "{input}");
        }
        for digit in 0..=9 {
            let input = digit.to_string().repeat(11);
            assert_eq!(Cpf::parse(&input), Err(CpfError::CheckDigits), "{input}");
        }
    }

    #[test]
    fn other_characters_and_lengths_are_refused() {
        for input in ["529.982.247_25", "5299822472a", "529\n98224725", "٥٢٩٩٨٢٢٤٧٢٥"] {
            assert_eq!(Cpf::parse(input), Err(CpfError::Character), "{input}");
        }
        for input in ["", "...", "5299822472", "529982247250"] {
            assert_eq!(Cpf::parse(input), Err(CpfError::Length), "{input}");
        }
    }

    #[test]
    fn debug_hides_the_number() {
        let cpf = Cpf::parse("52998224725").unwrap();
        assert_eq!(format!("{cpf:?}"), "Cpf(*********25)");
    }

    proptest! {
        #[test]
        fn no_input_panics(input in any::<String>()) {
            let _ = Cpf::parse(&input);
        }

        #[test]
        fn a_cpf_is_read_with_and_without_punctuation(cpf in strategies::cpfs()) {
            let digits = cpf.as_str();
            let (a, b, c, d) = (&digits[..3], &digits[3..6], &digits[6..9], &digits[9..]);
            prop_assert_eq!(Cpf::parse(&format!("{a}.{b}.{c}-{d}")), Ok(cpf.clone()));
            prop_assert_eq!(Cpf::from_stored(cpf.to_string()), Ok(cpf));
        }

        #[test]
        fn one_wrong_digit_is_noticed(cpf in strategies::cpfs(), at in 0_usize..9, by in 1_u8..10) {
            let mut bytes = cpf.as_str().as_bytes().to_vec();
            bytes[at] = b'0' + (bytes[at] - b'0' + by) % 10;
            let wrong = String::from_utf8(bytes).unwrap();
            // The remainders 0 and 1 share a check digit, so the first check alone may miss it.
            prop_assume!(check_digits(&wrong[..9]) != cpf.as_str()[9..]);
            prop_assert_eq!(Cpf::parse(&wrong), Err(CpfError::CheckDigits));
        }
    }
}
