//! Campaigns large enough that their recipients are on many pages, and single changes of recipients
//! and dispatch windows.

use std::collections::BTreeMap;

use recado_core::Timestamp;
use recado_core::campaigns::{
    Campaign, CampaignReads, CampaignStatus, ContactFault, PauseReason, Recipient, RecipientFault,
    RecipientNumber, RecipientStatus, RecipientsFrom,
};
use recado_core::contacts::Contact;
use recado_core::deliveries::Shards;
use recado_core::dispatches::{DispatchWindow, WindowKey, WindowState};
use recado_core::ids::TemplateId;
use recado_core::ids::{
    CampaignId, CompanyId, ConnectionId, ContactId, LedgerLineId, ListId, MessageId,
};
use recado_core::lists::{List, ListMember};
use recado_core::messages::DeliveryCode;
use recado_core::page::PageRequest;
use recado_core::prosas::{Brl, Prosas};
use recado_core::store::{
    Change, ChangeSet, Commit, CommitError, Conflict, RecordsExt, Store, Stored, UniqueKey, Upkeep,
};
use recado_testkit::MemoryStore;
use uuid::Uuid;

use crate::support::{Scene, company, contact};

const CONTACTS: u32 = 600;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// Ids in no order, so that a later contact may have a lesser id than an earlier one.
fn scattered(n: u32) -> ContactId {
    ContactId::new(Uuid::from_u128(
        u128::from(n).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835),
    ))
}

fn person(of: CompanyId, n: u32) -> Contact {
    Contact { id: scattered(n), ..contact(of, n, "Ana") }
}

fn list(of: CompanyId, n: u128) -> List {
    let id = ListId::new(Uuid::from_u128(n));
    List { id, company: of, name: format!("List {n}"), is_active: true, created_at: at(0) }
}

fn campaign(of: CompanyId, n: u128) -> Campaign {
    Campaign {
        id: CampaignId::new(Uuid::from_u128(n)),
        company: of,
        name: format!("Campaign {n}"),
        template: TemplateId::new(Uuid::from_u128(1)),
        list: list(of, 1).id,
        connection: None,
        variables: BTreeMap::from([(1.into(), "está bem".to_owned()), (12.into(), String::new())]),
        header: None,
        buttons: Vec::new(),
        prosas: Prosas::from_units(1250),
        cost: Brl::from_units(62_500),
        messages_per_second: 80,
        scheduled_at: None,
        send_between: None,
        stop_after_failures: None,
        failures_after: None,
        status: CampaignStatus::Running,
        pause_reason: None,
        created_at: at(1),
        updated_at: at(2),
        started_at: Some(at(3)),
        finished_at: None,
    }
}

/// Contacts, of which all but every fifth are in the first list, and a campaign that enrolls this
/// list.
fn enrolled(of: CompanyId) -> ChangeSet {
    let mut changes = ChangeSet::new().insert(list(of, 1)).insert(list(of, 2));
    for n in 0..CONTACTS {
        let person = person(of, n);
        let list = list(of, if n % 5 == 0 { 2 } else { 1 }).id;
        let member = ListMember { company: of, list, contact: person.id };
        changes = changes.insert(person).insert(member);
    }
    let campaign = campaign(of, 1);
    let enroll = Change::enroll(of, campaign.id, list(of, 1).id);
    let paused = Campaign {
        status: CampaignStatus::Paused,
        pause_reason: Some(PauseReason::Connection),
        connection: Some(ConnectionId::new(Uuid::from_u128(9))),
        ..self::campaign(of, 2)
    };
    changes.insert(campaign).with(enroll).insert(paused)
}

async fn read(store: &dyn Store, of: CompanyId, number: u32) -> Stored<Recipient> {
    let found = store.get::<Recipient>((of, campaign(of, 1).id, RecipientNumber(number))).await;
    found.expect("a store that works").expect("a recipient")
}

async fn page_of(store: &dyn Store, of: CompanyId, page: u32) -> Vec<Recipient> {
    let request = PageRequest { page, limit: 100 };
    let page = store.recipient_page(of, campaign(of, 1).id, None, request).await;
    page.expect("a store that works").items.into_iter().map(|entry| entry.recipient).collect()
}

/// A recipient after some steps.
fn moved(recipient: &Recipient) -> Recipient {
    let n = recipient.number.0;
    let message = Some(MessageId::new(Uuid::from_u128(u128::from(n % 250))));
    let debit = Some(LedgerLineId::new(Uuid::from_u128(n.into())));
    let status = RecipientStatus::ALL[n as usize % RecipientStatus::ALL.len()];
    match status {
        RecipientStatus::Waiting => recipient.clone(),
        RecipientStatus::Sending => Recipient { status, message, debit, ..recipient.clone() },
        RecipientStatus::Skipped => Recipient {
            status,
            fault: Some(RecipientFault::Contact(ContactFault::OptedOut)),
            ..recipient.clone()
        },
        RecipientStatus::Failed => Recipient {
            status,
            message,
            fault: Some(RecipientFault::Delivery(DeliveryCode::DeliveryUncertain)),
            ..recipient.clone()
        },
        RecipientStatus::Sent | RecipientStatus::Delivered | RecipientStatus::Read => {
            Recipient { status, message, debit, sent_at: Some(at(n.into())), ..recipient.clone() }
        }
    }
}

