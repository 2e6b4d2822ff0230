//! Contacts that were stored before a form of their number was known, and are one person by the
//! rules of today (D15, D62).

use std::sync::atomic::{AtomicU32, Ordering};

use recado_core::contacts::{Alias, ChannelKey, Contact, Identifier, Phone, Platform};
use recado_core::conversations::ActionName;
use recado_core::ids::{ConnectionId, ContactId};
use recado_core::sending::{Order, SendTarget};
use recado_core::store::ChangeSet;
use recado_core::{Error, Rejection};
use recado_testkit::Kit;
use recado_testkit::kit::body;
use serde_json::json;
use uuid::Uuid;

use super::{create_phone, shown};

const PLAN: &str = "+525512345678";
const CHANNEL: &str = "5215512345678";

/// A row as it was stored when nobody could tell that the identifier is a phone.
async fn old_row(kit: &Kit, identifier: &str, phone: Option<&str>) -> ContactId {
    static COUNT: AtomicU32 = AtomicU32::new(1);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let id = ContactId::new(Uuid::from_u128(number.into()));
    let phone = phone.map(|phone| Phone::from_stored(phone.to_owned()).unwrap());
    let contact = Contact::new(
        id,
        kit.company.id,
        Platform::whatsapp(),
        Identifier::parse(identifier).unwrap(),
        phone,
        kit.app.now(),
    );
    let alias = Alias {
        company: kit.company.id,
        platform: Platform::whatsapp(),
        key: ChannelKey::from_stored(identifier.to_owned()),
        contact: id,
    };
    kit.store.commit(ChangeSet::new().insert(contact).insert(alias)).await.unwrap();
    id
}

async fn scene() -> (Kit, ConnectionId) {
    let kit = Kit::new().await;
    let connection = kit.connection("qr").await;
    (kit, connection)
}

async fn code_of_send(kit: &Kit, to: &str) -> Option<String> {
    match kit.send(to, "Oi").await {
        Ok(_) => None,
        Err(Error::Rejected(error)) => Some(error.code().as_str().to_owned()),
        Err(other) => panic!("{other:?}"),
    }
}

async fn opt_out(kit: &Kit, id: ContactId) {
    let stop = body(json!({ "source": "backfill", "opted_out_at": kit.app.now() }));
    let conversations = kit.app.conversations();
    conversations.act(kit.company.id, id, ActionName::OptOut, &stop).await.unwrap();
}

async fn groups(kit: &Kit) -> Vec<Vec<ContactId>> {
    let found = kit.app.contacts().duplicates(kit.company.id, None).await.unwrap();
    let groups = found.groups.into_iter();
    groups.map(|group| group.contacts.into_iter().map(|contact| contact.id).collect()).collect()
}

#[tokio::test]
async fn an_old_row_is_the_contact_of_its_number_and_shows_it_after_the_next_message() {
    let (kit, connection) = scene().await;
    let old = old_row(&kit, CHANNEL, None).await;
    assert_eq!(kit.contact_by_phone(PLAN).await, Some(old));
    assert_eq!(kit.send(PLAN, "Oi").await.unwrap().contact_id, old);
    assert_eq!(kit.provider.sent()[0].outgoing.recipient, CHANNEL);
    kit.contact_writes(connection, CHANNEL, "Oi").await;
    let now = shown(&kit, old).await;
    assert_eq!((&now["phone"], &now["identifier"]), (&json!(PLAN), &json!(CHANNEL)));
    assert_eq!(groups(&kit).await, Vec::<Vec<ContactId>>::new());
}

#[tokio::test]
async fn whoever_asked_to_stop_under_one_of_two_rows_is_stopped_under_both() {
    for (identifier, phone) in [(CHANNEL, None), ("crm-1", Some("+5215512345678"))] {
        let (kit, _) = scene().await;
        let made = create_phone(&kit, PLAN).await;
        let old = old_row(&kit, identifier, phone).await;
        assert_eq!(groups(&kit).await.concat().len(), 2, "{identifier}");
        assert_eq!(code_of_send(&kit, PLAN).await.as_deref(), Some("AMBIGUOUS_CONTACT"));
        opt_out(&kit, old).await;
        assert_eq!(code_of_send(&kit, PLAN).await.as_deref(), Some("AMBIGUOUS_CONTACT"));
        for target in [made, old] {
            let to = SendTarget::Contact(target);
            let order = Order::text(kit.company.id, to, None, "Oi".to_owned());
            match kit.app.sending().deliver(order).await {
                Err(Error::Rejected(error)) => {
                    assert_eq!(error.code().as_str(), "CONTACT_OPTED_OUT", "{identifier}");
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(kit.provider.sent().is_empty());

        kit.app.contacts().merge(kit.company.id, made, old).await.unwrap();
        assert_eq!(code_of_send(&kit, PLAN).await.as_deref(), Some("CONTACT_OPTED_OUT"));
        assert_ne!(shown(&kit, made).await["opted_out_at"], json!(null));
        assert_eq!(groups(&kit).await, Vec::<Vec<ContactId>>::new());
    }
}

#[tokio::test]
async fn of_two_rows_either_may_stay_and_is_known_by_every_form() {
    for old_stays in [false, true] {
        let (kit, connection) = scene().await;
        let made = create_phone(&kit, PLAN).await;
        let old = old_row(&kit, CHANNEL, None).await;
        let (stays, goes) = if old_stays { (old, made) } else { (made, old) };
        kit.app.contacts().merge(kit.company.id, stays, goes).await.unwrap();
        for from in [CHANNEL, &PLAN[1..], "+5215512345678"] {
            kit.contact_writes(connection, from, "Oi").await;
        }
        for to in [PLAN, "+5215512345678"] {
            assert_eq!(kit.send(to, "Oi").await.unwrap().contact_id, stays, "{to}");
        }
        assert_eq!(kit.app.contacts().duplicates(kit.company.id, None).await.unwrap().examined, 1);
    }
}

#[tokio::test]
async fn doubles_are_found_in_pieces_each_group_once() {
    let (kit, _) = scene().await;
    let mut doubles = Vec::new();
    for n in 0..120 {
        doubles.push(old_row(&kit, &format!("52155123{n:05}"), None).await);
    }
    for n in 0..120 {
        let (plan, name) = (format!("+5255123{n:05}"), format!("crm-{n}"));
        doubles.push(old_row(&kit, &name, Some(&plan)).await);
    }
    let (mut groups, mut after, mut pages) = (Vec::new(), None, 0);
    loop {
        let page = kit.app.contacts().duplicates(kit.company.id, after).await.unwrap();
        assert!(page.examined <= 200);
        groups.extend(page.groups);
        (after, pages) = (page.next_cursor, pages + 1);
        if after.is_none() {
            break;
        }
    }
    assert_eq!((groups.len(), pages), (120, 2));
    let mut found: Vec<ContactId> =
        groups.iter().flat_map(|group| group.contacts.iter().map(|one| one.id)).collect();
    found.sort();
    doubles.sort();
    assert_eq!(found, doubles);
}
