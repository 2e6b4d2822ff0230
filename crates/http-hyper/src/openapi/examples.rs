//! Examples of properties (R275): made from the schema, and where this says nothing, from the name,
//! so that one name has one example in all bodies and answers.

use serde_json::{Map, Value, json};

use super::descriptions::{each_property, not_null};
use super::names;

/// Gives every property with a value of its own its example, and every schema one that is made of
/// them.
pub(super) fn complete(document: &mut Value) {
    let schemas = document["components"]["schemas"].clone();
    let maker = Maker { schemas: &schemas };
    each_property(document, "", &mut |owner, name, property| {
        if property.get("example").is_none() && !maker.is_composed(property) {
            property["example"] = maker.example(owner, name, property);
        }
    });
    let schemas = document["components"]["schemas"].clone();
    let maker = Maker { schemas: &schemas };
    let all = document["components"]["schemas"].as_object_mut().expect("schemas");
    for (name, schema) in all.iter_mut().filter(|(_, schema)| schema.get("example").is_none()) {
        schema["example"] = maker.example(name, "", schema);
    }
}

/// Makes examples of schemas.
struct Maker<'a> {
    schemas: &'a Value,
}

impl Maker<'_> {
    fn named<'b>(&'b self, schema: &'b Value) -> Option<(&'b str, &'b Value)> {
        let name = schema["$ref"].as_str()?.rsplit('/').next()?;
        Some((name, &self.schemas[name]))
    }

    /// Whether a property is made of others, which have their examples: an object, a choice, or an
    /// array of these.
    fn is_composed(&self, property: &Value) -> bool {
        let schema = not_null(property);
        let schema = self.named(schema).map_or(schema, |(_, schema)| schema);
        let has_parts =
            ["properties", "allOf", "oneOf", "anyOf"].iter().any(|part| schema.get(part).is_some());
        has_parts || (schema["items"].is_object() && self.is_composed(&schema["items"]))
    }

    /// An example of the property `name` of the schema `owner`, or of that schema itself.
    fn example(&self, owner: &str, name: &str, schema: &Value) -> Value {
        let schema = not_null(schema);
        if let Some(example) = schema.get("example").or_else(|| schema.get("const")) {
            return example.clone();
        }
        if let Some(word) = schema["enum"].get(0) {
            return word.clone();
        }
        if let Some((component, schema)) = self.named(schema) {
            return self.example(component, name, schema);
        }
        for choice in ["oneOf", "anyOf"] {
            if let Some(first) = schema[choice].get(0) {
                return self.example(owner, name, first);
            }
        }
        if let Some(parts) = schema["allOf"].as_array() {
            let parts = parts.iter().map(|part| self.example(owner, name, part));
            let own = self.object(owner, schema);
            return parts
                .filter_map(into_object)
                .chain([own])
                .flatten()
                .collect::<Map<_, _>>()
                .into();
        }
        if schema["properties"].is_object() {
            return self.object(owner, schema).into();
        }
        names::examples(owner, name)
            .find(|example| is_of_type(schema, example))
            .unwrap_or_else(|| self.by_type(owner, name, schema))
    }

    fn object(&self, owner: &str, schema: &Value) -> Map<String, Value> {
        let properties = schema["properties"].as_object().into_iter().flatten();
        let example =
            |(name, schema): (&String, &Value)| (name.clone(), self.example(owner, name, schema));
        properties.map(example).collect()
    }

    fn by_type(&self, owner: &str, name: &str, schema: &Value) -> Value {
        match schema["format"].as_str() {
            Some("uuid") => return names::id(owner).into(),
            Some("date-time") => return "2026-11-20T17:31:36.123Z".into(),
            Some("date") => return "1990-05-17".into(),
            Some("uri") => return "https://example.com".into(),
            _ => {}
        }
        if may_be(schema, "boolean") {
            return true.into();
        }
        if may_be(schema, "integer") || may_be(schema, "number") {
            return schema.get("minimum").cloned().unwrap_or(json!(1));
        }
        if may_be(schema, "array") {
            return json!([self.example(owner, name, &schema["items"])]);
        }
        if may_be(schema, "object") {
            return json!({});
        }
        // A text: the tests report that its name has no example.
        Value::Null
    }
}

/// Whether the schema says that it may have this type.
fn may_be(schema: &Value, wanted: &str) -> bool {
    match &schema["type"] {
        Value::String(name) => name == wanted,
        Value::Array(names) => names.iter().any(|name| name == wanted),
        _ => false,
    }
}

fn is_of_type(schema: &Value, example: &Value) -> bool {
    match example {
        Value::String(_) => may_be(schema, "string") && schema.get("format").is_none(),
        Value::Number(_) => may_be(schema, "number") || may_be(schema, "integer"),
        Value::Array(items) => {
            let is_item = |item| is_of_type(&schema["items"], item);
            may_be(schema, "array") && items.iter().all(is_item)
        }
        Value::Object(_) => may_be(schema, "object"),
        Value::Bool(_) | Value::Null => false,
    }
}

fn into_object(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(object) => Some(object),
        _ => None,
    }
}
