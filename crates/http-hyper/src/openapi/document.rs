//! Building the document from the table of routes.

use std::collections::BTreeMap;

use recado_core::Code;
use serde_json::{Map, Value, json};

use super::{Operation, QueryParam};
use crate::error::status_of;
use crate::route::{BodyFormat, Endpoint, Route};
use crate::router;

/// The whole document.
pub(super) fn build() -> Value {
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    let mut schemas: BTreeMap<String, Value> = BTreeMap::new();
    let mut responses: BTreeMap<String, Value> = BTreeMap::new();
    for route in router::all() {
        let operation = (route.doc)(Operation::default());
        schemas.extend(operation.schemas.clone());
        let method = (route.method)().as_str().to_ascii_lowercase();
        let document = written(route, operation, &mut responses);
        paths.entry(route.path).or_default().insert(method, document);
    }
    schemas.insert("Error".to_owned(), error_schema());
    schemas.insert("HookError".to_owned(), hook_error_schema());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Recado",
            "version": env!("CARGO_PKG_VERSION"),
            "description": DESCRIPTION,
            "license": {"name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT"},
        },
        "tags": tags(),
        "paths": paths,
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
                    "description": "The token the server was started with.",
                },
                "endpoint_secret": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "X-Service-Secret",
                    "description": "The secret of the inbound endpoint, unless that is public.",
                },
            },
        },
    })
}

const DESCRIPTION: &str = "Contacts of companies: the public API under /api/v1 for integrators, hooks \
under /api/webhooks for other systems, and the operator API under /operator/v1. Times are ISO 8601 in UTC with milliseconds; ids are UUIDs. A \
record of another company answers like one that never existed. HEAD is answered wherever GET is. \
Every answer carries X-Request-Id. Unknown query parameters are ignored, unknown fields of a body \
are refused.";

fn tags() -> Value {
    json!([
        {"name": "contacts", "description": "Contacts of the key's company."},
        {"name": "custom-fields", "description": "Definitions of custom fields."},
        {"name": "lists", "description": "Lists of contacts."},
        {"name": "campaigns", "description": "Campaigns and their recipients."},
        {"name": "events", "description": "The journal of events."},
        {"name": "hooks", "description": "What other systems post to. Refusals have a form of \
            their own there."},
        {"name": "operator", "description": "Managing companies and what belongs to them."},
        {"name": "links", "description": "Tracked links."},
        {"name": "service", "description": "Probes, metrics and this document."},
    ])
}

fn tag_of(route: &Route) -> &'static str {
    match route.endpoint {
        Endpoint::Operator(_) | Endpoint::Company(_) => "operator",
        Endpoint::Public { .. } => match route.path.split('/').nth(3) {
            Some("custom-fields") => "custom-fields",
            Some("lists") => "lists",
            Some("campaigns") => "campaigns",
            Some("events") => "events",
            _ => "contacts",
        },
        Endpoint::Hook(_) => "hooks",
        Endpoint::Open(_) if route.path.starts_with("/l/") => "links",
        Endpoint::Open(_) => "service",
    }
}

/// The document of one operation. Refusals that several operations share are kept in `shared`.
fn written(route: &Route, operation: Operation, shared: &mut BTreeMap<String, Value>) -> Value {
    let mut document = json!({
        "operationId": operation.id,
        "summary": operation.summary,
        "tags": [tag_of(route)],
    });
    let mut description = operation.description.unwrap_or_default().to_owned();
    if let Endpoint::Public { scope, .. } = route.endpoint {
        description = format!("Needs the scope `{scope}`. {description}").trim().to_owned();
    }
    if !description.is_empty() {
        document["description"] = description.into();
    }
    let parameters: Vec<Value> =
        path_parameters(route).chain(route.query.iter().map(QueryParam::document)).collect();
    if !parameters.is_empty() {
        document["parameters"] = parameters.into();
    }
    if let Some(mut body) = operation.body {
        body["required"] = (route.reads != BodyFormat::OptionalJson).into();
        document["requestBody"] = body;
    }
    let mut responses = operation.answers;
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
    match route.endpoint {
        Endpoint::Public { .. } => document["security"] = json!([{"api_key": []}]),
        Endpoint::Operator(_) | Endpoint::Company(_) => {
            document["security"] = json!([{"operator_token": []}]);
        }
        // An endpoint may be public; the token of a dispatch is part of its path.
        Endpoint::Hook(_) if route.path.contains("{slug}") => {
            document["security"] = json!([{"endpoint_secret": []}, {}]);
        }
        Endpoint::Hook(_) | Endpoint::Open(_) => {}
    }
    document
}

fn path_parameters(route: &Route) -> impl Iterator<Item = Value> {
    let names = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    names.map(|name| {
        let schema = match name {
            "code" => json!({"type": "string", "pattern": "^[A-Za-z0-9_-]{22}$"}),
            "slug" => json!({"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{2,63}$"}),
            _ => json!({"type": "string", "format": "uuid"}),
        };
        let mut document = json!({"name": name, "in": "path", "required": true, "schema": schema});
        if name == "token" {
            document["description"] = "The template's token: the only credential.".into();
        }
        document
    })
}

