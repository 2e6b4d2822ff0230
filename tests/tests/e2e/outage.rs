//! The answers while the database cannot be reached: D5, docs/operator-api.md.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use recado_testkit::store::{StoreFailure, StoreOp};
use recado_tests::backend::{Database, TestServer};
use recado_tests::world::tenant_at;
use recado_tests::{Request, Setup, StoreKind, World, both_stores, eventually, on_postgres, phone};
use serde_json::json;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

/// A proxy to Postgres whose connections the test can cut.
#[derive(Clone)]
struct Wire {
    cut: Arc<AtomicBool>,
    url: String,
}

impl Wire {
    async fn to(url: &str) -> Self {
        let config: tokio_postgres::Config = url.parse().expect("an address");
        let host = match config.get_hosts().first().expect("a host") {
            tokio_postgres::config::Host::Tcp(host) => host.clone(),
            tokio_postgres::config::Host::Unix(path) => panic!("TCP is needed: {}", path.display()),
        };
        let port = config.get_ports().first().copied().unwrap_or(5432);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let own = listener.local_addr().expect("an address").port();
        let wire = Self { cut: Arc::default(), url: rewired(url, &host, port, own) };
        let cut = Arc::clone(&wire.cut);
        tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                if cut.load(Ordering::SeqCst) {
                    continue;
                }
                let (host, cut) = (host.clone(), Arc::clone(&cut));
                tokio::spawn(async move {
                    let mut far =
                        TcpStream::connect((host.as_str(), port)).await.expect("Postgres");
                    let severed = async {
                        while !cut.load(Ordering::SeqCst) {
                            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                        }
                    };
                    tokio::select! {
                        _ = copy_bidirectional(&mut near, &mut far) => {}
                        () = severed => {}
                    }
                });
            }
        });
        wire
    }

    fn set(&self, cut: bool) {
        self.cut.store(cut, Ordering::SeqCst);
    }
}

fn rewired(url: &str, host: &str, port: u16, own: u16) -> String {
    let direct = format!("{host}:{port}");
    assert!(url.contains(&direct), "{url} names {direct}");
    url.replace(&direct, &format!("127.0.0.1:{own}"))
}

#[on_postgres]
async fn an_unreachable_database_is_503_with_retry_after_and_passes(kind: StoreKind) {
    let database = Database::migrated(kind);
    let wire = Wire::to(&database.url()).await;
    let setup = Setup { database_url: Some(wire.url.clone()), ..Setup::default() };
    let server = TestServer::start(&database, setup).await;
    let us = tenant_at(server.addr, "Acme", "enterprise").await;
    let list = || Request::new("GET", "/api/v1/contacts").bearer(&us.key).send(server.addr);
    let ready = || Request::new("GET", "/readyz").send(server.addr);
    list().await.expect(200);
    wire.set(true);
    eventually("not ready", || async { (ready().await.status == 503).then_some(()) }).await;
    let answer = list().await;
    answer.expect_error(503, "UNAVAILABLE");
    assert!(answer.header("retry-after").parse::<u64>().is_ok_and(|wait| wait >= 1));
    let body = String::from_utf8_lossy(&answer.body).to_lowercase();
    assert!(!body.contains("postgres") && !body.contains("connection"), "{body}");
    let post =
        Request::new("POST", "/api/v1/contacts").bearer(&us.key).json(&json!({"phone": phone(1)}));
    post.send(server.addr).await.expect_error(503, "UNAVAILABLE");
    assert_eq!(
        Request::new("GET", "/healthz").send(server.addr).await.status,
        200,
        "alive all the same"
    );
    wire.set(false);
    eventually("ready again", || async { (ready().await.status == 200).then_some(()) }).await;
    list().await.expect(200);
}

