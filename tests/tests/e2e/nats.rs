//! Several server processes on one Postgres that notify each other by NATS (R463).

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use recado_testkit::nats::NatsServer;
use recado_tests::backend::Database;
use recado_tests::binary::{Process, run_recado};
use recado_tests::world::tenant_at;
use recado_tests::{Received, Receiver, StoreKind, eventually, join_all, on_postgres};

use crate::deliveries_two_processes::{create, divided, hooks_at, total};

const WORKS: &str = "connected to NATS";
const AWAY: &str = "NATS cannot be reached";
const REFUSES: &str = "NATS refuses";
const PASSWORD: &str = "hunter2";
/// How often NATS is killed.
const KILLS: u32 = 2;

async fn serve(database: &Database, nats: &str) -> Process {
    Process::serve(database, &["--allow-private-destinations", "--nats", nats]).await
}

/// Waits until a process has logged something so often.
async fn logs(process: &Process, what: &str, times: u32) {
    eventually(what, || async {
        let found = process.output().matches(what).count();
        (found >= times as usize).then_some(())
    })
    .await;
}

/// How many connections of a database have listened or notified.
async fn listening(database: &Database) -> i64 {
    let (client, connection) =
        tokio_postgres::connect(&database.url(), tokio_postgres::NoTls).await.expect("it connects");
    tokio::spawn(connection);
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
               AND pid <> pg_backend_pid() AND (query LIKE 'LISTEN%' OR query LIKE '%NOTIFY%')";
    client.query_one(sql, &[]).await.expect("it answers").get(0)
}

/// R463.
#[on_postgres]
async fn while_nats_is_killed_again_and_again_every_delivery_arrives_once(kind: StoreKind) {
    let database = Database::migrated(kind);
    let receiver = Receiver::start().await;
    let mut nats = NatsServer::start();
    let processes = [serve(&database, &nats.url()).await, serve(&database, &nats.url()).await];
    divided(&database).await;
    let addrs: [SocketAddr; 2] = [0, 1].map(|n: usize| processes[n].addr);
    let us = tenant_at(addrs[0], "Acme", "enterprise").await;
    let paths = || (0..8).map(|n| format!("/{n}"));
    hooks_at(addrs[0], &us, &receiver, paths()).await;
    for process in &processes {
        logs(process, WORKS, 1).await;
    }
    let (created, done) = (AtomicU32::new(0), AtomicBool::new(false));
    let creators = (0..4_usize).map(|creator| {
        let (us, created, done) = (&us, &created, &done);
        async move {
            while !done.load(Ordering::SeqCst) {
                create(addrs[creator % 2], us, created.fetch_add(1, Ordering::SeqCst)).await;
            }
        }
    });
    let some_more = || async {
        let enough = created.load(Ordering::SeqCst) + 20;
        eventually("contacts are made", || async {
            (created.load(Ordering::SeqCst) >= enough).then_some(())
        })
        .await;
    };
    let killing = async {
        for kill in 1..=KILLS {
            some_more().await;
            nats.kill();
            for process in &processes {
                logs(process, AWAY, kill).await;
            }
            some_more().await;
            nats.restart();
            for process in &processes {
                logs(process, WORKS, kill + 1).await;
            }
        }
        some_more().await;
        done.store(true, Ordering::SeqCst);
    };
    tokio::join!(join_all(creators.collect()), killing);
    let contacts = created.load(Ordering::SeqCst) as usize;
    eventually("everything came", || async {
        (total(addrs[0], &us, "status=delivered").await == 8 * contacts).then_some(())
    })
    .await;
    for path in paths() {
        let requests = receiver.to(&path);
        let distinct: BTreeSet<String> = requests.iter().map(Received::delivery).collect();
        assert_eq!((requests.len(), distinct.len()), (contacts, contacts), "{path}: each once");
    }
    for process in processes {
        let output = process.kill_and_read().await;
        let count = |what| output.matches(what).count();
        let expected = (KILLS as usize, KILLS as usize + 1);
        assert_eq!((count(AWAY), count(WORKS)), expected, "once each: {output}");
    }
}

