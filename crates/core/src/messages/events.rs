//! Events about messages for outbound webhooks (6.1, D57).

use serde::Serialize;

use super::event_blocks::{ConnectionBlock, ContactBlock, EventContact};
use super::view::{FailureView, media_url};
use super::{
    Blocks, Direction, ErrorType, MediaLinks, Message, MessageStatus, MessageType, ParticipantView,
    SenderType,
};
use crate::Timestamp;
use crate::connections::Connection;
use crate::events::{Event, EventType};
use crate::ids::{EventId, MessageId};

/// The data of `message.received` (6.1).
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = MessageReceivedData))]
pub(crate) struct MessageData<'a> {
    /// The message.
    message_id: MessageId,
    /// What kind of message it is.
    #[serde(rename = "type")]
    message_type: MessageType,
    /// Its text; null if it has none.
    content: Option<&'a str>,
    /// A link to its file, which may still be being fetched; null if it has none (D31a).
    media_url: Option<String>,
    /// The media type of its file.
    media_mimetype: Option<&'a str>,
    /// What is written below its file.
    media_caption: Option<&'a str>,
    /// Which way it goes.
    direction: Direction,
    /// Who wrote it.
    sender_type: SenderType,
    /// How far it has come.
    status: MessageStatus,
    /// Who of a group wrote it; null elsewhere (D72).
    participant: Option<ParticipantView>,
    /// What else it holds; null and false where it does not apply (X2, X3).
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(value_type = Blocks))]
    blocks: &'a Blocks,
    /// When it was stored.
    created_at: Timestamp,
    /// Whose conversation it is in, after the change.
    contact: ContactBlock<'a>,
    /// The connection it came or went through.
    connection: ConnectionBlock<'a>,
}

/// The data of `message.sent` (D57).
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = MessageSentData))]
pub(crate) struct SentData<'a> {
    /// The fields of `message.received`.
    #[serde(flatten)]
    message: MessageData<'a>,
    /// The provider's id of the message.
    wamid: Option<&'a str>,
    /// What kind of failure it was; null if it did not fail.
    error_type: Option<ErrorType>,
    /// Why it failed; null if it did not.
    delivery_error: Option<FailureView>,
}

/// The data of `message.status_updated` (D57).
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = MessageStatusUpdatedData))]
pub(crate) struct StatusData<'a> {
    /// The message.
    message_id: MessageId,
    /// The provider's id of the message.
    wamid: Option<&'a str>,
    /// How far it has come.
    status: MessageStatus,
    /// How far it had come before.
    previous_status: MessageStatus,
    /// What kind of failure it was; null if it did not fail.
    error_type: Option<ErrorType>,
    /// Why it failed; null if it did not.
    delivery_error: Option<FailureView>,
    /// The time of the change.
    updated_at: Timestamp,
    /// Whose conversation it is in, after the change.
    contact: ContactBlock<'a>,
    /// The connection it went through.
    connection: ConnectionBlock<'a>,
}

fn message_data<'a>(
    message: &'a Message,
    contact: EventContact<'a>,
    connection: &'a Connection,
    links: &MediaLinks,
) -> MessageData<'a> {
    MessageData {
        message_id: message.id,
        message_type: message.message_type,
        content: message.content.as_deref(),
        media_url: media_url(message, links),
        media_mimetype: message.media.mimetype.as_deref(),
        media_caption: message.media.caption.as_deref(),
        direction: message.direction,
        sender_type: message.sender_type,
        status: message.status,
        participant: message.participant.as_ref().map(ParticipantView::from),
        blocks: &message.blocks,
        created_at: message.created_at,
        contact: contact.into(),
        connection: connection.into(),
    }
}

fn wamid(message: &Message) -> Option<&str> {
    message.provider_id.as_ref().map(super::ProviderMessageId::as_str)
}

