//! Query parameters (D7): each is read once, an unacceptable one is named, unknown ones are
//! ignored.

use std::str::FromStr;

use serde_json::{Map, Value, json};

use crate::Timestamp;
use crate::code::Code;
use crate::error::{Rejection, object};

/// A query parameter that is not acceptable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{parameter} {reason}")]
pub struct InvalidParameter {
    /// Its name.
    pub parameter: String,
    /// Why, in English, to follow the name.
    pub reason: String,
}

impl InvalidParameter {
    /// Names a parameter and the reason.
    pub fn new(parameter: &str, reason: impl Into<String>) -> Self {
        Self { parameter: parameter.to_owned(), reason: reason.into() }
    }
}

impl Rejection for InvalidParameter {
    fn code(&self) -> Code {
        Code::InvalidParameter
    }

    fn details(&self) -> Option<Map<String, Value>> {
        Some(object([("parameter", json!(self.parameter)), ("reason", json!(self.reason))]))
    }
}

/// The decoded query string of a request, in order.
#[derive(Clone, Debug, Default)]
pub struct Params(Vec<(String, String)>);

impl Params {
    /// Wraps decoded name–value pairs.
    pub fn new(pairs: Vec<(String, String)>) -> Self {
        Self(pairs)
    }

    /// The names of the parameters that were sent.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// The value of a parameter, if it was sent.
    ///
    /// # Errors
    ///
    /// When it was sent more than once.
    pub fn text(&self, name: &str) -> Result<Option<&str>, InvalidParameter> {
        let mut values = self.0.iter().filter(|(known, _)| known == name).map(|(_, value)| value);
        let first = values.next();
        if values.next().is_some() {
            return Err(InvalidParameter::new(name, "was given more than once"));
        }
        Ok(first.map(String::as_str))
    }

    /// A parameter read by `read`, with `what` it must be.
    pub fn read<T>(
        &self,
        name: &str,
        what: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, InvalidParameter> {
        match self.text(name)? {
            None => Ok(None),
            Some(text) => match read(text) {
                Some(value) => Ok(Some(value)),
                None => Err(InvalidParameter::new(name, format!("must be {what}"))),
            },
        }
    }

    /// `true` or `false`.
    pub fn bool(&self, name: &str) -> Result<Option<bool>, InvalidParameter> {
        self.read(name, "true or false", |text| match text {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        })
    }

    /// A whole number from `min` to `max`.
    pub fn number<T: FromStr + PartialOrd + std::fmt::Display>(
        &self,
        name: &str,
        min: T,
        max: T,
    ) -> Result<Option<T>, InvalidParameter> {
        let what = format!("a whole number from {min} to {max}");
        self.read(name, &what, |text| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|number| digits && (min..=max).contains(number))
        })
    }

    /// The entries of a comma-separated list, each one of `known`.
    pub fn list<'a>(
        &'a self,
        name: &str,
        known: &[&str],
    ) -> Result<Vec<&'a str>, InvalidParameter> {
        let Some(text) = self.text(name)? else { return Ok(Vec::new()) };
        let entries: Vec<&str> =
            text.split(',').map(str::trim).filter(|entry| !entry.is_empty()).collect();
        match entries.iter().find(|entry| !known.contains(entry)) {
            Some(_) => {
                Err(InvalidParameter::new(name, format!("may only hold {}", known.join(", "))))
            }
            None => Ok(entries),
        }
    }
}

/// The earliest `created_at` that a listing holds: the parameter `from`, a timestamp, or a date
/// that stands for its first millisecond in UTC. A fraction finer than a millisecond is rounded up,
/// so that nothing earlier is listed (D29).
///
/// # Errors
///
/// When it is neither.
pub fn from_bound(params: &Params) -> Result<Option<Timestamp>, InvalidParameter> {
    since_bound(params, "from")
}

/// The latest `created_at` that a listing holds: the parameter `to`, a timestamp, or a date that
/// stands for its last millisecond in UTC. A fraction finer than a millisecond is rounded down
/// (D29). It may be before `from`; then nothing matches.
///
/// # Errors
///
/// When it is neither.
pub fn to_bound(params: &Params) -> Result<Option<Timestamp>, InvalidParameter> {
    bound(params, "to", "T23:59:59.999Z", Timestamp::parse)
}

/// The earliest time that a listing holds by another parameter than `from`, in the same forms
/// (D29, D77).
///
/// # Errors
///
/// When it is none of them.
pub fn since_bound(params: &Params, name: &str) -> Result<Option<Timestamp>, InvalidParameter> {
    bound(params, name, "T00:00:00.000Z", Timestamp::parse_up)
}

