//! Descriptions of properties (R275). Each is declared once: at the field, at the field that a body
//! writes, or at the type.

use serde_json::{Map, Value};

/// Bodies, and what shows the fields that they write: a field of a body that says nothing of itself
/// is described as it is there.
const WRITES: &[(&str, &[&str])] = &[
    ("CreateContact", &["ContactSummary", "ProfileView"]),
    ("UpdateContact", &["ContactSummary", "ProfileView"]),
    ("PatchContact", &["ContactSummary", "ContactDetail", "OperatorContact"]),
    ("ImportContact", &["ContactSummary", "ProfileView", "ContactDetail", "OperatorContact"]),
    ("ImportMessage", &["MessageView", "MessageListItem"]),
    ("DeliveryErrorBody", &["DeliveryError"]),
    ("ParticipantBody", &["Participant"]),
    ("NeutralEvent", &["MessageView", "MessageBlocks"]),
    ("MessageBlocks", &["MessageView"]),
    ("Group", &["GroupView"]),
    ("CreateCompany", &["Company"]),
    ("UpdateCompany", &["Company"]),
    ("FeaturesBody", &["Features"]),
    ("CreateKey", &["ApiKeyView"]),
    ("UpdateKey", &["ApiKeyView"]),
    ("CreateMember", &["Member"]),
    ("UpdateMember", &["Member"]),
    ("CreateConnection", &["ConnectionView"]),
    ("UpdateConnection", &["ConnectionView"]),
    ("CreatePipeline", &["PipelineView"]),
    ("StageBody", &["Stage"]),
    ("CreateDeal", &["Deal"]),
    ("UpdateDeal", &["Deal"]),
    ("CreateTag", &["Tag"]),
    ("UpdateTag", &["Tag"]),
    ("CreateCustomField", &["CustomField"]),
    ("UpdateCustomField", &["CustomField"]),
    ("CreateList", &["ListView"]),
    ("UpdateList", &["ListView"]),
    ("CreateTemplate", &["TemplateView"]),
    ("UpdateTemplate", &["TemplateView"]),
    ("CreateCampaign", &["CampaignView", "CampaignRecord"]),
    ("UpdateCampaign", &["CampaignView", "CampaignRecord"]),
    ("CreateLink", &["LinkView"]),
    ("UpdateWebhook", &["WebhookView"]),
    ("CreateEndpoint", &["EndpointView"]),
    ("UpdateEndpoint", &["EndpointView"]),
    ("Debit", &["LedgerLineView"]),
    ("Refund", &["LedgerLineView"]),
    ("AiTurn", &["LedgerLineView"]),
    ("CoveredBy", &["ProsaView"]),
    ("LeadMemoryBody", &["Inferred"]),
    ("WholeLeadMemory", &["Inferred", "LeadMemoryView"]),
    ("BantBody", &["Bant"]),
];

/// Gives every property of the document its description.
pub(super) fn complete(document: &mut Value) {
    clean(document);
    each_property(document, "", &mut |_, _, property| hoist(property));
    let shown = document["components"]["schemas"].clone();
    each_property(document, "", &mut |owner, name, property| {
        if property.get("description").is_none()
            && let Some(text) = written_like(&shown, owner, name)
                .or_else(|| of_type(&shown, property))
                .or_else(|| of_tag(property))
        {
            property["description"] = text.into();
        }
    });
}

/// Calls `then` with every property: the schema it belongs to, its name, and itself.
pub(super) fn each_property(
    value: &mut Value,
    owner: &str,
    then: &mut dyn FnMut(&str, &str, &mut Value),
) {
    match value {
        Value::Object(object) => {
            if let Some(Value::Object(properties)) = object.get_mut("properties") {
                properties.iter_mut().for_each(|(name, property)| then(owner, name, property));
            }
            for (name, value) in object {
                match (name.as_str(), &mut *value) {
                    ("example", _) => {}
                    ("schemas", Value::Object(schemas)) => schemas
                        .iter_mut()
                        .for_each(|(name, schema)| each_property(schema, name, then)),
                    _ => each_property(value, owner, then),
                }
            }
        }
        Value::Array(values) => {
            values.iter_mut().for_each(|value| each_property(value, owner, then))
        }
        _ => {}
    }
}

