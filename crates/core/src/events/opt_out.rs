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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use uuid::Uuid;

    use super::*;
    use crate::contacts::{Identifier, Phone, Platform, Region};
    use crate::ids::CompanyId;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_763_000_000_000 + millis)
    }

    fn contact() -> Contact {
        let phone = Phone::parse("+55 11 98765-4321", &Region::br()).expect("a phone");
        let (id, company) = (Uuid::from_u128(2), CompanyId::new(Uuid::from_u128(1)));
        let (id, identifier) = (ContactId::new(id), Identifier::of_phone(&phone));
        let mut contact =
            Contact::new(id, company, Platform::whatsapp(), identifier, Some(phone), at(0));
        contact.name = "Ana".to_owned();
        contact
    }

    fn reported(
        contact: &Contact,
        connection: Option<ConnectionId>,
        source: OptOutSource,
    ) -> Value {
        let id = EventId::new(Uuid::from_u128(8));
        let event = contact_opted_out(id, contact, connection, source, at(5));
        serde_json::from_str(&event.data).expect("data is JSON")
    }

    /// 6.1.2.
    #[test]
    fn a_block_is_reported_with_the_connection_it_came_through_or_the_last_one() {
        let mut contact = contact();
        contact.opted_out_at = Some(at(4));
        let [last, other] = [3, 30].map(|n| ConnectionId::new(Uuid::from_u128(n)));
        let reported =
            |contact: &Contact, through| reported(contact, through, OptOutSource::QrInbound);
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
        contact.last_connection_id = Some(last);
        assert_eq!(reported(&contact, None)["connection_id"], json!(last));
        assert_eq!(reported(&contact, Some(other))["connection_id"], json!(other));
    }

    /// 6.1.1.
    #[test]
    fn a_contact_without_a_phone_is_reported_by_its_identifier() {
        let contact = Contact { phone: None, ..contact() };
        let reported = reported(&contact, None, OptOutSource::Backfill);
        assert_eq!(reported["phone"], "5511987654321");
    }
}
