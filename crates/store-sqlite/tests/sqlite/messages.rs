//! Listings of messages and of the ledger long enough that ranges are read in several parts.

use recado_core::Timestamp;
use recado_core::connections::{
    Connection, ConnectionKind, ConnectionSettings, ConnectionStatus, GatewayName,
};
use recado_core::contacts::Platform;
use recado_core::ids::{CompanyId, ConnectionId, ContactId, LedgerLineId, MessageId};
use recado_core::messages::{
    Blocks, Direction, Early, Media, Message, MessageFilter, MessageReads, MessageRef,
    MessageStatus, MessageType, ProviderMessageId, Quoted, RefTarget, SenderType, StatusReport,
};
use recado_core::page::PageRequest;
use recado_core::prosas::{
    Brl, LedgerFilter, LedgerLine, LedgerReads, LineKind, ProsaScope, Prosas,
};
use recado_core::store::{Change, ChangeSet, Commit, Store, Stored, Upkeep, Version};
use recado_testkit::MemoryStore;
use uuid::Uuid;

use crate::support::{Scene, company, contact};

const MESSAGES: u32 = 1300;

pub(super) fn at(millis: u32) -> Timestamp {
    Timestamp::from_millis(millis.into())
}

fn connection(of: CompanyId, n: u32) -> Connection {
    Connection {
        id: ConnectionId::new(Uuid::from_u128(n.into())),
        company: of,
        kind: ConnectionKind::Qr,
        platform: Platform::whatsapp(),
        name: format!("Loja {n}"),
        identifier: "551133224455".to_owned(),
        gateway: GatewayName::new("simulated"),
        settings: ConnectionSettings::default(),
        is_active: true,
        status: ConnectionStatus::Connected,
        created_at: at(0),
        updated_at: at(0),
        last_heard_at: None,
    }
}

/// A message of one of three contacts and two connections. Five messages share a time.
pub(super) fn message(of: CompanyId, n: u32) -> Message {
    let (direction, sender_type, status) = match n % 3 {
        0 => (Direction::Inbound, SenderType::Contact, MessageStatus::Received),
        _ => {
            let status = [MessageStatus::Sent, MessageStatus::Read][n as usize / 7 % 2];
            (Direction::Outbound, SenderType::System, status)
        }
    };
    Message {
        id: MessageId::new(Uuid::from_u128(u128::from(n * 7919 % 1301))),
        company: of,
        contact: ContactId::new(Uuid::from_u128(u128::from(n * n % 5 % 3))),
        connection: connection(of, n % 2).id,
        direction,
        message_type: [MessageType::Text, MessageType::Image][usize::from(n.is_multiple_of(11))],
        sender_type,
        status,
        failure: None,
        content: Some(format!("mensagem {n}")),
        media: Media::default(),
        blocks: Blocks::default(),
        provider_id: None,
        external_id: None,
        quoted: Quoted::default(),
        participant: None,
        template_category: None,
        prosa: None,
        is_history: n.is_multiple_of(13),
        edited_at: None,
        sender: None,
        created_at: at(n * 37 % MESSAGES / 5),
        timestamp: at(n),
    }
}

fn line(of: CompanyId, n: u32) -> LedgerLine {
    let id = LedgerLineId::new(Uuid::from_u128(u128::from(n * 7919 % 1301)));
    let kind = [LineKind::Debit, LineKind::Refund][usize::from(n.is_multiple_of(4))];
    let sign = if kind == LineKind::Refund { -1 } else { 1 };
    LedgerLine {
        id,
        company: of,
        consumption_id: id,
        kind,
        scope: ProsaScope::Message,
        prosas: Prosas::from_units(sign * i64::from(n)),
        cost: Brl::from_units(sign * i64::from(n) * 1_999_999_999),
        refunded: (Prosas::ZERO, Brl::ZERO),
        contact: None,
        campaign: None,
        description: None,
        created_at: at(n * 37 % MESSAGES / 5),
    }
}

/// Two connections and three contacts.
pub(super) fn people(of: CompanyId) -> ChangeSet {
    let connections = ChangeSet::new().insert(connection(of, 0)).insert(connection(of, 1));
    (0..3).fold(connections, |changes, n| changes.insert(contact(of, n, "Ana")))
}

