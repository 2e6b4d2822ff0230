//! Measures a durable creation, alone and with concurrent ones, and a page of a listing on
//! Postgres.
//!
//! It runs on the server of the tests, which does not wait for the disk unless
//! `RECADO_TEST_POSTGRES` names another one.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use recado_core::Timestamp;
use recado_core::access::{Company, Features, Plan, TimeZone};
use recado_core::contacts::{
    Contact, ContactFilter, ContactReads, Identifier, InboxStatus, Phone, Platform, Region,
    SearchQuery,
};
use recado_core::ids::{CompanyId, ContactId};
use recado_core::page::PageRequest;
use recado_core::store::{ChangeSet, Commit, Precondition, Upkeep};
use recado_store_postgres::{Options, PostgresStore};
use recado_testkit::postgres::TestPostgres;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use uuid::Uuid;

const CONTACTS: u64 = 10_000;
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

async fn fill(store: &PostgresStore) {
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
    store.commit(made).await.expect("the company is new");
    for first in (0..CONTACTS).step_by(500) {
        let changes = (first..first + 500)
            .fold(ChangeSet::new(), |changes, number| changes.insert(contact(number)));
        store.commit(changes).await.expect("the contacts are new");
    }
}

fn store(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime can be made");
    let database = TestPostgres::shared().fresh_database();
    let store = runtime.block_on(async {
        let connected = PostgresStore::connect(database.url(), Options::default()).await;
        let store = connected.expect("the database was made");
        store.migrate().await.expect("an empty database can be migrated");
        fill(&store).await;
        store.upkeep(Timestamp::from_millis(NOW)).await.expect("the store works");
        store
    });
    let store = std::sync::Arc::new(store);
    let next = AtomicU64::new(CONTACTS);
    let creation = || creation(next.fetch_add(1, Ordering::Relaxed));

    let mut group = criterion.benchmark_group("postgres/commit_create");
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

    let mut group = criterion.benchmark_group("postgres/page_of_50");
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
