//! Messages: from contacts, and echoes of what the operator wrote on the phone.

use recado_core::gateway::{GatewayEvent, GatewayMessage, Incoming, NamesReport};
use recado_core::groups::GroupCode;
use recado_core::messages::{MessageType, ProviderMessageId};
use serde_json::Value;

use super::changes::unknown;
use super::content::{self, MessageContent};
use super::people::{Contacts, NamedPerson, SENDER, plain_name};
use super::webhook::EntryContext;
use crate::shared::{array, at, seconds, text, text_at, word};

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
    contacts: Contacts<'_>,
    message: &Value,
) -> Vec<Incoming> {
    read(envelope, contacts, message, Author::Contact, false)
}

/// The messages that the operator wrote on the phone.
pub(super) fn echoes(envelope: &EntryContext<'_>, value: &Value) -> Vec<Incoming> {
    if !value.get("message_echoes").is_some_and(Value::is_array) {
        return vec![unknown("smb_message_echoes".to_owned(), value)];
    }
    let echoes = array(value, "message_echoes").iter();
    echoes
        .flat_map(|echo| read(envelope, Contacts::of(value), echo, Author::Phone, false))
        .collect()
}

/// The events of one message: none or one.
pub(super) fn read(
    envelope: &EntryContext<'_>,
    contacts: Contacts<'_>,
    message: &Value,
    side: Author,
    history: bool,
) -> Vec<Incoming> {
    match text(message, "type") {
        Some("revoke") => Vec::new(),
        Some("edit") => vec![edit(message)],
        Some("system") => system(message),
        Some("reaction") if content::is_taken_back(message) => Vec::new(),
        _ => {
            vec![reported(envelope, contacts, message, side, history).map(|reported| match side {
                Author::Contact => GatewayEvent::Message(reported),
                Author::Phone => GatewayEvent::Echo(reported),
            })]
        }
    }
}

/// The id in a field of a message.
pub(super) fn id_of(message: &Value, field: &str) -> Result<ProviderMessageId, String> {
    let id = text(message, field).and_then(ProviderMessageId::parse);
    id.ok_or_else(|| format!("{field} is no id of a message"))
}

fn reported(
    envelope: &EntryContext<'_>,
    contacts: Contacts<'_>,
    message: &Value,
    side: Author,
    history: bool,
) -> Result<GatewayMessage, String> {
    let provider_id = id_of(message, "id")?;
    let fields: &[&str] = match side {
        Author::Contact => &SENDER,
        Author::Phone => &["to", "to_user_id", "to_parent_user_id"],
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
        content::read(message);
    let context = at(message, &["context"]).and_then(|context| text(context, "id"));
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
        is_late: false,
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
    let said = content::read(at(change, &["message"]).unwrap_or(&Value::Null));
    let caption = said.media.and_then(|media| media.caption);
    let content = said.content.filter(|_| said.message_type == MessageType::Text).or(caption);
    let content = content.ok_or_else(|| "an edit names no new text".to_owned())?;
    Ok(GatewayEvent::Edit { provider_id, content, timestamp: seconds(message, "timestamp") })
}

/// The channel's notices about a contact: a new number or a new scoped id. A change of encryption
/// keys is ignored.
fn system(message: &Value) -> Vec<Incoming> {
    let system = at(message, &["system"]).unwrap_or(&Value::Null);
    match text_at(system, &["type"]) {
        Some("customer_identity_changed") => Vec::new(),
        Some("user_changed_number" | "user_changed_user_id") => {
            let mut names: Vec<String> = Vec::new();
            let reported = [
                (message, "from"),
                (message, "from_user_id"),
                (system, "wa_id"),
                (system, "new_wa_id"),
                (system, "user_id"),
                (system, "new_user_id"),
            ];
            for (location, field) in reported {
                let name = word(location, field).and_then(|name| plain_name(&name));
                names.extend(name.filter(|name| !names.contains(name)));
            }
            let mut names = names.into_iter();
            let (peer, aliases) = (names.next(), names.collect::<Vec<_>>());
            let report = peer.filter(|_| !aliases.is_empty());
            let report =
                report.map(|peer| Ok(GatewayEvent::Names(NamesReport::new(peer, aliases))));
            report.into_iter().collect()
        }
        other => vec![unknown(format!("system.{}", other.unwrap_or("no type")), message)],
    }
}
