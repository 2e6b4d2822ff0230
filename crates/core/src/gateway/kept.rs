//! What gateways sent and Recado did not understand: kept as it came, for the operator, and to be
//! read again after an upgrade (X9).

use std::fmt;

use serde_json::Value;
use sha2::{Digest, Sha256};
use uuid::Builder;

use crate::Timestamp;
use crate::ids::{CompanyId, ConnectionId, ContactId, UnknownEventId};
use crate::messages::ProviderMessageId;
use crate::secret::masked;
use crate::store::Stored;
use crate::words::words;

/// The longest name of a kind, in characters.
pub const MAX_KIND: usize = 100;
/// The most bytes of a body that are kept (R105).
pub const MAX_KEPT_BODY: usize = 64 * 1024;
/// How many events of one kind a connection keeps (R105).
pub const KEPT_OF_KIND: u32 = 100;
/// How many events a connection keeps in all (R105).
pub const KEPT_OF_CONNECTION: u32 = 1_000;
/// How many events the listing of a connection holds at most (X9).
pub const LISTED_EVENTS: u32 = 200;
/// How one that is cut ends.
const CUT: char = '…';

words! {
    /// Why an event was not understood (X9).
    UnknownReason {
        /// The adapter does not know its kind.
        UnknownKind = "unknown_kind",
        /// It is a message of a type that nobody can show.
        Unsupported = "unsupported",
        /// It, or the call that it came with, could not be read or stored.
        Unreadable = "unreadable",
        /// Its names are those of different contacts.
        ContradictingIdentities = "contradicting_identities",
    }
}

words! {
    /// Who reads the body of a kept event.
    UnknownForm {
        /// The adapter of its gateway.
        Gateway = "gateway",
        /// The reader of neutral events (D67).
        Neutral = "neutral",
        /// Nobody: it is not JSON, or was cut.
        Text = "text",
    }
}

/// The body of a kept event: JSON as it came, or other text. Prints as `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct KeptBody(String);

impl KeptBody {
    /// The body with this text. What a store cannot hold is replaced, and what is longer than
    /// [`MAX_KEPT_BODY`] is cut and ends with `…` (R105). Also returns whether it is whole.
    pub fn new(text: &str) -> (Self, bool) {
        let head = &text[..text.floor_char_boundary(MAX_KEPT_BODY + 1)];
        let mut kept = head.replace('\0', "\u{fffd}");
        let fits = text.len() <= MAX_KEPT_BODY && kept.len() <= MAX_KEPT_BODY;
        if !fits {
            kept.truncate(kept.floor_char_boundary(MAX_KEPT_BODY - CUT.len_utf8()));
            kept.push(CUT);
        }
        let is_whole = kept == text;
        (Self(kept), is_whole)
    }

    /// A body that was stored.
    pub const fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// The text itself.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The JSON that it is; `None` for other text.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_str(&self.0).ok()
    }
}

impl fmt::Debug for KeptBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        masked(f, "KeptBody", "***", &self.0)
    }
}

/// An event that was not understood (X9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownEvent {
    /// The company.
    pub company: CompanyId,
    /// Its id, which follows from what it is: an event that comes again has the same.
    pub id: UnknownEventId,
    /// The connection it came through.
    pub connection: ConnectionId,
    /// The contact it is about, if that is known; it is erased with the contact.
    pub contact: Option<ContactId>,
    /// What the gateway calls it; of one that could not be read, why.
    pub kind: String,
    /// Why it was not understood.
    pub reason: UnknownReason,
    /// Who reads its body.
    pub form: UnknownForm,
    /// When it came.
    pub received_at: Timestamp,
    /// The provider's id of the message that it is about, if that is known.
    pub provider_id: Option<ProviderMessageId>,
    /// What was received.
    pub body: KeptBody,
}

/// An event that is to be kept.
#[derive(Clone, Debug)]
pub(crate) struct Keep<'a> {
    pub(crate) kind: &'a str,
    pub(crate) reason: UnknownReason,
    pub(crate) form: UnknownForm,
    pub(crate) provider_id: Option<&'a ProviderMessageId>,
    pub(crate) body: &'a str,
    pub(crate) identity: Identity<'a>,
}

impl UnknownEvent {
    /// The event as it is kept.
    pub(crate) fn new(
        company: CompanyId,
        connection: ConnectionId,
        keep: &Keep<'_>,
        received_at: Timestamp,
    ) -> Self {
        let (body, is_whole) = KeptBody::new(keep.body);
        let kind = kept_kind(keep.kind);
        Self {
            company,
            id: keep.identity.id(connection, &kind),
            connection,
            contact: None,
            kind,
            reason: keep.reason,
            form: if is_whole { keep.form } else { UnknownForm::Text },
            received_at,
            provider_id: keep.provider_id.cloned(),
            body,
        }
    }

    /// The id under which an unsupported message is kept.
    pub(crate) fn of_message(
        connection: ConnectionId,
        kind: &str,
        message: &ProviderMessageId,
    ) -> UnknownEventId {
        Identity::Message(message).id(connection, &kept_kind(kind))
    }
}

/// The name of a kind without control characters, of bounded length.
pub(crate) fn kept_kind(kind: &str) -> String {
    kind.chars().filter(|c| !c.is_control()).take(MAX_KIND).collect()
}