#[both_stores]
async fn every_route_answers_503_while_the_store_fails_and_works_again_after(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let one = format!("/api/v1/contacts/{id}");
    world.server.store.fail_all(StoreFailure::Unavailable);
    for (method, path) in [
        ("GET", "/api/v1/contacts"),
        ("GET", "/api/v1/contacts?order_by=created_at"),
        ("POST", "/api/v1/contacts"),
        ("GET", &one),
        ("PATCH", &one),
        ("DELETE", &one),
        ("GET", "/api/v1/lists"),
        ("GET", "/api/v1/custom-fields"),
        ("GET", "/api/v1/messages"),
        ("GET", &format!("{one}/messages")),
        ("GET", "/api/v1/prosas/consumption"),
        ("POST", "/api/v1/send/message"),
    ] {
        let answer = world.call(Request::new(method, path).body("{}")).await;
        answer.expect_error(503, "UNAVAILABLE");
        let wait = answer.header("retry-after").parse::<u64>();
        assert!(wait.is_ok_and(|wait| wait >= 1), "{}", answer.show());
    }
    assert_eq!(world.send(Request::new("GET", "/readyz")).await.status, 503);
    assert_eq!(world.send(Request::new("GET", "/healthz")).await.status, 200);
    world.server.store.heal();
    assert_eq!(world.send(Request::new("GET", "/readyz")).await.status, 200);
    assert_eq!(world.detail(&id).await["id"], id.as_str());
}

#[both_stores]
async fn a_creation_of_unknown_outcome_is_503_and_never_makes_two(world: World) {
    for (n, failure) in (0..).zip([StoreFailure::UnknownBefore, StoreFailure::UnknownAfter]) {
        world.server.store.fail_nth(StoreOp::Commit, 0, failure);
        let body = json!({"phone": phone(n)});
        world.post_contact(body.clone()).await.expect_error(503, "UNAVAILABLE");
        world.server.store.heal();
        let again = world.post_contact(body.clone()).await;
        let expected = if failure == StoreFailure::UnknownBefore { 201 } else { 409 };
        assert_eq!(again.status, expected, "{failure:?}: {}", again.show());
        world.post_contact(body).await.expect_error(409, "CONTACT_EXISTS");
    }
    assert_eq!(world.list_ids("").await.len(), 2);
}

#[both_stores]
async fn a_lost_race_is_run_again_and_endless_ones_end_in_503(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    world.server.store.fail_nth(StoreOp::Commit, 0, StoreFailure::Contended);
    world.patch_contact(&id, json!({"name": "a"})).await.expect(200);
    world.server.store.fail_all(StoreFailure::Contended);
    let answer = world.patch_contact(&id, json!({"name": "b"})).await;
    answer.expect_error(503, "UNAVAILABLE");
    assert!(!answer.header("retry-after").is_empty());
    world.server.store.heal();
    assert_eq!(world.detail(&id).await["name"], "a");
}

#[both_stores]
async fn a_database_that_fails_at_any_step_of_a_delete_leaves_the_contact_whole_or_gone(
    kind: StoreKind,
) {
    let world = World::with(kind, Setup { no_background: true, ..Setup::default() }).await;
    let mut n = 0;
    for op in [StoreOp::Read, StoreOp::Commit] {
        for failure in
            [StoreFailure::Unavailable, StoreFailure::UnknownBefore, StoreFailure::UnknownAfter]
        {
            for step in 0..30 {
                n += 1;
                let id = world.create_id(json!({"phone": phone(n)})).await;
                let documents = [
                    world.document(&id, "a", b"one").await,
                    world.document(&id, "b", b"two").await,
                ];
                let path = format!("/api/v1/contacts/{id}");
                world.server.store.fail_nth(op, step, failure);
                let answer = world.delete(&path).await;
                world.server.store.heal();
                let what = format!("{op:?} {step} {failure:?}: {}", answer.show());
                assert!([200, 500, 503].contains(&answer.status), "{what}");
                let mut found = world.get(&path).await.status;
                for _ in 0..2 {
                    // Checked at once, and again after the background work has finished the purge.
                    assert!(found == 404 || answer.status != 200, "{what}");
                    if found == 200 {
                        for (document, bytes) in documents.iter().zip([b"one", b"two"]) {
                            let read = world.document_bytes(&id, document).await;
                            assert_eq!(
                                read.unwrap_or_else(|a| panic!("{what}\n{}", a.show())),
                                bytes
                            );
                        }
                    }
                    world.advance(std::time::Duration::from_secs(600));
                    world.server.run_due_jobs().await;
                    found = world.get(&path).await.status;
                }
                if found == 200 {
                    world.delete(&path).await.expect_deleted();
                }
                assert_eq!(world.server.files_on_disk(), Vec::<String>::new(), "{what}");
                if answer.status == 200 {
                    break;
                }
                assert!(step < 29, "deleting never succeeds: {what}");
            }
        }
    }
}
