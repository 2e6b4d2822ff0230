//! The checks of a template in a send: its own form, and against the template of the account.

use std::collections::BTreeSet;

use recado_core::templates::{Variable, unknown_tag, variables};
use serde_json::Value;

use super::check::{Media, only, string};
use super::check_content;

/// The template that a send uses.
pub(super) struct UsedTemplate {
    pub(super) name: String,
    pub(super) language: String,
    /// The names of the body's parameters; `None` by position.
    body: Vec<Option<String>>,
    /// The type of the header's parameter, and its name.
    header: Option<(String, Option<String>)>,
    /// The buttons that have parameters: their positions and sub-types.
    buttons: Vec<(usize, String)>,
}

/// Reads the template of a send, strictly; answers the file of its header too.
pub(super) fn used(content: &Value) -> Result<(UsedTemplate, Option<Media>), String> {
    let object = only(content, "template", &["name", "language"], &["components"])?;
    let language = only(&object["language"], "language", &["code"], &["policy"])?;
    let mut template = UsedTemplate {
        name: string(object, "name")?,
        language: string(language, "code")?,
        body: Vec::new(),
        header: None,
        buttons: Vec::new(),
    };
    let none = Vec::new();
    let components = match object.get("components") {
        None => &none,
        Some(Value::Array(components)) if !components.is_empty() => components,
        Some(_) => return Err("components is no list, or empty".to_owned()),
    };
    let mut file = None;
    for component in components {
        file = file.or(template.add(component)?);
    }
    Ok((template, file))
}

impl UsedTemplate {
    fn add(&mut self, component: &Value) -> Result<Option<Media>, String> {
        let kind = component["type"].as_str().unwrap_or_default();
        let more: &[&str] = if kind == "button" { &["sub_type", "index"] } else { &[] };
        let keys = [&["type", "parameters"], more].concat();
        let object = only(component, "a component", &keys, &[])?;
        let parameters = object["parameters"].as_array().ok_or("parameters is no list")?;
        let [first, rest @ ..] = parameters.as_slice() else {
            return Err("a component without parameters must be left out".to_owned());
        };
        match kind {
            "body" if self.body.is_empty() => {
                self.body = parameters.iter().map(text).collect::<Result<_, _>>()?;
                let named = self.body.iter().filter(|name| name.is_some()).count();
                let different: BTreeSet<_> = self.body.iter().flatten().collect();
                if named > 0 && (named < self.body.len() || different.len() < named) {
                    return Err("parameters are named in part, or twice".to_owned());
                }
            }
            "header" if self.header.is_none() && rest.is_empty() => {
                let (kind, name, file) = header(first)?;
                self.header = Some((kind, name));
                return Ok(file);
            }
            "button" if rest.is_empty() => {
                let index = object["index"].as_str().and_then(|index| index.parse().ok());
                let index: usize = index.ok_or("the index of a button is no number in a text")?;
                if self.buttons.iter().any(|(known, _)| *known == index) || index > 9 {
                    return Err(format!("button {index} is there twice, or too high"));
                }
                let sub_type = string(object, "sub_type")?;
                button(&sub_type, first)?;
                self.buttons.push((index, sub_type));
            }
            other => return Err(format!("a second {other}, an unknown one, or too much in it")),
        }
        Ok(None)
    }

    /// What is wrong with it for a template with these components: the code of the error.
    pub(super) fn unfit(&self, known: &[Value]) -> Option<(u32, &'static str)> {
        let of = |kind: &str| known.iter().find(|part| part["type"] == kind);
        let body = of("BODY").and_then(|body| body["text"].as_str()).unwrap_or_default();
        if !fits_variables(body, &self.body) {
            return Some((132_000, "number of localizable_params does not match"));
        }
        let is_fit = match of("HEADER") {
            None => self.header.is_none(),
            Some(header) => self.fits_header(header),
        };
        if !is_fit {
            return Some((132_012, "the header does not match the template"));
        }
        let none = Vec::new();
        let listed = of("BUTTONS").and_then(|part| part["buttons"].as_array()).unwrap_or(&none);
        let fits = listed.iter().enumerate().all(|(index, button)| self.fits(index, button));
        let are_known = self.buttons.iter().all(|(index, _)| *index < listed.len());
        (!fits || !are_known).then_some((132_018, "the buttons do not match the template"))
    }

