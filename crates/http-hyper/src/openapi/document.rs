//! Building the document from the table of routes.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::refusals::{error_response, error_schema, hook_error_schema, hook_response, refusals};
use super::{Operation, QueryParam, descriptions, events, examples, shapes, tags};
use crate::route::{BodyFormat, Endpoint, Route};
use crate::router;

/// The whole document.
pub(super) fn build() -> Value {
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    let mut schemas: BTreeMap<String, Value> = BTreeMap::new();
    let mut body_schemas: BTreeMap<String, Value> = BTreeMap::new();
    let mut responses: BTreeMap<String, Value> = BTreeMap::new();
    for (tag, route) in router::tables().flat_map(|(tag, all)| all.iter().map(move |r| (tag, r))) {
        let operation = (route.doc)(Operation::default());
        schemas.extend(operation.answer_schemas.clone());
        body_schemas.extend(operation.body_schemas.clone());
        let method = (route.method)().as_str().to_ascii_lowercase();
        let document = written(tag, route, operation, &mut responses);
        paths.entry(route.path).or_default().insert(method, document);
    }
    // Where an answer shows what a body gave, fields that may be left out are left out there, too.
    schemas.extend(body_schemas);
    schemas.insert("Error".to_owned(), error_schema());
    schemas.insert("HookError".to_owned(), hook_error_schema());
    let webhooks = events::webhooks(&mut schemas);
    shapes::complete(&mut schemas);
    schemas.get_mut("AnyJson").expect("hooks are documented")["items"] = json!({});
    let entry = schemas.get_mut("JournalEntry").expect("the journal is documented");
    let about = entry["properties"]["data"]["description"].take();
    entry["properties"]["data"] = json!({"anyOf": events::journal_data(), "description": about});
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Recado",
            "version": env!("CARGO_PKG_VERSION"),
            "description": DESCRIPTION,
            "contact": {"name": "Recado", "url": env!("CARGO_PKG_REPOSITORY")},
            "license": {"name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT"},
        },
        "servers": [{"url": "/", "description": "The server that this document came from."}],
        "tags": tags::all(),
        "paths": paths,
        "webhooks": webhooks,
        "components": {
            "schemas": schemas,
            "responses": responses,
            "securitySchemes": {
                "api_key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key of a company: `rk_…`. Each operation names its scope.",
                },
                "operator_token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token the server was started with, or one made by \
                        `POST /operator/v1/operator-tokens`: `ro_…`. Each operation names its role.",
                },
                "endpoint_secret": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "X-Service-Secret",
                    "description": "The secret of the inbound endpoint, unless that is public.",
                },
            },
        },
    });
    descriptions::complete(&mut document);
    examples::complete(&mut document);
    document
}

const DESCRIPTION: &str = "Messages and contacts of companies: the public API under `/api/v1` for \
integrators, hooks under `/api/webhooks` for other systems, and the operator API under \
`/operator/v1`. The webhooks of this document are what Recado posts to subscribers.\n\nTimes are \
ISO 8601 in UTC with milliseconds; ids are UUIDs. A record of another company answers like one \
that never existed. HEAD is answered wherever GET is. Every answer carries `X-Request-Id`. Unknown \
query parameters are ignored, unknown fields of a body are refused. A listing with `X-Recado-As-Of` \
was read from a standby of the database: what was committed before that time is in it. \
`Cache-Control: no-cache` asks for the latest state.";

/// The header of calls that may be repeated (D37).
fn idempotency_key() -> Value {
    json!({
        "name": recado_core::idempotency::HEADER,
        "in": "header",
        "required": false,
        "description": "Makes a repeat safe: within 24 hours a call with the same key and the same \
            bytes of body gets the first answer again, with `Idempotent-Replayed: true`, and does \
            nothing. The same key with another body is refused, and so is a repeat while the first \
            call is under way.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255},
        "example": "order-4711-greeting",
    })
}

