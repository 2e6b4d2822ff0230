//! Whether a template needs more than the variables of its text (D69).

use recado_core::templates::{positions, unknown_tag};
use serde_json::Value;

use crate::shared::{array, text};

/// Whether a template with these components cannot be sent with its text's variables alone: because
/// something else has to be filled in, or because it has an unknown part.
pub(super) fn is_complex(components: &[Value]) -> bool {
    let bodies = components.iter().filter(|component| kind(component) == "BODY").count();
    bodies != 1 || components.iter().any(needs_more)
}

fn kind(value: &Value) -> String {
    text(value, "type").unwrap_or_default().to_ascii_uppercase()
}

fn needs_more(component: &Value) -> bool {
    let written = text(component, "text").unwrap_or_default();
    match kind(component).as_str() {
        // Its variables must be those that are filled in by position, from 1 without a gap.
        "BODY" => {
            let numbers = positions(written);
            written.trim().is_empty()
                || unknown_tag(written).is_some()
                || !(1..).zip(&numbers).all(|(expected, number)| expected == *number)
        }
        "HEADER" => {
            let format = text(component, "format").unwrap_or("TEXT");
            !format.eq_ignore_ascii_case("TEXT") || written.contains("{{")
        }
        "FOOTER" => written.contains("{{"),
        "BUTTONS" => array(component, "buttons").iter().any(button_needs_more),
        _ => true,
    }
}

/// Static buttons need no values; codes, flows, catalogues and unknown buttons do.
fn button_needs_more(button: &Value) -> bool {
    match kind(button).as_str() {
        "QUICK_REPLY" | "PHONE_NUMBER" | "VOICE_CALL" => false,
        "URL" => text(button, "url").is_none_or(|url| url.contains("{{")),
        _ => true,
    }
}
