//! Clients that cause events, and record when each call began and was answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::sleep_until;

use super::stage::Company;
use crate::baseline::server::Server;
use crate::client::{Call, Client};
use crate::clock::micros;
use crate::dataset::outbound_id;
use crate::receiver::text_of_mark;
use crate::report::{Report, Tally};
use crate::run::Effort;
use crate::scenario::{Calls, Known, Scenario};
use crate::stores::AnyError;

/// The number of consecutive calls without an answer after which a client ends.
const MAX_BROKEN: u32 = 5;

/// The kind of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// This many messages from existing contacts, reported by the gateway.
    Messages(u64),
    /// The gateway's report that a message was delivered or read.
    Report,
    /// POST of a new contact.
    Create,
    /// A test of one webhook: one event and one delivery.
    Test,
}

impl Kind {
    const fn is_operator(self) -> bool {
        !matches!(self, Self::Create)
    }
}

/// One answered call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// The first mark in the call.
    pub(super) mark: u64,
    pub(super) began: u64,
    pub(super) answered: u64,
}

/// The results of all clients.
#[derive(Debug)]
pub(super) struct Driven {
    pub(super) sent: Vec<Sent>,
    /// The time when the first call began.
    pub(super) began: u64,
    /// The time when the last one was answered.
    pub(super) ended: u64,
    /// The number of events, according to the API's answers.
    pub(super) events: u64,
    pub(super) report: Report,
}

/// Numbers for marks. Each is used once.
#[derive(Clone, Debug)]
pub(super) struct Marks(Arc<AtomicU64>);

impl Default for Marks {
    fn default() -> Self {
        // 0 means no mark.
        Self(Arc::new(AtomicU64::new(1)))
    }
}

impl Marks {
    fn take(&self, count: u64) -> u64 {
        self.0.fetch_add(count, Ordering::Relaxed)
    }
}

/// The calls of one client.
struct Source {
    kind: Kind,
    companies: Arc<Vec<Company>>,
    marks: Marks,
    /// The prefix of the provider's ids: those of two clients, or two runs, are always different.
    prefix: String,
    random: fastrand::Rng,
    create: Calls,
    turn: usize,
}

impl Source {
    fn next(&mut self) -> (u64, Call) {
        let count = if let Kind::Messages(count) = self.kind { count } else { 1 };
        let mark = self.marks.take(count);
        // The mark selects the company, so that all companies are used for any number of clients.
        let company = &self.companies[usize::try_from(mark).unwrap_or(0) % self.companies.len()];
        let base = format!("/operator/v1/companies/{}", company.id);
        let call = match self.kind {
            Kind::Create => self.create.next(),
            Kind::Test => {
                let webhook = company.webhooks[self.turn % company.webhooks.len()];
                self.turn += 1;
                Call::Post(format!("{base}/webhooks/{webhook}/test").into(), "{}".to_owned())
            }
            Kind::Report => {
                // First all are reported as delivered, then all as read.
                let outbound = company.outbound.max(1);
                let number = mark % outbound;
                let event = json!({
                    "kind": "status",
                    "status": if (mark / outbound).is_multiple_of(2) { "delivered" } else { "read" },
                    "provider_message_id": outbound_id(number),
                    "timestamp": crate::dataset::now().to_string(),
                });
                let path = format!("{base}/connections/{}/events", company.connection);
                Call::Post(path.into(), json!({ "events": [event] }).to_string())
            }
            Kind::Messages(count) => {
                let time = crate::dataset::now().to_string();
                let events: Vec<Value> = (mark..mark + count)
                    .map(|mark| {
                        let who = self.random.usize(..company.partners.len());
                        json!({
                            "kind": "message",
                            "from": company.partners[who].identifier,
                            "type": "text",
                            "content": text_of_mark(mark),
                            "provider_message_id": format!("{}.{mark}", self.prefix),
                            "timestamp": time,
                        })
                    })
                    .collect();
                let path = format!("{base}/connections/{}/events", company.connection);
                Call::Post(path.into(), json!({ "events": events }).to_string())
            }
        };
        (mark, call)
    }
}

/// Runs clients that cause events for the measured time. There is no warm-up.
///
/// # Errors
///
/// When a call is not answered with a 2xx, because the number of events is then unknown.
pub(super) async fn drive(
    server: &Server,
    companies: &Arc<Vec<Company>>,
    kind: Kind,
    effort: Effort,
    marks: &Marks,
) -> Result<Driven, AnyError> {
    let seed = fastrand::u64(..);
    let bearer = if kind.is_operator() { server.token() } else { companies[0].key.as_str() };
    let (begin, began) = (Instant::now(), micros());
    let mut clients = JoinSet::new();
    for client in 0..effort.connections {
        let source = Source {
            kind,
            companies: companies.clone(),
            marks: marks.clone(),
            prefix: format!("load.{seed:x}.{client}"),
            random: fastrand::Rng::with_seed(seed ^ client as u64),
            create: Calls::new(
                Scenario::Create,
                &Known::default(),
                (client, effort.connections),
                seed,
            ),
            turn: client,
        };
        clients.spawn(call(Client::new(server.target(), bearer), source, begin, effort, client));
    }
    let (mut sent, mut all) = (Vec::new(), Tally::new());
    while let Some(done) = clients.join_next().await {
        let (calls, tally) = done?;
        sent.extend(calls);
        all.add(&tally);
    }
    let report = Report::new("calls", effort.connections, begin.elapsed(), &all);
    if !report.is_clean() {
        return Err(format!("calls failed: {report}").into());
    }
    let unknown = report.events.iter().find(|(word, count)| *word != "stored" && **count > 0);
    if let Some((word, count)) = unknown {
        return Err(format!("{count} events were {word}; measure for a shorter time").into());
    }
    let events = match kind {
        Kind::Messages(_) | Kind::Report => {
            report.events.get("stored").copied().unwrap_or_default()
        }
        Kind::Create | Kind::Test => report.requests,
    };
    let ended = sent.iter().map(|call| call.answered).max().unwrap_or(began);
    Ok(Driven { sent, began, ended, events, report })
}

async fn call(
    mut client: Client,
    mut source: Source,
    begin: Instant,
    effort: Effort,
    number: usize,
) -> (Vec<Sent>, Tally) {
    let (mut sent, mut tally) = (Vec::new(), Tally::new());
    let end = begin + effort.measured;
    let mut due = effort.rate.map(|rate| {
        let interval = std::time::Duration::from_secs(effort.connections as u64) / rate.max(1);
        (interval, begin + interval * number as u32 / effort.connections as u32)
    });
    let mut broken = 0;
    while broken < MAX_BROKEN {
        if let Some((interval, at)) = &mut due {
            sleep_until((*at).into()).await;
            *at += *interval;
        }
        if Instant::now() >= end {
            break;
        }
        let (mark, call) = source.next();
        let (started, began) = (Instant::now(), micros());
        match client.call(&call).await {
            Ok(answer) => {
                let answered = micros();
                broken = 0;
                if matches!(source.kind, Kind::Messages(_) | Kind::Report) {
                    tally.results(answer.body);
                }
                tally.answered(answer.status, started.elapsed(), answer.body.len());
                sent.push(Sent { mark, began, answered });
            }
            Err(_) => {
                tally.broke();
                broken += 1;
            }
        }
    }
    (sent, tally)
}
