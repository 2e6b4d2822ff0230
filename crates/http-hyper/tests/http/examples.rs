//! The OpenAPI document against the service: every example is accepted as it stands, and no answer
//! has a field that is not documented.

use std::collections::{BTreeMap, BTreeSet};

use recado_core::gateway::{Pairing, PairingCode};
use recado_core::transport::OutboundResponse;
use serde_json::{Value, json};

use crate::provider_webhooks::calling;
use crate::site::{Reply, Site, TOKEN};

/// The ids of the records in examples.
const EXAMPLE_CONTACT: &str = "01939b5e-0000-7000-8000-000000000001";
const EXAMPLE_CONNECTION: &str = "01939b5e-0000-7000-8000-000000000002";
const EXAMPLE_DEBIT: &str = "01939b5e-0000-7000-8000-000000000003";
const EXAMPLE_MEMBER: &str = "01939b5e-0000-7000-8000-000000000004";
const EXAMPLE_TEMPLATE: &str = "01939b5e-0000-7000-8000-000000000005";
const EXAMPLE_LIST: &str = "01939b5e-0000-7000-8000-000000000006";
const EXAMPLE_OTHER: &str = "01939b5e-0000-7000-8000-000000000007";
/// The secret of the endpoint that gets the example.
const SECRET: &str = "the-secret-of-the-endpoint";
const CAMPAIGNS: &str = "/operator/v1/companies/{company_id}/campaigns";
const CONTACTS: &str = "/operator/v1/companies/{company_id}/contacts";
const DELIVERIES: &str = "/operator/v1/companies/{company_id}/deliveries";
const DEBITS: &str = "/operator/v1/companies/{company_id}/prosas/debits";

fn document() -> Value {
    serde_json::from_str(&recado_http_hyper::openapi(&[])).expect("JSON")
}

/// The names of all properties that a schema documents, following references.
fn properties(document: &Value, schema: &Value, found: &mut BTreeSet<String>) {
    let schema = resolved(document, schema);
    for part in ["allOf", "anyOf", "oneOf"] {
        for schema in schema[part].as_array().into_iter().flatten() {
            properties(document, schema, found);
        }
    }
    found.extend(
        schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()),
    );
}

fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(target) => document.pointer(target.trim_start_matches('#')).expect("a schema"),
        None => schema,
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the type {other} is not one of JSON"),
    }
}

/// Why a value does not fit a schema, as far as the document uses JSON Schema.
fn misfit(document: &Value, schema: &Value, value: &Value) -> Option<String> {
    let schema = resolved(document, schema);
    let fits = |schema: &Value| misfit(document, schema, value).is_none();
    for part in schema["allOf"].as_array().into_iter().flatten() {
        if let Some(why) = misfit(document, part, value) {
            return Some(why);
        }
    }
    let any = schema["anyOf"].as_array();
    if any.is_some_and(|any| !any.iter().any(fits)) {
        return Some(format!("{value} fits none of {any:?}"));
    }
    let one = schema["oneOf"].as_array();
    if one.is_some_and(|one| one.iter().filter(|schema| fits(schema)).count() != 1) {
        return Some(format!("{value} does not fit exactly one of {one:?}"));
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|name| is_of_type(value, name)) {
        return Some(format!("{value} is none of {types:?}"));
    }
    if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
        return Some(format!("{value} is not among {}", schema["enum"]));
    }
    if schema.get("const").is_some_and(|constant| constant != value) {
        return Some(format!("{value} is not {}", schema["const"]));
    }
    for item in value.as_array().into_iter().flatten() {
        if let Some(why) = misfit(document, &schema["items"], item) {
            return Some(why);
        }
    }
    let object = value.as_object()?;
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|name| !object.contains_key(*name)) {
        return Some(format!("{missing} is missing from {value}"));
    }
    object.iter().find_map(|(name, value)| {
        let known = schema["properties"].get(name);
        misfit(document, known.unwrap_or(&schema["additionalProperties"]), value)
            .map(|why| format!("{name}: {why}"))
    })
}

/// That an answer fits its schema, and that no field of its records is left undocumented.
fn check_documented(document: &Value, what: &str, operation: &Value, reply: &Reply) {
    let content = &operation["responses"][reply.status.to_string()]["content"];
    let schema = &content["application/json"]["schema"];
    if !schema["properties"].is_object() {
        return;
    }
    let answer = reply.json();
    if let Some(why) = misfit(document, schema, &answer) {
        panic!("{what}: {why}");
    }
    let data = &schema["properties"]["data"];
    let (record, schema) = match &answer["data"] {
        Value::Array(records) => (records.first(), &data["items"]),
        record => (Some(record), data),
    };
    let mut known = BTreeSet::new();
    properties(document, schema, &mut known);
    for name in record.and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name) {
        assert!(known.contains(name), "{what} answers {name}, which is not documented");
    }
}

