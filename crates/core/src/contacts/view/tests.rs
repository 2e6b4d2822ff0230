use serde_json::{Value, json};

use super::*;
use crate::connections::{ConnectionSettings, ConnectionStatus, GatewayName};
use crate::contacts::{Identifier, Phone, Platform, Region};
use crate::ids::CompanyId;
use crate::leads::{Inferred, LeadMemory};
use crate::store::{Stored, Version};
use uuid::Uuid;

fn contact() -> Contact {
    let phone = Phone::parse("+5511987654321", &Region::default()).expect("valid");
    Contact::new(
        ContactId::new(Uuid::from_u128(1)),
        CompanyId::new(Uuid::from_u128(2)),
        Platform::whatsapp(),
        Identifier::of_phone(&phone),
        Some(phone),
        Timestamp::from_millis(0),
    )
}

fn record() -> ContactRecord {
    ContactRecord {
        contact: Stored::new(contact(), Version::FIRST),
        related: super::super::Related::default(),
    }
}

/// 2.1: rows of before may have one.
#[test]
fn a_person_has_no_code_of_a_group() {
    let shown = |is_group: bool| {
        let mut contact = contact();
        contact.is_group = is_group;
        contact.external_chat_id = Some("77@g.us".to_owned());
        let record = ContactRecord { contact: Stored::new(contact, Version::FIRST), ..record() };
        ProfileView::new(&record).external_chat_id
    };
    assert_eq!((shown(true).as_deref(), shown(false)), (Some("77@g.us"), None));
}

/// 2.3.1.
#[test]
fn lead_memory_is_absent_without_the_scope_and_null_with_it() {
    let without = serde_json::to_value(ContactDetail::new(&record(), &[], false, false));
    let with = serde_json::to_value(ContactDetail::new(&record(), &[], true, false));
    assert_eq!(without.expect("json").get("lead_memory"), None);
    assert_eq!(with.expect("json").get("lead_memory"), Some(&Value::Null));
}

#[test]
fn lead_memory_is_shown_only_with_the_scope() {
    let mut record = record();
    record.related.lead_memory = Some(LeadMemory {
        company: CompanyId::new(Uuid::from_u128(2)),
        contact: ContactId::new(Uuid::from_u128(1)),
        version: 3,
        inferred: Inferred { summary: "Wants a quote".to_owned(), ..Inferred::default() },
        interaction_count: 4,
        first_interaction_at: Timestamp::from_millis(0),
        last_memory_update_at: Timestamp::from_millis(1000),
    });
    let without = serde_json::to_value(ContactDetail::new(&record, &[], false, false));
    let with = serde_json::to_value(ContactDetail::new(&record, &[], true, false));
    assert_eq!(without.expect("json").get("lead_memory"), None);
    let memory = with.expect("json")["lead_memory"].clone();
    assert_eq!(memory["version"], 3);
    assert_eq!(memory["summary"], "Wants a quote");
}

/// R21.
#[test]
fn connections_show_what_the_contact_is_called_there_and_its_one_state() {
    let mut record = record();
    let connection = Connection {
        id: ConnectionId::new(Uuid::from_u128(7)),
        company: CompanyId::new(Uuid::from_u128(2)),
        kind: ConnectionKind::Qr,
        platform: Platform::whatsapp(),
        name: "Loja".to_owned(),
        identifier: "5511900000000".to_owned(),
        gateway: GatewayName::new("simulated"),
        settings: ConnectionSettings::default(),
        is_active: true,
        status: ConnectionStatus::Connected,
        created_at: Timestamp::from_millis(0),
        updated_at: Timestamp::from_millis(0),
        last_heard_at: None,
    };
    let conversation = Conversation {
        company: connection.company,
        contact: record.contact.id,
        connection: connection.id,
        identifier: "551187654321".to_owned(),
        last_message_at: Some(Timestamp::from_millis(5000)),
        last_inbound_at: None,
        unread: 2,
    };
    record.related.conversations.push((connection, conversation));
    let shown = serde_json::to_value(ContactDetail::new(&record, &[], false, false));
    assert_eq!(
        shown.expect("json")["connections"],
        json!([{
            "id": Uuid::from_u128(7),
            "type": "whatsapp",
            "name": "Loja",
            "provider": "qr",
            "identifier": "551187654321",
            "last_message_at": "1970-01-01T00:00:05.000Z",
            "unread_count": 2,
            "inbox_status": record.contact.inbox_status,
        }])
    );
}

#[test]
fn shared_email_is_shown_by_create_and_not_by_update() {
    let created = serde_json::to_value(ContactSummary::created(&contact())).expect("json");
    let updated = serde_json::to_value(ContactSummary::updated(&contact())).expect("json");
    assert_eq!(created.get("shared_email"), Some(&Value::Null));
    assert_eq!(updated.get("shared_email"), None);
}

#[test]
fn no_debug_output_of_a_contact_shows_its_phone() {
    let shown = format!("{:?} {:?}", contact(), record());
    assert!(!shown.contains("987654321"), "{shown}");
    assert_eq!(format!("{:?}", contact().identifier), "Identifier(***)");
}
