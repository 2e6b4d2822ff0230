//! The form of a connection: the fields are those that its gateway describes (R428).

use maud::{Markup, html};
use recado_core::connections::{ConnectionKind, ConnectionView, GatewayView, SettingView};
use serde_json::{Map, Number, Value};

use super::show::written;
use crate::fields::Fields;
use crate::view::field::{Field, FieldErrors, checkbox, select};
use crate::view::layout::csrf_field;
use crate::visit::Visit;

/// What stands before the name of a setting in the form.
const SETTING: &str = "settings.";
/// What stands before the name of a secret that is removed.
const REMOVE: &str = "remove.";

/// What the form shows. No secret is ever among it.
pub(super) struct Shown {
    name: String,
    identifier: String,
    kind: String,
    is_active: bool,
    settings: Map<String, Value>,
}

impl Shown {
    /// An empty form.
    pub(super) fn new() -> Self {
        Self {
            name: String::new(),
            identifier: String::new(),
            kind: String::new(),
            is_active: true,
            settings: Map::new(),
        }
    }

    /// A connection as it is.
    pub(super) fn of(connection: &ConnectionView) -> Self {
        Self {
            name: connection.name.clone(),
            identifier: connection.identifier.clone(),
            kind: connection.kind.as_str().to_owned(),
            is_active: connection.is_active,
            settings: connection.settings.clone(),
        }
    }

    /// What was sent, but for secrets: they are written again.
    pub(super) fn sent(form: &Fields, gateway: Option<&GatewayView>) -> Self {
        let text = |name: &str| form.get(name).unwrap_or_default().to_owned();
        let open = gateway.iter().flat_map(|gateway| &gateway.settings).filter(|s| !s.secret);
        let settings = open.filter_map(|setting| {
            let value = form.get(&format!("{SETTING}{}", setting.name))?;
            Some((setting.name.clone(), Value::from(value)))
        });
        Self {
            name: text("name"),
            identifier: text("identifier"),
            kind: text("kind"),
            is_active: form.get("is_active").is_some(),
            settings: settings.collect(),
        }
    }
}

/// The settings of a form as the core reads them. A blank secret stays as it is; a blank setting of
/// another kind is removed from those of a connection that there `is_change`d.
pub(super) fn settings(form: &Fields, gateway: &GatewayView, is_change: bool) -> Value {
    let mut settings = Map::new();
    for setting in &gateway.settings {
        let value = match form.filled(&format!("{SETTING}{}", setting.name)) {
            Some(text) => typed(setting, text),
            None if !is_change => continue,
            None if setting.secret && form.get(&format!("{REMOVE}{}", setting.name)).is_none() => {
                continue;
            }
            None => Value::Null,
        };
        settings.insert(setting.name.clone(), value);
    }
    Value::Object(settings)
}

/// A text as the value of a setting; what is no such value stays a text, which the core refuses.
fn typed(setting: &SettingView, text: &str) -> Value {
    match (setting.form, text) {
        ("boolean", "true") => Value::Bool(true),
        ("boolean", "false") => Value::Bool(false),
        ("integer", number) => {
            serde_json::from_str::<Number>(number).map_or_else(|_| text.into(), Value::from)
        }
        _ => text.into(),
    }
}

/// The form of a connection of a gateway; `None` for one that this process does not have.
pub(super) fn form(
    visit: &Visit,
    action: &str,
    gateway: Option<&GatewayView>,
    shown: &Shown,
    is_change: bool,
    errors: &FieldErrors,
) -> Markup {
    let all = gateway.map_or(&[][..], |gateway| &gateway.settings);
    let named: Vec<String> =
        all.iter().map(|setting| format!("{SETTING}{}", setting.name)).collect();
    let mut fields = vec!["name", "identifier", "is_active", "kind"];
    fields.extend(named.iter().map(String::as_str));
    html! {
        form.stacked method="post" action=(action) autocomplete="off" {
            (csrf_field(visit))
            (errors.summary(&fields))
            @if let Some(gateway) = gateway.filter(|_| !is_change) {
                input type="hidden" name="gateway" value=(gateway.name.as_str());
                (kind(visit, gateway, &shown.kind, errors))
            }
            (Field {
                name: "name", label: &visit.t("connections-column-name"), value: &shown.name,
                kind: "text", is_required: true,
            }.show(errors))
            (Field {
                name: "identifier", label: &visit.t("connections-column-identifier"),
                value: &shown.identifier, kind: "text", is_required: true,
            }.show(errors))
            @if !all.is_empty() {
                fieldset {
                    legend { (visit.t("connections-settings")) }
                    @for setting in all { (one(visit, setting, shown, is_change, errors)) }
                }
            }
            (checkbox("is_active", &visit.t("connections-active"), shown.is_active))
            div.buttons { button type="submit" { (visit.t("connections-save")) } }
        }
    }
}

fn kind(visit: &Visit, gateway: &GatewayView, chosen: &str, errors: &FieldErrors) -> Markup {
    let served = ConnectionKind::ALL.iter().filter(|kind| gateway.kind.is_none_or(|k| k == **kind));
    let kinds: Vec<(String, String)> = served
        .map(|kind| (kind.as_str().to_owned(), visit.word_of("connections-kind", kind.as_str())))
        .collect();
    select("kind", &visit.t("connections-column-kind"), &kinds, chosen, errors)
}

/// R428. A field for a setting. That of a secret is always empty.
fn one(
    visit: &Visit,
    setting: &SettingView,
    shown: &Shown,
    is_change: bool,
    errors: &FieldErrors,
) -> Markup {
    let name = format!("{SETTING}{}", setting.name);
    let value = shown.settings.get(&setting.name).filter(|_| !setting.secret);
    let value = value.map(written).unwrap_or_default();
    if setting.form == "boolean" {
        let words = [("", "–".to_owned()), ("true", visit.t("connections-yes"))];
        let words = words.into_iter().chain([("false", visit.t("connections-no"))]);
        let options: Vec<_> = words.map(|(word, text)| (word.to_owned(), text)).collect();
        return select(&name, &setting.name, &options, &value, errors);
    }
    let kind = match (setting.secret, setting.form) {
        (true, _) => "password",
        (false, "integer") => "number",
        (false, "url") => "url",
        _ => "text",
    };
    let is_required = setting.required && !(setting.secret && is_change);
    html! {
        (Field { name: &name, label: &setting.name, value: &value, kind, is_required }.show(errors))
        @if setting.secret && is_change {
            p.hint { (visit.t("connections-secret-stays")) }
            @if !setting.required {
                p { (checkbox(&format!("{REMOVE}{}", setting.name),
                    &visit.t("connections-secret-remove"), false)) }
            }
        }
    }
}
