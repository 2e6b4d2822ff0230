//! The value that the text of a number stands for.

use std::cmp::Ordering;

/// A number without its sign: `0.digits` times ten to the power of `magnitude`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    /// Without zeros at either end; empty for zero. So texts are in the order of the values.
    digits: String,
    magnitude: i64,
}

impl Decimal {
    /// The absolute value of a JSON number.
    pub(super) fn of(number: &str) -> Self {
        let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let mantissa = mantissa.trim_start_matches('-');
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let written = format!("{whole}{fraction}");
        let digits = written.trim_start_matches('0');
        let leading = written.len() - digits.len();
        let digits = digits.trim_end_matches('0').to_owned();
        if digits.is_empty() {
            return Self { digits, magnitude: 0 };
        }
        // An exponent beyond an i64 makes the number larger or smaller than every number compared
        // with it.
        let beyond = if exponent.starts_with('-') { i64::MIN } else { i64::MAX };
        let exponent = exponent.parse().unwrap_or(beyond);
        let magnitude = (whole.len() as i64 - leading as i64).saturating_add(exponent);
        Self { digits, magnitude }
    }

    /// How many digits it has.
    pub(super) const fn len(&self) -> usize {
        self.digits.len()
    }

    pub(super) const fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (false, false) => {
                self.magnitude.cmp(&other.magnitude).then_with(|| self.digits.cmp(&other.digits))
            }
            (left, right) => right.cmp(&left),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
