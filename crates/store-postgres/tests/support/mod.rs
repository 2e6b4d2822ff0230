//! A database of its own for each test.
#![allow(dead_code, unreachable_pub, clippy::allow_attributes, reason = "shared by several tests")]

pub mod tls;

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::access::{Company, Features, Limiter, Plan, TimeZone};
use recado_core::contacts::Region;
use recado_core::events::{Event, EventType};
use recado_core::ids::{CompanyId, ContactId, EventId};
use recado_core::store::Store;
use recado_store_postgres::{Options, PostgresStore, Sealer, SealingKey};
use recado_testkit::conformance::{Harness, LimiterHarness};
use recado_testkit::postgres::{TestDatabase, TestPostgres};
use tokio_postgres::{Client, NoTls};

/// A company.
pub fn company(id: CompanyId, now: Timestamp) -> Company {
    Company {
        id,
        name: "Padaria".to_owned(),
        plan: Plan::Enterprise,
        features: Features::default(),
        default_region: Region::br(),
        time_zone: TimeZone::default(),
        erase_deleted_messages: false,
        created_at: now,
        updated_at: now,
        deleted_at: None,
    }
}

pub struct Database {
    pub store: PostgresStore,
    options: Options,
    database: TestDatabase,
}

pub fn options() -> Options {
    Options { pool_size: 6, ..Options::default() }
}

impl Database {
    pub async fn fresh() -> Self {
        Self::fresh_with(options()).await
    }

    /// A database that seals secrets.
    pub async fn fresh_sealed() -> Self {
        let sealer = Sealer::new(SealingKey::new(&[7; 32]), []);
        Self::fresh_with(Options { sealer, ..options() }).await
    }

    async fn fresh_with(options: Options) -> Self {
        let database = template().await.copy();
        let connected = PostgresStore::connect(database.url(), options.clone()).await;
        Self { store: connected.expect("it was made"), options, database }
    }

    pub fn url(&self) -> &str {
        self.database.url()
    }

    pub async fn another_process(&self) -> PostgresStore {
        let connected = PostgresStore::connect(self.url(), self.options.clone()).await;
        connected.expect("the database is there")
    }

    pub async fn client(&self) -> Client {
        connect(self.url()).await
    }
}

/// A migrated database. Copying it is faster than migrating another one.
async fn template() -> &'static TestDatabase {
    static TEMPLATE: tokio::sync::OnceCell<TestDatabase> = tokio::sync::OnceCell::const_new();
    let migrated = async {
        let database = TestPostgres::shared().fresh_database();
        let store = PostgresStore::connect(database.url(), options()).await.expect("it was made");
        store.migrate().await.expect("an empty database can be migrated");
        database
    };
    TEMPLATE.get_or_init(|| migrated).await
}

pub async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("it is there");
    tokio::spawn(connection);
    client
}

/// Waits until this many statements of the database wait for a lock, for longer than a shared
/// transaction does (R439): they will not stop waiting by themselves. The client may be within a
/// transaction, which otherwise keeps what it first read of the activity.
pub async fn until_waiting(client: &Client, count: i64) {
    let waiting = "SELECT count(*) FROM pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock' \
                   AND query_start < clock_timestamp() - interval '100 ms'";
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        client.batch_execute("SELECT pg_stat_clear_snapshot()").await.expect("it is forgotten");
        let found = client.query_one(waiting, &[]).await.expect("it can be counted");
        if found.get::<_, i64>(0) >= count {
            return;
        }
        assert!(Instant::now() < until, "fewer than {count} wait");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[async_trait]
impl Harness for Database {
    async fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    async fn second(&self) -> Option<Arc<dyn Store>> {
        Some(Arc::new(self.another_process().await))
    }

    async fn events(&self, company: CompanyId) -> Vec<Event> {
        let sql = "SELECT id, contact_id, event_type, at, data FROM events \
                   WHERE company_id = $1 ORDER BY place";
        let rows = self.client().await.query(sql, &[&company.uuid()]).await.expect("readable");
        let event = |row: &tokio_postgres::Row| Event {
            id: EventId::new(row.get(0)),
            company,
            event_type: EventType::parse(row.get(2)).expect("a known type"),
            contact: row.get::<_, Option<_>>(1).map(ContactId::new),
            at: Timestamp::from_millis(row.get(3)),
            data: row.get::<_, Option<String>>(4).unwrap_or_default(),
        };
        rows.iter().map(event).collect()
    }
}

#[async_trait]
impl LimiterHarness for Database {
    async fn limiter(&self) -> Arc<dyn Limiter> {
        Arc::new(self.store.limiter())
    }

    async fn second(&self) -> Option<Arc<dyn Limiter>> {
        Some(Arc::new(self.another_process().await.limiter()))
    }
}
