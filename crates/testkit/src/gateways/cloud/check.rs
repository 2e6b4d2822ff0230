//! The checks of a send's body.

use serde_json::{Map, Value};

use super::{check_content, check_offer};

/// The most characters of a text.
const MAX_TEXT: usize = 4096;
/// The types of messages.
const TYPES: [&str; 11] = [
    "text",
    "template",
    "image",
    "video",
    "audio",
    "document",
    "sticker",
    "interactive",
    "location",
    "contacts",
    "reaction",
];

/// A valid send.
pub(super) struct ValidSend {
    pub(super) to: String,
    pub(super) is_scoped: bool,
    pub(super) kind: String,
    pub(super) said: Said,
}

/// What a message says.
#[derive(Default)]
pub(super) struct Said {
    /// Its text: of a file the caption, of a place and of cards the name, of a reaction the emoji.
    pub(super) text: Option<String>,
    pub(super) template: Option<UsedTemplate>,
    pub(super) media: Option<Media>,
}

/// A file that a message names.
pub(super) struct Media {
    /// What it is sent as.
    pub(super) kind: String,
    pub(super) id: String,
    pub(super) is_voice: bool,
}

/// The template that a send uses.
pub(super) struct UsedTemplate {
    pub(super) name: String,
    pub(super) language: String,
    pub(super) variables: usize,
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

/// A text of at most so many characters.
pub(super) fn bounded(
    object: &Map<String, Value>,
    name: &str,
    most: usize,
) -> Result<String, String> {
    let text = string(object, name)?;
    let length = text.chars().count();
    if length > most { Err(format!("{name} has {length} characters of {most}")) } else { Ok(text) }
}

/// Checks the body of a send.
pub(super) fn body(value: &Value) -> Result<ValidSend, String> {
    let known = ["recipient_type", "to", "recipient", "context", "biz_opaque_callback_data"];
    let optional: Vec<&str> = known.into_iter().chain(TYPES).collect();
    let object = only(value, "the body", &["messaging_product", "type"], &optional)?;
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
    if let Some(context) = object.get("context") {
        if kind == "reaction" {
            return Err("a reaction quotes".to_owned());
        }
        string(only(context, "context", &["message_id"], &[])?, "message_id")?;
    }
    if let Some(other) = TYPES.iter().find(|other| **other != kind && object.contains_key(**other))
    {
        return Err(format!("a {kind} has {other}"));
    }
    let content = object.get(&kind).ok_or_else(|| format!("the body has no {kind}"))?;
    Ok(ValidSend { to, is_scoped, said: said(&kind, content)?, kind })
}

fn said(kind: &str, content: &Value) -> Result<Said, String> {
    let of_text = |text| Said { text, ..Said::default() };
    Ok(match kind {
        "text" => of_text(Some(text(content)?)),
        "template" => Said { template: Some(template(content)?), ..Said::default() },
        "image" | "video" | "audio" | "document" | "sticker" => {
            let (text, media) = check_content::media(kind, content)?;
            Said { media: Some(media), ..of_text(text) }
        }
        "interactive" => {
            let (text, media) = check_offer::interactive(content)?;
            Said { media, ..of_text(Some(text)) }
        }
        "location" => of_text(check_content::location(content)?),
        "contacts" => of_text(Some(check_content::contacts(content)?)),
        "reaction" => of_text(Some(check_content::reaction(content)?)),
        other => return Err(format!("the type {other} is not expected")),
    })
}

/// A mark that a message was read.
pub(super) struct ReadMark {
    pub(super) message: String,
    pub(super) types: bool,
}

/// Checks the body of a mark that a message was read; `None` if it is none.
pub(super) fn read_mark(value: &Value) -> Option<Result<ReadMark, String>> {
    value.get("status")?;
    Some(mark(value))
}

fn mark(value: &Value) -> Result<ReadMark, String> {
    let required = ["messaging_product", "status", "message_id"];
    let object = only(value, "a mark", &required, &["typing_indicator"])?;
    if object["messaging_product"] != "whatsapp" || object["status"] != "read" {
        return Err("a mark is of another status than read".to_owned());
    }
    if let Some(typing) = object.get("typing_indicator") {
        let typing = only(typing, "typing_indicator", &["type"], &[])?;
        if typing["type"] != "text" {
            return Err("the typing indicator is no text".to_owned());
        }
    }
    let types = object.contains_key("typing_indicator");
    Ok(ReadMark { message: string(object, "message_id")?, types })
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

fn template(content: &Value) -> Result<UsedTemplate, String> {
    let object = only(content, "template", &["name", "language"], &["components"])?;
    let language = only(&object["language"], "language", &["code"], &["policy"])?;
    let mut variables = 0;
    let none = Vec::new();
    let components = match object.get("components") {
        None => &none,
        Some(Value::Array(components)) => components,
        Some(_) => return Err("components is no list".to_owned()),
    };
    for component in components {
        let component = only(component, "a component", &["type", "parameters"], &[])?;
        if string(component, "type")? != "body" {
            return Err("only the body has variables".to_owned());
        }
        let parameters = component["parameters"].as_array().ok_or("parameters is no list")?;
        if parameters.is_empty() || variables > 0 {
            return Err("a component without variables must be left out".to_owned());
        }
        for parameter in parameters {
            let parameter = only(parameter, "a parameter", &["type", "text"], &[])?;
            if string(parameter, "type")? != "text" {
                return Err("a parameter is no text".to_owned());
            }
            string(parameter, "text")?;
        }
        variables = parameters.len();
    }
    Ok(UsedTemplate {
        name: string(object, "name")?,
        language: string(language, "code")?,
        variables,
    })
}
