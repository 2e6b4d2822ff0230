//! Whom and what an event about a message names beside it: its contact and its connection (6.1).

use serde::Serialize;

use crate::Timestamp;
use crate::connections::Connection;
use crate::contacts::Contact;
use crate::ids::{ConnectionId, ContactId};

/// The contact of an event, in its state after the change (D52a).
#[derive(Clone, Copy, Debug)]
pub enum EventContact<'a> {
    /// The contact as it was read.
    Known(&'a Contact),
    /// The contact could not be read: both AIs count as on (6.1).
    Unreadable(ContactId),
}

impl EventContact<'_> {
    pub(super) const fn id(self) -> ContactId {
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
