//! All problems of a body, collected so that one answer names all of them (D8).

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::code::Code;
use crate::error::{Rejection, object};

/// The offending fields of a body, with reasons. Empty means acceptable.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.summary())]
pub struct Problems {
    reasons: Vec<(String, String)>,
    /// The fields of `reasons`: a body may name very many.
    named: BTreeSet<String>,
    custom_fields: Vec<String>,
    list_ids: Vec<String>,
    hint: Option<&'static str>,
}

impl Problems {
    /// Nothing wrong yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.reasons.is_empty()
    }

    /// Names a field and why; the first reason of a field stays.
    pub fn add(&mut self, field: impl Into<String>, reason: impl Into<String>) {
        let field = field.into();
        if self.named.insert(field.clone()) {
            self.reasons.push((field, reason.into()));
        }
    }

    /// Names an entry of `custom_fields` (`details.custom_fields`).
    pub fn add_custom_field(&mut self, key: impl Into<String>, reason: &str) {
        self.custom_fields.push(key.into());
        self.hint = Some(
            "Keys of custom_fields are ids of active fields from GET /api/v1/custom-fields; values \
             are strings of at most 500 characters.",
        );
        self.add("custom_fields", reason);
    }

    /// Names an entry of `list_ids` (`details.list_ids`).
    pub fn add_list_id(&mut self, entry: impl Into<String>, reason: &str) {
        self.list_ids.push(entry.into());
        self.add("list_ids", reason);
    }

    /// Adds all that `other` names.
    pub fn merge(&mut self, other: Self) {
        for (field, reason) in other.reasons {
            self.add(field, reason);
        }
        self.custom_fields.extend(other.custom_fields);
        self.list_ids.extend(other.list_ids);
        self.hint = self.hint.or(other.hint);
    }

    /// The same problems, with every field named as one of `parent`.
    #[must_use]
    pub fn within(mut self, prefix: &str) -> Self {
        for (field, _) in &mut self.reasons {
            *field = format!("{prefix}.{field}");
        }
        self.named = self.fields().map(str::to_owned).collect();
        self
    }

    /// One problem on its own.
    pub fn of(field: impl Into<String>, reason: impl Into<String>) -> Self {
        let mut problems = Self::new();
        problems.add(field, reason);
        problems
    }

    /// `Ok` when nothing is wrong.
    pub fn into_result(self) -> Result<(), Self> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }

    /// The offending fields, in the order they were found.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.reasons.iter().map(|(field, _)| field.as_str())
    }

    fn summary(&self) -> String {
        match self.reasons.as_slice() {
            [] => "the body is acceptable".to_owned(),
            [(field, reason)] => format!("{field}: {reason}"),
            [(field, reason), rest @ ..] => {
                format!("{field}: {reason} (and {} more)", rest.len())
            }
        }
    }
}

impl Rejection for Problems {
    fn code(&self) -> Code {
        Code::ValidationError
    }

    fn details(&self) -> Option<Map<String, Value>> {
        let reasons: Map<String, Value> =
            self.reasons.iter().map(|(field, reason)| (field.clone(), json!(reason))).collect();
        let fields: Vec<&str> = self.fields().collect();
        let mut details = object([("fields", json!(fields)), ("reasons", reasons.into())]);
        if !self.custom_fields.is_empty() {
            details.insert("custom_fields".to_owned(), json!(self.custom_fields));
        }
        if !self.list_ids.is_empty() {
            details.insert("list_ids".to_owned(), json!(self.list_ids));
        }
        if let Some(hint) = self.hint {
            details.insert("hint".to_owned(), json!(hint));
        }
        Some(details)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_of_a_field_stays_whoever_names_it_again() {
        let mut problems = Problems::of("name", "is too long").within("contact");
        problems.add("contact.name", "is required");
        problems.merge(Problems::of("contact.name", "must be a string"));
        problems.add("name", "is required");
        let fields: Vec<&str> = problems.fields().collect();
        assert_eq!(fields, ["contact.name", "name"]);
        assert_eq!(problems.to_string(), "contact.name: is too long (and 1 more)");
    }

    #[test]
    fn as_many_problems_as_a_body_can_hold_are_collected_at_once() {
        // A linear search for each of them would take minutes.
        let many = || (0..200_000).map(|n| format!("{n:x}"));
        let mut problems = Problems::new();
        many().for_each(|field| problems.add(field, "is not a known field"));
        let mut twice = problems.clone();
        twice.merge(problems);
        assert_eq!(twice.fields().count(), many().count());
    }
}
