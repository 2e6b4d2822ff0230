//! Messages of several kinds, each with a mark by which it is known everywhere.
//!
//! Reactions are left out: an emoji has no place for a mark, and a second reaction changes the
//! first.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use recado_core::gateway::{Content, FileKind, MessageKind};
use recado_core::messages::{Location, Message, Offer, OfferKind, SharedContact};
use recado_core::templates::{Parameter, TemplateContent};
use recado_testkit::contents;
use recado_testkit::gateways::WahaEngine;
use serde_json::Value;

use crate::world::finish;

/// The kinds that go through the official API.
pub const OFFICIAL: [MessageKind; 14] = [
    MessageKind::Text,
    MessageKind::Template,
    MessageKind::Image,
    MessageKind::Video,
    MessageKind::Audio,
    MessageKind::Voice,
    MessageKind::Document,
    MessageKind::Sticker,
    MessageKind::Buttons,
    MessageKind::List,
    MessageKind::CtaUrl,
    MessageKind::LocationRequest,
    MessageKind::Location,
    MessageKind::Contacts,
];
/// The kinds that go through Evolution.
pub const EVOLUTION: [MessageKind; 13] = [
    MessageKind::Text,
    MessageKind::Image,
    MessageKind::Video,
    MessageKind::Audio,
    MessageKind::Voice,
    MessageKind::Document,
    MessageKind::Sticker,
    MessageKind::Buttons,
    MessageKind::List,
    MessageKind::CtaUrl,
    MessageKind::Poll,
    MessageKind::Location,
    MessageKind::Contacts,
];
/// The kinds that go through WAHA: first those of NOWEB alone, then those of GOWS, then those of
/// every engine.
pub const WAHA: [MessageKind; 12] = [
    MessageKind::Buttons,
    MessageKind::CtaUrl,
    MessageKind::List,
    MessageKind::Text,
    MessageKind::Image,
    MessageKind::Video,
    MessageKind::Voice,
    MessageKind::Document,
    MessageKind::Sticker,
    MessageKind::Poll,
    MessageKind::Location,
    MessageKind::Contacts,
];

/// The kinds that an engine of WAHA carries.
pub fn of_engine(engine: WahaEngine) -> &'static [MessageKind] {
    match engine {
        WahaEngine::Noweb => &WAHA,
        WahaEngine::Gows => &WAHA[2..],
        WahaEngine::Webjs => &WAHA[3..],
    }
}

/// What a message of this kind carries as its file.
pub const fn file_of(kind: MessageKind) -> Option<FileKind> {
    match kind {
        MessageKind::Image => Some(FileKind::Image),
        MessageKind::Video => Some(FileKind::Video),
        MessageKind::Audio | MessageKind::Voice => Some(FileKind::Audio),
        MessageKind::Document => Some(FileKind::Document),
        MessageKind::Sticker => Some(FileKind::Sticker),
        _ => None,
    }
}

/// Whether a message of this kind has a caption, which is its mark. Others have it in their bytes,
/// and in the name of their file.
pub const fn has_caption(kind: MessageKind) -> bool {
    matches!(kind, MessageKind::Image | MessageKind::Video | MessageKind::Document)
}

/// The name of the file with this mark. It has an ending, as the end of an address is no name
/// otherwise.
pub fn name_of(mark: &str) -> String {
    format!("{}.dat", mark.replace(' ', "-"))
}

/// The file of a message of this kind, with this mark in it.
pub fn bytes_of(kind: MessageKind, mark: &str) -> Vec<u8> {
    let content = contents::of(kind, "5511987654321").expect("a kind of message");
    let file = content.file().expect("a kind with a file");
    let read = async { file.stored.open().await.expect("it is there").read_to_end().await };
    let mut bytes = finish(read).expect("it can be read");
    bytes.extend_from_slice(mark.as_bytes());
    bytes
}

/// A message of this kind, which carries no file, with this mark.
pub fn content(kind: MessageKind, mark: &str) -> Content {
    let body = || Some(mark.to_owned());
    let offered = |offer: Offer| contents::offered(Offer { body: body(), ..offer });
    match kind {
        MessageKind::Buttons => offered(contents::buttons()),
        MessageKind::List => offered(contents::list()),
        MessageKind::CtaUrl => offered(contents::page()),
        MessageKind::LocationRequest => offered(Offer::new(OfferKind::LocationRequest)),
        MessageKind::Poll => offered(contents::poll()),
        MessageKind::Location => Content::Location(Location { name: body(), ..contents::place() }),
        MessageKind::Contacts => {
            Content::Contacts(vec![SharedContact { name: body(), ..contents::card() }])
        }
        MessageKind::Template => {
            let variables = [Parameter::next(mark)];
            Content::Template(TemplateContent::new("pedido", "pt_BR", variables, mark))
        }
        _ => Content::Text(mark.to_owned()),
    }
}

/// The mark in a text.
pub fn mark_in_text(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("pedido")?;
    let number = rest.strip_prefix([' ', '-'])?;
    let number: String = number.chars().take_while(char::is_ascii_digit).collect();
    (!number.is_empty()).then(|| format!("pedido {number}"))
}

/// The mark in the bytes of a file.
pub fn mark_in_bytes(bytes: &[u8]) -> Option<String> {
    mark_in_text(&String::from_utf8_lossy(bytes))
}

/// The mark in what a message says, or in the name of its file.
pub fn mark_of(message: &Message, filename: Option<&str>) -> Option<String> {
    let texts = [message.content.as_deref(), message.media.caption.as_deref(), filename];
    texts.into_iter().flatten().find_map(mark_in_text)
}

/// The mark in a request: in one of its texts, or in a file in base64.
pub fn mark_in(body: &Value) -> Option<String> {
    match body {
        Value::String(text) => {
            mark_in_text(text).or_else(|| mark_in_bytes(&STANDARD.decode(text).ok()?))
        }
        Value::Array(entries) => entries.iter().find_map(mark_in),
        Value::Object(fields) => fields.values().find_map(mark_in),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}
