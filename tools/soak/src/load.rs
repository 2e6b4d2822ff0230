//! The load under which the server is killed.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use recado_tests::binary::Process;
use recado_tests::world::Tenant;
use recado_tests::{OPERATOR, Request, digits, join_all, mobile, phone, text, wamid};
use serde_json::json;

/// How many tasks do each kind of operation.
const WORKERS: u32 = 4;
/// How long so many operations may take at most.
const PATIENCE: Duration = Duration::from_secs(60);

/// What was acknowledged.
#[derive(Debug, Default)]
pub(crate) struct Acknowledged {
    /// The ids of contacts.
    pub(crate) contacts: Vec<String>,
    /// The ids and texts of sends.
    pub(crate) sends: Vec<(String, String)>,
    /// The provider's ids of messages that the gateway reported.
    pub(crate) received: Vec<String>,
}

impl Acknowledged {
    /// How many operations.
    pub(crate) fn len(&self) -> usize {
        self.contacts.len() + self.sends.len() + self.received.len()
    }

    /// Adds those of another time.
    pub(crate) fn extend(&mut self, other: Self) {
        self.contacts.extend(other.contacts);
        self.sends.extend(other.sends);
        self.received.extend(other.received);
    }
}

/// A company and its connection.
#[derive(Debug)]
pub(crate) struct Company {
    pub(crate) tenant: Tenant,
    pub(crate) connection: String,
}

/// When the server is killed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// After so many operations.
    pub(crate) operations: usize,
    /// And so much later.
    pub(crate) wait: Duration,
}

/// Creates contacts, sends, and reports messages until the server is killed.
pub(crate) async fn until_killed(
    process: Process,
    company: &Company,
    round: u32,
    moment: Moment,
) -> Acknowledged {
    let addr = process.addr;
    let Company { tenant: us, connection } = company;
    let (is_dead, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (is_dead, done) = (&is_dead, &done);
    // Calls `make` with new numbers until the server is gone, and keeps what it acknowledged.
    let contacts = (0..WORKERS).map(|worker| async move {
        let mut all = Vec::new();
        for n in 0..10_000 {
            let number = (round * WORKERS + worker) * 10_000 + n;
            let body = json!({"phone": phone(1_000_000 + number), "name": format!("n{number}")});
            let call = Request::new("POST", "/api/v1/contacts").bearer(&us.key).json(&body);
            let Some(answer) = call.try_send(addr).await else { break };
            if answer.status == 201 {
                all.push(text(&answer.data()["contact"]["id"]));
                done.fetch_add(1, Ordering::Relaxed);
            }
            if is_dead.load(Ordering::Relaxed) {
                break;
            }
        }
        all
    });
    let sends = (0..WORKERS).map(|worker| async move {
        let mut all = Vec::new();
        for n in 0..10_000 {
            let content = format!("send {round} {worker} {n}");
            let to = mobile((worker * 50 + n) % 200);
            let body = json!({"to": to, "message": content, "connection_id": connection});
            let call = Request::new("POST", "/api/v1/send/message").bearer(&us.key).json(&body);
            let Some(answer) = call.try_send(addr).await else { break };
            if answer.status == 200 {
                all.push((text(&answer.data()["message_id"]), content));
                done.fetch_add(1, Ordering::Relaxed);
            }
            if is_dead.load(Ordering::Relaxed) {
                break;
            }
        }
        all
    });
    let received = (0..WORKERS).map(|worker| async move {
        let mut all = Vec::new();
        for n in 0..10_000 {
            let id = wamid();
            let event = json!({
                "kind": "message", "provider_message_id": id, "type": "text",
                "timestamp": "2026-11-20T12:00:00.000Z", "content": id,
                "from": digits(&mobile(300 + (worker * 50 + n) % 100)),
            });
            let path = format!("/operator/v1/companies/{}/connections/{connection}/events", us.id);
            let call =
                Request::new("POST", path).bearer(OPERATOR).json(&json!({"events": [event]}));
            let Some(answer) = call.try_send(addr).await else { break };
            if answer.status == 200 && answer.data()["results"][0]["result"] == "stored" {
                all.push(id);
                done.fetch_add(1, Ordering::Relaxed);
            }
            if is_dead.load(Ordering::Relaxed) {
                break;
            }
        }
        all
    });
    let killer = async {
        let began = Instant::now();
        while done.load(Ordering::Relaxed) < moment.operations {
            let count = done.load(Ordering::Relaxed);
            assert!(began.elapsed() < PATIENCE, "only {count} operations:\n{}", process.output());
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(moment.wait).await;
        process.kill().await;
        is_dead.store(true, Ordering::Relaxed);
    };
    let (contacts, sends, received, ()) = tokio::join!(
        join_all(contacts.collect()),
        join_all(sends.collect()),
        join_all(received.collect()),
        killer
    );
    Acknowledged { contacts: contacts.concat(), sends: sends.concat(), received: received.concat() }
}