fn messaging(of: CompanyId) -> ChangeSet {
    (0..MESSAGES).fold(people(of), |changes, n| changes.insert(message(of, n)).insert(line(of, n)))
}

async fn scene() -> (Scene, MemoryStore) {
    let (scene, model) = (Scene::new().await, MemoryStore::new());
    model.commit(ChangeSet::new().insert(company(1))).await.expect("new rows");
    // No message of another company may appear.
    scene.store.commit(ChangeSet::new().insert(company(2))).await.expect("new rows");
    scene.store.commit(messaging(company(2).id)).await.expect("new rows");
    for store in [&*scene.store as &dyn Store, &model] {
        store.commit(messaging(scene.company)).await.expect("new rows");
    }
    (scene, model)
}

const PAGES: [(u32, u32); 6] = [(1, 1), (1, 50), (3, 50), (13, 100), (99, 13), (900, 100)];

fn spans() -> [(Option<Timestamp>, Option<Timestamp>); 4] {
    [(None, None), (Some(at(100)), None), (None, Some(at(99))), (Some(at(50)), Some(at(199)))]
}

fn filters(of: CompanyId) -> Vec<MessageFilter> {
    let all = MessageFilter::default();
    let kinds = [
        all.clone(),
        MessageFilter { direction: Some(Direction::Outbound), ..all.clone() },
        MessageFilter { status: Some(MessageStatus::Read), ..all.clone() },
        MessageFilter { connection: Some(connection(of, 1).id), ..all.clone() },
        MessageFilter { message_type: Some(MessageType::Image), ..all.clone() },
        MessageFilter { status: Some(MessageStatus::Failed), ..all },
    ];
    let contacts = [None, Some(ContactId::new(Uuid::from_u128(1)))];
    let with = |kind: &MessageFilter| {
        let kind = kind.clone();
        contacts.into_iter().flat_map(move |contact| {
            let kind = kind.clone();
            spans().map(|(from, to)| MessageFilter { contact, from, to, ..kind.clone() })
        })
    };
    kinds.iter().flat_map(with).collect()
}

#[tokio::test]
async fn every_page_of_messages_is_that_of_the_model() {
    let (scene, model) = scene().await;
    for filter in filters(scene.company) {
        for (page, limit) in PAGES {
            let request = PageRequest { page, limit };
            let ours = scene.store.message_page(scene.company, &filter, request).await.unwrap();
            let models = model.message_page(scene.company, &filter, request).await.unwrap();
            assert!(ours == models, "{request:?} {filter:?}");
        }
    }
}

#[tokio::test]
async fn every_page_is_that_of_the_model_after_a_contact_handed_over_what_it_had() {
    let (scene, model) = scene().await;
    let id = |n| ContactId::new(Uuid::from_u128(n));
    let from = Stored::new(contact(scene.company, 0, "Ana"), Version::FIRST);
    let changes =
        ChangeSet::new().with(Change::reassign(scene.company, from.id, id(1))).with(from.delete());
    for store in [&*scene.store as &dyn Store, &model] {
        store.commit(changes.clone()).await.unwrap();
    }
    assert_eq!(counted(&scene).await, (MESSAGES.into(), MESSAGES as usize));
    for filter in filters(scene.company) {
        let request = PageRequest { page: 2, limit: 100 };
        let ours = scene.store.message_page(scene.company, &filter, request).await.unwrap();
        let models = model.message_page(scene.company, &filter, request).await.unwrap();
        assert!(ours == models, "{filter:?}");
    }
    let ids: Vec<MessageId> = (0..MESSAGES).map(|n| message(scene.company, n).id).collect();
    for message in scene.store.messages(scene.company, &ids).await.unwrap() {
        assert_ne!(message.contact, from.id);
    }
    let neighbour = MessageFilter { contact: Some(from.id), ..MessageFilter::default() };
    let page = scene.store.message_page(company(2).id, &neighbour, PageRequest::FIRST).await;
    assert!(page.unwrap().total > 0, "a neighbour's contact keeps what it has");
}