/// What makes an event of a kind the same as one that came before (R105): a message is reported in
/// several forms; most others are repeated as they were.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Identity<'a> {
    /// The provider's id of a message.
    Message(&'a ProviderMessageId),
    /// Its body, or another text.
    Text(&'a str),
}

impl Identity<'_> {
    fn id(&self, connection: ConnectionId, kind: &str) -> UnknownEventId {
        let (tag, text) = match self {
            Self::Message(id) => ("message", id.as_str()),
            Self::Text(text) => ("text", *text),
        };
        let mut hash = Sha256::new();
        hash.update(connection.uuid().as_bytes());
        for part in [tag, kind, text] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        let digest: [u8; 32] = hash.finalize().into();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        UnknownEventId::new(Builder::from_custom_bytes(bytes).into_uuid())
    }
}

/// The order of kept events, by when they came, then by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptOrder {
    /// The newest first.
    NewestFirst,
    /// The oldest first, from the one that follows this one.
    OldestFirst {
        /// The last one of the page before.
        after: Option<(Timestamp, UnknownEventId)>,
    },
}

/// Which kept events of a company are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptQuery {
    /// Those of one connection.
    pub connection: Option<ConnectionId>,
    /// Those of one kind.
    pub kind: Option<String>,
    /// In which order.
    pub order: KeptOrder,
    /// At most so many.
    pub limit: u32,
}

impl KeptQuery {
    /// Those of a connection, the newest first.
    pub const fn newest(connection: ConnectionId, limit: u32) -> Self {
        Self { connection: Some(connection), kind: None, order: KeptOrder::NewestFirst, limit }
    }
}

/// Kept events, and how many there are in all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeptEvents {
    /// How many the connection and the kind of the query select.
    pub total: u64,
    /// Those of the page.
    pub events: Vec<Stored<UnknownEvent>>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_763_000_000_000);

    fn kept(connection: u128, kind: &str, reason: UnknownReason, body: &str) -> UnknownEvent {
        let company = CompanyId::new(Uuid::from_u128(1));
        let wamid = ProviderMessageId::parse("wamid.1").expect("an id");
        let identity = match reason {
            UnknownReason::Unsupported => Identity::Message(&wamid),
            _ => Identity::Text(body),
        };
        let form = UnknownForm::Gateway;
        let keep = Keep { kind, reason, form, provider_id: Some(&wamid), body, identity };
        UnknownEvent::new(company, ConnectionId::new(Uuid::from_u128(connection)), &keep, NOW)
    }

    /// R105: what comes again is the same event.
    #[test]
    fn an_event_has_the_id_of_what_it_is() {
        use UnknownReason::{UnknownKind, Unsupported};
        let one = kept(1, "pin", UnknownKind, "{\"on\":1}");
        assert_eq!(one.id, kept(1, "pin", UnknownKind, "{\"on\":1}").id);
        for other in [
            kept(2, "pin", UnknownKind, "{\"on\":1}"),
            kept(1, "pins", UnknownKind, "{\"on\":1}"),
            kept(1, "pin", UnknownKind, "{\"on\":0}"),
            kept(1, "pin", Unsupported, "{\"on\":1}"),
        ] {
            assert_ne!(one.id, other.id, "{other:?}");
        }
        let message = kept(1, "sketch", Unsupported, "{\"a\":1}");
        assert_eq!(message.id, kept(1, "sketch", Unsupported, "{\"a\":2}").id);
        let wamid = message.provider_id.as_ref().expect("an id");
        assert_eq!(message.id, UnknownEvent::of_message(message.connection, "sketch", wamid));
    }

    /// R105.
    #[test]
    fn a_long_body_is_cut_and_is_no_json_any_more() {
        let long = format!("\"{}\"", "é".repeat(MAX_KEPT_BODY));
        let event = kept(1, "k", UnknownReason::UnknownKind, &long);
        assert_eq!(event.form, UnknownForm::Text);
        assert!(event.body.expose().len() <= MAX_KEPT_BODY && event.body.expose().ends_with(CUT));
        assert_eq!(event.body.json(), None);
        let longest = format!("\"{}\"", "a".repeat(MAX_KEPT_BODY - 2));
        let event = kept(1, "k", UnknownReason::UnknownKind, &longest);
        assert_eq!((event.form, event.body.expose()), (UnknownForm::Gateway, longest.as_str()));
    }

    /// X9: logs never hold a body.
    #[test]
    fn a_body_prints_as_stars() {
        let event = kept(1, "k", UnknownReason::Unreadable, "{\"text\":\"segredo\"}");
        let shown = format!("{event:?}");
        assert!(shown.contains("KeptBody(***)") && !shown.contains("segredo"), "{shown}");
    }

    proptest! {
        #[test]
        fn every_body_and_kind_is_within_bounds(text in ".{0,200}", times in 1_usize..500) {
            let event = kept(1, &text, UnknownReason::UnknownKind, &text.repeat(times));
            prop_assert!(event.body.expose().len() <= MAX_KEPT_BODY);
            prop_assert!(!event.body.expose().contains('\0'));
            prop_assert!(event.kind.chars().count() <= MAX_KIND);
            prop_assert!(!event.kind.chars().any(char::is_control));
        }
    }
}