    fn fits_header(&self, listed: &Value) -> bool {
        let format = listed["format"].as_str().unwrap_or("TEXT").to_ascii_lowercase();
        match (format.as_str(), &self.header) {
            ("text", sent) => {
                let names: Vec<Option<String>> =
                    sent.iter().map(|(_, name)| name.clone()).collect();
                let is_text = sent.as_ref().is_none_or(|(kind, _)| kind == "text");
                is_text && fits_variables(listed["text"].as_str().unwrap_or_default(), &names)
            }
            (format, Some((kind, _))) => kind == format,
            (_, None) => false,
        }
    }

    fn fits(&self, index: usize, listed: &Value) -> bool {
        let sent = self.buttons.iter().find(|(known, _)| *known == index);
        let sent = sent.map(|(_, sub_type)| sub_type.as_str());
        let has_variable = listed["url"].as_str().is_some_and(|url| url.contains("{{"));
        match listed["type"].as_str().unwrap_or_default() {
            "URL" if has_variable => sent == Some("url"),
            "OTP" => sent == Some("url"),
            "COPY_CODE" => sent == Some("copy_code"),
            "QUICK_REPLY" => sent.is_none_or(|sub_type| sub_type == "quick_reply"),
            _ => sent.is_none(),
        }
    }
}

/// Whether these parameters fill a text in.
fn fits_variables(written: &str, sent: &[Option<String>]) -> bool {
    let wanted = variables(written);
    let named: Vec<&str> = wanted.iter().filter_map(Variable::name).collect();
    let given: Vec<&str> = sent.iter().flatten().map(String::as_str).collect();
    let are_those = named.iter().all(|name| given.contains(name));
    wanted.len() == sent.len()
        && given.len() == named.len()
        && are_those
        && unknown_tag(written).is_none()
}

/// A text; returns its name.
fn text(parameter: &Value) -> Result<Option<String>, String> {
    let object = only(parameter, "a parameter", &["type", "text"], &["parameter_name"])?;
    if string(object, "type")? != "text" {
        return Err("a parameter is no text".to_owned());
    }
    string(object, "text")?;
    object.get("parameter_name").map(|_| string(object, "parameter_name")).transpose()
}

/// The type of a header's parameter, its name, and its file.
type HeaderParameter = (String, Option<String>, Option<Media>);

/// The parameter of a header.
fn header(parameter: &Value) -> Result<HeaderParameter, String> {
    let kind = parameter["type"].as_str().unwrap_or_default().to_owned();
    if kind == "text" {
        return Ok((kind, text(parameter)?, None));
    }
    let object = only(parameter, "a parameter", &["type", &kind], &[])?;
    let value = &object[kind.as_str()];
    match kind.as_str() {
        "image" | "video" | "document" => {
            if value.get("caption").is_some() {
                return Err("a header has a caption".to_owned());
            }
            let (_, file) = check_content::media(&kind, value)?;
            return Ok((kind, None, Some(file)));
        }
        "location" => drop(check_content::location(value)?),
        other => return Err(format!("a header takes no {other}")),
    }
    Ok((kind, None, None))
}

/// The parameter of a button.
fn button(sub_type: &str, parameter: &Value) -> Result<(), String> {
    let (kind, key, max) = match sub_type {
        "url" => ("text", "text", 2_000),
        "quick_reply" => ("payload", "payload", 256),
        "copy_code" => ("coupon_code", "coupon_code", 20),
        other => return Err(format!("a button of the sub-type {other} is not expected")),
    };
    let object = only(parameter, "a parameter", &["type", key], &[])?;
    if string(object, "type")? != kind || string(object, key)?.chars().count() > max {
        return Err(format!("the parameter of a {sub_type} button is none, or too long"));
    }
    Ok(())
}
