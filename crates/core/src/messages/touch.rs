//! The fields of a contact and its conversation that a new message changes (D42a, D44a, D65).

use super::{Direction, Message};
use crate::Timestamp;
use crate::contacts::Contact;
use crate::conversations::Conversation;

/// The later of a time that may be missing and another.
fn latest(kept: Option<Timestamp>, at: Timestamp) -> Option<Timestamp> {
    kept.max(Some(at))
}

/// The contact after a message of it was stored: the times of its first, last and last inbound
/// message, and with the newest message its connection. `updated_at` stays (D44a); a message from a
/// history changes nothing (D65).
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
/// move as the contact's do. A new conversation has `identifier` as the contact's name on the
/// connection; a stored name stays. The caller that receives inbound messages counts the unread
/// ones.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::super::samples::{at, connection, contact, message};
    use super::*;
    use crate::ids::ConnectionId;

    /// Messages by direction, time and connection.
    fn messages() -> impl Strategy<Value = Vec<Message>> {
        let one = (any::<bool>(), 0_i64..20, 0_u128..3, prop::bool::weighted(0.2));
        let one = one.prop_map(|(inbound, millis, through, is_history)| Message {
            connection: ConnectionId::new(Uuid::from_u128(through)),
            is_history,
            ..message(if inbound { Direction::Inbound } else { Direction::Outbound }, at(millis))
        });
        prop::collection::vec(one, 0..10)
    }

    #[test]
    fn the_first_message_begins_the_conversation_under_the_given_name() {
        let begun = touch_conversation(None, &message(Direction::Inbound, at(5)), "551187654321");
        assert_eq!(
            begun,
            Conversation {
                company: contact().company,
                contact: contact().id,
                connection: connection().id,
                identifier: "551187654321".to_owned(),
                last_message_at: Some(at(5)),
                last_inbound_at: Some(at(5)),
                unread: 0,
            }
        );
    }

    #[test]
    fn a_known_name_and_what_is_unread_stay() {
        let first = touch_conversation(None, &message(Direction::Inbound, at(5)), "551187654321");
        let kept = Conversation { unread: 3, ..first };
        let next = message(Direction::Outbound, at(9));
        let touched = touch_conversation(Some(&kept), &next, "5511987654321");
        assert_eq!(touched, Conversation { last_message_at: Some(at(9)), ..kept });
    }

    proptest! {
        #[test]
        fn the_times_are_those_of_the_messages_in_any_order(messages in messages()) {
            let touched = messages.iter().fold(contact(), |contact, m| touch_contact(&contact, m));
            let counted: Vec<&Message> = messages.iter().filter(|m| !m.is_history).collect();
            let all = || counted.iter().map(|m| m.created_at);
            let inbound = counted.iter().filter(|m| m.direction == Direction::Inbound);
            prop_assert_eq!(touched.first_message_at, all().min());
            prop_assert_eq!(touched.last_message_at, all().max());
            prop_assert_eq!(touched.last_inbound_at, inbound.map(|m| m.created_at).max());
            let newest = counted.iter().rfind(|m| Some(m.created_at) == all().max());
            prop_assert_eq!(touched.last_connection_id, newest.map(|m| m.connection));
            prop_assert_eq!(touched.updated_at, contact().updated_at);
        }

        #[test]
        fn a_conversation_moves_as_its_contact_does(messages in messages()) {
            let mut touched = contact();
            let mut conversation: Option<Conversation> = None;
            for message in &messages {
                touched = touch_contact(&touched, message);
                conversation = Some(touch_conversation(conversation.as_ref(), message, "x"));
            }
            let times = conversation.map(|c| (c.last_message_at, c.last_inbound_at));
            let expected = (touched.last_message_at, touched.last_inbound_at);
            prop_assert_eq!(times.unwrap_or_default(), expected);
        }
    }
}