fn bound(
    params: &Params,
    name: &str,
    time_of_date: &str,
    parse: fn(&str) -> Option<Timestamp>,
) -> Result<Option<Timestamp>, InvalidParameter> {
    params.read(name, "a timestamp such as 2026-11-20T17:31:36.123Z, or a date", |text| {
        // A `+` that was not percent-encoded arrives as a space.
        let text = text.replace(' ', "+");
        let is_date = text.len() == 10;
        parse(&if is_date { format!("{text}{time_of_date}") } else { with_whole_offset(text) })
    })
}

/// A timestamp whose offset is one of the short ISO 8601 forms, `+0300` or `+03`, with the offset
/// in its whole form; any other text as it is.
fn with_whole_offset(mut text: String) -> String {
    let offset = text.rfind('T').and_then(|t| Some(t + text.get(t..)?.rfind(['+', '-'])?));
    let short = offset.and_then(|at| Some((at, text.get(at + 1..)?)));
    match short {
        Some((at, digits)) if digits.bytes().all(|b| b.is_ascii_digit()) => match digits.len() {
            2 => text.push_str(":00"),
            4 => text.insert(at + 3, ':'),
            _ => {}
        },
        _ => {}
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(name: &str, value: &str) -> Params {
        Params::new(vec![(name.to_owned(), value.to_owned())])
    }

    fn bounds(value: &str) -> [Option<String>; 2] {
        let read = |bound: Result<Option<Timestamp>, InvalidParameter>| {
            bound.ok().flatten().map(|at| at.to_string())
        };
        [read(from_bound(&params("from", value))), read(to_bound(&params("to", value)))]
    }

    #[test]
    fn a_date_stands_for_its_first_and_its_last_millisecond() {
        let [from, to] = bounds("2026-02-28").map(Option::unwrap);
        assert_eq!(
            (from.as_str(), to.as_str()),
            ("2026-02-28T00:00:00.000Z", "2026-02-28T23:59:59.999Z")
        );
    }

    #[test]
    fn a_timestamp_stands_for_itself_in_any_offset() {
        for (value, at) in [
            ("2026-11-20T17:31:36.123Z", "2026-11-20T17:31:36.123Z"),
            ("2026-11-20T17:31:36Z", "2026-11-20T17:31:36.000Z"),
            ("2026-11-20T14:31:36.1-03:00", "2026-11-20T17:31:36.100Z"),
            ("2026-11-20T23:01:36+05:30", "2026-11-20T17:31:36.000Z"),
            ("2026-11-20T23:01:36 05:30", "2026-11-20T17:31:36.000Z"),
            ("2026-11-20T23:01:36+0530", "2026-11-20T17:31:36.000Z"),
            ("2026-11-20T14:31:36.5-03", "2026-11-20T17:31:36.500Z"),
        ] {
            assert_eq!(bounds(value), [Some(at.to_owned()), Some(at.to_owned())], "{value}");
        }
    }

    /// D29.
    #[test]
    fn a_fraction_finer_than_a_millisecond_is_rounded_up_in_from_and_down_in_to() {
        for (value, from, to) in [
            ("2026-11-20T17:31:36.1230001Z", "36.124Z", "36.123Z"),
            ("2026-11-20T17:31:36.1230000Z", "36.123Z", "36.123Z"),
            ("2026-11-20T14:31:35.999999999999-03", "36.000Z", "35.999Z"),
            ("2026-11-20T23:01:36.00001 0530", "36.001Z", "36.000Z"),
        ] {
            let [read_from, read_to] = bounds(value).map(Option::unwrap);
            assert!(read_from.ends_with(from), "{value}: {read_from}");
            assert!(read_to.ends_with(to), "{value}: {read_to}");
        }
    }

    #[test]
    fn what_is_neither_is_refused_by_name() {
        for value in [
            "",
            "x",
            "2026-02-30",
            "2026-2-3",
            "20261120",
            "2026-11-20T17:31",
            "2026-11-20T17:31:36",
            "12026-11-2",
            "0000-01-01",
            "+2026-1-01",
            "2026-11-20T25:00:00Z",
            "2026-11-20T17:31:36+3",
            "2026-11-20T17:31:36+030",
            "2026-11-20T17-03",
            "１２３４-０１",
        ] {
            assert_eq!(bounds(value), [None, None], "{value}");
        }
        assert_eq!(from_bound(&params("from", "x")).unwrap_err().parameter, "from");
        assert_eq!(to_bound(&params("to", "x")).unwrap_err().parameter, "to");
        assert_eq!(to_bound(&params("from", "x")), Ok(None));
    }
}
