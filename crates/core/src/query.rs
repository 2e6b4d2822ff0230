//! Query parameters (D7): each is read once, an unacceptable one is named, unknown ones are ignored.

use std::str::FromStr;

use serde_json::{Map, Value, json};

use crate::error::{Code, Kind, Rejection, object};

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

    fn kind(&self) -> Kind {
        Kind::Malformed
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
