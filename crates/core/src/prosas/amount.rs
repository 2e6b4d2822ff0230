//! Exact decimals: prosas to 1e-3, money to 1e-6 (D32, D59).

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::form::{Form, component, to_json};
use crate::json::Number;

/// The largest amount in whole units, so that sums of very many cannot overflow.
const MAX_UNITS: i64 = 1_000_000_000;

/// Why a number is not an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AmountError {
    /// More decimal places than are kept; nothing is ever rounded.
    #[error("must have at most {0} decimal places")]
    TooFine(u32),
    /// Beyond what is accepted.
    #[error("must be at most 1000000000")]
    TooLarge,
    /// Below zero where only amounts from zero on make sense.
    #[error("must not be negative")]
    Negative,
}

macro_rules! amount {
    ($(#[doc = $doc:literal])* $name:ident, $places:literal) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(i64);

        impl $name {
            /// Nothing.
            pub const ZERO: Self = Self(0);

            /// From the smallest units that are kept.
            pub const fn from_units(units: i64) -> Self {
                Self(units)
            }

            /// In the smallest units that are kept.
            pub const fn units(self) -> i64 {
                self.0
            }

            /// Reads an amount from zero on, exactly as it was written.
            ///
            /// # Errors
            ///
            /// [`AmountError`]; finer values are refused, never rounded.
            pub fn parse(number: &Number) -> Result<Self, AmountError> {
                read(number.as_str(), $places).map(Self)
            }

            /// The sum, saturating at the largest and smallest amount.
            #[must_use]
            pub const fn plus(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }

            /// The difference, saturating at the largest and smallest amount.
            #[must_use]
            pub const fn minus(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }

            /// The same with the other sign.
            #[must_use]
            pub const fn negated(self) -> Self {
                Self(self.0.saturating_neg())
            }
        }

        to_json!($name, |amount| serde_json::json!(amount));

        impl Form for $name {
            type Value = Self;

            fn read(value: &Value) -> Result<Self, String> {
                let number = value.as_number().ok_or("must be a number")?;
                Self::parse(&number.into()).map_err(|error| error.to_string())
            }

            component!();
        }

        impl std::iter::Sum for $name {
            fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
                amounts.fold(Self::ZERO, Self::plus)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_decimal(f, self.0, $places)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                // As text: a float would be written as `1e-6`.
                let number = RawValue::from_string(self.to_string());
                number.map_err(serde::ser::Error::custom)?.serialize(serializer)
            }
        }

        #[cfg(feature = "openapi")]
        impl utoipa::ToSchema for $name {}

        #[cfg(feature = "openapi")]
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                crate::openapi::number(concat!($($doc, "\n",)*))
            }
        }
    };
}

amount! {
    /// An amount of prosas, in thousandths; written as a JSON number.
    Prosas, 3
}

amount! {
    /// An amount of money in BRL, in millionths; written as a JSON number.
    Brl, 6
}

/// The units of a JSON number with `places` decimal places.
fn read(written: &str, places: u32) -> Result<i64, AmountError> {
    let (mantissa, exponent) = match written.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()),
        None => (written, Some(0)),
    };
    let negative = mantissa.starts_with('-');
    let mantissa = mantissa.strip_prefix('-').unwrap_or(mantissa);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return Ok(0);
    }
    if negative {
        return Err(AmountError::Negative);
    }
    // An exponent beyond an i64 makes the number far larger or smaller than every amount.
    let Some(exponent) = exponent else {
        let tiny = written.contains("e-") || written.contains("E-");
        return Err(if tiny { AmountError::TooFine(places) } else { AmountError::TooLarge });
    };
    let trailing = digits.len() - digits.trim_end_matches('0').len();
    // The value is `significant` * 10^power, counted in the smallest units.
    let power = exponent
        .saturating_sub(fraction.len() as i64)
        .saturating_add(trailing as i64)
        .saturating_add(i64::from(places));
    let magnitude = power.saturating_add(significant.len() as i64);
    if magnitude > i64::from(places) + 10 {
        return Err(AmountError::TooLarge);
    }
    if power < 0 {
        return Err(AmountError::TooFine(places));
    }
    let units = significant
        .parse::<i64>()
        .ok()
        .and_then(|units| units.checked_mul(10_i64.checked_pow(u32::try_from(power).ok()?)?))
        .ok_or(AmountError::TooLarge)?;
    if units > MAX_UNITS * 10_i64.pow(places) {
        return Err(AmountError::TooLarge);
    }
    Ok(units)
}

fn write_decimal(f: &mut fmt::Formatter<'_>, units: i64, places: u32) -> fmt::Result {
    let scale = 10_u64.pow(places);
    let (whole, fraction) = (units.unsigned_abs() / scale, units.unsigned_abs() % scale);
    if units < 0 {
        f.write_str("-")?;
    }
    write!(f, "{whole}")?;
    if fraction > 0 {
        let digits = format!("{fraction:0width$}", width = places as usize);
        write!(f, ".{}", digits.trim_end_matches('0'))?;
    }
    Ok(())
}