#[tokio::test]
async fn every_page_of_the_ledger_is_that_of_the_model() {
    let (scene, model) = scene().await;
    for kind in [None, Some(LineKind::Debit), Some(LineKind::Refund)] {
        for (from, to) in spans() {
            let filter = LedgerFilter { from, to, kind };
            for (page, limit) in PAGES {
                let request = PageRequest { page, limit };
                let ours = scene.store.ledger_page(scene.company, &filter, request).await;
                let models = model.ledger_page(scene.company, &filter, request).await;
                assert!(ours.unwrap() == models.unwrap(), "{request:?} {filter:?}");
            }
        }
    }
}

/// The number of messages by the counters, and by the rows.
async fn counted(scene: &Scene) -> (u64, usize) {
    let all = MessageFilter::default();
    let page =
        |page| scene.store.message_page(scene.company, &all, PageRequest { page, limit: 100 });
    let total = page(1).await.expect("the store works").total;
    let mut rows = 0;
    for number in 1.. {
        match page(number).await.expect("the store works").items.len() {
            0 => break,
            found => rows += found,
        }
    }
    (total, rows)
}

#[tokio::test]
async fn counters_follow_messages_that_come_change_and_go() {
    let scene = Scene::new().await;
    let of = scene.company;
    let messages = (0..90).fold(people(of), |changes, n| changes.insert(message(of, n)));
    scene.store.commit(messages).await.unwrap();
    assert_eq!(counted(&scene).await, (90, 90));
    let sent = Stored::new(message(of, 1), Version::FIRST);
    let failed = Message { status: MessageStatus::Failed, ..sent.value().clone() };
    scene.store.commit(ChangeSet::new().with(sent.update(failed))).await.unwrap();
    let filter = |status| MessageFilter { status: Some(status), ..MessageFilter::default() };
    let total = async |status| {
        let filter = filter(status);
        scene.store.message_page(of, &filter, PageRequest::FIRST).await.unwrap().total
    };
    assert_eq!(total(MessageStatus::Failed).await, 1);
    let outbound = total(MessageStatus::Sent).await + total(MessageStatus::Read).await;
    assert_eq!(outbound, 59);
    scene.store.commit(ChangeSet::new().with(sent_now(&scene).await.delete())).await.unwrap();
    assert_eq!(counted(&scene).await, (89, 89));
    // A change set that fails counts nothing.
    let twice = ChangeSet::new().insert(message(of, 500)).insert(message(of, 2));
    scene.store.commit(twice).await.unwrap_err();
    assert_eq!(counted(&scene).await, (89, 89));
    // The messages are deleted by cascade.
    let gone = Stored::new(contact(of, 0, "Ana"), Version::FIRST);
    scene.store.commit(ChangeSet::new().with(gone.delete())).await.unwrap();
    let (total, rows) = counted(&scene).await;
    assert_eq!(total, rows as u64);
    assert!(total < 89);
}

async fn sent_now(scene: &Scene) -> Stored<Message> {
    let id = message(scene.company, 1).id;
    scene
        .store
        .messages(scene.company, &[id])
        .await
        .expect("the store works")
        .pop()
        .expect("it is there")
}

#[tokio::test]
async fn a_round_of_upkeep_drops_more_than_one_transaction_holds_and_leaves_the_rest() {
    let scene = Scene::new().await;
    let of = scene.company;
    let id = |n: u32| ProviderMessageId::parse(&format!("w{n}")).expect("an id");
    let report = |n: u32| MessageRef {
        company: of,
        connection: connection(of, 0).id,
        provider_id: id(n),
        target: RefTarget::Early {
            early: Early::of_report(StatusReport { status: MessageStatus::Read, failure: None }),
            expires_at: at(n),
        },
    };
    let changes = (1..=1200).fold(people(of), |changes, n| changes.insert(report(n)));
    scene.store.commit(changes).await.unwrap();
    scene.store.upkeep(at(1100)).await.unwrap();
    let ids: Vec<ProviderMessageId> = (1..=1200).map(id).collect();
    let left = scene.store.referred(of, connection(of, 0).id, &ids).await.unwrap();
    assert_eq!(left.len(), 100);
    let before = scene.store.stats();
    scene.store.upkeep(at(1100)).await.unwrap();
    assert_eq!(scene.store.stats(), before, "where nothing is spent, nothing is written");
}
