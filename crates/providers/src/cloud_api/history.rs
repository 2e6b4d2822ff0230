//! The history: messages from before the number was connected, up to half a year (D65).

use recado_core::contacts::{ChannelKey, is_scoped_id};
use recado_core::gateway::{GatewayEvent, Incoming, StatusEvent};
use recado_core::messages::{DeliveryCode, Failure, MessageStatus};
use serde_json::{Value, json};

use super::changes::{Change, unknown};
use super::message::{self, Author, RECIPIENT, id_of};
use super::people::{NamedPerson, SENDER, key};
use super::webhook::EntryContext;
use crate::shared::{array, at, integer, seconds, text_at, word};

/// The code of the notice of a business that it shares no history.
const NOT_SHARED: i64 = 2_593_109;

/// The events of a part of the history. The notice of a business that it shares no history makes
/// none. The placeholder of a file is told too: the file may never follow, and takes its place if
/// it does.
pub(super) fn read(envelope: &EntryContext<'_>, change: &Change<'_>) -> Vec<Incoming> {
    let value = change.value;
    let parts = array(value, "history");
    let files = array(value, "messages");
    let own = at(value, &["metadata"]).and_then(|reported| word(reported, "display_phone_number"));
    let own = own.and_then(|own| ChannelKey::parse(&digits_of(&own)));
    let reader = HistoryReader { envelope, change, own };
    let is_known = !parts.is_empty() || !files.is_empty();
    let mut events = Vec::new();
    let unreadable = |kind: &str, part: &Value| {
        unknown(kind.to_owned(), change.around(None, json!({"history": [part]})), None)
    };
    for part in parts {
        let Some(threads) = part.get("threads").and_then(Value::as_array) else {
            let is_notice = is_not_shared(part);
            events.extend((!is_notice).then(|| unreadable("history.part", part)));
            continue;
        };
        for thread in threads {
            let Some(messages) = thread.get("messages").and_then(Value::as_array) else {
                events.push(unreadable("history.thread", &json!({"threads": [thread]})));
                continue;
            };
            let other = word(thread, "id");
            let read = |message| reader.message(other.as_deref(), message);
            events.extend(messages.iter().flat_map(read));
        }
    }
    events.extend(files.iter().flat_map(|message| reader.message(None, message)));
    events.extend(change.rest(&["history", "messages"], is_known));
    events
}

/// Whether a part holds only the notice that no history is shared.
fn is_not_shared(part: &Value) -> bool {
    let errors = array(part, "errors");
    !errors.is_empty() && errors.iter().all(|error| integer(error, "code") == Some(NOT_SHARED))
}

fn digits_of(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

struct HistoryReader<'a> {
    envelope: &'a EntryContext<'a>,
    change: &'a Change<'a>,
    /// The connection's own number, which may be written with or without the ninth digit.
    own: Option<ChannelKey>,
}

impl HistoryReader<'_> {
    fn message(&self, other: Option<&str>, message: &Value) -> Vec<Incoming> {
        let side = self.side(other, message);
        // Who wrote it is not needed to keep it.
        let author = side.as_ref().map_or(Author::Contact, |side| *side);
        let original = message;
        let mut message = message.clone();
        // A thread is named by its contact.
        let field = if author == Author::Contact { "from" } else { "to" };
        let is_named = word(&message, field).is_some();
        if let (false, Some(fields), Some(other)) = (is_named, message.as_object_mut(), other) {
            fields.insert(field.to_owned(), Value::from(other));
        }
        let raw = || {
            let fields = if author == Author::Contact { &SENDER } else { &RECIPIENT };
            let contact = NamedPerson::entry(&message, fields, &self.change.contacts);
            let lists = match other {
                Some(id) => {
                    json!({"history": [{"threads": [{"id": id, "messages": [original]}]}]})
                }
                None => json!({"messages": [original]}),
            };
            self.change.around(contact, lists)
        };
        if let Err(reason) = side {
            return vec![unknown(reason, raw(), id_of(original, "id").ok())];
        }
        let contacts = &self.change.contacts;
        let mut events = message::read(self.envelope, contacts, &message, author, true, &raw);
        if author == Author::Phone && matches!(events.first(), Some(Ok(GatewayEvent::Echo(_)))) {
            events.extend(progress(&message));
        }
        events
    }

    /// Who wrote it: the contact of the thread, or the business.
    fn side(&self, other: Option<&str>, message: &Value) -> Result<Author, String> {
        let named = |field: &str| word(message, field).and_then(|name| key(&name));
        let (from, to, other) = (named("from"), named("to"), other.and_then(key));
        let is_own = |name: &Option<ChannelKey>| name.is_some() && *name == self.own;
        let is_other = |name: &Option<ChannelKey>| name.is_some() && *name == other;
        let has_scoped = word(message, "from_user_id").is_some();
        // In a thread with a phone, any other phone is the business's.
        let is_phone = |name: &ChannelKey| !is_scoped_id(name.as_str());
        let apart = from.as_ref().is_some_and(is_phone) && other.as_ref().is_some_and(is_phone);
        if is_other(&from) || is_own(&to) {
            Ok(Author::Contact)
        } else if is_own(&from) || is_other(&to) {
            Ok(Author::Phone)
        } else if has_scoped {
            Ok(Author::Contact)
        } else if apart || (to.is_some() && self.own.is_some()) {
            Ok(Author::Phone)
        } else if from.is_some() {
            Ok(Author::Contact)
        } else {
            Err("a message of the history names nobody".to_owned())
        }
    }
}

/// The status of a sent message.
fn progress(message: &Value) -> Option<Incoming> {
    let word = at(message, &["history_context"]).and_then(|context| text_at(context, &["status"]));
    let status = match word? {
        "DELIVERED" => MessageStatus::Delivered,
        "READ" | "PLAYED" => MessageStatus::Read,
        "ERROR" => MessageStatus::Failed,
        _ => return None,
    };
    let provider_id = id_of(message, "id").ok()?;
    let failure =
        (status == MessageStatus::Failed).then(|| Failure::new(DeliveryCode::Unknown, None));
    Some(Ok(GatewayEvent::Status(StatusEvent {
        provider_id,
        reference: None,
        status,
        failure,
        timestamp: seconds(message, "timestamp"),
        names: Vec::new(),
    })))
}
