//! The history: messages from before the number was connected, up to half a year (D65).

use recado_core::contacts::{ChannelKey, is_scoped_id};
use recado_core::gateway::{GatewayEvent, Incoming, StatusEvent};
use recado_core::messages::{DeliveryCode, Failure, MessageStatus};
use serde_json::{Value, json};

use super::changes::Change;
use super::message::{self, Author, RECIPIENT, id_of};
use super::people::{Contacts, NamedPerson, SENDER, key};
use super::webhook::EntryContext;
use crate::shared::{array, at, integer, seconds, text_at, word};

/// The greatest age of messages whose files follow after their placeholders, in seconds.
const FILES_FOLLOW: i64 = 14 * 24 * 60 * 60;

/// The events of a part of the history. The notice of a business that it shares no history makes
/// none.
pub(super) fn read(envelope: &EntryContext<'_>, change: &Change<'_>) -> Vec<Incoming> {
    let value = change.value;
    let parts = array(value, "history");
    let files = array(value, "messages");
    if parts.is_empty() && files.is_empty() {
        return vec![change.unknown("history".to_owned())];
    }
    let own = at(value, &["metadata"]).and_then(|reported| word(reported, "display_phone_number"));
    let own = own.and_then(|own| ChannelKey::parse(&digits_of(&own)));
    let reader = HistoryReader { envelope, change, contacts: Contacts::of(value), own };
    let mut events = Vec::new();
    for part in parts {
        let is_newest =
            at(part, &["metadata"]).and_then(|reported| integer(reported, "phase")) == Some(0);
        for thread in array(part, "threads") {
            let other = word(thread, "id");
            let messages = array(thread, "messages").iter();
            let other = other.as_deref();
            let reported = messages.filter(|it| !reader.file_follows(other, is_newest, it));
            events.extend(reported.flat_map(|message| reader.message(other, message)));
        }
    }
    events.extend(files.iter().flat_map(|message| reader.message(None, message)));
    events
}

fn digits_of(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

struct HistoryReader<'a> {
    envelope: &'a EntryContext<'a>,
    change: &'a Change<'a>,
    contacts: Contacts<'a>,
    /// The connection's own number, which may be written with or without the ninth digit.
    own: Option<ChannelKey>,
}

impl HistoryReader<'_> {
    fn message(&self, other: Option<&str>, message: &Value) -> Vec<Incoming> {
        let side = match self.side(other, message) {
            Ok(side) => side,
            Err(reason) => return vec![Err(reason)],
        };
        let original = message;
        let mut message = message.clone();
        // A thread is named by its contact.
        let field = if side == Author::Contact { "from" } else { "to" };
        let is_named = word(&message, field).is_some();
        if let (false, Some(fields), Some(other)) = (is_named, message.as_object_mut(), other) {
            fields.insert(field.to_owned(), Value::from(other));
        }
        let raw = || {
            let fields = if side == Author::Contact { &SENDER } else { &RECIPIENT };
            let contact = NamedPerson::entry(&message, fields, self.contacts);
            let lists = match other {
                Some(id) => {
                    json!({"history": [{"threads": [{"id": id, "messages": [original]}]}]})
                }
                None => json!({"messages": [original]}),
            };
            self.change.around(contact, lists)
        };
        let mut events = message::read(self.envelope, self.contacts, &message, side, true, &raw);
        if side == Author::Phone && matches!(events.first(), Some(Ok(GatewayEvent::Echo(_)))) {
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

    /// Whether the message will be sent again with its file. If the placeholder were stored now,
    /// the message itself would be ignored as a duplicate. The newest part of the history is at
    /// most a day old, so its files follow. For other parts, the time of the webhook decides;
    /// without one the placeholder is stored, as nothing more may come. Only the thread says to
    /// whom the business sent a file, which the later webhook does not: its placeholder is always
    /// stored.
    fn file_follows(&self, other: Option<&str>, is_newest: bool, message: &Value) -> bool {
        if text_at(message, &["type"]) != Some("media_placeholder")
            || self.side(other, message) == Ok(Author::Phone)
        {
            return false;
        }
        let (now, then) = (self.envelope.time, integer(message, "timestamp"));
        let is_recent =
            now.zip(then).is_some_and(|(now, then)| now.saturating_sub(then) < FILES_FOLLOW);
        is_newest || is_recent
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
