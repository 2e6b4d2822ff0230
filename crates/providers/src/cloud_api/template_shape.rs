//! What a template needs beside the variables of its text (D69).

use recado_core::templates::{ButtonNeed, TemplateNeeds, positions, unknown_tag};
use serde_json::Value;

use crate::shared::{array, text};

/// Variables that are not given by position.
pub(super) const BY_NAME: &str = "variables by name";

/// What a template with these components needs: what has to be filled in beside the variables of
/// its text, and parts that are not known.
pub(super) fn needs(components: &[Value]) -> TemplateNeeds {
    let mut needs = TemplateNeeds::default();
    if components.iter().filter(|component| kind(component) == "body").count() != 1 {
        needs.other.push("one text".to_owned());
    }
    for component in components {
        add(&mut needs, component);
    }
    needs
}

/// What a part of a template is, in lower case.
fn kind(value: &Value) -> String {
    text(value, "type").unwrap_or_default().to_ascii_lowercase()
}

/// Adds what one component needs.
fn add(needs: &mut TemplateNeeds, component: &Value) {
    let written = text(component, "text").unwrap_or_default();
    match kind(component).as_str() {
        "body" => needs.other.extend(needed_by_text(written).map(str::to_owned)),
        "header" => {
            let format = text(component, "format").unwrap_or("TEXT").to_ascii_lowercase();
            if format != "text" || written.contains("{{") {
                needs.header = Some(format);
            }
        }
        "footer" if written.contains("{{") => {
            needs.other.push("variables of the footer".to_owned());
        }
        "footer" => {}
        "buttons" => {
            let buttons = (0..).zip(array(component, "buttons"));
            let needy = buttons.filter(|(_, button)| button_needs_more(button));
            needs
                .buttons
                .extend(needy.map(|(index, button)| ButtonNeed { index, kind: kind(button) }));
        }
        "" => needs.other.push("a part without a type".to_owned()),
        other => needs.other.push(other.to_owned()),
    }
}

/// What a text needs whose variables are not those that are filled in by position, from 1 without a
/// gap.
fn needed_by_text(written: &str) -> Option<&'static str> {
    if written.trim().is_empty() {
        return Some("a text that is not empty");
    }
    if unknown_tag(written).is_some() {
        return Some(BY_NAME);
    }
    let gapless = (1..).zip(&positions(written)).all(|(expected, number)| expected == *number);
    (!gapless).then_some("variables numbered from 1 without a gap")
}

/// Static buttons need no values; codes, flows, catalogues and unknown buttons do.
fn button_needs_more(button: &Value) -> bool {
    match kind(button).as_str() {
        "quick_reply" | "phone_number" | "voice_call" => false,
        "url" => text(button, "url").is_none_or(|url| url.contains("{{")),
        _ => true,
    }
}
