//! Limits on text (D9): how long a native string may be, which characters it may hold, and how line
//! breaks are read.

use std::borrow::Cow;

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
    /// More characters than the limit.
    #[error("must have at most {max} characters")]
    TooLong {
        /// The limit.
        max: usize,
    },
    /// A control character other than newline and tab.
    #[error("must not contain control characters other than newline and tab")]
    Control,
    /// A character in a name that changes the direction of writing.
    #[error("must not contain characters that change the direction of writing")]
    Direction,
}

/// The text with newlines as line breaks: `\r\n` and `\r` alone are read as a newline (D9). The
/// functions below read every text of a caller or gateway through this one.
fn with_newlines(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether a text may have the character: no control character other than newline and tab (D9).
fn is_allowed(c: char) -> bool {
    !c.is_control() || matches!(c, '\n' | '\t')
}

/// Whether the character controls the direction of writing and is not seen itself. In a name it can
/// make one name look like another, or the text behind it.
fn is_direction_control(c: char) -> bool {
    matches!(
        c,
        '\u{061C}'
            | '\u{200E}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2066}'..='\u{2069}'
    )
}

fn check(text: &str, max_chars: usize) -> Result<(), TextError> {
    if !text.chars().all(is_allowed) {
        return Err(TextError::Control);
    }
    // No text has more characters than bytes, so most need no counting.
    if text.len() > max_chars && text.chars().count() > max_chars {
        return Err(TextError::TooLong { max: max_chars });
    }
    Ok(())
}

/// The trimmed text with newlines as line breaks, if it has at most `max_chars` Unicode scalar
/// values and no control character other than newline and tab (D9). An empty text is accepted: the
/// caller decides whether it means "clear" or "missing".
///
/// # Errors
///
/// [`TextError`] says which rule is broken; a control character is named before the length.
pub fn clean(input: &str, max_chars: usize) -> Result<String, TextError> {
    let text = with_newlines(input);
    let trimmed = text.trim();
    check(trimmed, max_chars)?;
    Ok(trimmed.to_owned())
}

/// A name that an operator or integrator gives: as [`clean`], and without characters that change
/// the direction of writing.
///
/// R174.
///
/// # Errors
///
/// [`TextError`] says which rule is broken.
pub fn name(input: &str, max_chars: usize) -> Result<String, TextError> {
    let name = clean(input, max_chars)?;
    if name.chars().any(is_direction_control) {
        return Err(TextError::Direction);
    }
    Ok(name)
}

/// The text without characters that change the direction of writing: of a name whose author cannot
/// correct it.
///
/// R174.
pub fn without_directions(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_direction_control) {
        Cow::Owned(text.chars().filter(|c| !is_direction_control(*c)).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// The text of a message as it is sent: not trimmed, and with newlines as line breaks. The
/// surrounding white space counts too (D9, D34).
///
/// # Errors
///
/// As [`clean`].
pub fn as_sent(input: &str, max_chars: usize) -> Result<String, TextError> {
    let text = with_newlines(input);
    check(&text, max_chars)?;
    Ok(text.into_owned())
}

/// The text of a gateway as it is stored: with newlines as line breaks, without other control
/// characters except tab, and cut at the limit (D9, R35).
pub fn kept(text: &str, max_chars: usize) -> String {
    with_newlines(text).chars().filter(|c| is_allowed(*c)).take(max_chars).collect()
}

/// A name that a gateway reports, as it is stored: as [`kept`], and without characters that change
/// the direction of writing.
///
/// R174.
pub fn kept_name(text: &str, max_chars: usize) -> String {
    kept(&without_directions(text), max_chars)
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

    #[test]
    fn newline_and_tab_pass_other_control_characters_do_not() {
        assert_eq!(clean("one\n\ttwo", OBSERVATION).unwrap(), "one\n\ttwo");
        for control in ['\0', '\u{1}', '\u{b}', '\u{1b}', '\u{1f}', '\u{7f}', '\u{85}', '\u{9f}'] {
            let text = format!("a{control}b");
            assert_eq!(clean(&text, NAME), Err(TextError::Control));
            assert_eq!(as_sent(&text, NAME), Err(TextError::Control));
            assert_eq!(kept(&text, NAME), "ab");
        }
    }

    const DIRECTIONS: [char; 12] = [
        '\u{061C}', '\u{200E}', '\u{200F}', '\u{202A}', '\u{202B}', '\u{202C}', '\u{202D}',
        '\u{202E}', '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}',
    ];

    /// R174.
    #[test]
    fn a_name_with_a_change_of_direction_is_refused_or_kept_without_it() {
        for control in DIRECTIONS {
            let text = format!("fatura{control}fdp.exe");
            assert_eq!(name(&text, NAME), Err(TextError::Direction), "{control:?}");
            assert_eq!(kept_name(&text, NAME), "faturafdp.exe", "{control:?}");
            // Texts that are no names may need them.
            assert_eq!(clean(&text, OBSERVATION).as_ref(), Ok(&text));
            assert_eq!(as_sent(&text, MESSAGE).as_ref(), Ok(&text));
        }
        // What emoji and the scripts of India need is none of them.
        for fine in ["👩\u{200D}👧", "क्\u{200C}ष", "משה", "فاطمة"] {
            assert_eq!(name(fine, NAME).as_deref(), Ok(fine));
            assert_eq!(kept_name(fine, NAME), fine);
        }
    }

    /// D9.
    #[test]
    fn carriage_returns_are_read_as_newlines_before_anything_is_counted() {
        for (given, read) in [
            ("a\r\nb", "a\nb"),
            ("a\rb", "a\nb"),
            ("a\r\r\nb", "a\n\nb"),
            ("a\n\rb", "a\n\nb"),
            ("a\r\n\r\nb", "a\n\nb"),
        ] {
            assert_eq!(clean(given, read.len()).as_deref(), Ok(read), "{given:?}");
            assert_eq!(as_sent(given, read.len()).as_deref(), Ok(read), "{given:?}");
            assert_eq!(kept(given, read.len()), read, "{given:?}");
        }
        assert_eq!(clean("\r\na\r", NAME).unwrap(), "a");
        assert_eq!(as_sent("\r\na\r", NAME).unwrap(), "\na\n");
    }

    /// D9.
    #[test]
    fn what_is_sent_is_counted_with_the_white_space_around_it() {
        assert_eq!(as_sent("  Oi \n", 6).unwrap(), "  Oi \n");
        assert_eq!(as_sent("  Oi \n", 5), Err(TextError::TooLong { max: 5 }));
        let padded = format!("Oi{}", " ".repeat(2 * MESSAGE - 2));
        assert_eq!(as_sent(&padded, MESSAGE), Err(TextError::TooLong { max: MESSAGE }));
        assert_eq!(clean(&padded, MESSAGE).unwrap(), "Oi");
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

        #[test]
        fn what_is_kept_is_acceptable(input in any::<String>(), max in 0_usize..40) {
            let kept = kept(&input, max);
            prop_assert_eq!(as_sent(&kept, max), Ok(kept));
        }

        /// R174.
        #[test]
        fn a_kept_name_is_an_acceptable_one(
            parts in prop::collection::vec(
                prop_oneof![any::<char>(), prop::sample::select(DIRECTIONS.to_vec())],
                0..60,
            ),
            max in 0_usize..40,
        ) {
            let text: String = parts.iter().collect();
            let kept = kept_name(&text, max);
            prop_assert_eq!(name(&kept, max), Ok(kept.trim().to_owned()));
            let has_any = parts.iter().any(|c| DIRECTIONS.contains(c));
            if clean(&text, 60).is_ok() {
                prop_assert_eq!(name(&text, 60).is_err(), has_any);
            }
        }

        #[test]
        fn line_breaks_of_any_form_read_alike(lines in prop::collection::vec("[a-z ]{0,3}", 0..6)) {
            let read = lines.join("\n");
            for line_break in ["\r\n", "\r", "\n"] {
                prop_assert_eq!(as_sent(&lines.join(line_break), 100), Ok(read.clone()));
            }
        }
    }
}
