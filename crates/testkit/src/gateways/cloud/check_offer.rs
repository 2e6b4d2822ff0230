//! The checks of what is offered to choose from.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::check::{Media, bounded, only, string};

/// The most characters of the texts of an offer.
const HEADER: usize = 60;
const BODY: usize = 1024;
const LIST_BODY: usize = 4096;
const FOOTER: usize = 60;
const LABEL: usize = 20;
const BUTTON_ID: usize = 256;
const ROW_ID: usize = 200;
const ROW_TITLE: usize = 24;
const DESCRIPTION: usize = 72;

/// Checks an `interactive`; answers its text, and its header's file.
pub(super) fn interactive(content: &Value) -> Result<(String, Option<Media>), String> {
    let kind = content.get("type").and_then(Value::as_str).unwrap_or_default();
    let optional: &[&str] = match kind {
        "location_request_message" => &[],
        _ => &["header", "footer"],
    };
    let object = only(content, "interactive", &["type", "body", "action"], optional)?;
    let body = only(&object["body"], "the body of an offer", &["text"], &[])?;
    let body = bounded(body, "text", if kind == "list" { LIST_BODY } else { BODY })?;
    if let Some(footer) = object.get("footer") {
        bounded(only(footer, "footer", &["text"], &[])?, "text", FOOTER)?;
    }
    let media = match object.get("header") {
        Some(header) => header_file(header, kind)?,
        None => None,
    };
    match kind {
        "button" => buttons(&object["action"])?,
        "list" => list(&object["action"])?,
        "cta_url" => page(&object["action"])?,
        "location_request_message" => place(&object["action"])?,
        other => return Err(format!("an offer of the type {other}")),
    }
    Ok((body, media))
}

fn header_file(header: &Value, of: &str) -> Result<Option<Media>, String> {
    let kind = header.get("type").and_then(Value::as_str).unwrap_or_default();
    match kind {
        "text" => {
            bounded(only(header, "header", &["type", "text"], &[])?, "text", HEADER)?;
            Ok(None)
        }
        "image" | "video" | "document" if of != "list" => {
            let object = only(header, "header", &["type", kind], &[])?;
            let file = only(&object[kind], "the file of a header", &["id"], &[])?;
            let (kind, id) = (kind.to_owned(), string(file, "id")?);
            Ok(Some(Media { kind, id, is_voice: false }))
        }
        other => Err(format!("a {of} has a header of the type {other}")),
    }
}

fn list_of<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a Vec<Value>, String> {
    object[name].as_array().ok_or_else(|| format!("{name} is no list"))
}

/// Ids and titles that occur once each.
#[derive(Default)]
struct Once(BTreeSet<(&'static str, String)>);

impl Once {
    fn add(&mut self, what: &'static str, text: String) -> Result<(), String> {
        let shown = format!("the {what} {text} occurs twice");
        if self.0.insert((what, text)) { Ok(()) } else { Err(shown) }
    }
}

fn buttons(action: &Value) -> Result<(), String> {
    let buttons = list_of(only(action, "action", &["buttons"], &[])?, "buttons")?;
    if !(1..=3).contains(&buttons.len()) {
        return Err(format!("{} buttons", buttons.len()));
    }
    let mut once = Once::default();
    for button in buttons {
        let button = only(button, "a button", &["type", "reply"], &[])?;
        if button["type"] != "reply" {
            return Err("a button is no reply".to_owned());
        }
        let reply = only(&button["reply"], "a reply", &["id", "title"], &[])?;
        once.add("id", bounded(reply, "id", BUTTON_ID)?)?;
        once.add("title", bounded(reply, "title", LABEL)?)?;
    }
    Ok(())
}

fn list(action: &Value) -> Result<(), String> {
    let action = only(action, "action", &["button", "sections"], &[])?;
    bounded(action, "button", LABEL)?;
    let sections = list_of(action, "sections")?;
    let (mut rows, mut once) = (0, Once::default());
    for section in sections {
        let section = only(section, "a section", &["rows"], &["title"])?;
        if section.contains_key("title") {
            bounded(section, "title", ROW_TITLE)?;
        } else if sections.len() > 1 {
            return Err("one of several sections has no title".to_owned());
        }
        let of_section = list_of(section, "rows")?;
        if of_section.is_empty() {
            return Err("a section has no rows".to_owned());
        }
        for row in of_section {
            rows += 1;
            let row = only(row, "a row", &["id", "title"], &["description"])?;
            once.add("id", bounded(row, "id", ROW_ID)?)?;
            bounded(row, "title", ROW_TITLE)?;
            if row.contains_key("description") {
                bounded(row, "description", DESCRIPTION)?;
            }
        }
    }
    if (1..=10).contains(&rows) { Ok(()) } else { Err(format!("{rows} rows")) }
}

fn page(action: &Value) -> Result<(), String> {
    let action = only(action, "action", &["name", "parameters"], &[])?;
    if action["name"] != "cta_url" {
        return Err("the action of a page is not cta_url".to_owned());
    }
    let parameters = only(&action["parameters"], "parameters", &["display_text", "url"], &[])?;
    bounded(parameters, "display_text", LABEL)?;
    let url = string(parameters, "url")?;
    if url.starts_with("https://") { Ok(()) } else { Err(format!("{url} is no page")) }
}

fn place(action: &Value) -> Result<(), String> {
    let action = only(action, "action", &["name"], &[])?;
    if action["name"] == "send_location" { Ok(()) } else { Err("no send_location".to_owned()) }
}
