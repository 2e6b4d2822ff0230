//! Degrees of places (X2, X13).

use serde_json::Number;

/// Degrees with at most nine decimals, which is less than a millimetre. Numbers of so few digits
/// are read just as they were written.
pub(crate) fn rounded(degrees: &Number) -> Number {
    let value = degrees.as_f64().filter(|_| degrees.is_f64());
    let value = value.map(|value| (value * 1e9).round() / 1e9);
    value.and_then(Number::from_f64).unwrap_or_else(|| degrees.clone())
}
