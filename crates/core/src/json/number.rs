//! A number, as it was written.

use std::cmp::Ordering;
use std::fmt;

use super::decimal::Decimal;

/// A JSON number of any size and precision. Two are equal if their texts are equal;
/// [`Number::equals`] compares values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Number(String);

impl Number {
    /// Reads a number; `None` for what is no number of JSON, such as `01`, `+1` or `1.`.
    pub fn parse(text: &str) -> Option<Self> {
        is_number(text).then(|| Self(text.to_owned()))
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As an integer, if it is written as one and not too large.
    pub fn as_i128(&self) -> Option<i128> {
        self.0.parse().ok()
    }

    /// The nearest `f64`; `None` beyond its range.
    pub fn as_f64(&self) -> Option<f64> {
        self.0.parse().ok().filter(|float: &f64| float.is_finite())
    }

    /// Whether both stand for the same number, whatever their size.
    pub fn equals(&self, other: &Self) -> bool {
        let (left, right) = (Decimal::of(&self.0), Decimal::of(&other.0));
        left == right && (left.is_zero() || self.is_negative() == other.is_negative())
    }

    fn is_negative(&self) -> bool {
        self.0.starts_with('-')
    }

    /// As `serde_json` keeps it: an integer that fits an `i64` or `u64`, else an `f64`.
    ///
    /// A number that is not the shortest text of any `f64` becomes an adjacent `f64`. There is no
    /// number of up to 15 digits between the two, and the `f64` is not such a number itself. So an
    /// amount, which has at most 15 digits, never becomes another amount, and a number with too
    /// many decimal places keeps too many. A number beyond the range of an `f64` becomes the
    /// largest `f64`.
    pub fn to_serde(&self) -> serde_json::Number {
        let text = &self.0;
        if let Ok(whole) = text.parse::<u64>() {
            return whole.into();
        }
        // An f64 has a negative zero, an integer has not.
        if let Some(whole) = text.parse::<i64>().ok().filter(|whole| *whole != 0) {
            return whole.into();
        }
        let nearest = self.nearest();
        let finite = nearest.clamp(f64::MIN, f64::MAX);
        serde_json::Number::from_f64(finite).unwrap_or_else(|| 0.into())
    }

    fn nearest(&self) -> f64 {
        let float: f64 = self.0.parse().unwrap_or_default();
        if !float.is_finite() {
            return float;
        }
        let shortest = Decimal::of(&format!("{float:e}"));
        let away = Decimal::of(&self.0).cmp(&shortest);
        if away == Ordering::Equal || shortest.len() > 15 {
            return float;
        }
        let is_up = (away == Ordering::Greater) != self.is_negative();
        if is_up { float.next_up() } else { float.next_down() }
    }
}

impl From<&serde_json::Number> for Number {
    fn from(number: &serde_json::Number) -> Self {
        Self(number.to_string())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`
fn is_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    is_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(is_digits)
        && exponent.is_none_or(|text| is_digits(text.strip_prefix(['+', '-']).unwrap_or(text)))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
