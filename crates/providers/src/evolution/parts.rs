//! Files, places, address cards and reactions.

use recado_core::gateway::EventMedia;
use recado_core::messages::{Blocks, Location, MessageType, Reaction, SharedContact};
use serde_json::Value;

use super::body::{MessageContent, Quote};
use super::media::SOURCE;
use super::values::{filled, long, message_id, short};
use crate::shared::{boolean, card, listed, text};

/// The most bytes of a file's address.
const MAX_URL: usize = 4_096;

/// A file with its caption.
pub(super) fn file(message_type: MessageType, part: &Value) -> MessageContent {
    let name = filled(part, "fileName").or_else(|| filled(part, "title")).and_then(short);
    let media = EventMedia {
        url: None,
        mimetype: filled(part, "mimetype").and_then(short),
        filename: name.filter(|_| message_type == MessageType::Document),
        caption: filled(part, "caption").map(long),
    };
    MessageContent { media: Some(media), ..MessageContent::of(message_type) }
}

/// The source of a file: the address where the gateway stored it, or the message's id.
pub(super) fn media_source(locations: &[&Value], id: Option<&str>) -> Option<String> {
    let is_address = |url: &&str| {
        let web = url.starts_with("https://") || url.starts_with("http://");
        web && url.len() <= MAX_URL && !url.chars().any(char::is_control)
    };
    let stored =
        locations.iter().find_map(|location| text(location, "mediaUrl")).filter(is_address);
    stored.map(str::to_owned).or_else(|| id.map(|id| format!("{SOURCE}{id}")))
}

/// A recording, or a voice note.
pub(super) fn audio(part: &Value) -> MessageContent {
    let mut audio = file(MessageType::Audio, part);
    audio.blocks.is_voice = boolean(part, "ptt") == Some(true);
    audio
}

/// A place. Without coordinates it is what its name says.
pub(super) fn location(part: &Value, is_live: bool) -> MessageContent {
    let degrees = |name| part.get(name).and_then(Value::as_number).cloned();
    let name = filled(part, "name").or_else(|| filled(part, "caption"));
    let name = name.or_else(|| filled(part, "comment"));
    let address = filled(part, "address");
    match degrees("degreesLatitude").zip(degrees("degreesLongitude")) {
        Some((latitude, longitude)) => {
            let location = Location {
                latitude,
                longitude,
                name: name.map(long),
                address: address.map(long),
                url: filled(part, "url").map(long),
                is_live: is_live || boolean(part, "isLive") == Some(true),
            };
            let blocks = Blocks { location: Some(location), ..Blocks::default() };
            MessageContent::with(MessageType::Location, blocks)
        }
        None => MessageContent::saying(MessageType::Location, name.or(address)),
    }
}

/// Address cards.
pub(super) fn contacts(part: &Value) -> MessageContent {
    let cards = match listed(part, "contacts") {
        [] => std::slice::from_ref(part),
        cards => cards,
    };
    let cards = cards.iter().map(contact).collect();
    let blocks = Blocks { shared_contacts: Some(cards), ..Blocks::default() };
    MessageContent::with(MessageType::Contacts, blocks)
}

/// An address card, which is called as the channel calls it.
fn contact(part: &Value) -> SharedContact {
    let read = filled(part, "vcard").map(card).unwrap_or_default();
    let name = filled(part, "displayName").map(long).or(read.name);
    SharedContact { name, ..read }
}

/// A reaction: its emoji, quoting the message that it is about; without an emoji it was withdrawn.
pub(super) fn reaction(part: &Value) -> MessageContent {
    let id = part.get("key").and_then(|key| message_id(key, "id"));
    let reaction = Reaction {
        emoji: filled(part, "text").map(long).filter(|emoji| !emoji.trim().is_empty()),
        provider_message_id: id.as_ref().map(|id| id.as_str().to_owned()),
        ..Reaction::default()
    };
    let blocks = Blocks { reaction: Some(reaction), ..Blocks::default() };
    let quoted = Quote { id, ..Quote::default() };
    MessageContent { quoted, ..MessageContent::with(MessageType::Reaction, blocks) }
}
