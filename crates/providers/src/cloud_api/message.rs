//! Messages: from contacts, and echoes of what the operator wrote on the phone.

use recado_core::gateway::{GatewayEvent, GatewayMessage, Incoming};
use recado_core::groups::GroupCode;
use recado_core::messages::{MessageType, ProviderMessageId};
use serde_json::{Value, json};

use super::changes::{Change, unknown};
use super::content::{self, MessageContent};
use super::identity;
use super::people::{Contacts, NamedPerson, SENDER};
use super::webhook::EntryContext;
use crate::shared::{array, at, integer, seconds, text, word};

/// The fields that name the recipient of an echo.
pub(super) const RECIPIENT: [&str; 3] = ["to", "to_user_id", "to_parent_user_id"];
/// The code of a message whose content comes later.
const UNAVAILABLE: i64 = 131_060;

/// The author of a message, and whether the message is new.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Author {
    /// The contact.
    Contact,
    /// The operator, on the phone.
    Phone,
}

/// The events of a contact's message.
pub(super) fn inbound(
    envelope: &EntryContext<'_>,
    change: &Change<'_>,
    contacts: &Contacts<'_>,
    message: &Value,
) -> Vec<Incoming> {
    let raw = || {
        let contact = NamedPerson::entry(message, &SENDER, contacts);
        change.around(contact, json!({"messages": [message]}))
    };
    read(envelope, contacts, message, Author::Contact, false, &raw)
}

/// The messages that the operator wrote on the phone.
pub(super) fn echoes(envelope: &EntryContext<'_>, change: &Change<'_>) -> Vec<Incoming> {
    let is_known = change.value.get("message_echoes").is_some_and(Value::is_array);
    let contacts = &change.contacts;
    let echoes = array(change.value, "message_echoes").iter();
    let read = |echo| {
        let raw = || {
            let contact = NamedPerson::entry(echo, &RECIPIENT, contacts);
            change.around(contact, json!({"message_echoes": [echo]}))
        };
        read(envelope, contacts, echo, Author::Phone, false, &raw)
    };
    echoes.flat_map(read).chain(change.rest(&["message_echoes"], is_known)).collect()
}

/// The events of one message. `raw` makes the change that holds just this message.
pub(super) fn read(
    envelope: &EntryContext<'_>,
    contacts: &Contacts<'_>,
    message: &Value,
    side: Author,
    history: bool,
    raw: &dyn Fn() -> Value,
) -> Vec<Incoming> {
    let events = match text(message, "type") {
        Some("revoke") => vec![revoke(message)],
        Some("edit") => vec![edit(message)],
        Some("system") => identity::system(message, history, raw),
        _ => {
            let reported = reported(envelope, contacts, message, side, history);
            let reported = reported.map(|mut reported| {
                reported.raw = (reported.message_type == MessageType::Unsupported).then(raw);
                match side {
                    Author::Contact => GatewayEvent::Message(reported),
                    Author::Phone => GatewayEvent::Echo(reported),
                }
            });
            vec![reported]
        }
    };
    // What cannot be read is kept: a person may have said it.
    let kept =
        |event: Incoming| event.or_else(|why| unknown(why, raw(), id_of(message, "id").ok()));
    events.into_iter().map(kept).collect()
}

/// The id in a field of a message.
pub(super) fn id_of(message: &Value, field: &str) -> Result<ProviderMessageId, String> {
    let id = text(message, field).and_then(ProviderMessageId::parse);
    id.ok_or_else(|| format!("{field} is no id of a message"))
}

fn reported(
    envelope: &EntryContext<'_>,
    contacts: &Contacts<'_>,
    message: &Value,
    side: Author,
    history: bool,
) -> Result<GatewayMessage, String> {
    let provider_id = id_of(message, "id")?;
    let fields: &[&str] = match side {
        Author::Contact => &SENDER,
        Author::Phone => &RECIPIENT,
    };
    let person = NamedPerson::of(message, fields, contacts);
    let push_name = person.push_name.clone().filter(|_| side == Author::Contact);
    let named = person.split();
    let group = word(message, "group_id");
    let (peer, aliases, participant) = match (group, named) {
        (Some(group), named) => {
            let code = group_code(&group, envelope.group_suffix);
            let code = code.ok_or_else(|| "group_id is no id of a group".to_owned())?;
            let writer = named.map(|(name, _)| name).filter(|_| side == Author::Contact);
            (code.as_str().to_owned(), Vec::new(), writer)
        }
        (None, Some((peer, aliases))) => (peer, aliases, None),
        (None, None) => return Err(format!("{} names nobody", fields[0])),
    };
    let MessageContent { message_type, content, media, blocks, button, answers } =
        content::read(message, side);
    let context = at(message, &["context"]).and_then(|context| text(context, "id"));
    let is_late = message_type == MessageType::Unsupported && is_unavailable(message);
    Ok(GatewayMessage {
        provider_id,
        peer,
        aliases,
        participant,
        push_name,
        message_type,
        content,
        media,
        blocks,
        quoted: answers.as_deref().or(context).and_then(ProviderMessageId::parse),
        quoted_content: None,
        quoted_type: None,
        button,
        history,
        is_late,
        timestamp: seconds(message, "timestamp"),
        raw: None,
    })
}

/// The code of a group, whose id may already have the channel's suffix or the installation's (D2).
fn group_code(id: &str, suffix: &str) -> Option<GroupCode> {
    let own = id.strip_suffix(suffix).and_then(|id| id.strip_suffix('@'));
    let bare = own.or_else(|| id.strip_suffix("@g.us")).unwrap_or(id);
    GroupCode::parse(&format!("{bare}@{suffix}"), suffix)
}

/// A change of a message's text or of its file's caption.
fn edit(message: &Value) -> Incoming {
    let change = at(message, &["edit"]).unwrap_or(&Value::Null);
    let provider_id = id_of(change, "original_message_id")?;
    let said = content::read(at(change, &["message"]).unwrap_or(&Value::Null), Author::Contact);
    let caption = said.media.and_then(|media| media.caption);
    let content = said.content.filter(|_| said.message_type == MessageType::Text).or(caption);
    let content = content.ok_or_else(|| "an edit names no new text".to_owned())?;
    Ok(GatewayEvent::Edit { provider_id, content, timestamp: seconds(message, "timestamp") })
}

/// The sender deleted a message for everybody (X3).
fn revoke(message: &Value) -> Incoming {
    let revoked = at(message, &["revoke"]).unwrap_or(&Value::Null);
    let provider_id = id_of(revoked, "original_message_id")?;
    Ok(GatewayEvent::Deleted { provider_id, timestamp: seconds(message, "timestamp") })
}

/// Whether the API says that a message is not available yet: its content comes under the same id
/// (X5).
fn is_unavailable(message: &Value) -> bool {
    array(message, "errors").iter().any(|error| integer(error, "code") == Some(UNAVAILABLE))
}
