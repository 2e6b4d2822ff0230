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
    // Generated clients take the first form that has all it needs (R278).
    let needed = |gateway: &GatewayView| gateway.settings.iter().filter(|s| s.required).count();
    let mut strictest: Vec<&GatewayView> = gateways.iter().collect();
    strictest.sort_by_key(|gateway| std::cmp::Reverse(needed(gateway)));
    for gateway in strictest {
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
        all.iter().map(|setting| (setting.name.clone(), form(gateway, setting))).collect();
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

fn form(gateway: &GatewayView, setting: &SettingView) -> Value {
    let mut form = match setting.form {
        "url" => json!({"type": "string", "format": "uri", "example": "https://gateway.example"}),
        "text" => json!({"type": "string", "example": "a-text"}),
        "integer" => json!({"type": "integer", "example": 30000}),
        other => json!({"type": other, "example": true}),
    };
    let name = &gateway.name;
    let mut about = format!("Of `{name}`; the documentation of the gateway says what it is.");
    if setting.secret {
        form["writeOnly"] = true.into();
        about.push_str(" A secret: stored, never returned.");
    }
    form["description"] = about.into();
    form
}
