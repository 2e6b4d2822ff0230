//! What callers see while the database cannot be reached: D5, operator.md.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use recado_tests::backend::{Database, TestServer};
use recado_tests::world::tenant_at;
use recado_tests::{Request, Setup, StoreKind, eventually, on_postgres, phone};
use serde_json::json;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

/// A way to Postgres that can be cut.
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
                    let mut far = TcpStream::connect((host.as_str(), port)).await.expect("Postgres");
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

on_postgres! {
    async fn an_unreachable_database_is_503_with_retry_after_and_passes(kind: StoreKind) {
        let database = Database::fresh(kind).await;
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
        let post = Request::new("POST", "/api/v1/contacts").bearer(&us.key).json(&json!({"phone": phone(1)}));
        post.send(server.addr).await.expect_error(503, "UNAVAILABLE");
        assert_eq!(Request::new("GET", "/healthz").send(server.addr).await.status, 200, "alive all the same");
        wire.set(false);
        eventually("ready again", || async { (ready().await.status == 200).then_some(()) }).await;
        list().await.expect(200);
    }
}
