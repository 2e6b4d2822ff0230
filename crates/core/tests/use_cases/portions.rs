//! Contacts with many messages are merged and deleted in portions (R441).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use recado_core::contacts::Contact;
use recado_core::events::{Event, EventType};
use recado_core::ids::{ContactId, EventId, MessageId};
use recado_core::messages::Message;
use recado_core::store::{
    Change, ChangeKind, ChangeSet, Commit as _, RecordsExt, RowKind, StoreError,
};
use recado_core::{Clock as _, Error};
use recado_testkit::{FaultyStore, Kit, MemoryStore, StoreFailure};
use uuid::Uuid;

use super::{code, create_phone};

/// How many messages there are: three portions and some.
const MESSAGES: u64 = 650;

/// A contact with many messages, on a store that can fail.
struct Case {
    kit: Kit,
    model: MemoryStore,
    store: FaultyStore,
    contact: ContactId,
    portions: Arc<AtomicUsize>,
}

impl Case {
    async fn new() -> Self {
        let model = MemoryStore::new();
        let store = FaultyStore::new(Arc::new(model.clone()));
        let kit = Kit::builder().store(Arc::new(store.clone())).build().await;
        let connection = kit.connection("qr").await;
        let contact = create_phone(&kit, "34991230001").await;
        kit.contact_writes(connection, "5534991230001", "Oi").await;
        let company = kit.company.id;
        let told = model.events(company);
        let data: serde_json::Value =
            serde_json::from_str(&told.last().expect("it was reported").data).unwrap();
        let id = MessageId::parse(data["message_id"].as_str().unwrap()).unwrap();
        let one = model.get::<Message>((company, id)).await.unwrap().unwrap().into_value();
        let mut changes = ChangeSet::new();
        for n in 1..MESSAGES {
            let id = MessageId::new(Uuid::from_u128(n.into()));
            changes = changes.insert(Message { id, provider_id: None, ..one.clone() });
        }
        model.commit(changes).await.unwrap();
        let portions = Arc::default();
        Self { kit, model, store, contact, portions }
    }

    /// Counts the portions, and fails at the one of this number.
    fn fail_at(&self, failing: usize) {
        let portions = Arc::clone(&self.portions);
        portions.store(0, Ordering::Relaxed);
        let is_portion = |change: &Change| {
            matches!(change.kind(), ChangeKind::RemoveSome { .. } | ChangeKind::ReassignSome { .. })
        };
        self.store.plan_commits(move |changes| {
            if !changes.changes.iter().any(is_portion) {
                return None;
            }
            let number = portions.fetch_add(1, Ordering::Relaxed) + 1;
            (number == failing).then_some(StoreFailure::Unavailable)
        });
    }

    fn portions(&self) -> usize {
        self.portions.load(Ordering::Relaxed)
    }

    async fn attach(&self, documents: u64) {
        for _ in 0..documents {
            let attached = self.kit.app.documents();
            let company = self.kit.company.id;
            attached.attach(company, self.contact, "a.txt", vec![1]).await.unwrap();
        }
    }

    async fn messages(&self, contact: ContactId) -> u64 {
        let store = self.kit.app.store();
        store.count_about(self.kit.company.id, RowKind::Message, contact).await.unwrap()
    }

    async fn is_there(&self, contact: ContactId) -> bool {
        let key = (self.kit.company.id, contact);
        self.kit.app.store().get::<Contact>(key).await.unwrap().is_some()
    }
}

/// R441.
#[tokio::test]
async fn a_long_deletion_removes_messages_in_portions_and_the_contact_in_the_end() {
    let case = Case::new().await;
    case.fail_at(usize::MAX);
    case.kit.app.contacts().delete(&case.kit.caller, case.contact).await.unwrap();
    assert!(!case.is_there(case.contact).await);
    assert_eq!(case.messages(case.contact).await, 0);
    assert_eq!(case.portions(), 3);
}

/// R441.
#[tokio::test]
async fn a_deletion_of_few_messages_is_one_commit() {
    let case = Case::new().await;
    let few = create_phone(&case.kit, "34991230002").await;
    case.fail_at(1);
    case.kit.app.contacts().delete(&case.kit.caller, few).await.unwrap();
    assert_eq!(case.portions(), 0);
}