/// Two companies with a campaign each. The recipients have different statuses, and some of their
/// contacts are deleted.
async fn scene() -> (Scene, MemoryStore) {
    let (scene, model) = (Scene::new().await, MemoryStore::new());
    model.commit(ChangeSet::new().insert(company(1))).await.expect("new rows");
    for store in [&*scene.store as &dyn Store, &model] {
        // Nothing of another company may appear.
        store.commit(ChangeSet::new().insert(company(2))).await.expect("new rows");
        for of in [company(2).id, scene.company] {
            store.commit(enrolled(of)).await.expect("new rows");
            let mut changes = ChangeSet::new();
            for number in 1..=CONTACTS * 4 / 5 {
                let known = read(store, of, number).await;
                changes = changes.with(known.update(moved(known.value())));
            }
            store.commit(changes).await.expect("what was read");
            for n in (1..CONTACTS).step_by(83) {
                let gone =
                    store.get::<Contact>((of, scattered(n))).await.expect("a store that works");
                let gone = gone.expect("a contact").delete();
                store.commit(ChangeSet::new().with(gone)).await.expect("what was read");
            }
        }
    }
    (scene, model)
}

#[tokio::test]
async fn every_page_and_count_of_recipients_is_that_of_the_model() {
    let (scene, model) = scene().await;
    let (of, id) = (scene.company, campaign(scene.company, 1).id);
    let statuses = RecipientStatus::ALL.iter().copied().map(Some).chain([None]);
    for status in statuses {
        for (page, limit) in [(1, 1), (1, 50), (2, 50), (5, 100), (9, 7), (900, 100)] {
            let request = PageRequest { page, limit };
            let ours = scene.store.recipient_page(of, id, status, request).await.unwrap();
            let models = model.recipient_page(of, id, status, request).await.unwrap();
            assert!(ours == models, "{request:?} {status:?}");
        }
    }
    let counts = scene.store.campaign_totals(of, id, None).await.unwrap();
    assert_eq!(counts, model.campaign_totals(of, id, None).await.unwrap());
    assert_eq!(counts.counts.total(), u64::from(CONTACTS * 4 / 5));
    assert_eq!(scene.store.campaigns(of).await.unwrap(), model.campaigns(of).await.unwrap());
    let running =
        scene.store.active_campaigns(&Shards::USUAL.all().collect(), Timestamp::MAX).await.unwrap();
    let of_companies: Vec<_> = running.iter().map(|campaign| campaign.company).collect();
    assert_eq!(of_companies, [of, company(2).id], "and not those that are paused");
}

#[tokio::test]
async fn recipients_are_found_by_status_and_by_message_as_the_model_finds_them() {
    let (scene, model) = scene().await;
    let (of, id) = (scene.company, campaign(scene.company, 1).id);
    for status in RecipientStatus::ALL {
        for after in [None, Some(0), Some(7), Some(400), Some(u32::MAX)] {
            let after = after.map(RecipientNumber);
            let ours = scene
                .store
                .recipients(of, id, *status, RecipientsFrom::After(after), 13)
                .await
                .unwrap();
            let models =
                model.recipients(of, id, *status, RecipientsFrom::After(after), 13).await.unwrap();
            assert_eq!(ours, models, "{status} after {after:?}");
        }
    }
    let messages: Vec<MessageId> =
        (0..300).rev().map(|n| MessageId::new(Uuid::from_u128(n % 200))).collect();
    let ours = scene.store.recipients_of(of, &messages).await.unwrap();
    assert_eq!(ours, model.recipients_of(of, &messages).await.unwrap());
    assert!(ours.len() > 200, "of several recipients for one message");
}

#[tokio::test]
async fn those_of_the_list_are_numbered_by_the_bytes_of_their_ids() {
    let scene = Scene::new().await;
    let of = scene.company;
    scene.store.commit(enrolled(of)).await.unwrap();
    let mut expected: Vec<[u8; 16]> =
        (0..CONTACTS).filter(|n| n % 5 != 0).map(|n| scattered(n).uuid().into_bytes()).collect();
    expected.sort_unstable();
    assert!(
        expected[0][0] < 0x80 && expected[479][0] >= 0x80,
        "so that a signed order would be another one"
    );
    let mut found = Vec::new();
    for page in 1..=6 {
        found.extend(page_of(&*scene.store, of, page).await);
    }
    let numbers: Vec<u32> = found.iter().map(|recipient| recipient.number.0).collect();
    assert_eq!(numbers, (1..=CONTACTS * 4 / 5).collect::<Vec<_>>());
    let contacts: Vec<[u8; 16]> = found
        .iter()
        .filter_map(|recipient| recipient.contact)
        .map(|id| id.uuid().into_bytes())
        .collect();
    assert_eq!(contacts, expected);
}

