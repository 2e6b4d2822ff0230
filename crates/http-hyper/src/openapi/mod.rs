//! The OpenAPI 3.1 document: made from the table of routes and from the schemas of the types in
//! requests and answers, so that it lists exactly the paths that are served.
//!
//! It is made by the tests, which compare it with `openapi.json`; what is served is that file. So
//! programs that embed this crate do not compile a generator of schemas.

pub(crate) mod bodies;
#[cfg(test)]
mod descriptions;
#[cfg(test)]
mod document;
#[cfg(test)]
mod events;
#[cfg(test)]
mod examples;
mod gateways;
#[cfg(test)]
mod names;
mod operation;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod tags;

pub(crate) use operation::{Operation, ParamKind, QueryParam};
use recado_core::connections::GatewayView;
use serde_json::Value;

/// The document without the parts that differ between processes.
const WRITTEN: &str = include_str!("../../openapi.json");

/// The OpenAPI 3.1 document of the public API and the operator API, as JSON: for a process with
/// these gateways, whose names and settings it lists.
pub fn openapi(gateways: &[GatewayView]) -> String {
    let mut document: Value = serde_json::from_str(WRITTEN).expect("the reviewed document is JSON");
    gateways::add(&mut document, gateways);
    document.to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn document() -> Value {
        document::build()
    }

    /// Set `RECADO_UPDATE_OPENAPI=1` to write the document anew; then review the difference.
    #[test]
    fn the_document_is_the_reviewed_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
        let mut made = serde_json::to_string_pretty(&document()).expect("JSON");
        made.push('\n');
        if std::env::var_os("RECADO_UPDATE_OPENAPI").is_some() {
            std::fs::write(path, &made).expect("the snapshot can be written");
        }
        let reviewed = std::fs::read_to_string(path).expect("the snapshot is there");
        assert!(
            reviewed == made,
            "the document differs from openapi.json; \
             set RECADO_UPDATE_OPENAPI=1, run this test, and review the difference"
        );
    }

    #[test]
    fn no_json_is_documented_as_a_string_of_bytes() {
        fn contents(value: &Value, found: &mut Vec<Value>) {
            match value {
                Value::Object(object) => {
                    found.extend(object.get("application/json").cloned());
                    object.values().for_each(|value| contents(value, found));
                }
                Value::Array(values) => values.iter().for_each(|value| contents(value, found)),
                _ => {}
            }
        }
        let mut found = Vec::new();
        contents(&document(), &mut found);
        assert!(!found.is_empty());
        for content in found {
            assert_ne!(content["schema"]["format"], "binary", "{content}");
        }
    }

    #[test]
    fn the_document_is_openapi_3_1() {
        let parsed: utoipa::openapi::OpenApi =
            serde_json::from_value(document()).expect("an OpenAPI document");
        assert_eq!(document()["openapi"], "3.1.0");
        assert_eq!(parsed.paths.paths.len(), document()["paths"].as_object().expect("paths").len());
    }

    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(object) => {
                if let Some(Value::String(target)) = object.get("$ref") {
                    found.insert(target.clone());
                }
                object.values().for_each(|value| references(value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_leads_somewhere_and_every_schema_is_used() {
        let document = document();
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        for target in &found {
            let pointer = target.trim_start_matches('#');
            assert!(document.pointer(pointer).is_some(), "{target} leads nowhere");
        }
        for name in document["components"]["schemas"].as_object().expect("schemas").keys() {
            assert!(found.contains(&format!("#/components/schemas/{name}")), "{name} is unused");
        }
    }

    /// Every property of the document, by its place.
    fn properties(value: &Value, place: &str, found: &mut Vec<(String, Value)>) {
        match value {
            Value::Object(object) => {
                for (name, value) in object {
                    let place = format!("{place}/{name}");
                    if name == "properties" {
                        for (name, property) in value.as_object().expect("properties") {
                            found.push((format!("{place}/{name}"), property.clone()));
                        }
                    }
                    if name != "example" {
                        properties(value, &place, found);
                    }
                }
            }
            Value::Array(values) => {
                for (at, value) in values.iter().enumerate() {
                    properties(value, &format!("{place}/{at}"), found);
                }
            }
            _ => {}
        }
    }

    /// Whether a schema has an example, itself or by what it refers to or consists of.
    fn has_example(document: &Value, schema: &Value) -> bool {
        let target = schema["$ref"].as_str().and_then(|to| document.pointer(&to[1..]));
        let parts = ["oneOf", "anyOf", "allOf"].map(|choice| schema[choice].as_array());
        !schema["example"].is_null()
            || schema["properties"].is_object()
            || target.is_some_and(|target| has_example(document, target))
            || (schema["items"].is_object() && has_example(document, &schema["items"]))
            || parts.into_iter().flatten().flatten().any(|part| has_example(document, part))
    }

    /// R275.
    #[test]
    fn every_property_has_a_description_and_an_example() {
        let document = document();
        let mut found = Vec::new();
        properties(&document, "", &mut found);
        assert!(found.len() > 1000, "only {} properties were found", found.len());
        let lacking = |has: &dyn Fn(&Value) -> bool| -> Vec<&str> {
            let lacking = found.iter().filter(|(_, property)| !has(property));
            lacking.map(|(place, _)| place.as_str()).collect()
        };
        let undescribed =
            lacking(&|property| property["description"].as_str().is_some_and(|d| !d.is_empty()));
        assert!(undescribed.is_empty(), "without a description: {undescribed:#?}");
        let bare = lacking(&|property| has_example(&document, property));
        assert!(bare.is_empty(), "without an example: {bare:#?}");
    }

    #[test]
    fn operation_ids_are_unique_and_every_operation_has_a_summary() {
        let document = document();
        let mut ids = BTreeSet::new();
        for (path, item) in document["paths"].as_object().expect("paths") {
            for operation in item.as_object().expect("operations").values() {
                let id = operation["operationId"].as_str().expect("an id");
                assert!(ids.insert(id.to_owned()), "{id} is there twice");
                assert!(!operation["summary"].as_str().expect("a summary").is_empty(), "{path}");
            }
        }
    }
}
