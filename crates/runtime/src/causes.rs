//! Errors as one line for people.

use std::error::Error;

/// An error with its causes in one line, without the details of rows that databases add on further
/// lines: for logs.
pub fn causes(error: &dyn Error) -> String {
    let mut text = String::new();
    let mut next = Some(error);
    while let Some(error) = next {
        // Databases detail a refusal on further lines, with values of the row.
        let shown = error.to_string();
        let line = shown.lines().next().unwrap_or_default();
        if !text.ends_with(line) {
            text = if text.is_empty() { line.to_owned() } else { format!("{text}: {line}") };
        }
        next = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use recado_core::store::StoreError;

    use super::*;

    #[test]
    fn every_cause_is_reported_once_and_details_of_rows_are_not() {
        let error = StoreError::unavailable("refused\nDETAIL: Key (phone)=(+5511990001001) exists");
        assert_eq!(causes(&error), "the store is unavailable: refused");
    }
}