/// The schema of a property where it may be null, too.
pub(super) fn not_null(property: &Value) -> &Value {
    let choices = property["oneOf"].as_array().map_or(&[][..], Vec::as_slice);
    let mut others = choices.iter().filter(|choice| choice["type"] != "null");
    match (choices.len(), others.next()) {
        (2, Some(one)) => one,
        _ => property,
    }
}

/// The description of what may be null is that of the whole.
fn hoist(property: &mut Value) {
    if property.get("description").is_some() {
        return;
    }
    let Some(choices) = property["oneOf"].as_array_mut() else {
        // Looking at it has made it.
        property.as_object_mut().expect("a schema is an object").remove("oneOf");
        return;
    };
    let mut found = None;
    for choice in choices.iter_mut().filter_map(Value::as_object_mut) {
        if choice.contains_key("$ref") && found.is_none() {
            found = choice.remove("description");
        }
    }
    if let Some(text) = found {
        property["description"] = text;
    }
}

/// What the field says that a field of a body writes.
fn written_like(shown: &Value, owner: &str, name: &str) -> Option<String> {
    let (_, views) = WRITES.iter().find(|(body, _)| *body == owner)?;
    views.iter().find_map(|view| text_in(&shown[*view], name))
}

fn text_in(schema: &Value, name: &str) -> Option<String> {
    let own = schema["properties"][name]["description"].as_str().map(str::to_owned);
    let parts = schema["allOf"].as_array().into_iter().flatten();
    own.or_else(|| parts.into_iter().find_map(|part| text_in(part, name)))
}

/// What the tag of a choice says.
fn of_tag(property: &Value) -> Option<String> {
    let words = property["enum"].as_array()?;
    (words.len() == 1).then(|| "Which of the forms it is.".to_owned())
}

/// What its type says, up to the meanings of its words.
fn of_type(shown: &Value, property: &Value) -> Option<String> {
    let schema = not_null(property);
    let reference = schema["$ref"].as_str().or_else(|| schema["items"]["$ref"].as_str())?;
    let name = reference.rsplit('/').next()?;
    let text = shown[name]["description"].as_str()?;
    text.split("\n\n").next().map(str::to_owned)
}

/// Takes out of all descriptions what only readers of the sources understand: the brackets of links
/// and the numbers of rules.
fn clean(value: &mut Value) {
    match value {
        Value::Object(object) => clean_object(object),
        Value::Array(values) => values.iter_mut().for_each(clean),
        _ => {}
    }
}

fn clean_object(object: &mut Map<String, Value>) {
    for (name, value) in object {
        match value {
            Value::String(text) if name == "description" => *text = without_sources(text),
            _ if name == "example" => {}
            _ => clean(value),
        }
    }
}

fn without_sources(text: &str) -> String {
    let mut cleaned = String::new();
    let mut rest = text;
    while let Some(at) = rest.find([' ', '\n', '[']) {
        let (before, from) = rest.split_at(at);
        cleaned.push_str(before);
        if let Some(linked) = from.strip_prefix("[`").and_then(|link| link.find("`]")) {
            cleaned.push_str(&from[1..linked + 3]);
            rest = &from[linked + 4..];
        } else if let Some(end) = citation(&from[1..]) {
            rest = &from[1 + end..];
        } else {
            cleaned.push_str(&from[..1]);
            rest = &from[1..];
        }
    }
    cleaned + rest
}

/// The length of `(2.1, D44a)` at the beginning of a text.
fn citation(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('(')?.split(')').next()?;
    let is_rule = |part: &str| {
        let part = part.trim().trim_start_matches(['D', 'R', 'X']);
        part.starts_with(|c: char| c.is_ascii_digit())
            && part
                .chars()
                .all(|c| c.is_ascii_digit() || ".–".contains(c) || c.is_ascii_lowercase())
    };
    (!inner.is_empty() && inner.split(',').all(is_rule)).then_some(inner.len() + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_the_sources_explain_is_left_out() {
        assert_eq!(without_sources("A phone (2.1, D44a); or [`null`]."), "A phone; or `null`.");
        assert_eq!(without_sources("Sections\n(4.1–4.5)."), "Sections.");
        assert_eq!(without_sources("At most (64 KiB) of [it]."), "At most (64 KiB) of [it].");
    }
}
