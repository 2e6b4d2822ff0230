//! E-mail addresses (D20).

use std::fmt;

use serde::{Serialize, Serializer};
use unicode_normalization::char::is_combining_mark;

use crate::form::text_form;
use crate::secret::masked;
use crate::text;

const MAX_LABEL_CHARS: usize = 63;

/// Why an input is not an e-mail address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmailError {
    /// Longer than an address can be.
    #[error("must have at most {} characters", text::EMAIL)]
    TooLong,
    /// Not of the form `local@domain`.
    #[error("must have the form local@domain")]
    Form,
}

/// An e-mail address of the form `local@domain`, trimmed and in lower case (D20). It is not checked
/// whether it receives mail. `Debug` hides most of it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Email(String);

impl Email {
    /// Reads an address: exactly one `@`; a local part without spaces, control characters or
    /// the signs that only quoted addresses may hold; a domain of labels of letters (of any
    /// script), digits and inner hyphens.
    ///
    /// # Errors
    ///
    /// [`EmailError`] when it is too long or of another form.
    pub fn parse(input: &str) -> Result<Self, EmailError> {
        let address = input.trim().to_lowercase();
        if address.chars().count() > text::EMAIL {
            return Err(EmailError::TooLong);
        }
        let (local, domain) = address.split_once('@').ok_or(EmailError::Form)?;
        if local.is_empty() || !local.chars().all(is_local) || !domain.split('.').all(is_label) {
            return Err(EmailError::Form);
        }
        Ok(Self(address))
    }

    /// Takes a stored address back; only the `@` is searched for.
    ///
    /// # Errors
    ///
    /// [`EmailError::Form`] when there is none.
    pub fn from_stored(stored: String) -> Result<Self, EmailError> {
        if stored.contains('@') { Ok(Self(stored)) } else { Err(EmailError::Form) }
    }

    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.0.chars().next().unwrap_or('*');
        masked(f, "Email", format_args!("{first}***@***"), &self.0)
    }
}

impl Serialize for Email {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

fn is_local(c: char) -> bool {
    const ONLY_QUOTED: &str = "@()<>[]\\,;:\"";
    !c.is_whitespace() && !c.is_control() && !ONLY_QUOTED.contains(c)
}

fn is_label(label: &str) -> bool {
    let letters = label.chars().all(|c| c.is_alphanumeric() || c == '-' || is_combining_mark(c));
    let hyphen_at_edge = label.starts_with('-') || label.ends_with('-');
    !label.is_empty() && letters && !hyphen_at_edge && label.chars().count() <= MAX_LABEL_CHARS
}

text_form!(Email, Email::parse, Email::as_str, blank is null, |schema| schema.max_length(Some(text::EMAIL)));

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::strategies;

    #[test]
    fn an_address_is_trimmed_and_lower_cased() {
        assert_eq!(
            Email::parse("  Maria.Souza@Example.COM\n").unwrap().as_str(),
            "maria.souza@example.com"
        );
        assert_eq!(Email::parse("JOSÉ@AÇÃO.com.br").unwrap().as_str(), "josé@ação.com.br");
    }

    #[test]
    fn usual_and_unusual_addresses_pass() {
        for input in ["a@b", "a+b_c@x-y.z", "o'neil@example.org", "1@2.3", "x@भारत.भारत"]
        {
            assert!(Email::parse(input).is_ok(), "{input}");
        }
    }

    #[test]
    fn other_forms_are_refused() {
        for input in [
            "",
            "maria",
            "@example.com",
            "maria@",
            "maria@@example.com",
            "a@b@c",
            "ma ria@example.com",
            "maria@exam ple.com",
            "maria@.com",
            "maria@example.",
            "maria@example..com",
            "maria@-example.com",
            "maria@exa_mple.com",
            "Maria <maria@example.com>",
            "a@x.com,b@x.com",
            "a\0b@example.com",
        ] {
            assert_eq!(Email::parse(input), Err(EmailError::Form), "{input:?}");
        }
    }

    #[test]
    fn an_address_has_at_most_254_characters() {
        let domain = "@example.com";
        let longest = format!("{}{domain}", "é".repeat(254 - domain.len()));
        assert!(Email::parse(&longest).is_ok());
        assert_eq!(Email::parse(&format!("a{longest}")), Err(EmailError::TooLong));
        let long_label = format!("a@{}", "b".repeat(64));
        assert_eq!(Email::parse(&long_label), Err(EmailError::Form));
    }

    #[test]
    fn debug_hides_the_address() {
        let email = Email::parse("maria@example.com").unwrap();
        assert_eq!(format!("{email:?}"), "Email(m***@***)");
    }

    proptest! {
        #[test]
        fn no_input_panics_and_what_parses_parses_to_itself(input in any::<String>()) {
            if let Ok(email) = Email::parse(&input) {
                prop_assert_eq!(Email::parse(email.as_str()), Ok(email));
            }
        }

        #[test]
        fn letter_case_and_outer_space_make_no_difference(email in strategies::emails()) {
            let shouted = format!(" {} ", email.as_str().to_uppercase());
            prop_assert_eq!(Email::parse(&shouted), Ok(email.clone()));
            prop_assert_eq!(Email::from_stored(email.to_string()), Ok(email));
        }
    }
}
