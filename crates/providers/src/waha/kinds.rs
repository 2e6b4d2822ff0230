//! What each engine carries and does (X10–X14), as read in its source.

use recado_core::connections::Connection;
use recado_core::gateway::MessageKind;

use super::known::{Engine, SessionCache};

/// What every engine carries and does. None sends sound that is no voice note, asks for a place, or
/// has templates.
const EVERY_ENGINE: [MessageKind; 14] = [
    MessageKind::Text,
    MessageKind::Image,
    MessageKind::Video,
    MessageKind::Voice,
    MessageKind::Document,
    MessageKind::Sticker,
    MessageKind::Poll,
    MessageKind::Location,
    MessageKind::Contacts,
    MessageKind::Reaction,
    MessageKind::Read,
    MessageKind::Typing,
    MessageKind::Edit,
    MessageKind::Revoke,
];
/// What some engines carry besides.
const SOME_ENGINES: [MessageKind; 3] =
    [MessageKind::List, MessageKind::Buttons, MessageKind::CtaUrl];
/// The largest file, in bytes: WAHA reads bodies of at most 50 MiB, and base64 makes four bytes of
/// three.
pub(super) const MAX_FILE: u64 = 37 * 1024 * 1024;

/// What any engine carries and does beside texts.
pub(super) fn beside_text() -> impl Iterator<Item = MessageKind> {
    EVERY_ENGINE.into_iter().chain(SOME_ENGINES).filter(|kind| *kind != MessageKind::Text)
}

/// What a connection carries and does: as its engine does, or as every engine does while its engine
/// is not known (R335).
pub(super) fn of(known: &SessionCache, connection: &Connection) -> Vec<MessageKind> {
    let more: &[MessageKind] = match engine(known, connection) {
        Some(Engine::Noweb) => &SOME_ENGINES,
        // The engines that accept ids all have lists.
        Some(Engine::Gows | Engine::TakesIds) => &[MessageKind::List],
        Some(Engine::Other) | None => &[],
    };
    EVERY_ENGINE.into_iter().chain(more.iter().copied()).collect()
}

/// The engine that the gateway reported, else that of the connection's settings.
pub(super) fn engine(known: &SessionCache, connection: &Connection) -> Option<Engine> {
    known.last_engine(connection).or_else(|| configured(connection))
}

/// The engine in the connection's settings.
pub(super) fn configured(connection: &Connection) -> Option<Engine> {
    connection.settings.text("engine").and_then(Engine::known)
}
