//! Bodies of calls to inbound endpoints: what is JSON, and what a number of it is.

use recado_core::json::{self, Value};

/// Takes one input.
pub(crate) fn take(body: &[u8]) {
    let ours = json::read(body);
    let theirs = serde_json::from_slice::<serde_json::Value>(body);
    match (&ours, &theirs) {
        (Ok(_), Ok(_)) | (Err(_), Err(_)) => {}
        // A number that no float can hold is kept as it was written.
        (Ok(_), Err(error)) => {
            assert!(error.to_string().contains("number out of range"), "{error}")
        }
        (Err(refused), Ok(_)) => panic!("{refused}, and serde_json reads it"),
    }
    if let Ok(value) = &ours {
        numbers(value);
    }
}

/// Every number is a JSON number itself.
fn numbers(value: &Value) {
    match value {
        Value::Number(number) => {
            let again = json::Number::parse(number.as_str());
            assert!(again.is_some_and(|again| again.equals(number)), "{}", number.as_str());
        }
        Value::Array(items) => items.iter().for_each(numbers),
        Value::Object(members) => members.values().for_each(numbers),
        _ => {}
    }
}
