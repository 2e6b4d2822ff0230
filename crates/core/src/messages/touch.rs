//! What a new message moves on its contact and conversation (D42a, D44a, D65).

use super::{Direction, Message};
use crate::Timestamp;
use crate::contacts::Contact;
use crate::conversations::Conversation;

/// The later of a time that may be missing and another.
fn latest(kept: Option<Timestamp>, at: Timestamp) -> Option<Timestamp> {
    kept.max(Some(at))
}

/// The contact after a message of it was stored: the times of its first, last and last inbound
/// message, and with the newest message the connection it was last met on. `updated_at` stays
/// (D44a); a message from a history moves nothing (D65).
#[must_use]
pub fn touch_contact(contact: &Contact, message: &Message) -> Contact {
    let mut touched = contact.clone();
    if message.is_history {
        return touched;
    }
    let at = message.created_at;
    let newest = contact.last_message_at.is_none_or(|last| last <= at);
    touched.first_message_at = Some(contact.first_message_at.map_or(at, |first| first.min(at)));
    touched.last_message_at = latest(contact.last_message_at, at);
    if message.direction == Direction::Inbound {
        touched.last_inbound_at = latest(contact.last_inbound_at, at);
    }
    if newest {
        touched.last_connection_id = Some(message.connection);
    }
    touched
}

/// The conversation of a message's contact and connection after the message was stored: its times
/// move as the contact's do. One that was not there begins with `identifier` as the contact's name
/// on the connection; a known name stays. Unread messages are counted by who receives them.
#[must_use]
pub fn touch_conversation(
    kept: Option<&Conversation>,
    message: &Message,
    identifier: &str,
) -> Conversation {
    let mut touched = kept.cloned().unwrap_or_else(|| Conversation {
        company: message.company,
        contact: message.contact,
        connection: message.connection,
        identifier: identifier.to_owned(),
        last_message_at: None,
        last_inbound_at: None,
        unread: 0,
    });
    if !message.is_history {
        touched.last_message_at = latest(touched.last_message_at, message.created_at);
        if message.direction == Direction::Inbound {
            touched.last_inbound_at = latest(touched.last_inbound_at, message.created_at);
        }
    }
    touched
}
