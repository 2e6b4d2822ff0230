//! All problems of a body, collected so that one answer names all of them (D8).

use serde_json::{Map, Value, json};

use crate::code::Code;
use crate::error::{Rejection, object};

/// The most fields that are named, and the most entries of `custom_fields` and of `list_ids`; the
/// others are counted (R171).
pub(crate) const MAX_NAMED: usize = 50;
/// The most characters of a name that the caller chose.
const MAX_NAME_CHARS: usize = 100;

/// The offending fields of a body, with reasons. Empty means acceptable. At most fifty
/// fields are named, since a body may have very many; the others are counted.
///
/// R171.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.summary())]
pub struct Problems {
    /// At most [`MAX_NAMED`], so that a field is found by looking at each.
    reasons: Vec<(String, String)>,
    /// How many fields are not named.
    unnamed: usize,
    custom_fields: Entries,
    list_ids: Entries,
    hint: Option<&'static str>,
}

/// Offending entries of one field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entries {
    named: Vec<String>,
    /// How many are not named.
    unnamed: usize,
}

impl Entries {
    fn add(&mut self, entry: &str) {
        if self.named.len() < MAX_NAMED {
            self.named.push(shortened(entry));
        } else {
            self.unnamed += 1;
        }
    }

    fn merge(&mut self, other: Self) {
        other.named.iter().for_each(|entry| self.add(entry));
        self.unnamed += other.unnamed;
    }

    fn is_empty(&self) -> bool {
        self.named.is_empty()
    }
}

/// A name that the caller chose, of bounded length.
fn shortened(name: &str) -> String {
    match name.char_indices().nth(MAX_NAME_CHARS) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
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
        if self.fields().any(|named| named == field) {
            return;
        }
        if self.reasons.len() >= MAX_NAMED {
            self.unnamed += 1;
        } else {
            self.reasons.push((field, reason.into()));
        }
    }

    /// Names a key of the body that no field has.
    pub fn add_unknown(&mut self, key: &str) {
        if self.reasons.len() >= MAX_NAMED {
            self.unnamed += 1;
        } else {
            self.add(shortened(key), "is not a known field");
        }
    }

    /// Names an entry of `custom_fields` (`details.custom_fields`).
    pub fn add_custom_field(&mut self, key: impl AsRef<str>, reason: &str) {
        let first = self.custom_fields.is_empty();
        self.custom_fields.add(key.as_ref());
        self.hint = Some(
            "Keys of custom_fields are ids of active fields from GET /api/v1/custom-fields; values \
             are strings of at most 500 characters.",
        );
        if first {
            self.add("custom_fields", reason);
        }
    }

    /// Names an entry of `list_ids` (`details.list_ids`).
    pub fn add_list_id(&mut self, entry: impl AsRef<str>, reason: &str) {
        let first = self.list_ids.is_empty();
        self.list_ids.add(entry.as_ref());
        if first {
            self.add("list_ids", reason);
        }
    }

    /// Adds all that `other` names.
    pub fn merge(&mut self, other: Self) {
        for (field, reason) in other.reasons {
            self.add(field, reason);
        }
        self.unnamed += other.unnamed;
        self.custom_fields.merge(other.custom_fields);
        self.list_ids.merge(other.list_ids);
        self.hint = self.hint.or(other.hint);
    }

    /// The same problems, with every field named as one of `parent`.
    #[must_use]
    pub fn within(mut self, prefix: &str) -> Self {
        for (field, _) in &mut self.reasons {
            *field = format!("{prefix}.{field}");
        }
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

    /// The offending fields that are named, in the order they were found.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.reasons.iter().map(|(field, _)| field.as_str())
    }

    fn summary(&self) -> String {
        match self.reasons.as_slice() {
            [] => "the body is acceptable".to_owned(),
            [(field, reason)] => format!("{field}: {reason}"),
            [(field, reason), rest @ ..] => {
                format!("{field}: {reason} (and {} more)", rest.len() + self.unnamed)
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
            details.insert("custom_fields".to_owned(), json!(self.custom_fields.named));
        }
        if !self.list_ids.is_empty() {
            details.insert("list_ids".to_owned(), json!(self.list_ids.named));
        }
        let unnamed = [
            ("fields", self.unnamed),
            ("custom_fields", self.custom_fields.unnamed),
            ("list_ids", self.list_ids.unnamed),
        ];
        let more: Map<String, Value> = unnamed
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| (name.to_owned(), json!(count)))
            .collect();
        if !more.is_empty() {
            details.insert("more".to_owned(), more.into());
        }
        if let Some(hint) = self.hint {
            details.insert("hint".to_owned(), json!(hint));
        }
        Some(details)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::*;
    use crate::input::Input;

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

    /// R171.
    #[test]
    fn of_very_many_problems_fifty_are_named_and_the_others_counted() {
        let mut problems = Problems::new();
        (0..200_000).for_each(|n| problems.add(format!("{n:x}"), "is wrong"));
        for entry in 0..60 {
            problems.add_custom_field("x".repeat(100_000), "is not an active field");
            problems.add_list_id(entry.to_string(), "is not an id");
        }
        let details = problems.details().expect("details");
        for (name, more) in [("fields", 199_952), ("custom_fields", 10), ("list_ids", 10)] {
            let named = details[name].as_array().map(Vec::len);
            assert_eq!((named, &details["more"][name]), (Some(50), &json!(more)), "{name}");
        }
        assert_eq!(details["reasons"].as_object().map(Map::len), Some(50));
        assert!(json!(details).to_string().len() < 50_000);
        assert!(problems.to_string().ends_with("(and 200001 more)"), "{problems}");

        let mut twice = problems.clone();
        twice.merge(problems);
        let details = twice.details().expect("details");
        assert_eq!(details["fields"].as_array().map(Vec::len), Some(50));
        assert_eq!(details["more"]["custom_fields"], json!(70));
    }

    /// R171.
    #[test]
    fn fifty_problems_are_all_named() {
        let mut problems = Problems::new();
        (0..50).for_each(|n| problems.add_unknown(&n.to_string()));
        let details = problems.details().expect("details");
        assert_eq!(details["fields"].as_array().map(Vec::len), Some(50));
        assert_eq!(details.get("more"), None);
    }

    proptest! {
        /// R171.
        #[test]
        fn every_unknown_key_is_named_or_counted(keys in btree_set("[a-zç]{1,3}|é{99,102}", 0..120)) {
            let body: Map<String, Value> =
                keys.iter().map(|key| (key.clone(), Value::Null)).collect();
            let problems = Input::new(&body).finish();
            let details = problems.details().expect("details");
            let named = details["fields"].as_array().map_or(0, Vec::len);
            let more = details.get("more").map_or(0, |more| more["fields"].as_u64().unwrap_or(0));
            prop_assert!(named <= MAX_NAMED);
            // Keys of more than a hundred characters may begin alike.
            let alike = keys.iter().filter(|key| key.chars().count() > 100).count();
            let counted = named + more as usize;
            prop_assert!(counted <= keys.len() && counted + alike.saturating_sub(1) >= keys.len());
            prop_assert_eq!(problems.is_empty(), keys.is_empty());
        }
    }
}
