//! Messages of several kinds, each with a mark by which it is known everywhere.

use recado_core::gateway::{Content, FileKind, MessageKind};
use recado_core::messages::{Location, Message, Offer, OfferKind, SharedContact};
use recado_testkit::contents;
use serde_json::Value;

/// The kinds that have a place for a mark, in the official API.
pub const OFFICIAL: [MessageKind; 10] = [
    MessageKind::Text,
    MessageKind::Image,
    MessageKind::Video,
    MessageKind::Document,
    MessageKind::Buttons,
    MessageKind::List,
    MessageKind::CtaUrl,
    MessageKind::LocationRequest,
    MessageKind::Location,
    MessageKind::Contacts,
];

/// A message of this kind with this mark.
pub fn content(kind: MessageKind, mark: &str) -> Content {
    let body = || Some(mark.to_owned());
    let offered = |offer: Offer| contents::offered(Offer { body: body(), ..offer });
    match kind {
        MessageKind::Image => contents::media(FileKind::Image, Some(mark)),
        MessageKind::Video => contents::media(FileKind::Video, Some(mark)),
        MessageKind::Document => contents::media(FileKind::Document, Some(mark)),
        MessageKind::Buttons => offered(contents::buttons()),
        MessageKind::List => offered(contents::list()),
        MessageKind::CtaUrl => offered(contents::page()),
        MessageKind::LocationRequest => offered(Offer::new(OfferKind::LocationRequest)),
        MessageKind::Location => Content::Location(Location { name: body(), ..contents::place() }),
        MessageKind::Contacts => {
            Content::Contacts(vec![SharedContact { name: body(), ..contents::card() }])
        }
        _ => Content::Text(mark.to_owned()),
    }
}

/// The mark of a stored message: its text, its caption, or what stands in what it shows.
pub fn mark_of(message: &Message) -> Option<String> {
    let said = message.content.as_deref().or(message.media.caption.as_deref())?;
    let Some(start) = said.find("pedido ") else { return Some(said.to_owned()) };
    let is_of_mark = |c: &char| c.is_ascii_digit();
    let number: String = said[start + "pedido ".len()..].chars().take_while(is_of_mark).collect();
    Some(format!("pedido {number}"))
}

/// The mark in a send to the official API.
pub fn mark_in_official(body: &Value) -> Option<String> {
    let kind = body["type"].as_str()?;
    let content = &body[kind];
    let said = match kind {
        "text" => &content["body"],
        "interactive" => &content["body"]["text"],
        "location" => &content["name"],
        "contacts" => &content[0]["name"]["formatted_name"],
        _ => &content["caption"],
    };
    said.as_str().map(str::to_owned)
}