/// R441, R412.
#[tokio::test]
async fn a_receipt_counts_what_all_portions_removed() {
    for documents in [0, 1] {
        let case = Case::new().await;
        let company = case.kit.company.id;
        case.attach(documents).await;
        case.fail_at(usize::MAX);
        let contacts = case.kit.app.contacts();
        let receipt = contacts.delete_of_for_receipt(company, case.contact).await.unwrap();
        assert_eq!(case.portions(), 3);
        assert_eq!(receipt.removed["messages"], MESSAGES);
        assert_eq!(receipt.removed["documents"], documents);
    }
}

/// R441: documents come back, since the contact is still there.
#[tokio::test]
async fn a_deletion_that_fails_between_portions_is_completed_by_a_repeat() {
    for documents in [0, 1] {
        let case = Case::new().await;
        let company = case.kit.company.id;
        case.attach(documents).await;
        case.fail_at(3);
        let failed = case.kit.app.contacts().delete(&case.kit.caller, case.contact).await;
        assert!(matches!(failed, Err(Error::Store(StoreError::Unavailable(_)))), "{failed:?}");
        assert!(case.is_there(case.contact).await);
        assert_eq!(case.messages(case.contact).await, MESSAGES - 400);
        for document in case.kit.app.documents().list(company, case.contact).await.unwrap() {
            let id = document.id;
            case.kit.app.documents().read(company, case.contact, id).await.expect("readable");
        }
        case.fail_at(usize::MAX);
        case.kit.app.contacts().delete(&case.kit.caller, case.contact).await.unwrap();
        assert!(!case.is_there(case.contact).await);
    }
}

/// R441.
#[tokio::test]
async fn a_long_merge_moves_messages_in_portions_and_a_repeat_completes_it() {
    let case = Case::new().await;
    let company = case.kit.company.id;
    let stays = create_phone(&case.kit, "34991230002").await;
    case.fail_at(2);
    let contacts = case.kit.app.contacts();
    let failed = contacts.merge(company, stays, case.contact).await;
    assert!(matches!(failed, Err(Error::Store(StoreError::Unavailable(_)))), "{failed:?}");
    assert!(case.is_there(case.contact).await);
    assert_eq!(case.messages(stays).await, 200);
    case.fail_at(usize::MAX);
    contacts.merge(company, stays, case.contact).await.unwrap();
    assert!(!case.is_there(case.contact).await);
    assert_eq!(case.messages(stays).await, MESSAGES);
    assert_eq!(case.portions(), 2);
}

/// R441: events are many without many messages where statuses are reported often.
#[tokio::test]
async fn a_merge_moves_many_events_in_portions() {
    let case = Case::new().await;
    let company = case.kit.company.id;
    let (stays, goes) = (
        create_phone(&case.kit, "34991230002").await,
        create_phone(&case.kit, "34991230003").await,
    );
    let event = |n: u128| Event {
        id: EventId::new(Uuid::from_u128(n)),
        company,
        event_type: EventType::MessageStatusUpdated,
        contact: Some(goes),
        at: case.kit.clock.now(),
        data: "{}".to_owned(),
    };
    let told = (1..=450).fold(ChangeSet::new(), |changes, n| changes.emit(event(n)));
    case.model.commit(told).await.unwrap();
    case.fail_at(usize::MAX);
    case.kit.app.contacts().merge(company, stays, goes).await.unwrap();
    assert_eq!(case.portions(), 2);
    let events = case.model.events(company);
    assert_eq!(events.iter().filter(|event| event.contact == Some(goes)).count(), 0);
}

/// R441: what a merge refuses, it refuses before anything moves.
#[tokio::test]
async fn a_merge_that_is_refused_moves_no_portion() {
    let case = Case::new().await;
    let nobody = ContactId::new(Uuid::from_u128(1));
    case.fail_at(1);
    let contacts = case.kit.app.contacts();
    for (id, code_) in [(nobody, "NOT_FOUND"), (case.contact, "VALIDATION_ERROR")] {
        assert_eq!(code(contacts.merge(case.kit.company.id, id, case.contact).await), code_);
    }
    assert_eq!(case.portions(), 0);
}
