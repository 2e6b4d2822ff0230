//! The body of a call to an inbound endpoint: any JSON value, with its numbers as they were written
//! (D46a).

use super::{BODY_LIMIT, InboundError};
use crate::json::{self, Value};

/// A parsed body.
#[derive(Clone, Debug)]
pub struct Payload(Value);

impl Payload {
    /// Reads a body. Its numbers keep their text (R104).
    ///
    /// # Errors
    ///
    /// [`InboundError::TooLarge`], or [`InboundError::InvalidPayload`] if the body is not JSON, or
    /// begins with a byte-order mark.
    pub fn read(body: &[u8]) -> Result<Self, InboundError> {
        if body.len() > BODY_LIMIT {
            return Err(InboundError::TooLarge);
        }
        json::read(body).map(Self).map_err(|fault| InboundError::InvalidPayload {
            line: fault.line,
            column: fault.column,
        })
    }

    /// Its value.
    pub const fn value(&self) -> &Value {
        &self.0
    }
}

impl From<&serde_json::Value> for Payload {
    fn from(value: &serde_json::Value) -> Self {
        Self(value.into())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn exactly_100_kb_are_read() {
        let body = |bytes: usize| format!("{{}}{}", " ".repeat(bytes - 2));
        assert!(Payload::read(body(102_400).as_bytes()).is_ok());
        let long = body(102_401);
        assert!(matches!(Payload::read(long.as_bytes()), Err(InboundError::TooLarge)));
    }

    #[test]
    fn a_fault_is_reported_by_its_place() {
        let fault = Payload::read(b"{\n \"a\": 1,\n}");
        assert!(matches!(fault, Err(InboundError::InvalidPayload { line: 3, column: 1 })));
        assert!(Payload::read(b"\xef\xbb\xbf{}").is_err());
    }

    proptest! {
        /// R104.
        #[test]
        fn every_number_is_kept_as_it_was_written(
            number in "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?",
            before in ".{0,10}",
        ) {
            let before = serde_json::Value::from(before).to_string();
            let payload = Payload::read(format!("[{before}, {number}]").as_bytes()).expect("JSON");
            let Value::Array(items) = payload.value() else { panic!("an array") };
            let Value::Number(kept) = &items[1] else { panic!("a number") };
            prop_assert_eq!(kept.as_str(), number);
        }

        #[test]
        fn no_bytes_make_it_panic(body in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Payload::read(&body);
        }
    }
}
