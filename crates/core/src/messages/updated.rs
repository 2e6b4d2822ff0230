//! The event about a message that changed (X5a).

use serde_json::{Map, Value};

use super::events::{message_received, message_sent};
use super::{Direction, EventContact, MediaLinks, Message, MessageType};
use crate::Timestamp;
use crate::connections::Connection;
use crate::events::{Event, EventType};
use crate::ids::EventId;

/// The data of `message.updated` (X5a). It is written from the data of the event that announced the
/// message; this is its schema.
#[cfg(feature = "openapi")]
#[derive(serde::Serialize, utoipa::ToSchema)]
#[schema(as = MessageUpdatedData)]
pub(crate) struct UpdatedData {
    /// The fields of `message.received`, as they are after the change.
    #[serde(flatten)]
    message: super::events::MessageData<'static>,
    /// Only of an outbound message: the provider's id of the message.
    wamid: Option<String>,
    /// Only of an outbound message: what kind of failure it was; null if it did not fail.
    error_type: Option<super::ErrorType>,
    /// Only of an outbound message: why it failed; null if it did not.
    delivery_error: Option<super::FailureView>,
    /// The names of the fields that are different now.
    changed: Vec<String>,
}

/// The keys of an event that are not about the message itself.
const BESIDE: [&str; 2] = ["contact", "connection"];

/// The event `message.updated` (X5a): the fields of `message.received`, or of `message.sent` for an
/// outbound message, as they are after the change, and `changed`, the names of those that are
/// different. `None` if none is, so that one change is never reported twice.
pub fn message_updated(
    id: EventId,
    before: &Message,
    after: &Message,
    contact: EventContact<'_>,
    connection: &Connection,
    at: Timestamp,
    links: &MediaLinks,
) -> Option<Event> {
    let event = |message| match after.direction {
        Direction::Inbound => message_received(id, message, contact, connection, at, links),
        Direction::Outbound => message_sent(id, message, contact, connection, at, links),
    };
    let (old, mut event) = (fields(&event(before)), event(after));
    let mut new = fields(&event);
    let changed = changed_keys(&old, &new);
    if changed.is_empty() {
        return None;
    }
    new.insert("changed".to_owned(), changed.into());
    event.event_type = EventType::MessageUpdated;
    event.data = Value::Object(new).to_string();
    Some(event)
}

/// The event about our reaction that was changed, once the channel has accepted that (X5a, X7,
/// R353): `message.sent` told of the one before. `changed` names what a change of a reaction
/// changes.
pub fn reaction_updated(
    id: EventId,
    message: &Message,
    contact: EventContact<'_>,
    connection: &Connection,
    at: Timestamp,
    links: &MediaLinks,
) -> Event {
    let mut event = message_sent(id, message, contact, connection, at, links);
    let mut data = fields(&event);
    data.insert("changed".to_owned(), vec!["content", "reaction"].into());
    event.event_type = EventType::MessageUpdated;
    event.data = Value::Object(data).to_string();
    event
}

impl Message {
    /// Whether it is our reaction, and was changed: what it was before was accepted (X7, R353).
    pub(crate) const fn is_changed_reaction(&self) -> bool {
        matches!((self.direction, self.message_type), (Direction::Outbound, MessageType::Reaction))
            && self.edited_at.is_some()
    }
}

fn fields(event: &Event) -> Map<String, Value> {
    serde_json::from_str(&event.data).expect("the data of an event is an object")
}

/// The keys of the message that differ, in the order of the event.
fn changed_keys(old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<String> {
    let changed = new.iter().filter(|(key, value)| {
        !BESIDE.contains(&key.as_str()) && old.get(key.as_str()) != Some(*value)
    });
    changed.map(|(key, _)| key.clone()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::super::samples::{at, connection, contact, links, message};
    use super::*;

    fn event(before: &Message, after: &Message) -> Option<Event> {
        let (contact, connection) = (contact(), connection());
        let id = EventId::new(Uuid::from_u128(8));
        let contact = EventContact::Known(&contact);
        message_updated(id, before, after, contact, &connection, at(9), &links())
    }

    /// X5a.
    #[test]
    fn a_changed_message_is_reported_as_it_is_now_with_the_keys_that_changed() {
        let before = message(Direction::Inbound, at(0));
        let mut after = Message { content: Some("Oi".to_owned()), ..before.clone() };
        after.blocks.is_voice = true;
        let event = event(&before, &after).expect("it changed");
        assert_eq!((event.event_type, event.at), (EventType::MessageUpdated, at(9)));
        let data = fields(&event);
        let mut changed: Vec<&str> =
            data["changed"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        changed.sort_unstable();
        assert_eq!(changed, ["content", "is_voice"]);
        let mut whole = fields(&message_received(
            event.id,
            &after,
            EventContact::Known(&contact()),
            &connection(),
            at(9),
            &links(),
        ));
        whole.insert("changed".to_owned(), data["changed"].clone());
        assert_eq!(data, whole);
    }

    /// X5a.
    #[test]
    fn an_outbound_message_is_reported_in_the_form_of_message_sent() {
        let before = message(Direction::Outbound, at(0));
        let after = Message { content: Some("Oi".to_owned()), ..before.clone() };
        let data = fields(&event(&before, &after).expect("it changed"));
        assert_eq!((&data["changed"], &data["wamid"]), (&json!(["content"]), &Value::Null));
    }

    /// X5a, X7, R353.
    #[test]
    fn our_changed_reaction_is_reported_as_a_change_in_the_form_of_message_sent() {
        let mut message = message(Direction::Outbound, at(0));
        message.message_type = MessageType::Reaction;
        assert!(!message.is_changed_reaction());
        message.edited_at = Some(at(5));
        assert!(message.is_changed_reaction());
        let (contact, connection) = (contact(), connection());
        let (id, contact) = (EventId::new(Uuid::from_u128(8)), EventContact::Known(&contact));
        let event = reaction_updated(id, &message, contact, &connection, at(9), &links());
        assert_eq!((event.event_type, event.at), (EventType::MessageUpdated, at(9)));
        let sent = message_sent(id, &message, contact, &connection, at(9), &links());
        let mut expected = fields(&sent);
        expected.insert("changed".to_owned(), json!(["content", "reaction"]));
        assert_eq!(fields(&event), expected);
    }

    /// X5a.
    #[test]
    fn what_no_event_shows_is_no_change() {
        let before = message(Direction::Inbound, at(0));
        let after = Message { edited_at: Some(at(5)), ..before.clone() };
        assert_eq!(event(&before, &after), None);
        assert_eq!(event(&before, &before), None);
    }
}
