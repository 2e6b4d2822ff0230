//! Changes of an account's templates (D69).

use recado_core::gateway::{GatewayEvent, Incoming, TemplateReport};
use recado_core::templates::{TemplateCategory, TemplateStatus};
use serde_json::Value;

use super::people::plain_name;
use super::templates;
use crate::shared::{text, word};

/// A template was approved, paused, refused…
pub(super) fn status(value: &Value) -> Vec<Incoming> {
    let status = match text(value, "event") {
        // The template has its earlier status again, which the event does not contain; the next
        // listing does.
        Some("UNARCHIVED") => None,
        Some(event) => Some(templates::status(event)),
        None => return vec![Err("a template's report names no event".to_owned())],
    };
    let category = text(value, "message_template_category").map(templates::category);
    vec![report(value, status, category)]
}

/// The category of a template has changed. Announcements of a later change are ignored.
pub(super) fn category(value: &Value) -> Vec<Incoming> {
    let is_done = text(value, "previous_category").is_some();
    let category = text(value, "new_category").filter(|_| is_done).map(templates::category);
    category.map(|category| report(value, None, Some(category))).into_iter().collect()
}

fn report(
    value: &Value,
    status: Option<TemplateStatus>,
    category: Option<TemplateCategory>,
) -> Incoming {
    let named = |field: &str| word(value, field).filter(|name| !name.chars().any(char::is_control));
    let (name, language) = (named("message_template_name"), named("message_template_language"));
    let provider_id = word(value, "message_template_id").and_then(|id| plain_name(&id));
    if provider_id.is_none() && (name.is_none() || language.is_none()) {
        return Err("a template's report names no template".to_owned());
    }
    Ok(GatewayEvent::Template(TemplateReport { provider_id, name, language, status, category }))
}
