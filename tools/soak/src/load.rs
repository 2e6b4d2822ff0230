//! The load under which the server is killed.

use std::net::SocketAddr;
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
    /// A key that reads the journal.
    pub(crate) journal_key: String,
}

/// Which server is killed, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// The place of the server among those that run.
    pub(crate) victim: usize,
    /// After so many operations.
    pub(crate) operations: usize,
    /// And so much later.
    pub(crate) wait: Duration,
}

/// Creates contacts, sends, and reports messages, at all servers in turns, until one of them is
/// killed. It runs no more then.
pub(crate) async fn until_killed(
    running: &mut Vec<Process>,
    company: &Company,
    round: u32,
    moment: Moment,
) -> Acknowledged {
    let addrs: Vec<SocketAddr> = running.iter().map(|process| process.addr).collect();
    let process = running.swap_remove(moment.victim);
    let done = AtomicUsize::new(0);
    let killer = async {
        let began = Instant::now();
        while done.load(Ordering::Relaxed) < moment.operations {
            let count = done.load(Ordering::Relaxed);
            assert!(began.elapsed() < PATIENCE, "only {count} operations:\n{}", process.output());
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(moment.wait).await;
        process.kill().await;
    };
    until(killer, &addrs, company, Pace { round, pause: Duration::ZERO }, &done).await
}

/// How calls follow each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Numbers of another round are others.
    pub(crate) round: u32,
    /// Between two calls of one task.
    pub(crate) pause: Duration,
}

/// Creates contacts, sends, and reports messages, at all servers in turns, until `end`. Counts what
/// was `done` meanwhile.
pub(crate) async fn until(
    end: impl Future<Output = ()>,
    addrs: &[SocketAddr],
    company: &Company,
    pace: Pace,
    done: &AtomicUsize,
) -> Acknowledged {
    let at = |n: u32| addrs[n as usize % addrs.len()];
    let at = &at;
    let round = pace.round;
    let Company { tenant: us, connection, .. } = company;
    let is_ended = AtomicBool::new(false);
    let is_ended = &is_ended;
    let is_over = || is_ended.load(Ordering::Relaxed);
    let is_over = &is_over;
    // Each task keeps what was acknowledged. A server that is gone acknowledges nothing.
    let contacts = (0..WORKERS).map(|worker| async move {
        let mut all = Vec::new();
        for n in (0..10_000).take_while(|_| !is_over()) {
            tokio::time::sleep(pace.pause).await;
            let number = (round * WORKERS + worker) * 10_000 + n;
            let body = json!({"phone": phone(1_000_000 + number), "name": format!("n{number}")});
            let call = Request::new("POST", "/api/v1/contacts").bearer(&us.key).json(&body);
            let Some(answer) = call.try_send(at(worker + n)).await else { continue };
            if answer.status == 201 {
                all.push(text(&answer.data()["contact"]["id"]));
                done.fetch_add(1, Ordering::Relaxed);
            }
        }
        all
    });
    let sends = (0..WORKERS).map(|worker| async move {
        let mut all = Vec::new();
        for n in (0..10_000).take_while(|_| !is_over()) {
            tokio::time::sleep(pace.pause).await;
            let content = format!("send {round} {worker} {n}");
            let to = mobile(worker * 50 + n % 50);
            let body = json!({"to": to, "message": content, "connection_id": connection});
            let call = Request::new("POST", "/api/v1/send/message").bearer(&us.key).json(&body);
            let Some(answer) = call.try_send(at(worker + n)).await else { continue };
            if answer.status == 200 {
                all.push((text(&answer.data()["message_id"]), content));
                done.fetch_add(1, Ordering::Relaxed);
            }
        }
        all
    });
    let received = (0..WORKERS).map(|worker| async move {
        let mut all = Vec::new();
        for n in (0..10_000).take_while(|_| !is_over()) {
            tokio::time::sleep(pace.pause).await;
            let id = wamid();
            let event = json!({
                "kind": "message", "provider_message_id": id, "type": "text",
                "timestamp": "2026-11-20T12:00:00.000Z", "content": id,
                "from": digits(&mobile(300 + (worker * 50 + n) % 100)),
            });
            let path = format!("/operator/v1/companies/{}/connections/{connection}/events", us.id);
            let call =
                Request::new("POST", path).bearer(OPERATOR).json(&json!({"events": [event]}));
            let Some(answer) = call.try_send(at(worker + n)).await else { continue };
            if answer.status == 200 && answer.data()["results"][0]["result"] == "stored" {
                all.push(id);
                done.fetch_add(1, Ordering::Relaxed);
            }
        }
        all
    });
    let end = async {
        end.await;
        is_ended.store(true, Ordering::Relaxed);
    };
    let (contacts, sends, received, ()) = tokio::join!(
        join_all(contacts.collect()),
        join_all(sends.collect()),
        join_all(received.collect()),
        end
    );
    Acknowledged { contacts: contacts.concat(), sends: sends.concat(), received: received.concat() }
}
