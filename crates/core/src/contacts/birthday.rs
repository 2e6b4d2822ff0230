//! Birthdays: a calendar date, written `YYYY-MM-DD` (2.1).

use std::fmt;

use chrono::{Datelike, NaiveDate};
use serde::{Serialize, Serializer};

use crate::form::text_form;

/// An input that is not a calendar date of the form `YYYY-MM-DD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a calendar date of the form YYYY-MM-DD")]
pub struct BirthdayError;

/// A birthday: a date of the Gregorian calendar in the years 0001 to 9999. It is not compared with
/// the present, so neither the future nor the distant past is refused: the contract demands a date,
/// not a likely age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Birthday(NaiveDate);

impl Birthday {
    /// Reads exactly `YYYY-MM-DD` with ASCII digits, surrounded by nothing but white space.
    ///
    /// # Errors
    ///
    /// [`BirthdayError`] for any other form and for dates that do not exist.
    pub fn parse(input: &str) -> Result<Self, BirthdayError> {
        let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = input.trim().as_bytes() else {
            return Err(BirthdayError);
        };
        let year = number(&[*y1, *y2, *y3, *y4])?;
        let (month, day) = (number(&[*m1, *m2])?, number(&[*d1, *d2])?);
        let year = i32::try_from(year).map_err(|_| BirthdayError)?;
        NaiveDate::from_ymd_opt(year, month, day).and_then(Self::from_date).ok_or(BirthdayError)
    }

    /// The birthday on this date; `None` outside the years 0001 to 9999.
    pub fn from_date(date: NaiveDate) -> Option<Self> {
        (1..=9999).contains(&date.year()).then_some(Self(date))
    }

    /// Takes a stored birthday back.
    ///
    /// # Errors
    ///
    /// [`BirthdayError`] as [`Birthday::parse`].
    pub fn from_stored(stored: String) -> Result<Self, BirthdayError> {
        Self::parse(&stored)
    }

    /// The date.
    pub const fn date(self) -> NaiveDate {
        self.0
    }
}

impl fmt::Display for Birthday {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.0.year(), self.0.month(), self.0.day())
    }
}

impl Serialize for Birthday {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

fn number(digits: &[u8]) -> Result<u32, BirthdayError> {
    digits.iter().try_fold(0, |number, digit| match digit {
        b'0'..=b'9' => Ok(number * 10 + u32::from(digit - b'0')),
        _ => Err(BirthdayError),
    })
}

text_form!(Birthday, Birthday::parse, Birthday::to_string, blank is null, |date| date.format(crate::openapi::DATE));

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::strategies;

    #[test]
    fn a_date_is_read_and_written_in_one_form() {
        for input in ["1990-03-15", "2000-02-29", "0001-01-01", "9999-12-31"] {
            assert_eq!(Birthday::parse(input).unwrap().to_string(), input);
        }
        assert_eq!(Birthday::parse(" 1990-03-15\n").unwrap().to_string(), "1990-03-15");
    }

    #[test]
    fn other_forms_and_impossible_dates_are_refused() {
        for input in [
            "",
            "1990-3-15",
            "15/03/1990",
            "1990/03/15",
            "19900315",
            "90-03-15",
            "+1990-03-15",
            "1990-03-15T00:00:00Z",
            "1990-02-30",
            "1900-02-29",
            "1990-13-01",
            "1990-00-10",
            "0000-01-01",
            "١٩٩٠-٠٣-١٥",
        ] {
            assert_eq!(Birthday::parse(input), Err(BirthdayError), "{input}");
        }
    }

    proptest! {
        #[test]
        fn no_input_panics(input in any::<String>(), near in "[0-9-]{8,12}") {
            let _ = (Birthday::parse(&input), Birthday::parse(&near));
        }

        #[test]
        fn a_birthday_is_read_as_it_is_written(birthday in strategies::birthdays()) {
            prop_assert_eq!(Birthday::parse(&birthday.to_string()), Ok(birthday));
            prop_assert_eq!(Birthday::from_date(birthday.date()), Some(birthday));
        }
    }
}