fn event(
    id: EventId,
    event_type: EventType,
    message: &Message,
    contact: EventContact<'_>,
    at: Timestamp,
    data: &impl Serialize,
) -> Event {
    Event {
        id,
        company: message.company,
        event_type,
        contact: Some(contact.id()),
        at,
        data: serde_json::to_string(data).expect("a message holds nothing that JSON cannot write"),
    }
}

/// The event `message.received`.
pub fn message_received(
    id: EventId,
    message: &Message,
    contact: EventContact<'_>,
    connection: &Connection,
    at: Timestamp,
    links: &MediaLinks,
) -> Event {
    let data = message_data(message, contact, connection, links);
    event(id, EventType::MessageReceived, message, contact, at, &data)
}

/// The event `message.sent`: the fields of `message.received`, the provider's id, and the failure
/// if there is one (D57).
pub fn message_sent(
    id: EventId,
    message: &Message,
    contact: EventContact<'_>,
    connection: &Connection,
    at: Timestamp,
    links: &MediaLinks,
) -> Event {
    let data = SentData {
        message: message_data(message, contact, connection, links),
        wamid: wamid(message),
        error_type: message.failure.as_ref().map(|failure| failure.error_type),
        delivery_error: message.failure.as_ref().map(FailureView::from),
    };
    event(id, EventType::MessageSent, message, contact, at, &data)
}

