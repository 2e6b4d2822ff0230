//! Several hosts (R247).

mod support;

use std::time::{Duration, Instant};

use recado_core::access::Company;
use recado_core::store::RecordsExt;
use recado_testkit::postgres::{Cluster, OwnPostgres};
use support::tls::{connect, encrypted};

/// A primary and its standby.
fn pair() -> (OwnPostgres, OwnPostgres) {
    let primary = Cluster::fresh("recado-primary").start();
    primary.execute(
        "CREATE ROLE reads LOGIN; ALTER ROLE reads SET default_transaction_read_only = on",
    );
    let standby = Cluster::standby_of(&primary).start();
    (primary, standby)
}

/// Pairs that name both, the standby first.
fn both(servers: &(OwnPostgres, OwnPostgres), more: &str) -> String {
    let (primary, standby) = (servers.0.port(), servers.1.port());
    format!("host=127.0.0.1,127.0.0.1 port={standby},{primary} user=postgres {more}")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_host_of_the_wanted_kind_is_taken() {
    let servers = pair();
    for (wanted, is_standby) in [
        ("any", true),
        ("read-write", false),
        ("read-only", true),
        ("primary", false),
        ("standby", true),
        ("prefer-standby", true),
    ] {
        let pairs = both(&servers, &format!("target_session_attrs={wanted}"));
        let connected = connect(&pairs).await.unwrap_or_else(|e| panic!("{wanted}: {e}"));
        let of = |server| encrypted(server, &connected.name);
        let found = [of(&servers.0).await.len(), of(&servers.1).await.len()];
        assert_eq!(found, if is_standby { [0, 1] } else { [1, 0] }, "{wanted}");
    }
    let alone = |server: &OwnPostgres, more: &str| {
        let pairs = format!("host=127.0.0.1 port={} {more}", server.port());
        async move { connect(&pairs).await.map(|connected| connected.name) }
    };
    alone(&servers.0, "user=postgres target_session_attrs=prefer-standby").await.unwrap();
    for (server, more, why) in [
        (&servers.1, "user=postgres target_session_attrs=primary", "standby"),
        (&servers.0, "user=postgres target_session_attrs=standby", "primary"),
        (&servers.0, "user=postgres target_session_attrs=read-only", "read-write"),
        (&servers.0, "user=reads target_session_attrs=read-write", "read-only"),
    ] {
        let refused = alone(server, more).await.unwrap_err();
        let refused = std::error::Error::source(&refused).expect("a cause").to_string();
        assert!(refused.contains(why) && refused.contains("target_session_attrs"), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_host_is_taken_unless_any_may_be() {
    let servers = pair();
    let taken = |more: &'static str| {
        let servers = &servers;
        async move {
            let connected = connect(&both(servers, more)).await.expect("it connects");
            encrypted(&servers.1, &connected.name).await.len() == 1
        }
    };
    for _ in 0..10 {
        assert!(taken("load_balance_hosts=disable").await, "the standby is named first");
    }
    let mut seen = [false; 2];
    // That one of two is never taken by chance happens once in 2^63 runs.
    for _ in 0..64 {
        seen[usize::from(taken("load_balance_hosts=random").await)] = true;
        if seen == [true; 2] {
            return;
        }
    }
    panic!("one host was never taken: {seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_host_is_passed_over_and_named_if_no_other_answers() {
    let server = Cluster::fresh("recado-alone").start();
    let pairs = format!("host=127.0.0.1,127.0.0.1 port=1,{} user=postgres", server.port());
    connect(&pairs).await.expect("the second answers");
    let refused = connect("host=127.0.0.1,localhost port=1,2 user=postgres").await.err().unwrap();
    let refused = std::error::Error::source(&refused).expect("a cause").to_string();
    assert!(refused.contains("127.0.0.1 port 1: "), "{refused}");
    assert!(refused.contains("localhost port 2: "), "{refused}");
}

/// R247: a host that takes connections and is silent costs its time once, not for each connection.
#[tokio::test(flavor = "multi_thread")]
async fn a_silent_host_delays_the_first_connection_only() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = silent.local_addr().expect("it is bound").port();
    let server = Cluster::fresh("recado-alone").start();
    let pairs = format!(
        "host=127.0.0.1,127.0.0.1 port={port},{} user=postgres connect_timeout=2",
        server.port()
    );
    let begun = Instant::now();
    let connected = connect(&pairs).await.expect("the second answers");
    assert!(begun.elapsed() >= Duration::from_secs(2), "the first was waited for");
    server.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'test %'",
    );
    let begun = Instant::now();
    // The schema is missing, which the server says.
    while !matches!(
        connected.store.all::<Company>(()).await,
        Err(recado_core::store::StoreError::NotMigrated { .. })
    ) {}
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_follows_the_primary_to_its_successor() {
    let servers = pair();
    let pairs = both(&servers, "target_session_attrs=read-write");
    let connected = connect(&pairs).await.expect("the primary is there");
    connected.store.migrate().await.expect("it can be written");
    let (primary, standby) = servers;
    drop(primary);
    standby.execute("SELECT pg_promote()");
    // Calls fail until the connections are replaced. What the standby had not heard of is migrated
    // again.
    let mut failures = 0;
    while connected.store.migrate().await.is_err() {
        failures += 1;
        assert!(failures < 1000, "it goes on with the standby");
        tokio::task::yield_now().await;
    }
    assert_eq!(connected.store.all::<Company>(()).await.expect("it is read"), []);
}
