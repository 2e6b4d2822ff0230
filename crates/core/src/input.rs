//! Reading a JSON object field by field, collecting every problem on the way (D8, D9).

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::form::Form;
pub use crate::form::{read_bool, read_id, read_text, read_timestamp, read_word};
use crate::problems::Problems;

/// A field as it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Given<T> {
    /// Not sent: leave it as it is.
    #[default]
    Absent,
    /// Sent as `null` or as the empty string: clear it.
    Cleared,
    /// Sent with a value.
    Value(T),
}

impl<T> Given<T> {
    /// The value, if one was sent.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Cleared => None,
        }
    }

    /// The value, if one was sent.
    pub fn as_ref(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Cleared => None,
        }
    }

    /// Writes what was sent over `field`; an absent field stays as it is.
    pub fn apply(self, field: &mut Option<T>) {
        match self {
            Self::Absent => {}
            Self::Cleared => *field = None,
            Self::Value(value) => *field = Some(value),
        }
    }
}

/// A JSON object being read. Each reader marks its field as known and records what is wrong with
/// it; [`Input::finish`] names the unknown ones.
#[derive(Debug)]
pub struct Input<'a> {
    object: &'a Map<String, Value>,
    known: BTreeSet<&'a str>,
    problems: Problems,
    at_last: Problems,
    region: &'a str,
    now: Option<Timestamp>,
}

impl<'a> Input<'a> {
    /// Begins to read `object`.
    pub fn new(object: &'a Map<String, Value>) -> Self {
        Self {
            object,
            known: BTreeSet::new(),
            problems: Problems::new(),
            at_last: Problems::new(),
            region: "BR",
            now: None,
        }
    }

    /// The same for a company that writes national phone numbers of this region (D14).
    #[must_use]
    pub fn in_region(mut self, region: &'a str) -> Self {
        self.region = region;
        self
    }

    /// The code of the region whose national phone numbers are written; Brazil's by default.
    pub fn region(&self) -> &'a str {
        self.region
    }

    /// The same for a body in which a time may lie in the past only.
    #[must_use]
    pub const fn at(mut self, now: Timestamp) -> Self {
        self.now = Some(now);
        self
    }

    /// The current time; some times of the body must not be later.
    pub const fn now(&self) -> Option<Timestamp> {
        self.now
    }

    /// The value of a field, marked as known.
    pub fn raw(&mut self, name: &'a str) -> Option<&'a Value> {
        self.known.insert(name);
        self.object.get(name)
    }

    /// Records a problem.
    pub fn problem(&mut self, field: &str, reason: impl Into<String>) {
        self.problems.add(field, reason);
    }

    /// The problems so far, to add entries with details of their own.
    pub fn problems(&mut self) -> &mut Problems {
        &mut self.problems
    }

    /// Marks fields that are accepted and ignored.
    pub fn ignore(&mut self, names: impl IntoIterator<Item = &'a str>) {
        self.known.extend(names);
    }

    /// A field of this form; `None` means that a problem was recorded.
    pub fn field<F: Form>(&mut self, name: &'a str) -> Option<Given<F::Value>> {
        match self.raw(name) {
            None => Some(Given::Absent),
            Some(value) if value.is_null() || F::is_blank(value) => Some(Given::Cleared),
            Some(value) => match F::read(value) {
                Ok(read) => Some(Given::Value(read)),
                Err(reason) => self.refuse(name, reason),
            },
        }
    }

    /// Records a problem of a field that was expected to have a value.
    pub fn refuse<T>(&mut self, field: &str, reason: impl Into<String>) -> Option<T> {
        self.problem(field, reason);
        None
    }

    /// Refuses a field that must not be sent, even as null.
    pub fn reject(&mut self, name: &'a str, reason: &str) {
        if self.raw(name).is_some() {
            self.problem(name, reason);
        }
    }

    /// Adds the problems of a part that is read separately, after all other problems.
    pub fn problems_at_last(&mut self, problems: Problems) {
        self.at_last.merge(problems);
    }

    /// A field read by `read`; `null` counts as cleared.
    pub fn given<T>(
        &mut self,
        name: &'a str,
        read: impl FnOnce(&Value) -> Result<T, String>,
    ) -> Given<T> {
        match self.raw(name) {
            None => Given::Absent,
            Some(Value::Null) => Given::Cleared,
            Some(value) => match read(value) {
                Ok(read) => Given::Value(read),
                Err(reason) => {
                    self.problem(name, reason);
                    Given::Absent
                }
            },
        }
    }

    /// A text field; `null` and what is empty after trimming count as cleared.
    pub fn given_text(&mut self, name: &'a str, max_chars: usize) -> Given<String> {
        match self.given(name, |value| read_text(value, max_chars)) {
            Given::Value(text) if text.is_empty() => Given::Cleared,
            given => given,
        }
    }

    /// A text field with a form of its own, read by `parse`; `null` and blank count as cleared.
    pub fn given_form<T, E: std::fmt::Display>(
        &mut self,
        name: &'a str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Given<T> {
        match self.raw(name) {
            None => Given::Absent,
            Some(Value::Null) => Given::Cleared,
            Some(Value::String(text)) if text.trim().is_empty() => Given::Cleared,
            Some(Value::String(text)) => match parse(text) {
                Ok(value) => Given::Value(value),
                Err(error) => {
                    self.problem(name, error.to_string());
                    Given::Absent
                }
            },
            Some(_) => {
                self.problem(name, "must be a string");
                Given::Absent
            }
        }
    }

    /// A field that must be there; `None` means that a problem was recorded.
    pub fn required<T>(
        &mut self,
        name: &'a str,
        read: impl FnOnce(&Value) -> Result<T, String>,
    ) -> Option<T> {
        match self.given(name, read) {
            Given::Value(value) => Some(value),
            Given::Absent | Given::Cleared => {
                self.problem(name, "is required");
                None
            }
        }
    }

    /// A text that must be there and not blank; `None` means that a problem was recorded.
    pub fn required_text(&mut self, name: &'a str, max_chars: usize) -> Option<String> {
        match self.given_text(name, max_chars) {
            Given::Value(value) => Some(value),
            Given::Absent | Given::Cleared => {
                self.problem(name, "is required");
                None
            }
        }
    }

    /// Whether the field was sent, even as `null`.
    pub fn has(&self, name: &str) -> bool {
        self.object.contains_key(name)
    }

    /// Finishes reading: every unknown field is a problem (R171).
    pub fn finish(mut self) -> Problems {
        for name in self.object.keys() {
            if !self.known.contains(name.as_str()) {
                self.problems.add_unknown(name);
            }
        }
        self.problems.merge(self.at_last);
        self.problems
    }
}

/// Reads a whole body by `read`, which answers `None` when it recorded a problem.
///
/// # Errors
///
/// Everything that is wrong with the body, unknown fields included.
pub fn parse<'a, T>(
    body: &'a Map<String, Value>,
    read: impl FnOnce(&mut Input<'a>) -> Option<T>,
) -> Result<T, Problems> {
    let mut input = Input::new(body);
    let read = read(&mut input);
    let problems = input.finish();
    match read {
        Some(read) if problems.is_empty() => Ok(read),
        _ => Err(problems),
    }
}

/// Reads as much of a body as can be read, with everything that is wrong with it.
pub fn parse_partly<'a, T>(
    body: &'a Map<String, Value>,
    read: impl FnOnce(&mut Input<'a>) -> T,
) -> (T, Problems) {
    let mut input = Input::new(body);
    let read = read(&mut input);
    (read, input.finish())
}
