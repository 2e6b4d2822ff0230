//! A template as the API takes it (X15).

use recado_core::gateway::{FileKind, OutgoingFile};
use recado_core::templates::{Parameter, SentButton, SentHeader, TemplateContent};
use serde_json::{Value, json};

use super::outbound::{location, media_type};

/// The template of a message; `file` is the id of the file in its header. A component without
/// parameters has to be left out.
pub(super) fn template(content: &TemplateContent, file: Option<&str>) -> Value {
    let mut template = json!({"name": content.name, "language": {"code": content.language}});
    let header = content.header.iter().map(|header| self::header(header, file));
    let body = content.variables.iter().map(text).collect::<Vec<_>>();
    let body = (!body.is_empty()).then(|| json!({"type": "body", "parameters": body}));
    let buttons = content.buttons.iter().map(|(index, button)| self::button(*index, button));
    let components: Vec<Value> = header.chain(body).chain(buttons).collect();
    if !components.is_empty() {
        template["components"] = components.into();
    }
    template
}

fn text(parameter: &Parameter) -> Value {
    let mut value = json!({"type": "text", "text": parameter.text});
    if let Some(name) = &parameter.name {
        value["parameter_name"] = json!(name);
    }
    value
}

fn header(header: &SentHeader, id: Option<&str>) -> Value {
    let parameter = match header {
        SentHeader::Text(parameter) => text(parameter),
        SentHeader::File(kind, file) => file_parameter(*kind, file, id),
        SentHeader::Location(place) => json!({"type": "location", "location": location(place)}),
    };
    json!({"type": "header", "parameters": [parameter]})
}

fn file_parameter(kind: FileKind, file: &OutgoingFile, id: Option<&str>) -> Value {
    let mut object = json!({ "id": id });
    if let (FileKind::Document, Some(name)) = (kind, &file.filename) {
        object["filename"] = json!(name);
    }
    let kind = media_type(kind);
    json!({"type": kind, kind: object})
}

/// A button by its position. A one-time code is sent as the end of a page.
fn button(index: u32, button: &SentButton) -> Value {
    let (sub_type, parameter) = match button {
        SentButton::Payload(payload) => {
            ("quick_reply", json!({"type": "payload", "payload": payload}))
        }
        SentButton::UrlSuffix(end) => ("url", json!({"type": "text", "text": end})),
        SentButton::CopyCode(code) => {
            ("copy_code", json!({"type": "coupon_code", "coupon_code": code}))
        }
        SentButton::Otp(code) => ("url", json!({"type": "text", "text": code})),
    };
    json!({
        "type": "button",
        "sub_type": sub_type,
        "index": index.to_string(),
        "parameters": [parameter],
    })
}
