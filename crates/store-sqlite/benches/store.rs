//! Measures SQLite: a durable creation and a received message, alone and with concurrent ones, and
//! a page of a listing.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use recado_core::Timestamp;
use recado_core::access::{Company, Features, Plan, TimeZone};
use recado_core::connections::{
    Connection, ConnectionKind, ConnectionSettings, ConnectionStatus, GatewayName,
};
use recado_core::contacts::{
    Contact, ContactFilter, ContactReads, Identifier, InboxStatus, Phone, Platform, Region,
    SearchQuery,
};
use recado_core::ids::{CompanyId, ConnectionId, ContactId, MessageId};
use recado_core::messages::{
    Blocks, Direction, Media, Message, MessageFilter, MessageReads, MessageRef, MessageStatus,
    MessageType, ProviderMessageId, Quoted, RefTarget, SenderType,
};
use recado_core::page::PageRequest;
use recado_core::store::{ChangeSet, Commit, Precondition};
use recado_store_sqlite::SqliteStore;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use uuid::Uuid;

const CONTACTS: u64 = 10_000;
const MESSAGES: u64 = 10_000;
const NOW: i64 = 1_795_000_000_000;

fn company() -> CompanyId {
    CompanyId::new(Uuid::from_u128(1))
}

/// The contact with this number. No two contacts are equal.
fn contact(number: u64) -> Contact {
    let phone = Phone::from_stored(format!("+55349{:08}", 90_000_000 + number)).expect("a phone");
    let identifier = Identifier::of_phone(&phone);
    let at = Timestamp::from_millis(NOW + number.cast_signed());
    let id = ContactId::new(Uuid::from_u128(u128::from(number) + 1));
    let mut contact =
        Contact::new(id, company(), Platform::whatsapp(), identifier, Some(phone), at);
    contact.name = format!("Maria da Silva {number}");
    contact.last_message_at = Some(at);
    contact.is_ai_enabled = number.is_multiple_of(2);
    if number.is_multiple_of(3) {
        contact.inbox_status = InboxStatus::Resolved;
    }
    contact.derive();
    contact
}

fn creation(number: u64) -> ChangeSet {
    let contact = contact(number);
    let created_at = contact.created_at;
    let required = Precondition::NotExported { company: company(), created_at };
    ChangeSet::new().require(required).insert(contact)
}

fn connection() -> Connection {
    Connection {
        id: ConnectionId::new(Uuid::from_u128(1)),
        company: company(),
        kind: ConnectionKind::Qr,
        platform: Platform::whatsapp(),
        name: "Bench".to_owned(),
        identifier: "551133224455".to_owned(),
        gateway: GatewayName::new("simulated"),
        settings: ConnectionSettings::default(),
        is_active: true,
        status: ConnectionStatus::Connected,
        created_at: Timestamp::from_millis(NOW),
        updated_at: Timestamp::from_millis(NOW),
        last_heard_at: None,
    }
}

/// The message with this number, with its reference. Every third one was sent by the company.
fn message(number: u64) -> ChangeSet {
    let at = Timestamp::from_millis(NOW + number.cast_signed());
    let sent = number.is_multiple_of(3);
    let wamid = format!("wamid.{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let message = Message {
        id: MessageId::new(Uuid::from_u128(u128::from(number) + 1)),
        company: company(),
        contact: contact(number * 7919 % CONTACTS).id,
        connection: connection().id,
        direction: if sent { Direction::Outbound } else { Direction::Inbound },
        message_type: MessageType::Text,
        sender_type: if sent { SenderType::Agent } else { SenderType::Contact },
        status: if sent { MessageStatus::Read } else { MessageStatus::Received },
        failure: None,
        content: Some("Bom dia! Vocês ainda têm o bolo de cenoura?".to_owned()),
        media: Media::default(),
        blocks: Blocks::default(),
        provider_id: ProviderMessageId::parse(&wamid),
        external_id: None,
        quoted: Quoted::default(),
        participant: None,
        template_category: None,
        prosa: None,
        is_history: false,
        edited_at: None,
        sender: None,
        created_at: at,
        timestamp: at,
    };
    let reference = MessageRef {
        company: company(),
        connection: connection().id,
        provider_id: ProviderMessageId::from_stored(wamid),
        target: RefTarget::Message(message.id),
    };
    ChangeSet::new().insert(message).insert(reference)
}

