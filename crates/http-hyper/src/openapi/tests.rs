//! What has to hold for the document, as far as it can be seen without other tools.

use std::collections::BTreeSet;

use recado_core::access::{OperatorAction, OperatorRole};

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
    let example = &schema["example"];
    let lacks_items = example.as_array().is_some_and(|items| items.contains(&Value::Null));
    (!example.is_null() && !lacks_items)
        || schema["properties"].is_object()
        || target.is_some_and(|target| has_example(document, target))
        || (schema["items"].is_object() && has_example(document, &schema["items"]))
        || parts.into_iter().flatten().flatten().any(|part| has_example(document, part))
}

/// Every operation of the paths, with its place.
fn operations(document: &Value) -> impl Iterator<Item = (String, &Value)> {
    let paths = document["paths"].as_object().expect("paths");
    paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().expect("operations").iter();
        methods.map(move |(method, operation)| (format!("{method} {path}"), operation))
    })
}

#[test]
fn every_operation_says_its_feature_and_who_may_call_it() {
    let document = document();
    let described: BTreeSet<&str> = document["tags"]
        .as_array()
        .expect("tags")
        .iter()
        .filter(|tag| tag["description"].as_str().is_some_and(|text| !text.is_empty()))
        .map(|tag| tag["name"].as_str().expect("a name"))
        .collect();
    let mut used = BTreeSet::new();
    for (what, operation) in operations(&document) {
        let tags = operation["tags"].as_array().expect("tags");
        assert_eq!(tags.len(), 1, "{what}");
        let tag = tags[0].as_str().expect("a tag");
        assert!(described.contains(tag), "{what}: the tag {tag} is not described");
        used.insert(tag);
        let security = operation["security"].as_array().expect("who may call it");
        let is_open = !what.contains(" /api/v1/") && !what.contains(" /operator/");
        let has_secret = what.contains("/incoming/");
        assert_eq!(security.is_empty(), is_open && !has_secret, "{what}");
        assert!(operation["description"].is_string(), "{what}");
    }
    assert_eq!(used, described);
    assert!(document["servers"][0]["url"].is_string());
}

#[test]
fn every_answer_with_a_body_has_a_schema() {
    let document = document();
    let mut bodies = 0;
    for (what, operation) in operations(&document) {
        for (status, response) in operation["responses"].as_object().expect("responses") {
            let shared = response["$ref"].as_str().and_then(|to| document.pointer(&to[1..]));
            let content = shared.unwrap_or(response)["content"].as_object();
            for (kind, content) in content.into_iter().flatten() {
                bodies += 1;
                let schema = content["schema"].as_object();
                assert!(schema.is_some_and(|s| !s.is_empty()), "{what} {status} {kind}");
            }
            let is_empty = content.is_none();
            assert!(!is_empty || !status.starts_with('2'), "{what} {status} has no body");
        }
    }
    assert!(bodies > 500, "only {bodies} bodies were found");
}

/// D37.
#[test]
fn calls_that_may_be_repeated_have_the_header_for_it() {
    let document = document();
    let repeated: Vec<String> = operations(&document)
        .filter(|(_, operation)| {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            parameters.into_iter().any(|one| one["name"] == recado_core::idempotency::HEADER)
        })
        .map(|(what, _)| what)
        .collect();
    let all = crate::router::all().filter(|route| route.idempotent);
    let method = |route: &crate::route::Route| (route.method)().as_str().to_ascii_lowercase();
    let mut expected: Vec<String> =
        all.map(|route| format!("{} {}", method(route), route.path)).collect();
    let by_path = |what: &String| what.split(' ').rev().map(str::to_owned).collect::<Vec<_>>();
    expected.sort_by_key(by_path);
    assert!(repeated.contains(&"post /api/v1/contacts".to_owned()), "{repeated:?}");
    assert_eq!(repeated, expected);
}

/// R277.
#[test]
fn every_event_is_a_webhook_with_the_schema_of_its_data() {
    use recado_core::events::EventType;
    let document = document();
    let webhooks = document["webhooks"].as_object().expect("webhooks");
    assert_eq!(webhooks.len(), EventType::ALL.len());
    for event in EventType::ALL {
        let body = &webhooks[event.as_str()]["post"]["requestBody"]["content"];
        let body = body["application/json"]["schema"]["$ref"].as_str().expect("a schema");
        let body = document.pointer(&body[1..]).expect("a schema");
        assert_eq!(body["properties"]["event"]["const"], event.as_str());
        let data = body["properties"]["data"]["$ref"].as_str().expect("the data");
        assert!(document.pointer(&data[1..]).is_some(), "{data}");
        assert_eq!(body["required"].as_array().map(Vec::len), Some(5), "{body}");
    }
}

/// R380.
#[test]
fn the_page_of_the_operator_api_lists_each_action_under_its_least_role() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pages/operator-api.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let (_, section) = page.split_once("### Who may do what\n").expect("the section");
    let roles = section.split("\n- **`").skip(1).map(|part| {
        let (role, actions) = part.split_once("`**: ").expect("a role");
        let actions = actions.split("\n\n").next().expect("a paragraph");
        actions.split('`').skip(1).step_by(2).map(move |action| (role, action))
    });
    let listed: Vec<(&str, &str)> = roles.take(OperatorRole::ALL.len()).flatten().collect();
    let actions = OperatorAction::ALL.iter();
    let known = actions.map(|action| (action.least_role().as_str(), action.as_str()));
    assert_eq!(listed, known.collect::<Vec<_>>());
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

/// R278.
#[test]
fn the_generated_clients_make_every_call() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/clients/calls.jsonl");
    let lines = std::fs::read_to_string(path).expect("the calls of the clients");
    let called: BTreeSet<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a call"))
        .map(|call| call["call"].as_str().expect("the id of an operation").to_owned())
        .collect();
    let document = document();
    let known: BTreeSet<String> = operations(&document)
        .map(|(_, operation)| operation["operationId"].as_str().expect("an id").to_owned())
        .collect();
    assert_eq!(called, known, "tests/clients/calls.jsonl needs a line for each operation");
}

/// R278.
#[test]
fn operations_have_names_that_are_good_in_programs() {
    for (what, operation) in operations(&document()) {
        let id = operation["operationId"].as_str().expect("an id");
        let is_word = |c: char| c.is_ascii_alphanumeric();
        assert!(
            id.starts_with(|c: char| c.is_ascii_lowercase()) && id.chars().all(is_word),
            "{id}"
        );
        // A verb alone says nothing of what it is about.
        assert!(id == "redeliver" || id.contains(|c: char| c.is_ascii_uppercase()), "{what}: {id}");
    }
}

/// R278.
#[test]
fn no_part_of_an_object_is_a_choice() {
    fn look(document: &Value, place: &str, value: &Value) {
        for part in value["allOf"].as_array().into_iter().flatten() {
            let target = part["$ref"].as_str().and_then(|to| document.pointer(&to[1..]));
            let target = target.unwrap_or(part);
            assert!(target["oneOf"].is_null(), "{place}: generators do not understand {part}");
        }
        match value {
            Value::Object(object) => {
                object.iter().for_each(|(name, inner)| look(document, name, inner));
            }
            Value::Array(values) => values.iter().for_each(|inner| look(document, place, inner)),
            _ => {}
        }
    }
    let document = document();
    look(&document, "", &document);
}
