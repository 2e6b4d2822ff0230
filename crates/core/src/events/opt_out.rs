//! The event about contacts that opt out (6.1).

use serde::Serialize;

use super::{Event, EventType};
use crate::Timestamp;
use crate::contacts::Contact;
use crate::ids::{ConnectionId, ContactId, EventId};
use crate::words::words;

words! {
    /// How the request to stop came (6.1, D43).
    OptOutSource {
        /// On an official cloud connection.
        OfficialCloudInbound = "official_cloud_inbound",
        /// On a QR-code connection, in a message or in the history.
        QrInbound = "qr_inbound",
        /// As a reply to a campaign.
        CampaignReply = "campaign_reply",
        /// Sent later, for a block from before the event existed.
        Backfill = "backfill",
    }
}

/// The data of `contact.opted_out` (6.1).
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ContactOptedOutData))]
pub(crate) struct OptOutData<'a> {
    /// The contact.
    contact_id: ContactId,
    /// Its phone, or what is shown in its place (D16).
    phone: &'a str,
    /// The name that the company gave it.
    name: &'a str,
    /// The channel it came from.
    source_platform: &'a str,
    /// The connection that the request came through, or the contact's last one.
    connection_id: Option<ConnectionId>,
    /// Since when it blocks messages.
    opted_out_at: Option<Timestamp>,
    /// How the request came.
    source: OptOutSource,
}

/// The event `contact.opted_out`, with the contact after the block. `connection` is the one that
/// the request came through; without it the contact's last one is sent.
pub fn contact_opted_out(
    id: EventId,
    contact: &Contact,
    connection: Option<ConnectionId>,
    source: OptOutSource,
    at: Timestamp,
) -> Event {
    let data = OptOutData {
        contact_id: contact.id,
        phone: contact.shown_phone(),
        name: &contact.name,
        source_platform: contact.source_platform.as_str(),
        connection_id: connection.or(contact.last_connection_id),
        opted_out_at: contact.opted_out_at,
        source,
    };
    Event {
        id,
        company: contact.company,
        event_type: EventType::ContactOptedOut,
        contact: Some(contact.id),
        at,
        data: serde_json::to_string(&data).expect("a contact holds nothing that JSON cannot write"),
    }
}
