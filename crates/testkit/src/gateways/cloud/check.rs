//! The checks of a send's body.

use serde_json::{Map, Value};

use super::check_template::{self, UsedTemplate};

/// The most characters of a text.
const MAX_TEXT: usize = 4096;

/// A valid send.
pub(super) struct ValidSend {
    pub(super) to: String,
    pub(super) is_scoped: bool,
    pub(super) text: Option<String>,
    pub(super) template: Option<UsedTemplate>,
}

/// The fields of an object. Fails if it has other fields.
pub(super) fn only<'a>(
    value: &'a Value,
    what: &str,
    required: &[&str],
    optional: &[&str],
) -> Result<&'a Map<String, Value>, String> {
    let object = value.as_object().ok_or_else(|| format!("{what} is no object"))?;
    if let Some(missing) = required.iter().find(|name| !object.contains_key(**name)) {
        return Err(format!("{what} has no {missing}"));
    }
    let is_known =
        |name: &String| required.contains(&name.as_str()) || optional.contains(&name.as_str());
    match object.keys().find(|name| !is_known(name)) {
        Some(unknown) => Err(format!("{what} has {unknown}")),
        None => Ok(object),
    }
}

pub(super) fn string(object: &Map<String, Value>, name: &str) -> Result<String, String> {
    let text = object.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    text.map(str::to_owned).ok_or_else(|| format!("{name} is no text"))
}

/// Checks the body of a send.
pub(super) fn body(value: &Value) -> Result<ValidSend, String> {
    let object = only(
        value,
        "the body",
        &["messaging_product", "type"],
        &[
            "recipient_type",
            "to",
            "recipient",
            "text",
            "template",
            "context",
            "biz_opaque_callback_data",
        ],
    )?;
    if string(object, "messaging_product")? != "whatsapp" {
        return Err("messaging_product is not whatsapp".to_owned());
    }
    if object.get("recipient_type").is_some_and(|kind| kind != "individual") {
        return Err("recipient_type is not individual".to_owned());
    }
    if object.contains_key("biz_opaque_callback_data") {
        string(object, "biz_opaque_callback_data")?;
    }
    let (to, is_scoped) = recipient(object)?;
    let kind = string(object, "type")?;
    for other in ["text", "template"] {
        if other != kind && object.contains_key(other) {
            return Err(format!("a {kind} has {other}"));
        }
    }
    let content = object.get(&kind).ok_or_else(|| format!("the body has no {kind}"))?;
    let (text, template) = match kind.as_str() {
        "text" => (Some(text(content)?), None),
        "template" => (None, Some(check_template::used(content)?)),
        other => return Err(format!("the type {other} is not expected")),
    };
    Ok(ValidSend { to, is_scoped, text, template })
}

fn recipient(object: &Map<String, Value>) -> Result<(String, bool), String> {
    match (object.contains_key("to"), object.contains_key("recipient")) {
        (true, false) => {
            let to = string(object, "to")?;
            let digits = to.strip_prefix('+').unwrap_or_default();
            let fits = (5..=20).contains(&digits.len())
                && digits.bytes().all(|byte| byte.is_ascii_digit());
            if fits { Ok((to, false)) } else { Err("to is not + and digits".to_owned()) }
        }
        (false, true) => {
            let id = string(object, "recipient")?;
            let fits = id.split_once('.').is_some_and(|(country, rest)| {
                country.len() == 2
                    && country.bytes().all(|b| b.is_ascii_uppercase())
                    && rest.len() > 2
            });
            if fits { Ok((id, true)) } else { Err("recipient is no scoped id".to_owned()) }
        }
        _ => Err("there must be one of to and recipient".to_owned()),
    }
}

fn text(content: &Value) -> Result<String, String> {
    let object = only(content, "text", &["body"], &["preview_url"])?;
    if object.get("preview_url").is_some_and(|preview| !preview.is_boolean()) {
        return Err("preview_url is neither true nor false".to_owned());
    }
    let body = string(object, "body")?;
    if body.chars().count() > MAX_TEXT { Err("the text is too long".to_owned()) } else { Ok(body) }
}
