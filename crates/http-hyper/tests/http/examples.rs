//! The OpenAPI document against the service: every example is accepted as it stands, and no answer
//! has a field that is not documented.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::site::{Site, TOKEN};

/// The contact that examples speak of.
const EXAMPLE_CONTACT: &str = "01939b5e-0000-7000-8000-000000000001";

fn document() -> Value {
    serde_json::from_str(&recado_http_hyper::openapi()).expect("JSON")
}

/// The names of all properties that a schema documents, following references.
fn properties(document: &Value, schema: &Value, found: &mut BTreeSet<String>) {
    if let Some(target) = schema["$ref"].as_str() {
        let target = document.pointer(target.trim_start_matches('#')).expect("a schema");
        return properties(document, target, found);
    }
    for part in ["allOf", "oneOf"] {
        for schema in schema[part].as_array().into_iter().flatten() {
            properties(document, schema, found);
        }
    }
    for name in schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name) {
        found.insert(name.clone());
    }
}

fn check_documented(document: &Value, what: &str, schema: &Value, answer: &Value) {
    let answer = match answer {
        Value::Array(items) => match items.first() {
            Some(first) => return check_documented(document, what, &schema["items"], first),
            None => return,
        },
        answer => answer,
    };
    let Some(fields) = answer.as_object() else { return };
    let mut known = BTreeSet::new();
    properties(document, schema, &mut known);
    for name in fields.keys() {
        assert!(known.contains(name), "{what} answers {name}, which is not documented");
    }
}

fn schema_of<'a>(operation: &'a Value, status: u16, field: &str) -> &'a Value {
    &operation["responses"][status.to_string()]["content"]["application/json"]["schema"]["properties"]
        [field]
}

#[tokio::test]
async fn every_example_is_accepted_and_every_answer_documented() {
    let site = Site::new().await;
    let document = document();
    let contact = site.company("POST", "/contacts", r#"{"phone":"+5511900000001"}"#).await.data();
    let contact = contact["id"].as_str().expect("an id").to_owned();
    let mut made: BTreeMap<String, String> = BTreeMap::new();
    let mut tried = 0;
    // What is made first can be changed later.
    for method in ["post", "patch"] {
        for (path, item) in document["paths"].as_object().expect("paths") {
            let operation = &item[method];
            let example = &operation["requestBody"]["content"]["application/json"]["example"];
            if example.is_null() {
                continue;
            }
            let collection = path.split("/{id}").next().expect("a path");
            let id = made.get(collection).cloned().unwrap_or_default();
            let company = site.kit.company.id.to_string();
            let url = path.replace("{company_id}", &company).replace("{id}", &id);
            let bearer = match path.starts_with("/operator") {
                true => format!("Authorization: Bearer {TOKEN}\r\n"),
                false => site.bearer(),
            };
            let body = example.to_string().replace(EXAMPLE_CONTACT, &contact);
            let method = method.to_uppercase();
            let reply = site.send(&method, &url, &bearer, body.as_bytes()).await;
            let what = format!("{method} {path}");
            assert!(matches!(reply.status, 200 | 201), "{what}: {}", reply.json());
            let data = reply.data();
            check_documented(&document, &what, schema_of(operation, reply.status, "data"), &data);
            let id = data["id"].as_str().or_else(|| data["contact"]["id"].as_str());
            if let Some(id) = id.filter(|_| !path.contains("/{id}")) {
                made.insert(path.clone(), id.to_owned());
            }
            tried += 1;
        }
    }
    assert!(tried > 20, "only {tried} examples were found");

    for (path, item) in document["paths"].as_object().expect("paths") {
        let operation = &item["get"];
        let collection = path.split("/{id}").next().expect("a path");
        if operation.is_null() || path.contains("{document_id}") || path.contains("{code}") {
            continue;
        }
        let company = site.kit.company.id.to_string();
        let id = made.get(collection).cloned().unwrap_or_default();
        let url = path.replace("{company_id}", &company).replace("{id}", &id);
        let url = match path.as_str() {
            "/api/v1/contacts" => format!("{url}?include=link_clicks"),
            "/api/v1/contacts/{id}" => format!("{url}?include=profile"),
            _ => url,
        };
        let bearer = match path.starts_with("/operator") {
            true => format!("Authorization: Bearer {TOKEN}\r\n"),
            false => site.bearer(),
        };
        let reply = site.send("GET", &url, &bearer, b"").await;
        if path.contains("organizations/{id}") {
            continue;
        }
        assert_eq!(reply.status, 200, "{path}");
        if operation["responses"]["200"]["content"]["application/json"]["schema"]["properties"]
            .is_object()
        {
            let data = reply.data();
            check_documented(&document, path, schema_of(operation, 200, "data"), &data);
        }
    }
}