/// The refusals of a call: those of its surface, of reading its body, and of its own; each code
/// once under each status.
fn refusals(route: &Route, own: &[(u16, Code)]) -> BTreeMap<u16, Vec<&'static str>> {
    let shared = match route.endpoint {
        Endpoint::Hook(_) => of_hooks(route),
        _ => of_calls(route).into_iter().map(|code| (status_of(code).as_u16(), code)).collect(),
    };
    let mut refusals: BTreeMap<u16, Vec<&'static str>> = BTreeMap::new();
    for (status, code) in shared.iter().chain(own) {
        let codes = refusals.entry(*status).or_default();
        if !codes.contains(&code.as_str()) {
            codes.push(code.as_str());
        }
    }
    refusals
}

fn of_calls(route: &Route) -> Vec<Code> {
    let mut all = Vec::new();
    match route.endpoint {
        Endpoint::Public { .. } => all.extend([
            Code::Unauthorized,
            Code::PlanRequired,
            Code::InsufficientScope,
            Code::RateLimited,
        ]),
        Endpoint::Operator(_) | Endpoint::Company(_) => {
            all.extend([Code::Unauthorized, Code::RateLimited, Code::NotFound]);
        }
        Endpoint::Hook(_) | Endpoint::Open(_) => {}
    }
    if route.path.contains('{') {
        all.push(Code::NotFound);
    }
    if !route.query.is_empty() {
        all.push(Code::InvalidParameter);
    }
    if route.reads != BodyFormat::Nothing {
        all.extend([
            Code::BadRequest,
            Code::PayloadTooLarge,
            Code::UnsupportedMediaType,
            Code::ValidationError,
        ]);
    }
    if route.reads == BodyFormat::Json {
        all.push(Code::InvalidBody);
    }
    if !route.path.starts_with("/healthz") {
        all.extend([Code::InternalError, Code::Unavailable]);
    }
    all
}

/// The refusals that every hook has. Gateways have no rate limit, and their bodies have a code of
/// their own.
fn of_hooks(route: &Route) -> Vec<(u16, Code)> {
    let mut all = vec![
        (400, Code::InvalidPayload),
        (413, Code::InvalidPayload),
        (415, Code::UnsupportedMediaType),
        (429, Code::RateLimited),
        (500, Code::InternalError),
        (503, Code::Unavailable),
    ];
    all.retain(|(status, _)| match status {
        413 | 429 => !route.suffixes,
        415 => route.reads != BodyFormat::Nothing,
        _ => true,
    });
    all
}

fn hook_response(status: u16, codes: &[&'static str]) -> Value {
    let mut response = error_response(status, codes);
    response["content"]["application/json"]["schema"] =
        json!({"$ref": "#/components/schemas/HookError"});
    if status == 401 {
        response.as_object_mut().expect("a response is an object").remove("headers");
    }
    response
}

fn error_response(status: u16, codes: &[&'static str]) -> Value {
    let written: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
    let mut response = json!({
        "description": written.join(", "),
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    });
    let seconds = json!({
        "description": "Whole seconds to wait.",
        "schema": {"type": "integer", "minimum": 1},
    });
    match status {
        401 => {
            response["headers"] =
                json!({"WWW-Authenticate": {"schema": {"type": "string", "enum": ["Bearer"]}}});
        }
        429 | 503 => response["headers"] = json!({"Retry-After": seconds}),
        _ => {}
    }
    response
}

fn hook_error_schema() -> Value {
    json!({
        "type": "object",
        "description": "Every refusal of a hook. `code` is stable; `message` is English text for \
            people.",
        "required": ["ok", "code", "message"],
        "properties": {
            "ok": {"type": "boolean", "const": false},
            "code": {"type": "string"},
            "message": {"type": "string"},
            "existing": {
                "type": "object",
                "description": "Only with `DUPLICATE_SEND`, and not while the earlier dispatch is \
                    under way.",
                "required": ["message_id", "sent_at", "next_eligible_at"],
                "properties": {
                    "message_id": {"type": "string", "format": "uuid"},
                    "sent_at": {"type": "string", "format": "date-time"},
                    "next_eligible_at": {"type": "string", "format": "date-time"},
                },
            },
        },
        "example": {
            "ok": false,
            "code": "MISSING_PHONE",
            "message": "no valid phone number was found through the variable mapping",
        },
    })
}

fn error_schema() -> Value {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    json!({
        "type": "object",
        "description": "Every refusal. `code` is stable; `message` is English text for people.",
        "required": ["success", "code", "message"],
        "properties": {
            "success": {"type": "boolean", "const": false},
            "code": {"type": "string", "enum": codes},
            "message": {"type": "string"},
            "details": {
                "type": "object",
                "description": "What is at fault, where there is something to say.",
                "properties": {
                    "parameter": {"type": "string", "description": "The query parameter at fault."},
                    "reason": {"type": "string"},
                    "fields": {"type": "array", "items": {"type": "string"},
                        "description": "Every field of the body at fault."},
                    "reasons": {"type": "object", "additionalProperties": {"type": "string"},
                        "description": "Why, by field."},
                    "custom_fields": {"type": "array", "items": {"type": "string"}},
                    "list_ids": {"type": "array", "items": {"type": "string"}},
                    "contact_ids": {"type": "array", "items": {"type": "string"}},
                    "hint": {"type": "string"},
                    "required_plan": {"type": "string"},
                    "required_scope": {"type": "string"},
                },
            },
            "contact_id": {"type": "string", "format": "uuid",
                "description": "Only with `CONTACT_EXISTS`: the contact that exists."},
        },
        "example": {
            "success": false,
            "code": "VALIDATION_ERROR",
            "message": "phone: is required",
            "details": {"fields": ["phone"], "reasons": {"phone": "is required"}},
        },
    })
}