async fn fill(store: &SqliteStore) {
    let at = Timestamp::from_millis(NOW);
    let made = ChangeSet::new().insert(Company {
        id: company(),
        name: "Bench".to_owned(),
        plan: Plan::Enterprise,
        features: Features::default(),
        default_region: Region::br(),
        time_zone: TimeZone::default(),
        erase_deleted_messages: false,
        created_at: at,
        updated_at: at,
        deleted_at: None,
    });
    store.commit(made.insert(connection())).await.expect("the company is new");
    for first in (0..CONTACTS).step_by(500) {
        let changes = (first..first + 500)
            .fold(ChangeSet::new(), |changes, number| changes.insert(contact(number)));
        store.commit(changes).await.expect("the contacts are new");
    }
    for first in (0..MESSAGES).step_by(500) {
        let mut changes = ChangeSet::new();
        for number in first..first + 500 {
            changes.changes.extend(message(number).changes);
        }
        store.commit(changes).await.expect("the messages are new");
    }
}

fn store(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime can be made");
    let directory = tempfile::tempdir().expect("a directory can be made");
    let _entered = runtime.enter();
    let store = SqliteStore::open(directory.path().join("bench.db")).expect("a new file");
    store.migrate().expect("a new file can be migrated");
    runtime.block_on(fill(&store));
    let store = std::sync::Arc::new(store);
    let next = AtomicU64::new(CONTACTS);
    let creation = || creation(next.fetch_add(1, Ordering::Relaxed));

    let mut group = criterion.benchmark_group("sqlite/commit_create");
    for at_once in [1, 32] {
        group.throughput(Throughput::Elements(at_once));
        group.bench_function(BenchmarkId::from_parameter(at_once), |bench| {
            bench.to_async(&runtime).iter(|| {
                let mut commits = JoinSet::new();
                for _ in 0..at_once {
                    let (store, changes) = (store.clone(), creation());
                    commits.spawn(async move { store.commit(changes).await });
                }
                async move {
                    for done in commits.join_all().await {
                        done.expect("the contacts are new");
                    }
                }
            });
        });
    }
    group.finish();

    let next = AtomicU64::new(MESSAGES);
    let coming = || message(next.fetch_add(1, Ordering::Relaxed));
    let mut group = criterion.benchmark_group("sqlite/commit_message");
    for at_once in [1, 32] {
        group.throughput(Throughput::Elements(at_once));
        group.bench_function(BenchmarkId::from_parameter(at_once), |bench| {
            bench.to_async(&runtime).iter(|| {
                let mut commits = JoinSet::new();
                for _ in 0..at_once {
                    let (store, changes) = (store.clone(), coming());
                    commits.spawn(async move { store.commit(changes).await });
                }
                async move {
                    for done in commits.join_all().await {
                        done.expect("the messages are new");
                    }
                }
            });
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("sqlite/messages_of_50");
    let outbound =
        MessageFilter { direction: Some(Direction::Outbound), ..MessageFilter::default() };
    let of_contact = MessageFilter { contact: Some(contact(0).id), ..MessageFilter::default() };
    for (name, filter) in
        [("all", MessageFilter::default()), ("filtered", outbound), ("of_contact", of_contact)]
    {
        group.bench_function(name, |bench| {
            bench.to_async(&runtime).iter(|| async {
                let page = store.message_page(company(), &filter, PageRequest::FIRST);
                black_box(page.await.expect("the store works"))
            });
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("sqlite/page_of_50");
    let filters = [
        ("all", ContactFilter::default()),
        (
            "filtered",
            ContactFilter {
                inbox_status: Some(InboxStatus::Resolved),
                is_ai_enabled: Some(true),
                ..ContactFilter::default()
            },
        ),
        (
            "searched",
            ContactFilter {
                search: SearchQuery::parse("silva 77").expect("a search"),
                ..ContactFilter::default()
            },
        ),
    ];
    for (name, filter) in &filters {
        group.bench_function(*name, |bench| {
            bench.to_async(&runtime).iter(|| async {
                let page = store.contact_page(company(), filter, PageRequest::FIRST, false);
                black_box(page.await.expect("the store works"))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, store);
criterion_main!(benches);