/// The document of one operation. Refusals that several operations share are kept in `shared`.
fn written(
    tag: &str,
    route: &Route,
    operation: Operation,
    shared: &mut BTreeMap<String, Value>,
) -> Value {
    let mut document = json!({
        "operationId": route.operator_action().map_or(operation.id, |action| action.as_str()),
        "summary": operation.summary,
        "tags": [tag],
        "security": security(route),
    });
    let more = operation.description.unwrap_or_default();
    let description = format!("{} {more}", who_may_call(route));
    document["description"] = description.trim().into();
    let key = route.idempotent.then(idempotency_key);
    let parameters: Vec<Value> = path_parameters(route)
        .chain(route.query.iter().map(QueryParam::document))
        .chain(key)
        .collect();
    if !parameters.is_empty() {
        document["parameters"] = parameters.into();
    }
    if let Some(mut body) = operation.body {
        body["required"] = (route.reads != BodyFormat::OptionalJson).into();
        document["requestBody"] = body;
    }
    let mut responses = operation.answers;
    if route.idempotent {
        for answer in responses.values_mut() {
            answer["headers"] = json!({"Idempotent-Replayed": {
                "description": "`true` if this is the first answer again.",
                "schema": {"type": "string", "const": "true"},
            }});
        }
    }
    for (status, codes) in refusals(route, &operation.codes) {
        let is_hook = matches!(route.endpoint, Endpoint::Hook(_));
        let form = if is_hook { "hook." } else { "" };
        let name = format!("{form}{status}.{}", codes.join("."));
        let reference = json!({"$ref": format!("#/components/responses/{name}")});
        shared.entry(name).or_insert_with(|| match is_hook {
            true => hook_response(status, &codes),
            false => error_response(status, &codes),
        });
        responses.insert(status.to_string(), reference);
    }
    document["responses"] = responses.into();
    document
}

/// Who may call an operation, as its description says it.
fn who_may_call(route: &Route) -> String {
    match route.endpoint {
        Endpoint::Public { scope, .. } => format!("Needs the scope `{scope}`."),
        Endpoint::Operator { action, .. } | Endpoint::Company { action, .. } => {
            let reach = if action.is_of_installation() { " for the installation" } else { "" };
            format!("Needs an operator token{reach} with the role `{}`.", action.least_role())
        }
        Endpoint::Hook(_) | Endpoint::Open(_) => "Needs no key.".to_owned(),
    }
}

fn security(route: &Route) -> Value {
    match route.endpoint {
        Endpoint::Public { .. } => json!([{"api_key": []}]),
        Endpoint::Operator { .. } | Endpoint::Company { .. } => json!([{"operator_token": []}]),
        // An endpoint may be public; the token of a dispatch is part of its path.
        Endpoint::Hook(_) if route.path.contains("{slug}") => json!([{"endpoint_secret": []}, {}]),
        Endpoint::Hook(_) | Endpoint::Open(_) => json!([]),
    }
}

fn path_parameters(route: &Route) -> impl Iterator<Item = Value> {
    let names = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    names.map(|name| {
        let schema = match name {
            "code" => json!({"type": "string", "pattern": "^[A-Za-z0-9_-]{22}$"}),
            "slug" => json!({"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{2,63}$"}),
            "token" | "signature" | "file" => json!({"type": "string", "minLength": 1}),
            _ => json!({"type": "string", "format": "uuid"}),
        };
        let about = match name {
            "code" => "The code of the link.",
            "slug" => "The name of the endpoint in its address.",
            "token" => "The template's token: the only credential.",
            "signature" => "What the link ends with: it proves that Recado made the link.",
            "file" => "The name of the file.",
            "company_id" => "The company.",
            "connection_id" => "The connection.",
            "document_id" => "The document.",
            "message_id" => "The message.",
            _ => "The record.",
        };
        json!({"name": name, "in": "path", "required": true, "description": about, "schema": schema})
    })
}
