//! Behind PgBouncer (R454).

mod support;

use std::time::Duration;

use recado_core::Timestamp;
use recado_core::access::{Company, Gcra, Limiter, RateCheck, RateDecision, RateKey};
use recado_core::deliveries::{QueueKey, Signals};
use recado_core::ids::{CompanyId, KeyId, WebhookId};
use recado_core::store::{ChangeSet, Commit, RecordsExt, Upkeep};
use recado_store_postgres::{Options, PostgresStore};
use recado_testkit::postgres::{PgBouncer, TestPostgres};
use support::{company, options};
use tokio::time::timeout;
use uuid::Uuid;

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);
/// Long enough for every notification that is sent.
const LONG: Duration = Duration::from_secs(30);

fn id(n: u128) -> CompanyId {
    CompanyId::new(Uuid::from_u128(n))
}

/// What processes share on one database works for two of them behind PgBouncer in session mode.
#[tokio::test(flavor = "multi_thread")]
async fn two_processes_work_behind_a_pooler_that_keeps_sessions() {
    let database = TestPostgres::shared().fresh_database();
    let bouncer = PgBouncer::start(database.url(), "session");
    let url = bouncer.url();
    let connect = || PostgresStore::connect(&url, options());
    let stores = [connect().await.unwrap(), connect().await.unwrap()];
    let (one, other) = (&stores[0], &stores[1]);
    one.migrate().await.unwrap();
    other.migrate().await.unwrap();

    let commits = (1..=40).map(|n| {
        let store = stores[n as usize % 2].clone();
        async move { store.commit(ChangeSet::new().insert(company(id(n), NOW))).await }
    });
    for committed in futures_util::future::join_all(commits).await {
        committed.unwrap();
    }
    for n in 1..=40 {
        assert!(one.get::<Company>(id(n)).await.unwrap().is_some());
    }

    let key = QueueKey { company: id(1), webhook: WebhookId::new(Uuid::from_u128(7)) };
    let heard = async {
        // The first one may be sent before the other process listens.
        loop {
            one.notify(&[key]);
            if let Ok(heard) = timeout(Duration::from_millis(200), other.notified()).await {
                break heard;
            }
        }
    };
    let heard = timeout(LONG, heard).await.expect("it hears of it");
    assert!(heard.is_none_or(|queues| queues == [key]));

    let check = RateCheck {
        key: RateKey::Calls(KeyId::new(Uuid::from_u128(9))),
        allowance: Gcra::per_minute(1),
    };
    assert_eq!(one.limiter().check(&[check], NOW).await.unwrap(), RateDecision::Allowed);
    let second = other.limiter().check(&[check], NOW).await.unwrap();
    assert!(matches!(second, RateDecision::Limited { .. }), "{second:?}");

    for store in [one, other, one] {
        timeout(LONG, store.upkeep(NOW)).await.expect("the turn was given back").unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pooler_that_does_not_keep_sessions_is_refused() {
    let database = TestPostgres::shared().fresh_database();
    PostgresStore::connect(database.url(), options()).await.unwrap().migrate().await.unwrap();
    let bouncer = PgBouncer::start(database.url(), "transaction");
    let refused = PostgresStore::connect(&bouncer.url(), Options::default()).await.unwrap_err();
    let said = format!("{refused}");
    assert!(said.contains("pool_mode = session"), "{said}");
}
