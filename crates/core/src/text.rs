//! Limits on text (D9): how long a native string may be and which characters it may hold.

/// Most characters of a name.
pub const NAME: usize = 200;
/// Most characters of an observation.
pub const OBSERVATION: usize = 10_000;
/// Most characters of an e-mail address.
pub const EMAIL: usize = 254;
/// Most characters of the other native strings.
pub const SHORT: usize = 200;
/// Most characters of a message's text: the channel's own limit.
pub const MESSAGE: usize = 4096;
/// Most characters of a custom field's value (4.3).
pub const CUSTOM_VALUE: usize = 500;

/// Why a text is not acceptable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// More characters than the limit, after trimming.
    #[error("must have at most {max} characters")]
    TooLong {
        /// The limit.
        max: usize,
    },
    /// A control character other than newline and tab.
    #[error("must not contain control characters other than newline and tab")]
    Control,
}

/// The trimmed text, if it has at most `max_chars` Unicode scalar values and no control character
/// other than newline and tab (D9). An empty text is accepted: the caller decides whether it means
/// "clear" or "missing" (R14).
///
/// # Errors
///
/// [`TextError`] says which rule is broken; a control character is named before the length.
pub fn clean(input: &str, max_chars: usize) -> Result<String, TextError> {
    let trimmed = input.trim();
    if trimmed.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return Err(TextError::Control);
    }
    // No text has more characters than bytes, so most need no counting.
    if trimmed.len() > max_chars && trimmed.chars().count() > max_chars {
        return Err(TextError::TooLong { max: max_chars });
    }
    Ok(trimmed.to_owned())
}

/// Checks a text that is kept as it was sent, with surrounding white space. The text must pass
/// [`clean`]. The surrounding white space must have no control characters other than newline and
/// tab, and must not be longer than the limit, so that the stored text is limited too.
///
/// # Errors
///
/// As [`clean`].
pub fn check(input: &str, max_chars: usize) -> Result<(), TextError> {
    clean(input, max_chars)?;
    if input.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return Err(TextError::Control);
    }
    if input.chars().count() > 2 * max_chars {
        return Err(TextError::TooLong { max: 2 * max_chars });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn surrounding_white_space_goes_and_inner_stays() {
        assert_eq!(clean(" \n Ana  Lúcia\t", NAME).unwrap(), "Ana  Lúcia");
        assert_eq!(clean("   ", NAME).unwrap(), "");
    }

    #[test]
    fn length_counts_characters_after_trimming_and_not_bytes() {
        let longest = "ã".repeat(NAME);
        assert_eq!(clean(&format!("  {longest}  "), NAME).unwrap(), longest);
        assert_eq!(clean(&format!("{longest}a"), NAME), Err(TextError::TooLong { max: 200 }));
    }

    /// R14.
    #[test]
    fn newline_and_tab_pass_other_control_characters_do_not() {
        assert_eq!(clean("one\n\ttwo", OBSERVATION).unwrap(), "one\n\ttwo");
        for control in ['\0', '\u{1}', '\r', '\u{1b}', '\u{1f}', '\u{7f}', '\u{85}', '\u{9f}'] {
            assert_eq!(clean(&format!("a{control}b"), NAME), Err(TextError::Control));
        }
    }

    #[test]
    fn the_reason_names_the_limit() {
        let reason = clean(&"a".repeat(501), CUSTOM_VALUE).unwrap_err().to_string();
        assert_eq!(reason, "must have at most 500 characters");
    }

    proptest! {
        #[test]
        fn cleaning_twice_changes_nothing_more(input in any::<String>(), max in 0_usize..40) {
            if let Ok(once) = clean(&input, max) {
                prop_assert!(once.chars().count() <= max);
                prop_assert_eq!(clean(&once, max), Ok(once));
            }
        }
    }
}