/// The examples of an operation's JSON body: the only one, or those with names.
fn body_examples(operation: &Value) -> Vec<&Value> {
    let body = &operation["requestBody"]["content"]["application/json"];
    let named = body["examples"].as_object().into_iter().flat_map(|all| all.values());
    named.map(|one| &one["value"]).chain(body.get("example")).collect()
}

#[tokio::test]
async fn every_example_is_accepted_and_every_answer_documented() {
    let site = Site::new().await;
    let document = document();
    let contact = site.company("POST", "/contacts", r#"{"phone":"+5511900000001"}"#).await.data();
    let contact = contact["id"].as_str().expect("an id").to_owned();
    let other = site.company("POST", "/contacts", r#"{"phone":"+5511900000002"}"#).await.data();
    let other = other["id"].as_str().expect("an id").to_owned();
    let (_, calling) = calling(&site).await;
    let calling = calling.rsplit('/').next().expect("an id").to_owned();
    let code = PairingCode { text: "2@abc".to_owned(), png: None };
    site.kit.provider.set_pairing(Ok(Pairing::Code(code)));
    site.kit.provider.set_received(Ok(Vec::new()));
    site.kit.provider.set_handshake(Ok("1158201444".to_owned()));
    let make = async |path: &str, body: &str| {
        let made = site.company("POST", path, body).await.data();
        made["id"].as_str().expect("an id").to_owned()
    };
    let member = make("/members", r#"{"display_name":"Bia"}"#).await;
    let connection = r#"{"kind":"qr","name":"A","identifier":"1","gateway":"simulated"}"#;
    let connection = make("/connections", connection).await;
    let template = r#"{"name": "pedido_enviado", "category": "UTILITY", "body": "Olá {{nome}}",
        "components": {"header": {"type": "text", "text": "Pedido {{pedido}}"}, "buttons": [
            {"type": "url", "text": "Ver", "url": "https://loja.example/pedidos/{{1}}"}]},
        "status": "APPROVED"}"#;
    let template = site.company("POST", "/templates", template).await.data();
    let (template, token) = (&template["id"], &template["token"]);
    let (template, token) =
        (template.as_str().expect("an id"), token.as_str().expect("a token").to_owned());
    let list = make("/lists", r#"{"name":"Clientes"}"#).await;
    let features = r#"{"features":{"inbound_contacts":true,"template_dispatch":true}}"#;
    site.company("PATCH", "", features).await.data();
    let endpoint = json!({"slug": "leads", "secret": SECRET,
        "variable_mapping": {"phone": "$.lead.telefone"}});
    make("/inbound-endpoints", &endpoint.to_string()).await;
    let webhook = make("/webhooks", r#"{"url":"https://example.com","events":["*"]}"#).await;
    // A delivery that is finished, so that it can be redelivered.
    let delivery = make(&format!("/webhooks/{webhook}/test"), "").await;
    let took = Ok(OutboundResponse::new(200, b"taken".to_vec()));
    site.kit.transport.otherwise(took);
    site.kit.app.deliveries().drain().await;
    // The addresses of files in examples lead to pictures.
    let picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    site.kit.transport.otherwise(Ok(OutboundResponse::new(200, picture.clone())));
    let named = format!("{}Content-Type: image/png\r\n", site.bearer());
    let upload = site.send("POST", "/api/v1/media", &named, &picture).await.data();
    let upload = upload["id"].as_str().expect("an id").to_owned();
    let mut made: BTreeMap<String, String> =
        BTreeMap::from([(DELIVERIES.to_owned(), delivery), ("/api/v1/media".to_owned(), upload)]);
    let mut tried = 0;
    // Records are made first, so that later examples can change them.
    for method in ["post", "put", "patch"] {
        for (path, item) in document["paths"].as_object().expect("paths") {
            let operation = &item[method];
            // These need a message that is known at a channel.
            if path.ends_with("/send/reaction") || path.contains("/messages/{id}") {
                continue;
            }
            for example in body_examples(operation) {
                let collection = path.split("/{id}").next().expect("a path");
                let id = made.get(collection).cloned().unwrap_or_default();
                let company = site.kit.company.id.to_string();
                let url = path
                    .replace("{company_id}", &company)
                    .replace("{id}", &id)
                    .replace("{slug}", "leads")
                    .replace("{connection_id}", &calling)
                    .replace("{token}", &token);
                let bearer = bearer(&site, path);
                let debit = made.get(DEBITS).map_or(EXAMPLE_DEBIT, String::as_str);
                let body = example
                    .to_string()
                    .replace(EXAMPLE_CONTACT, &contact)
                    .replace(EXAMPLE_CONNECTION, &connection)
                    .replace(EXAMPLE_DEBIT, debit)
                    .replace(EXAMPLE_MEMBER, &member)
                    .replace(EXAMPLE_TEMPLATE, template)
                    .replace(EXAMPLE_LIST, &list)
                    .replace(EXAMPLE_OTHER, &other);
                let method = method.to_uppercase();
                let reply = site.send(&method, &url, &bearer, body.as_bytes()).await;
                let what = format!("{method} {path}");
                assert!(matches!(reply.status, 200 | 201), "{what}: {}", reply.json());
                let data = reply.json()["data"].clone();
                check_documented(&document, &what, operation, &reply);
                let id = data["id"].as_str().or_else(|| data["contact"]["id"].as_str());
                if let Some(id) = id.filter(|_| !path.contains("/{id}")) {
                    made.insert(path.clone(), id.to_owned());
                }
                tried += 1;
                // The records of an example must not conflict with those of the next ones.
                if path == CONTACTS {
                    let last = format!(r#"{{"last_connection_id":"{connection}"}}"#);
                    site.company("PATCH", &format!("/contacts/{}", made[path]), &last).await;
                } else if path.ends_with("/block") {
                    let contact = &made[CONTACTS];
                    site.company("POST", &format!("/contacts/{contact}/unblock"), "{}").await;
                }
            }
        }
    }
    assert!(tried > 20, "only {tried} examples were found");
    check_events(&site, &document).await;

    let of_contact = format!("?contact_id={contact}");
    for (path, item) in document["paths"].as_object().expect("paths") {
        let operation = &item["get"];
        let collection = path.split("/{id}").next().expect("a path");
        let collection = collection.replace("/api/v1/campaigns", CAMPAIGNS);
        let is_link = path.contains("{signature}") || path.contains("{code}");
        if operation.is_null() || path.contains("{document_id}") || is_link {
            continue;
        }
        let company = site.kit.company.id.to_string();
        let id = made.get(&collection).cloned().unwrap_or_default();
        let url = path
            .replace("{company_id}", &company)
            .replace("{file}", "reference.js")
            .replace("{connection_id}", &calling)
            .replace("{id}", &id);
        let forms = match path.as_str() {
            "/api/v1/contacts" => &["", "?include=link_clicks", "?order_by=created_at&limit=1"][..],
            "/api/v1/contacts/{id}" => &["", "?include=profile"],
            _ if path.ends_with("/campaigns/{id}/preview") => &[&*of_contact],
            _ => &[""],
        };
        // Organizations are made by a cnpj, not by a call of their own.
        if path.contains("organizations/{id}") {
            continue;
        }
        for form in forms {
            let bearer = bearer(&site, path);
            let reply = site.send("GET", &format!("{url}{form}"), &bearer, b"").await;
            assert_eq!(reply.status, 200, "{path}{form}");
            check_documented(&document, path, operation, &reply);
        }
    }
}

/// That the data of every event of the journal is what the document says of this event (R277).
async fn check_events(site: &Site, document: &Value) {
    let listed = site.send("GET", "/api/v1/events?limit=100", &site.bearer(), b"").await.json();
    let mut seen = BTreeSet::new();
    for entry in listed["data"].as_array().expect("events") {
        let event = entry["event"].as_str().expect("a name");
        let content = &document["webhooks"][event]["post"]["requestBody"]["content"];
        let body = resolved(document, &content["application/json"]["schema"]);
        let schema = &body["properties"]["data"];
        if let Some(why) = misfit(document, schema, &entry["data"]) {
            panic!("{event}: {why}");
        }
        let mut known = BTreeSet::new();
        properties(document, schema, &mut known);
        for name in entry["data"].as_object().expect("data").keys() {
            assert!(known.contains(name), "{event} has {name}, which is not documented");
        }
        seen.insert(event.to_owned());
    }
    for event in ["contact.created", "contact.opted_out", "message.received", "message.sent"] {
        assert!(seen.contains(event), "there is no {event} among {seen:?}");
    }
}

fn bearer(site: &Site, path: &str) -> String {
    match path.starts_with("/operator") {
        true => format!("Authorization: Bearer {TOKEN}\r\n"),
        false => format!("{}X-Service-Secret: {SECRET}\r\n", site.bearer()),
    }
}
