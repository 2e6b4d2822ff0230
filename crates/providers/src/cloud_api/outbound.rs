//! What messages are at the API, by their kind (X10, X12, X13).

use recado_core::gateway::{Content, FileKind, MediaContent, OutgoingFile, ReactionContent};
use recado_core::messages::{Location, SharedContact};
use serde_json::{Value, json};

use super::offer;
use crate::shared::digits;

/// The file of a message, which is uploaded before it.
pub(super) fn file_of(content: &Content) -> Option<&OutgoingFile> {
    match content {
        Content::Media(media) => Some(&media.file),
        Content::Interactive(offered) => offered.header_file.as_ref().map(|(_, file)| file),
        _ => None,
    }
}

/// Why the API cannot show a content, if it cannot (R331).
pub(super) fn unable(content: &Content) -> Option<&'static str> {
    match content {
        Content::Interactive(offered) => offer::unable(offered),
        _ => None,
    }
}

/// The type of a message and its content. `file` is the id of its file.
pub(super) fn content(content: &Content, file: Option<&str>) -> (&'static str, Value) {
    match content {
        Content::Text(text) => ("text", json!({"body": text, "preview_url": false})),
        Content::Template { name, language, variables, .. } => {
            ("template", template(name, language, variables))
        }
        Content::Media(media) => (media_type(media.kind), media_object(media, file)),
        Content::Interactive(offered) => ("interactive", offer::interactive(offered, file)),
        Content::Location(place) => ("location", location(place)),
        Content::Contacts(cards) => ("contacts", Value::Array(cards.iter().map(card).collect())),
        Content::Reaction(reaction) => ("reaction", reacted(reaction)),
    }
}

fn template(name: &str, language: &str, variables: &[String]) -> Value {
    let mut template = json!({"name": name, "language": {"code": language}});
    // A component without variables must be left out.
    if !variables.is_empty() {
        let parameters: Vec<Value> =
            variables.iter().map(|value| json!({"type": "text", "text": value})).collect();
        template["components"] = json!([{"type": "body", "parameters": parameters}]);
    }
    template
}

/// The API's word for a kind of file.
pub(super) const fn media_type(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Image => "image",
        FileKind::Video => "video",
        FileKind::Audio => "audio",
        FileKind::Document => "document",
        FileKind::Sticker => "sticker",
    }
}

fn media_object(media: &MediaContent, file: Option<&str>) -> Value {
    let mut object = json!({ "id": file });
    let has_caption = !matches!(media.kind, FileKind::Audio | FileKind::Sticker);
    if let Some(caption) = media.caption.as_ref().filter(|_| has_caption) {
        object["caption"] = json!(caption);
    }
    if media.kind == FileKind::Document
        && let Some(name) = &media.file.filename
    {
        object["filename"] = json!(name);
    }
    if media.kind == FileKind::Audio && media.is_voice {
        object["voice"] = json!(true);
    }
    object
}

/// A place. The API documents its degrees as texts, which lose no digit.
fn location(place: &Location) -> Value {
    let mut object = json!({
        "latitude": place.latitude.to_string(),
        "longitude": place.longitude.to_string(),
    });
    for (field, said) in [("name", &place.name), ("address", &place.address)] {
        if let Some(said) = said {
            object[field] = json!(said);
        }
    }
    object
}

/// An address card. The API wants the formatted name and at least one part of it.
fn card(card: &SharedContact) -> Value {
    let name = card.name.as_deref().unwrap_or_default();
    let mut object = json!({"name": {"formatted_name": name, "first_name": name}});
    let phones = card.phones.iter().map(|phone| {
        let mut said = with_type(json!({"phone": phone.number}), phone.kind.as_deref());
        // Without an id of the channel, the recipient is asked to invite the person to it.
        if let Some(id) = channel_id(&phone.number) {
            said["wa_id"] = json!(id);
        }
        said
    });
    let emails = card
        .emails
        .iter()
        .map(|email| with_type(json!({"email": email.email}), email.kind.as_deref()));
    for (field, list) in [("phones", phones.collect()), ("emails", emails.collect())] {
        put_list(&mut object, field, list);
    }
    if let Some(company) = &card.organization {
        object["org"] = json!({"company": company});
        if let Some(title) = &card.title {
            object["org"]["title"] = json!(title);
        }
    }
    object
}

fn put_list(object: &mut Value, field: &str, list: Vec<Value>) {
    if !list.is_empty() {
        object[field] = Value::Array(list);
    }
}

fn with_type(mut object: Value, kind: Option<&str>) -> Value {
    if let Some(kind) = kind {
        object["type"] = json!(kind);
    }
    object
}

/// The channel's id of a phone that is written with its country code.
fn channel_id(number: &str) -> Option<String> {
    let rest = number.trim().strip_prefix('+')?;
    let bare: String = rest.chars().filter(|c| !matches!(c, ' ' | '-' | '(' | ')' | '.')).collect();
    digits(&bare).map(str::to_owned)
}

/// A reaction; without an emoji it withdraws the one before.
fn reacted(reaction: &ReactionContent) -> Value {
    let emoji = reaction.emoji.as_deref().unwrap_or_default();
    json!({"message_id": reaction.target.provider_id.as_str(), "emoji": emoji})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_with_its_country_code_is_an_id_of_the_channel() {
        for (number, id) in [
            ("+55 (34) 99123-4567", Some("5534991234567")),
            ("+1.650.555.1234", Some("16505551234")),
            ("34 99123-4567", None),
            ("+55 34 call me", None),
            ("+", None),
        ] {
            assert_eq!(channel_id(number).as_deref(), id, "{number}");
        }
    }
}
