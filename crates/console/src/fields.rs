//! The fields of a query or a form, and the JSON body that a use case reads.

use recado_core::query::Params;
use serde_json::{Map, Value};

/// The fields of a query or a form, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads `a=b&c=d`.
    pub(crate) fn parse(text: &[u8]) -> Self {
        Self(form_urlencoded::parse(text).into_owned().collect())
    }

    /// These fields.
    pub(crate) const fn new(pairs: Vec<(String, String)>) -> Self {
        Self(pairs)
    }

    /// The first field of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The first field of a name, unless it is blank.
    pub(crate) fn filled(&self, name: &str) -> Option<&str> {
        self.get(name).map(str::trim).filter(|value| !value.is_empty())
    }

    /// Every field of a name.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// All of them.
    pub(crate) fn pairs(&self) -> &[(String, String)] {
        &self.0
    }

    /// The parameters of these names that are filled, for the parsers of the core.
    pub(crate) fn params(&self, names: &[&str]) -> Params {
        let kept = self
            .0
            .iter()
            .filter(|(name, value)| names.contains(&name.as_str()) && !value.trim().is_empty());
        Params::new(kept.cloned().collect())
    }

    /// A query with one field replaced, or left out where the value is empty. Begins with `?`.
    pub(crate) fn with(&self, name: &str, value: &str) -> String {
        let mut query = form_urlencoded::Serializer::for_suffix(String::from("?"), 1);
        for (known, value) in
            self.0.iter().filter(|(known, value)| known != name && !value.is_empty())
        {
            query.append_pair(known, value);
        }
        if !value.is_empty() {
            query.append_pair(name, value);
        }
        query.finish()
    }

    /// A JSON body made of these fields.
    pub(crate) fn body(&self) -> FormBody<'_> {
        FormBody { fields: self, body: Map::new() }
    }
}

/// Makes a JSON body out of a form, field by field.
pub(crate) struct FormBody<'a> {
    fields: &'a Fields,
    body: Map<String, Value>,
}

impl FormBody<'_> {
    /// A text as it was written.
    pub(crate) fn text(self, name: &str) -> Self {
        let value = self.fields.get(name).map(Value::from);
        self.put(name, value)
    }

    /// A text; a blank one is left out.
    pub(crate) fn optional(self, name: &str) -> Self {
        let value = self.fields.filled(name).map(Value::from);
        self.put(name, value)
    }

    /// A text; a blank one removes what there is.
    pub(crate) fn clearable(self, name: &str) -> Self {
        let value = self.fields.get(name);
        let value = value.map(|text| match text.trim() {
            "" => Value::Null,
            _ => Value::from(text),
        });
        self.put(name, value)
    }

    /// A number; what is none stays a text, which the use case refuses.
    pub(crate) fn number(self, name: &str) -> Self {
        let value = self.fields.filled(name).map(|text| {
            serde_json::from_str::<serde_json::Number>(text)
                .map_or_else(|_| Value::from(text), Value::from)
        });
        self.put(name, value)
    }

    /// Whether a box is checked.
    pub(crate) fn checked(self, name: &str) -> Self {
        let value = Value::from(self.fields.get(name).is_some());
        self.put(name, Some(value))
    }

    /// Every filled field of a name.
    pub(crate) fn list(self, name: &str) -> Self {
        let all = self.fields.all(name).filter(|value| !value.trim().is_empty());
        let value = Value::from(all.collect::<Vec<_>>());
        self.put(name, Some(value))
    }

    /// This value.
    pub(crate) fn put(mut self, name: &str, value: Option<Value>) -> Self {
        if let Some(value) = value {
            self.body.insert(name.to_owned(), value);
        }
        self
    }

    /// The body.
    pub(crate) fn finish(self) -> Map<String, Value> {
        self.body
    }
}
