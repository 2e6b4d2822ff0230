//! Durations as they are written in options: a number and `ms`, `s`, `m`, `h` or `d`.

use std::fmt;
use std::str::FromStr;

/// A duration of an option, shown the way it is written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(std::time::Duration);

/// The units, longest first.
const UNITS: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

impl Duration {
    /// A duration of whole milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(std::time::Duration::from_millis(millis))
    }

    /// A duration of whole seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(std::time::Duration::from_secs(secs))
    }

    /// The duration itself.
    pub const fn get(self) -> std::time::Duration {
        self.0
    }
}

/// The text is no duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a duration; write a whole number and ms, s, m, h or d, such as 30s")]
pub struct DurationError;

impl FromStr for Duration {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, DurationError> {
        let text = text.trim();
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let number: u64 = number.parse().map_err(|_| DurationError)?;
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit).ok_or(DurationError)?;
        number.checked_mul(*factor).map(Self::from_millis).ok_or(DurationError)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        let fits = |factor: u64| millis.is_multiple_of(u128::from(factor));
        let (unit, factor) = UNITS
            .into_iter()
            .find(|(_, factor)| millis > 0 && fits(*factor))
            .unwrap_or(("s", 1000));
        write!(f, "{}{unit}", millis / u128::from(factor))
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_read() {
        for (text, millis) in
            [("250ms", 250), ("30s", 30_000), ("2m", 120_000), ("1h", 3_600_000), ("0s", 0)]
        {
            assert_eq!(text.parse(), Ok(Duration::from_millis(millis)), "{text}");
        }
        assert_eq!("30d".parse(), Ok(Duration::from_secs(30 * 86_400)));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "s", "10", "10 s", "-1s", "1.5h", "1w", "1S", "99999999999999999d", "1s2m"]
        {
            assert_eq!(text.parse::<Duration>(), Err(DurationError), "{text}");
        }
    }

    #[test]
    fn a_duration_is_shown_the_way_it_is_written() {
        for text in ["250ms", "30s", "2m", "10m", "30d", "5h", "0s"] {
            assert_eq!(text.parse::<Duration>().expect("valid").to_string(), text);
        }
    }
}
