//! Which part of a body goes into which field: `variable_mapping` (4.9, D46, D46a).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::custom_fields::is_slug;
use crate::form::{Form, to_json};
use crate::json_path::JsonPath;

/// The most keys of a mapping (D46a).
pub const MAX_KEYS: usize = 100;

/// The keys that name the contact's name, the canonical one first (4.9).
pub(super) const NAME_KEYS: [&str; 2] = ["first_name", "name"];
/// The keys that name the phone, the canonical one first (4.9).
pub(super) const PHONE_KEYS: [&str; 2] = ["phone_number", "phone"];
/// The keys of native fields, those of 4.3; every other key is the slug of a custom field (D46).
pub(super) const NATIVE_KEYS: [&str; 12] = [
    "email",
    "birthday",
    "observation",
    "cpf",
    "rg",
    "genero",
    "estado_civil",
    "profissao",
    "city",
    "state",
    "postal_code",
    "cnpj",
];

/// JSONPath expressions by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariableMapping(BTreeMap<String, String>);

impl VariableMapping {
    /// Reads a mapping: at most 100 keys, a phone key among them, every expression RFC 9535.
    ///
    /// # Errors
    ///
    /// What is wrong with it, naming the key.
    pub fn read(value: &Value) -> Result<Self, String> {
        let entries =
            value.as_object().ok_or("must be an object of JSONPath expressions by key")?;
        if entries.len() > MAX_KEYS {
            return Err(format!("may have at most {MAX_KEYS} keys"));
        }
        let mut mapping = BTreeMap::new();
        for (key, expression) in entries {
            let text = expression.as_str().ok_or_else(|| format!("{key} must be a string"))?;
            JsonPath::parse(text).map_err(|error| format!("{key} {error}"))?;
            if !is_native(key) && !is_slug(key) {
                let form = "1 to 100 letters, digits, '_', '-' or '.'";
                return Err(format!("the key {} is no slug: {form}", shown(key)));
            }
            mapping.insert(key.clone(), text.to_owned());
        }
        if !PHONE_KEYS.iter().any(|key| mapping.contains_key(*key)) {
            return Err("needs a key phone_number (or phone)".to_owned());
        }
        Ok(Self(mapping))
    }

    /// A mapping as a store keeps it.
    pub const fn from_stored(entries: BTreeMap<String, String>) -> Self {
        Self(entries)
    }

    /// The expressions by key.
    pub const fn entries(&self) -> &BTreeMap<String, String> {
        &self.0
    }

    /// The slugs of custom fields that it names.
    pub fn slugs(&self) -> BTreeSet<&str> {
        self.0.keys().map(String::as_str).filter(|key| !is_native(key)).collect()
    }
}

fn is_native(key: &str) -> bool {
    NAME_KEYS.contains(&key) || PHONE_KEYS.contains(&key) || NATIVE_KEYS.contains(&key)
}

/// A key for an error message, shortened.
fn shown(key: &str) -> String {
    key.chars().take(100).collect()
}

to_json!(VariableMapping, |mapping| serde_json::json!(mapping.entries()));

impl Form for VariableMapping {
    type Value = Self;

    fn read(value: &Value) -> Result<Self, String> {
        Self::read(value)
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::texts_by_name()
    }
}
