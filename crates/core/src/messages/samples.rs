//! Records for the tests of messages.

use std::time::Duration;

use uuid::Uuid;

use super::{
    Blocks, Direction, Media, MediaLinks, Message, MessageStatus, MessageType, Quoted, SenderType,
};
use crate::Timestamp;
use crate::connections::{
    Connection, ConnectionKind, ConnectionSettings, ConnectionStatus, GatewayName,
};
use crate::contacts::{Contact, Identifier, Phone, Platform, Region};
use crate::ids::{CompanyId, ConnectionId, ContactId, MessageId};
use crate::secret::SecretBytes;

/// The id of the company of everything here.
pub(super) fn company() -> CompanyId {
    CompanyId::new(Uuid::from_u128(1))
}

/// A time so many milliseconds after the start of these tests' time.
pub(super) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_763_000_000_000 + millis)
}

/// Links under a fixed key.
pub(super) fn links() -> MediaLinks {
    let lifetime = Duration::from_secs(30 * 24 * 60 * 60);
    MediaLinks::new("https://recado.example", SecretBytes::new([7; 32]), at(0), lifetime)
}

/// A contact with a phone.
pub(super) fn contact() -> Contact {
    let phone = Phone::parse("+55 11 98765-4321", &Region::br()).expect("a phone");
    let mut contact = Contact::new(
        ContactId::new(Uuid::from_u128(2)),
        company(),
        Platform::whatsapp(),
        Identifier::of_phone(&phone),
        Some(phone),
        at(0),
    );
    contact.name = "Ana".to_owned();
    contact.derive();
    contact
}

/// A connection.
pub(super) fn connection() -> Connection {
    Connection {
        id: ConnectionId::new(Uuid::from_u128(3)),
        company: company(),
        kind: ConnectionKind::Qr,
        platform: Platform::whatsapp(),
        name: "Vendas".to_owned(),
        identifier: "5511300000000".to_owned(),
        gateway: GatewayName::new("simulated"),
        settings: ConnectionSettings::default(),
        is_active: true,
        status: ConnectionStatus::Connected,
        created_at: at(0),
        updated_at: at(0),
        last_heard_at: None,
    }
}

/// A message between the two, received or delivered.
pub(super) fn message(direction: Direction, created_at: Timestamp) -> Message {
    let inbound = direction == Direction::Inbound;
    Message {
        id: MessageId::new(Uuid::from_u128(4)),
        company: company(),
        contact: contact().id,
        connection: connection().id,
        direction,
        message_type: MessageType::Text,
        sender_type: if inbound { SenderType::Contact } else { SenderType::Agent },
        status: if inbound { MessageStatus::Received } else { MessageStatus::Delivered },
        failure: None,
        content: Some("Olá".to_owned()),
        media: Media::default(),
        blocks: Blocks::default(),
        provider_id: None,
        external_id: None,
        quoted: Quoted::default(),
        participant: None,
        template_category: None,
        prosa: None,
        is_history: false,
        edited_at: None,
        sender: None,
        created_at,
        timestamp: created_at,
    }
}

/// The keys of blocks as a message without any shows them.
pub(super) fn no_blocks() -> serde_json::Map<String, serde_json::Value> {
    match serde_json::json!({
        "location": null, "shared_contacts": null, "interactive": null, "order": null,
        "product": null, "referral": null, "reaction": null, "system": null, "unsupported": null,
        "forwarded": null, "is_voice": false, "deleted_by_sender_at": null,
    }) {
        serde_json::Value::Object(keys) => keys,
        _ => unreachable!("an object is written above"),
    }
}
