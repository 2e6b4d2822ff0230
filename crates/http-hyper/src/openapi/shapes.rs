//! Shapes of schemas that generators of clients understand (R278), in place of others that mean the
//! same.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Schemas of objects that have no property at all.
const EMPTY: [&str; 2] = ["Nothing", "TakenAnswer"];

/// Rewrites all schemas.
pub(super) fn complete(schemas: &mut BTreeMap<String, Value>) {
    let before = schemas.clone();
    let mut distributed = Vec::new();
    for schema in schemas
        .iter_mut()
        .filter(|(name, _)| !EMPTY.contains(&name.as_str()))
        .map(|(_, schema)| schema)
    {
        distributed.extend(distribute(&before, schema));
        free_objects(schema);
    }
    // Nothing else refers to them.
    schemas.retain(|name, _| !distributed.contains(name));
}

/// An object without a property may have any: that is said.
fn free_objects(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            let is_object = object.get("type").is_some_and(|name| {
                name == "object"
                    || name.as_array().is_some_and(|all| all.contains(&json!("object")))
            });
            let says = ["properties", "additionalProperties", "allOf", "oneOf", "anyOf"];
            if is_object && !says.iter().any(|key| object.contains_key(*key)) {
                object.insert("additionalProperties".to_owned(), true.into());
            }
            object.values_mut().for_each(free_objects);
        }
        Value::Array(values) => values.iter_mut().for_each(free_objects),
        _ => {}
    }
}

/// An object with the fields of one of several forms and its own becomes one of several objects
/// that have both. Answers the name of the forms, which are then a part of each.
fn distribute(schemas: &BTreeMap<String, Value>, schema: &mut Value) -> Option<String> {
    let parts = schema["allOf"].as_array();
    let [choice, own] = parts.map(Vec::as_slice).unwrap_or_default() else {
        return None;
    };
    let name = choice["$ref"].as_str()?.rsplit('/').next()?.to_owned();
    let forms = schemas[&name]["oneOf"].as_array()?;
    if !forms.iter().all(|form| form["properties"].is_object()) {
        return None;
    }
    let merged = |form: &Value| {
        let mut form = form.clone();
        let of = |part: &Value, key: &str| part[key].clone();
        let mut properties: Map<String, Value> = object(of(&form, "properties"));
        properties.extend(object(of(own, "properties")));
        let mut required = array(of(&form, "required"));
        required.extend(array(of(own, "required")));
        form["properties"] = properties.into();
        form["required"] = required.into();
        form
    };
    let forms: Vec<Value> = forms.iter().map(merged).collect();
    schema["oneOf"] = forms.into();
    schema.as_object_mut()?.remove("allOf");
    Some(name)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

fn array(value: Value) -> Vec<Value> {
    match value {
        Value::Array(array) => array,
        _ => Vec::new(),
    }
}