/// R463.
#[on_postgres]
async fn with_nats_no_connection_of_postgres_listens(kind: StoreKind) {
    let database = Database::migrated(kind);
    let receiver = Receiver::start().await;
    let nats = NatsServer::start();
    let (one, two) = (serve(&database, &nats.url()).await, serve(&database, &nats.url()).await);
    let us = tenant_at(one.addr, "Acme", "enterprise").await;
    let paths = || (0..8).map(|n| format!("/{n}"));
    hooks_at(one.addr, &us, &receiver, paths()).await;
    for (process, n) in [(&one, 1), (&two, 2)] {
        logs(process, WORKS, 1).await;
        create(process.addr, &us, n).await;
    }
    for path in paths() {
        receiver.reaches(&path, 2).await;
    }
    assert_eq!(listening(&database).await, 0);
    let _without = Process::serve(&database, &[]).await;
    eventually("one without NATS listens", || async {
        (listening(&database).await > 0).then_some(())
    })
    .await;
}

/// R463.
#[on_postgres]
async fn a_server_starts_without_nats_and_its_log_says_what_is_wrong_and_no_password(
    kind: StoreKind,
) {
    let database = Database::migrated(kind);
    let receiver = Receiver::start().await;
    let mut nats = NatsServer::stopped();
    let url = format!("nats://recado:{PASSWORD}@{}", nats.address());
    let process = serve(&database, &url).await;
    logs(&process, AWAY, 1).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    hooks_at(process.addr, &us, &receiver, ["/a".to_owned()].into_iter()).await;
    create(process.addr, &us, 1).await;
    receiver.reaches("/a", 1).await;
    nats.restart_with(&["--user", "recado", "--pass", "another"]);
    logs(&process, REFUSES, 1).await;
    nats.kill();
    nats.restart_with(&["--user", "recado", "--pass", PASSWORD]);
    logs(&process, WORKS, 1).await;
    let output = process.kill_and_read().await;
    let count = |what| output.matches(what).count();
    assert_eq!((count(AWAY), count(REFUSES), count(WORKS)), (1, 1, 1), "once each: {output}");
    assert!(output.contains("authorization violation"), "{output}");
    assert!(!output.contains(PASSWORD) && !output.contains("async_nats"), "{output}");
}

/// Writes an authority, and a certificate of `localhost` with its key, to files.
fn certificates(folder: &Path) -> [String; 3] {
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let [root_key, key] = [(); 2].map(|()| KeyPair::generate().expect("a key"));
    let mut root = CertificateParams::new(Vec::new()).expect("no names");
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = root.self_signed(&root_key).expect("a certificate").pem();
    let issuer = Issuer::new(root, root_key);
    let params = CertificateParams::new(["localhost".to_owned()]).expect("a name");
    let certificate = params.signed_by(&key, &issuer).expect("a certificate").pem();
    [
        write("root.crt", authority),
        write("nats.crt", certificate),
        write("nats.key", key.serialize_pem()),
    ]
}

/// R463.
#[on_postgres]
async fn connections_are_encrypted_and_certificates_are_checked(kind: StoreKind) {
    let database = Database::migrated(kind);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [root, certificate, key] = certificates(folder.path());
    let tls = ["--tls", "--tlscert", &certificate, "--tlskey", &key];
    let (encrypted, plain) = (NatsServer::with_args(&tls), NatsServer::start());
    let known = ("SSL_CERT_FILE", root.as_str());
    for (scheme, host, server, env, said) in [
        ("tls", "localhost", &encrypted, Some(known), WORKS),
        ("nats", "localhost", &encrypted, Some(known), WORKS),
        ("tls", "127.0.0.1", &encrypted, Some(known), AWAY),
        ("tls", "localhost", &encrypted, None, AWAY),
        ("tls", "localhost", &plain, Some(known), AWAY),
    ] {
        let url = format!("{scheme}://{host}:{}", server.port());
        let env: Vec<(&str, &str)> = env.into_iter().collect();
        let process = Process::serve_with_env(&database, &["--nats", &url], &env).await;
        logs(&process, said, 1).await;
        let output = process.kill_and_read().await;
        assert!([WORKS, AWAY].iter().all(|one| *one == said || !output.contains(one)), "{output}");
    }
}

/// R463.
#[tokio::test]
async fn a_file_has_no_processes_to_notify() {
    let nats = format!("nats://recado:{PASSWORD}@127.0.0.1");
    let args = ["serve", "--database", "sqlite:a.db", "--nats", &nats];
    let refused = run_recado(args, &[]).await;
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("--nats goes with"), "{}", refused.stderr);
    assert!(!refused.stderr.contains(PASSWORD), "{}", refused.stderr);
}
