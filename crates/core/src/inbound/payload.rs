//! The body of a call to an inbound endpoint: any JSON value, with its numbers as they were written
//! (D46a).

use std::borrow::Cow;

use serde_json::{Number, Value};

use super::{BODY_LIMIT, InboundError};

/// A body, read.
#[derive(Clone, Debug)]
pub struct Payload<'a> {
    value: Value,
    /// What it was read from.
    written: Cow<'a, str>,
}

impl<'a> Payload<'a> {
    /// Reads a body.
    ///
    /// # Errors
    ///
    /// [`InboundError::TooLarge`], or [`InboundError::InvalidPayload`] for what is no JSON; a
    /// byte-order mark is none.
    pub fn read(body: &'a [u8]) -> Result<Self, InboundError> {
        if body.len() > BODY_LIMIT {
            return Err(InboundError::TooLarge);
        }
        // The parser's own text may quote the body.
        let value = serde_json::from_slice(body).map_err(|error| InboundError::InvalidPayload {
            line: error.line(),
            column: error.column(),
        })?;
        // JSON is UTF-8, so nothing is lost here.
        Ok(Self { value, written: String::from_utf8_lossy(body) })
    }

    /// What it says.
    pub const fn value(&self) -> &Value {
        &self.value
    }

    /// A number of it as it was written. The parser keeps every digit of it, but writes an exponent
    /// in a way of its own: `1E3` becomes `1e+3`. A number that the body holds in two ways is
    /// answered in the first (R104).
    pub fn as_written(&self, number: &Number) -> String {
        let text = number.to_string();
        if !text.contains('e') {
            return text;
        }
        let same = |token: &&str| with_sign(token) == text;
        numbers(&self.written).find(same).map_or(text.clone(), str::to_owned)
    }
}

impl From<&Value> for Payload<'_> {
    fn from(value: &Value) -> Self {
        Self { value: value.clone(), written: Cow::Owned(value.to_string()) }
    }
}

/// A number with its exponent as the parser writes it.
fn with_sign(token: &str) -> String {
    let token = token.replace('E', "e");
    match token.split_once('e') {
        Some((digits, exponent)) if !exponent.starts_with(['+', '-']) => {
            format!("{digits}e+{exponent}")
        }
        _ => token,
    }
}

/// The numbers of a JSON text, in order.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let begin = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit())?;
            rest = &rest[begin..];
            if rest.starts_with('"') {
                rest = after_string(rest)?;
                continue;
            }
            let (number, after) = rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
            rest = after;
            return Some(number);
        }
    })
}

/// What follows the string that a JSON text begins with.
fn after_string(text: &str) -> Option<&str> {
    let mut escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let is_end = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        is_end
    })?;
    text.get(end + 2..)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(body: &str, pointer: &str) -> String {
        let payload = Payload::read(body.as_bytes()).expect("JSON");
        let number = payload.value().pointer(pointer).and_then(Value::as_number);
        payload.as_written(number.expect("a number"))
    }

    /// R104.
    #[test]
    fn exponents_are_answered_as_they_were_written() {
        let body = r#"{"1E9": "1E9 \" 2E3", "a": 1E3, "b": [2e5, 0.1e-2], "c": 7E+4, "d": -1.50}"#;
        for (pointer, number) in
            [("/a", "1E3"), ("/b/0", "2e5"), ("/b/1", "0.1e-2"), ("/c", "7E+4"), ("/d", "-1.50")]
        {
            assert_eq!(written(body, pointer), number);
        }
        assert_eq!(written("[1e3, 1E3]", "/1"), "1e3", "the first way of two");
    }

    #[test]
    fn a_number_in_a_string_is_none() {
        assert_eq!(written(r#"{"s": "\\\" 1E3", "a": 1e3}"#, "/a"), "1e3");
    }

    #[test]
    fn exactly_100_kb_are_read() {
        let body = |bytes: usize| format!("{{}}{}", " ".repeat(bytes - 2));
        assert!(Payload::read(body(102_400).as_bytes()).is_ok());
        let long = body(102_401);
        assert!(matches!(Payload::read(long.as_bytes()), Err(InboundError::TooLarge)));
    }

    proptest! {
        #[test]
        fn every_number_is_answered_as_it_was_written(
            number in "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?",
            before in ".{0,10}",
        ) {
            let before = Value::from(before).to_string();
            let body = format!("[{before}, {number}]");
            prop_assert_eq!(written(&body, "/1"), number);
        }

        #[test]
        fn no_bytes_make_it_panic(body in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Payload::read(&body);
        }
    }
}
