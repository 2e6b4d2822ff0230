//! The gateways of one process in the document: their names, and the settings of their connections.

use recado_core::connections::{GatewayView, SettingView};
use serde_json::{Map, Value, json};

/// Adds the gateways to `document`: a new connection names one of them, and has its settings. A
/// document for no process in particular has none.
pub(super) fn add(document: &mut Value, gateways: &[GatewayView]) {
    if gateways.is_empty() {
        return;
    }
    let schemas = &mut document["components"]["schemas"];
    let mut forms = Vec::new();
    for gateway in gateways {
        let schema = format!("SettingsOf.{}", gateway.name);
        forms.push(json!({"$ref": format!("#/components/schemas/{schema}")}));
        schemas[schema] = settings(gateway);
    }
    forms.push(json!({"type": "null"}));
    let new = &mut schemas["CreateConnection"]["properties"];
    new["gateway"]["enum"] = gateways.iter().map(|gateway| gateway.name.as_str()).collect();
    let description = new["settings"]["description"].take();
    new["settings"] = json!({"description": description, "anyOf": forms});
}

fn settings(gateway: &GatewayView) -> Value {
    let all = &gateway.settings;
    let properties: Map<String, Value> =
        all.iter().map(|setting| (setting.name.clone(), form(setting))).collect();
    let required: Vec<&str> =
        all.iter().filter(|setting| setting.required).map(|setting| &*setting.name).collect();
    json!({
        "type": "object",
        "description": format!("The settings of a connection through `{}`.", gateway.name),
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn form(setting: &SettingView) -> Value {
    let mut form = match setting.form {
        "url" => json!({"type": "string", "format": "uri"}),
        "text" => json!({"type": "string"}),
        other => json!({"type": other}),
    };
    if setting.secret {
        form["writeOnly"] = true.into();
        form["description"] = "A secret: stored, never returned.".into();
    }
    form
}
