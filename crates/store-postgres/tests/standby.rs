//! A hot standby, of which listings are read (R462).

mod support;

use std::time::Duration;

use recado_core::access::Company;
use recado_core::campaigns::CampaignReads;
use recado_core::contacts::{ContactFilter, ContactReads};
use recado_core::deliveries::{DeliveryFilter, DeliveryReads};
use recado_core::ids::{AuditEntryId, CampaignId, CompanyId};
use recado_core::messages::{MessageFilter, MessageReads};
use recado_core::page::PageRequest;
use recado_core::prosas::{LedgerFilter, LedgerReads};
use recado_core::store::{ChangeSet, Commit, Listing, Records, RecordsExt};
use recado_core::{Replica, Timestamp};
use recado_store_postgres::{ConnectionParameters, Options, PostgresStore};
use recado_testkit::postgres::{Cluster, OwnPostgres};
use support::{company, connect};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

async fn write(store: &PostgresStore, number: u128) {
    let id = CompanyId::new(Uuid::from_u128(number));
    let new = company(id, Timestamp::from_millis(1_795_000_000_000));
    store.commit(ChangeSet::new().insert(new)).await.expect("it is written");
}

/// The time at a server.
async fn now(server: &OwnPostgres) -> Timestamp {
    let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    let row = connect(&url(&[server])).await.query_one(sql, &[]).await.expect("it tells the time");
    Timestamp::from_millis(row.get(0))
}

fn url(servers: &[&OwnPostgres]) -> String {
    let ports: Vec<String> = servers.iter().map(|server| server.port().to_string()).collect();
    let hosts = vec!["127.0.0.1"; servers.len()].join(",");
    format!("host={hosts} port={} user=postgres dbname=postgres", ports.join(","))
}

fn of_standby(url: &str) -> PostgresStore {
    let parameters = ConnectionParameters::of_process(url).expect("parameters");
    PostgresStore::of_standby(parameters, Options::default()).expect("it connects later")
}

/// Waits until the standby shows what was committed until then.
async fn until_shown(standby: &PostgresStore, until: Timestamp) -> Timestamp {
    let given_up = Instant::now() + Duration::from_secs(30);
    loop {
        let shown = standby.shows_until().await.expect("it answers");
        if let Some(shown) = shown.filter(|shown| *shown >= until) {
            return shown;
        }
        assert!(Instant::now() < given_up, "it shows {shown:?} for long");
        sleep(Duration::from_millis(20)).await;
    }
}

/// Reads whatever may be read from a standby, which refuses everything that writes.
async fn every_listing(of: &PostgresStore) {
    let (company, first) = (CompanyId::new(Uuid::from_u128(1)), PageRequest::FIRST);
    let contacts = ContactFilter::default();
    of.contact_page(company, &contacts, first, true).await.expect("a page of contacts");
    let messages = MessageFilter::default();
    of.message_page(company, &messages, first).await.expect("a page of messages");
    let deliveries = DeliveryFilter::default();
    of.deliveries(company, &deliveries, first).await.expect("a page of deliveries");
    let campaign = CampaignId::new(Uuid::from_u128(1));
    of.recipient_page(company, campaign, None, first).await.expect("a page of recipients");
    let ledger = LedgerFilter::default();
    of.ledger_page(company, &ledger, first).await.expect("a page of the ledger");
    let before = (Timestamp::MAX, AuditEntryId::new(Uuid::max()));
    let audit = Listing::Audited { company: Some(company), before, limit: 100 };
    of.rows(audit).await.expect("entries of the audit log");
}

/// R462.
#[tokio::test(flavor = "multi_thread")]
async fn a_standby_shows_what_was_committed_until_the_time_that_it_says() {
    let primary = Cluster::fresh("recado-primary").start();
    let store = PostgresStore::connect(&url(&[&primary]), Options::default()).await;
    let store = store.expect("it is there");
    store.migrate().await.expect("it can be written");
    write(&store, 1).await;
    let standby = Cluster::standby_of(&primary).start();

    // Of the hosts of both, the standby is meant.
    let replica = of_standby(&url(&[&primary, &standby]));
    let written = now(&primary).await;
    sleep(Duration::from_millis(200)).await;
    write(&store, 2).await;
    let shown = until_shown(&replica, written).await;
    assert!(shown <= now(&primary).await, "{shown:?}");
    assert_eq!(replica.all::<Company>(()).await.expect("they are read").len(), 2);

    every_listing(&replica).await;

    // What is not replayed is not shown.
    standby.execute("SELECT pg_wal_replay_pause()");
    let paused = replica.shows_until().await.expect("it answers");
    write(&store, 3).await;
    sleep(Duration::from_millis(300)).await;
    assert_eq!(replica.shows_until().await.expect("it answers"), paused);
    assert_eq!(replica.all::<Company>(()).await.expect("they are read").len(), 2);
    standby.execute("SELECT pg_wal_replay_resume()");
    let written = now(&primary).await.minus(Duration::from_millis(250));
    write(&store, 4).await;
    until_shown(&replica, written).await;
    assert_eq!(replica.all::<Company>(()).await.expect("they are read").len(), 4);

    // Once it was promoted it follows nobody.
    standby.execute("SELECT pg_promote()");
    assert_eq!(replica.shows_until().await.expect("it answers"), None);
}

/// R462.
#[tokio::test(flavor = "multi_thread")]
async fn a_primary_is_no_standby_whatever_kind_of_server_is_asked_for() {
    let primary = Cluster::fresh("recado-primary").start();
    for wanted in ["any", "read-write"] {
        let url = format!("{} target_session_attrs={wanted}", url(&[&primary]));
        let refused = of_standby(&url).shows_until().await;
        assert!(refused.is_err(), "{wanted}: {refused:?}");
    }
}
