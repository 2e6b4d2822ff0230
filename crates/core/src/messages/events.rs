//! Events about messages for outbound webhooks (6.1, D57).

use serde::Serialize;

use super::view::{FailureView, media_url};
use super::{
    Blocks, Direction, ErrorType, MediaLinks, Message, MessageStatus, MessageType, ParticipantView,
    SenderType,
};
use crate::Timestamp;
use crate::connections::Connection;
use crate::contacts::Contact;
use crate::events::{Event, EventType};
use crate::ids::{ConnectionId, ContactId, EventId, MessageId};

/// The contact of an event, in its state after the change (D52a).
#[derive(Clone, Copy, Debug)]
pub enum EventContact<'a> {
    /// The contact as it was read.
    Known(&'a Contact),
    /// The contact could not be read: both AIs count as on (6.1).
    Unreadable(ContactId),
}

impl EventContact<'_> {
    const fn id(self) -> ContactId {
        match self {
            Self::Known(contact) => contact.id,
            Self::Unreadable(id) => id,
        }
    }
}

/// The contact of a message, as events about messages have it. If the contact could not be read,
/// everything but the id is null, and both AIs count as on (6.1).
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = EventContact))]
pub(crate) struct ContactBlock<'a> {
    /// Its id.
    id: ContactId,
    /// Its phone, or what is shown in its place (D16).
    phone: Option<&'a str>,
    /// The name that the company gave it; empty for everybody who wrote first (D72).
    name: Option<&'a str>,
    /// The name to show.
    display_name: Option<&'a str>,
    /// The channel it came from.
    source_platform: Option<&'a str>,
    /// Whether the service's AI answers.
    is_ai_enabled: bool,
    /// Whether an external AI may send.
    external_ai_enabled: bool,
    /// Until when the service's AI pauses; null if it does not.
    ai_paused_until: Option<Timestamp>,
    /// Since when it blocks messages; null if it does not.
    opted_out_at: Option<Timestamp>,
}

impl<'a> From<EventContact<'a>> for ContactBlock<'a> {
    fn from(contact: EventContact<'a>) -> Self {
        match contact {
            EventContact::Known(contact) => Self {
                id: contact.id,
                phone: Some(contact.shown_phone()),
                name: Some(&contact.name),
                display_name: Some(&contact.display_name),
                source_platform: Some(contact.source_platform.as_str()),
                is_ai_enabled: contact.is_ai_enabled,
                external_ai_enabled: contact.external_ai_enabled,
                ai_paused_until: contact.ai_paused_until,
                opted_out_at: contact.opted_out_at,
            },
            EventContact::Unreadable(id) => Self {
                id,
                phone: None,
                name: None,
                display_name: None,
                source_platform: None,
                is_ai_enabled: true,
                external_ai_enabled: true,
                ai_paused_until: None,
                opted_out_at: None,
            },
        }
    }
}

/// The connection of a message, as events about messages have it.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = EventConnection))]
pub(crate) struct ConnectionBlock<'a> {
    /// Its id.
    id: ConnectionId,
    /// Its channel.
    #[serde(rename = "type")]
    platform: &'a str,
    /// Its name.
    name: &'a str,
}

impl<'a> From<&'a Connection> for ConnectionBlock<'a> {
    fn from(connection: &'a Connection) -> Self {
        let platform = connection.platform.as_str();
        Self { id: connection.id, platform, name: &connection.name }
    }
}

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
    use crate::events::{OptOutSource, contact_opted_out};

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

    /// 6.1.2.
    #[test]
    fn a_block_is_reported_with_the_connection_it_came_through_or_the_last_one() {
        let mut contact = contact();
        contact.opted_out_at = Some(at(4));
        let other = ConnectionId::new(Uuid::from_u128(30));
        let reported = |contact: &Contact, connection| {
            let source = OptOutSource::QrInbound;
            data(&contact_opted_out(event_id(), contact, connection, source, at(5)))
        };
        assert_eq!(
            reported(&contact, Some(other)),
            json!({
                "contact_id": "00000000-0000-0000-0000-000000000002",
                "phone": "+5511987654321",
                "name": "Ana",
                "source_platform": "whatsapp",
                "connection_id": other,
                "opted_out_at": at(4),
                "source": "qr_inbound",
            })
        );
        assert_eq!(reported(&contact, None)["connection_id"], Value::Null);
        contact.last_connection_id = Some(connection().id);
        assert_eq!(reported(&contact, None)["connection_id"], json!(connection().id));
        assert_eq!(reported(&contact, Some(other))["connection_id"], json!(other));
    }

    /// 6.1.1.
    #[test]
    fn a_contact_without_a_phone_is_reported_by_its_identifier() {
        let contact = Contact { phone: None, ..contact() };
        let source = OptOutSource::Backfill;
        let event = contact_opted_out(event_id(), &contact, None, source, at(0));
        assert_eq!(data(&event)["phone"], "5511987654321");
    }
}
