//! Contacts that were stored before a form of their number was known, and are one person by the
//! rules of today (D15, D62).

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use recado_core::contacts::{Alias, ChannelKey, Contact, Identifier, Phone, Platform};
use recado_core::conversations::ActionName;
use recado_core::gateway::{GatewayEvent, NamesReport, Preference, PreferenceReport};
use recado_core::ids::{ConnectionId, ContactId};
use recado_core::inbox::EventOutcome;
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
                    let details = error.details().unwrap_or_default();
                    assert_eq!(details["contact_id"], json!(old), "whoever asked");
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

/// D16.
#[tokio::test]
async fn what_an_old_row_shows_as_its_phone_can_be_written_to() {
    for shown_phone in [CHANNEL, "351912345678", "5491123456789"] {
        let (kit, _) = scene().await;
        let invalid = Some("INVALID_PHONE".to_owned());
        assert_eq!(code_of_send(&kit, shown_phone).await, invalid, "nobody has it");
        let old = old_row(&kit, shown_phone, None).await;
        assert_eq!(shown(&kit, old).await["phone"], shown_phone);
        assert_eq!(kit.send(shown_phone, "Oi").await.unwrap().contact_id, old);
        assert_eq!(kit.provider.sent()[0].outgoing.recipient, shown_phone);
        let another = format!("{}0", &shown_phone[..shown_phone.len() - 1]);
        assert_eq!(code_of_send(&kit, &another).await, invalid, "{another}");
    }
}

/// R161.
#[tokio::test]
async fn of_many_contacts_with_one_phone_few_are_read_and_who_asked_to_stop_is_among_them() {
    let (kit, _) = scene().await;
    let first = old_row(&kit, "crm-first", Some(PLAN)).await;
    for n in 0..60 {
        old_row(&kit, &format!("crm-{n}"), Some(PLAN)).await;
    }
    let last = old_row(&kit, "crm-last", Some("+5215512345678")).await;
    match kit.send(PLAN, "Oi").await {
        Err(Error::Rejected(error)) => {
            let details = error.details().unwrap_or_default();
            let named = details["contact_ids"].as_array().map_or(0, Vec::len);
            assert_eq!((error.code().as_str(), named), ("AMBIGUOUS_CONTACT", 20));
        }
        other => panic!("{other:?}"),
    }
    // Whichever is named is meant, also one that the bound would leave out.
    for named in [first, last] {
        let draft = body(json!({ "to": PLAN, "contact_id": named, "message": "Oi" }));
        let sent = kit.app.sending().send_text(&kit.caller, &draft).await.unwrap();
        assert_eq!(sent.contact_id, named);
    }
    opt_out(&kit, last).await;
    let order = Order::text(kit.company.id, SendTarget::Contact(first), None, "Oi".to_owned());
    match kit.app.sending().deliver(order).await {
        Err(Error::Rejected(error)) => {
            assert_eq!(error.details().unwrap_or_default()["contact_id"], json!(last));
        }
        other => panic!("{other:?}"),
    }
}

/// D44, R161.
#[tokio::test]
async fn who_accepts_messages_again_is_unblocked_under_every_contact() {
    // By the number, and by a name that only one of the two has.
    for peer in [CHANNEL, "BR.13491208655302741918"] {
        let (kit, _) = scene().await;
        let cloud = kit.connection("official_cloud").await;
        let made = create_phone(&kit, PLAN).await;
        let both = GatewayEvent::Names(NamesReport {
            peer: PLAN[1..].to_owned(),
            aliases: vec!["BR.13491208655302741918".to_owned()],
        });
        kit.receive(cloud, vec![Ok(both)]).await;
        let old = old_row(&kit, "crm-1", Some("+5215512345678")).await;
        let stranger = old_row(&kit, "crm-2", Some("+5215512345679")).await;
        for contact in [old, stranger] {
            opt_out(&kit, contact).await;
        }
        let resume = |at| {
            GatewayEvent::Preference(PreferenceReport {
                peer: peer.to_owned(),
                aliases: Vec::new(),
                preference: Preference::Resume,
                timestamp: Some(at),
                history: false,
            })
        };
        let late = kit.app.now().minus(Duration::from_secs(60 * 60));
        let results = kit.receive(cloud, vec![Ok(resume(late))]).await;
        assert_eq!(results[0].result, EventOutcome::Ignored, "they have asked to stop since");
        assert_ne!(shown(&kit, old).await["opted_out_at"], json!(null));

        kit.clock.advance(Duration::from_secs(1));
        let results = kit.receive(cloud, vec![Ok(resume(kit.app.now()))]).await;
        assert_eq!(results[0].result, EventOutcome::Stored, "{peer}");
        for contact in [made, old] {
            assert_eq!(shown(&kit, contact).await["opted_out_at"], json!(null), "{peer}");
        }
        assert_ne!(shown(&kit, stranger).await["opted_out_at"], json!(null), "another number");
        assert_eq!(code_of_send(&kit, PLAN).await.as_deref(), Some("AMBIGUOUS_CONTACT"));
    }
}