#[tokio::test]
async fn a_list_is_enrolled_once_and_only_into_a_campaign_that_is_there() {
    let scene = Scene::new().await;
    let of = scene.company;
    scene.store.commit(enrolled(of)).await.unwrap();
    let enroll = |campaign_no, list_no| {
        let change = Change::enroll(of, campaign(of, campaign_no).id, list(of, list_no).id);
        scene.store.commit(ChangeSet::new().with(change))
    };
    // The second list has other contacts: they would get numbers that are already taken.
    for list in [1, 2] {
        let again = enroll(1, list).await;
        let taken = Conflict::Taken(UniqueKey::Recipient);
        assert!(matches!(again, Err(CommitError::Conflict(found)) if found == taken));
    }
    for list in [1, 99] {
        let nowhere = enroll(7, list).await;
        assert!(matches!(nowhere, Err(CommitError::Conflict(Conflict::Reference))), "{list}");
    }
    enroll(1, 99).await.unwrap();
    assert_eq!(scene.store.campaigns(of).await.unwrap()[0].1.counts.total(), 480);
}

#[tokio::test]
async fn a_recipient_stays_without_its_contact_and_goes_on() {
    let scene = Scene::new().await;
    let of = scene.company;
    scene.store.commit(enrolled(of)).await.unwrap();
    let before = read(&*scene.store, of, 5).await;
    let gone = before.contact.unwrap();
    let delete = scene.store.get::<Contact>((of, gone)).await.unwrap().unwrap().delete();
    scene.store.commit(ChangeSet::new().with(delete)).await.unwrap();
    let known = read(&*scene.store, of, 5).await;
    let orphaned = Recipient { contact: None, ..before.value().clone() };
    assert_eq!((known.value(), known.version()), (&orphaned, before.version()));

    // A decision made before the contact was deleted is written, and does not restore the contact.
    let skipped = Recipient { status: RecipientStatus::Skipped, ..orphaned };
    scene.store.commit(ChangeSet::new().with(known.update(skipped.clone()))).await.unwrap();
    let revived = before.update(Recipient { contact: Some(gone), ..skipped.clone() });
    let refused = scene.store.commit(ChangeSet::new().with(revived)).await;
    assert!(matches!(refused, Err(CommitError::Conflict(Conflict::Stale(_)))));
    let known = read(&*scene.store, of, 5).await;
    let revived = known.update(Recipient { contact: Some(gone), ..skipped.clone() });
    let refused = scene.store.commit(ChangeSet::new().with(revived)).await;
    assert!(matches!(refused, Err(CommitError::Conflict(Conflict::Reference))));
    assert_eq!(read(&*scene.store, of, 5).await.value(), &skipped);
}

#[tokio::test]
async fn recipients_go_with_their_campaign_and_with_no_other() {
    let (scene, _) = scene().await;
    let of = scene.company;
    let known = scene.store.get::<Campaign>((of, campaign(of, 1).id)).await.unwrap().unwrap();
    scene.store.commit(ChangeSet::new().with(known.delete())).await.unwrap();
    assert!(page_of(&*scene.store, of, 1).await.is_empty());
    assert_eq!(page_of(&*scene.store, company(2).id, 1).await.len(), 100);
}

#[tokio::test]
async fn windows_that_have_ended_are_dropped_step_by_step_and_no_others() {
    let scene = Scene::new().await;
    let of = scene.company;
    let person = person(of, 1);
    let window = |n: u16| {
        let mut key = [0; 32];
        key[..2].copy_from_slice(&n.to_be_bytes());
        DispatchWindow {
            company: of,
            contact: person.id,
            key: WindowKey::from_bytes(key),
            message: MessageId::new(Uuid::from_u128(n.into())),
            sent_at: at(0),
            state: WindowState::Sent,
            ends_at: at(n.into()),
        }
    };
    let windows = (0..1300)
        .fold(ChangeSet::new().insert(person.clone()), |changes, n| changes.insert(window(n)));
    scene.store.commit(windows).await.unwrap();
    let left = async |n: u16| {
        scene.store.get::<DispatchWindow>((of, person.id, window(n).key)).await.unwrap().is_some()
    };
    scene.store.upkeep(at(1200)).await.unwrap();
    assert!(!left(0).await && !left(1200).await && left(1201).await && left(1299).await);
    let before = scene.store.stats();
    scene.store.upkeep(at(1200)).await.unwrap();
    assert_eq!(scene.store.stats(), before, "nothing is written where nothing has ended");

    let known = scene.store.get::<Contact>((of, person.id)).await.unwrap().unwrap();
    scene.store.commit(ChangeSet::new().with(known.delete())).await.unwrap();
    assert!(!left(1299).await, "windows go with their contact");
}