/// The event `message.status_updated`, with the message after the change (D57).
pub fn status_updated(
    id: EventId,
    message: &Message,
    previous: MessageStatus,
    contact: EventContact<'_>,
    connection: &Connection,
    at: Timestamp,
) -> Event {
    let data = StatusData {
        message_id: message.id,
        wamid: wamid(message),
        status: message.status,
        previous_status: previous,
        error_type: message.failure.as_ref().map(|failure| failure.error_type),
        delivery_error: message.failure.as_ref().map(FailureView::from),
        updated_at: at,
        contact: contact.into(),
        connection: connection.into(),
    };
    event(id, EventType::MessageStatusUpdated, message, contact, at, &data)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use uuid::Uuid;

    use super::super::samples::{at, company, connection, contact, links, message, no_blocks};
    use super::super::{DeliveryCode, Failure, Participant, ProviderMessageId};
    use super::*;

    fn event_id() -> EventId {
        EventId::new(Uuid::from_u128(8))
    }

    fn data(event: &Event) -> Value {
        serde_json::from_str(&event.data).expect("data is JSON")
    }

    fn contact_block() -> Value {
        json!({
            "id": "00000000-0000-0000-0000-000000000002",
            "phone": "+5511987654321",
            "name": "Ana",
            "display_name": "Ana",
            "source_platform": "whatsapp",
            "is_ai_enabled": contact().is_ai_enabled,
            "external_ai_enabled": contact().external_ai_enabled,
            "ai_paused_until": null,
            "opted_out_at": null,
        })
    }

    fn connection_block() -> Value {
        json!({
            "id": "00000000-0000-0000-0000-000000000003",
            "type": "whatsapp",
            "name": "Vendas",
        })
    }

    fn received_data() -> Value {
        let mut data = json!({
            "message_id": "00000000-0000-0000-0000-000000000004",
            "type": "text",
            "content": "Olá",
            "media_url": null,
            "media_mimetype": null,
            "media_caption": null,
            "direction": "inbound",
            "sender_type": "contact",
            "status": "received",
            "participant": null,
            "created_at": at(0),
            "contact": contact_block(),
            "connection": connection_block(),
        });
        data.as_object_mut().expect("an object").extend(no_blocks());
        data
    }

    #[test]
    fn a_received_message_is_reported_with_its_contact_and_connection() {
        let message = message(Direction::Inbound, at(0));
        let (contact, connection) = (contact(), connection());
        let contact = EventContact::Known(&contact);
        let event = message_received(event_id(), &message, contact, &connection, at(3), &links());
        assert_eq!(data(&event), received_data());
        assert_eq!(
            (event.id, event.company, event.event_type, event.contact, event.at),
            (event_id(), company(), EventType::MessageReceived, Some(message.contact), at(3))
        );
    }

    /// D72.
    #[test]
    fn a_message_in_a_group_says_who_wrote_it() {
        let mut message = message(Direction::Inbound, at(0));
        message.participant = Some(Participant {
            identifier: "123456@lid".to_owned(),
            phone: None,
            name: Some("Rita".to_owned()),
        });
        let (contact, connection) = (contact(), connection());
        let contact = EventContact::Known(&contact);
        let event = message_received(event_id(), &message, contact, &connection, at(3), &links());
        let mut expected = received_data();
        expected["participant"] =
            json!({"identifier": "123456@lid", "phone": null, "name": "Rita"});
        assert_eq!(data(&event), expected);
    }

    /// D31a.
    #[test]
    fn a_file_is_reported_by_its_link_before_it_was_fetched() {
        let mut message = message(Direction::Inbound, at(0));
        message.media.source = Some("http://gateway.internal/file".to_owned());
        let (contact, connection) = (contact(), connection());
        let contact = EventContact::Known(&contact);
        let received =
            message_received(event_id(), &message, contact, &connection, at(0), &links());
        let sent = message_sent(event_id(), &message, contact, &connection, at(0), &links());
        let link = links().link(company(), message.id);
        assert_eq!(
            (&data(&received)["media_url"], &data(&sent)["media_url"]),
            (&json!(link), &json!(link))
        );
    }

    /// D57.
    #[test]
    fn a_sent_message_is_reported_with_the_providers_id_too() {
        let mut message = message(Direction::Outbound, at(0));
        message.status = MessageStatus::Sent;
        message.provider_id = ProviderMessageId::parse("wamid.1");
        let (contact, connection) = (contact(), connection());
        let contact = EventContact::Known(&contact);
        let event = message_sent(event_id(), &message, contact, &connection, at(0), &links());
        let mut expected = received_data();
        expected["direction"] = json!("outbound");
        expected["sender_type"] = json!("agent");
        expected["status"] = json!("sent");
        expected["wamid"] = json!("wamid.1");
        expected["error_type"] = Value::Null;
        expected["delivery_error"] = Value::Null;
        assert_eq!(data(&event), expected);
        assert_eq!(event.event_type, EventType::MessageSent);
    }

    /// D57.
    #[test]
    fn a_changed_status_is_reported_with_the_one_before_and_the_reason() {
        let mut message = message(Direction::Outbound, at(0));
        message.status = MessageStatus::Failed;
        message.failure = Some(Failure::new(DeliveryCode::Network, None));
        let (contact, connection) = (contact(), connection());
        let contact = EventContact::Known(&contact);
        let previous = MessageStatus::Pending;
        let event = status_updated(event_id(), &message, previous, contact, &connection, at(9));
        assert_eq!(
            data(&event),
            json!({
                "message_id": "00000000-0000-0000-0000-000000000004",
                "wamid": null,
                "status": "failed",
                "previous_status": "pending",
                "error_type": "network",
                "delivery_error": {
                    "code": "NETWORK",
                    "description": DeliveryCode::Network.description(),
                },
                "updated_at": at(9),
                "contact": contact_block(),
                "connection": connection_block(),
            })
        );
        assert_eq!(event.event_type, EventType::MessageStatusUpdated);
    }

    #[test]
    fn a_contact_that_cannot_be_read_counts_as_one_with_both_ais_on() {
        let message = message(Direction::Inbound, at(0));
        let contact = EventContact::Unreadable(message.contact);
        let event = message_received(event_id(), &message, contact, &connection(), at(0), &links());
        assert_eq!(
            data(&event)["contact"],
            json!({
                "id": "00000000-0000-0000-0000-000000000002",
                "phone": null,
                "name": null,
                "display_name": null,
                "source_platform": null,
                "is_ai_enabled": true,
                "external_ai_enabled": true,
                "ai_paused_until": null,
                "opted_out_at": null,
            })
        );
        assert_eq!(event.contact, Some(message.contact));
    }
}
