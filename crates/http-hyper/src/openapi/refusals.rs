//! The refusals of operations: which codes under which status, and their schemas.

use std::collections::BTreeMap;

use http::Method;
use recado_core::Code;
use serde_json::{Value, json};

use crate::error::status_of;
use crate::route::{BodyFormat, Endpoint, Route};

/// The refusals of a call: those of its surface, of reading its body, and of its own; each code
/// once under each status.
pub(super) fn refusals(route: &Route, own: &[(u16, Code)]) -> BTreeMap<u16, Vec<&'static str>> {
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
        Endpoint::Operator { .. } | Endpoint::Company { .. } => {
            all.extend([
                Code::Unauthorized,
                Code::InsufficientRole,
                Code::RateLimited,
                Code::NotFound,
            ]);
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
    if route.idempotent {
        all.extend([
            Code::InvalidParameter,
            Code::RequestInProgress,
            Code::IdempotencyKeyReused,
            Code::DeliveryUncertain,
        ]);
    }
    if !route.path.starts_with("/healthz") {
        all.extend([Code::InternalError, Code::Unavailable]);
    }
    if (route.method)() != Method::GET {
        // D76.
        all.push(Code::Moving);
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
    if (route.method)() != Method::GET {
        // D76.
        all.push((503, Code::Moving));
    }
    all.retain(|(status, _)| match status {
        413 | 429 => !route.suffixes,
        415 => route.reads != BodyFormat::Nothing,
        _ => true,
    });
    all
}

pub(super) fn hook_response(status: u16, codes: &[&'static str]) -> Value {
    let mut response = error_response(status, codes);
    response["content"]["application/json"]["schema"] =
        json!({"$ref": "#/components/schemas/HookError"});
    if status == 401 {
        response.as_object_mut().expect("a response is an object").remove("headers");
    }
    response
}

pub(super) fn error_response(status: u16, codes: &[&'static str]) -> Value {
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

pub(super) fn hook_error_schema() -> Value {
    json!({
        "type": "object",
        "description": "Every refusal of a hook. `code` is stable; `message` is English text for \
            people.",
        "required": ["ok", "code", "message"],
        "properties": {
            "ok": {"type": "boolean", "const": false, "description": "That it is a refusal."},
            "code": {"type": "string", "description": "What is refused and why, for programs."},
            "message": {"type": "string", "description": "The same for people, in English."},
            "existing": {
                "type": "object",
                "description": "Only with `DUPLICATE_SEND`, and not while the earlier dispatch is \
                    under way.",
                "required": ["message_id", "sent_at", "next_eligible_at"],
                "properties": {
                    "message_id": {"type": "string", "format": "uuid",
                        "description": "The message of the earlier dispatch."},
                    "sent_at": {"type": "string", "format": "date-time",
                        "description": "When that was sent."},
                    "next_eligible_at": {"type": "string", "format": "date-time",
                        "description": "From when on the same dispatch is accepted again."},
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

pub(super) fn error_schema() -> Value {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    json!({
        "type": "object",
        "description": "Every refusal. `code` is stable; `message` is English text for people.",
        "required": ["success", "code", "message"],
        "properties": {
            "success": {"type": "boolean", "const": false, "description": "That it is a refusal."},
            "code": {"type": "string", "enum": codes,
                "description": "What is refused and why, for programs."},
            "message": {"type": "string", "description": "The same for people, in English."},
            "details": {
                "type": "object",
                "description": "What is at fault, where there is something to say.",
                "properties": {
                    "parameter": {"type": "string", "description": "The query parameter at fault."},
                    "reason": {"type": "string", "description": "Why it is not accepted."},
                    "fields": {"type": "array", "items": {"type": "string"},
                        "description": "Every field of the body at fault."},
                    "reasons": {"type": "object", "additionalProperties": {"type": "string"},
                        "description": "Why, by field."},
                    "custom_fields": {"type": "array", "items": {"type": "string"},
                        "description": "The custom fields that do not exist."},
                    "list_ids": {"type": "array", "items": {"type": "string"},
                        "description": "The lists that do not exist."},
                    "contact_ids": {"type": "array", "items": {"type": "string"},
                        "description": "The contacts that do not exist."},
                    "hint": {"type": "string", "description": "What would help."},
                    "required_plan": {"type": "string",
                        "description": "The plan that the company would need."},
                    "required_scope": {"type": "string",
                        "description": "The scope that the key would need."},
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
