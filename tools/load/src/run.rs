//! Runs n connections, each with one call at a time, for a limited time.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::sleep_until;

use crate::client::{Call, Client};
use crate::dataset::Manifest;
use crate::report::{Report, Tally};
use crate::scenario::{Calls, Known, KnownMessaging, Person};
use crate::target::Target;

/// The most connections.
pub(crate) const MAX_CONNECTIONS: u64 = 1024;
/// The longest run.
pub(crate) const MAX_SECONDS: u64 = 600;
/// The most calls of one connection in a run of any length.
const MAX_CALLS: u64 = 5_000_000;
/// The number of consecutive calls without an answer after which a connection ends.
const MAX_BROKEN: u32 = 20;
/// How many pages of contacts are read for conversations.
const PEOPLE_PAGES: u32 = 50;

/// How much load, and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub(crate) connections: usize,
    /// The time before the measurement.
    pub(crate) warmup: Duration,
    pub(crate) measured: Duration,
    /// Calls per second of all connections together; `None` for as many as possible. With a rate,
    /// latencies count from the time when a call was due, so that they include the time in which a
    /// server stalls.
    pub(crate) rate: Option<u32>,
}

impl Effort {
    /// The time from one call of a connection to the next.
    fn interval(&self) -> Option<Duration> {
        self.rate.map(|rate| Duration::from_secs(self.connections as u64) / rate.max(1))
    }
}

/// Runs one kind of call and reports the results.
pub(crate) async fn run(
    name: &str,
    target: &Target,
    key: &str,
    effort: Effort,
    mut calls: impl FnMut(usize) -> Calls,
) -> Report {
    let begin = Instant::now() + effort.warmup;
    let mut connections = JoinSet::new();
    for connection in 0..effort.connections {
        let client = Client::new(target, key);
        // The connections start at different times within an interval.
        let pace = effort.interval().map(|interval| {
            (interval, Instant::now() + interval * connection as u32 / effort.connections as u32)
        });
        connections.spawn(drive(client, calls(connection), begin, effort, pace));
    }
    let mut total = Tally::new();
    while let Some(tally) = connections.join_next().await {
        total.add(&tally.expect("a connection does not panic"));
    }
    Report::new(name, effort.connections, begin.elapsed(), &total)
}

async fn drive(
    mut client: Client,
    mut calls: Calls,
    begin: Instant,
    effort: Effort,
    mut pace: Option<(Duration, Instant)>,
) -> Tally {
    let end = begin + effort.measured;
    let mut tally = Tally::new();
    let mut broken_in_a_row = 0;
    for _ in 0..MAX_CALLS {
        let started = match &mut pace {
            None => Instant::now(),
            Some((interval, due)) => {
                let at = *due;
                *due += *interval;
                sleep_until(at.into()).await;
                at
            }
        };
        // A server that is too slow for the rate must not prolong the run without limit. Calls that
        // were not made reduce the rate in the result.
        if started >= end || Instant::now() >= end + effort.measured {
            break;
        }
        let measured = started >= begin;
        match client.call(&calls.next()).await {
            Ok(answer) => {
                broken_in_a_row = 0;
                calls.answered(answer.body);
                if measured {
                    if calls.causes_events() {
                        tally.results(answer.body);
                    }
                    tally.answered(answer.status, started.elapsed(), answer.body.len());
                }
            }
            Err(_) => {
                tally.broke();
                broken_in_a_row += 1;
                if broken_in_a_row == MAX_BROKEN {
                    break;
                }
            }
        }
    }
    tally
}

/// Reads from the server the data that the scenarios need.
///
/// # Errors
///
/// When it does not answer as expected.
pub(crate) async fn explore(target: &Target, key: &str) -> Result<Known, String> {
    let mut client = Client::new(target, key);
    let call = Call::Get("/api/v1/contacts?limit=100".to_owned());
    let answer = client.call(&call).await.map_err(|error| format!("no answer: {error}"))?;
    if answer.status != 200 {
        return Err(format!("{}: {}", answer.status, String::from_utf8_lossy(answer.body)));
    }
    let page: serde_json::Value =
        serde_json::from_slice(answer.body).map_err(|error| error.to_string())?;
    let contacts = page["pagination"]["total"].as_u64().unwrap_or_default();
    let stage = page["data"].as_array().into_iter().flatten().find_map(|contact| {
        let stage = contact["pipeline_stage_id"].as_str();
        stage.or_else(|| contact["pipeline_stage"]["id"].as_str()).map(str::to_owned)
    });
    Ok(Known { contacts, stage, messaging: None })
}

/// Reads contacts with conversations from the server.
///
/// # Errors
///
/// When it does not answer as expected, or there are no such contacts.
pub(crate) async fn explore_messaging(
    target: &Target,
    data: &Manifest,
) -> Result<KnownMessaging, String> {
    let messaging =
        data.messaging.ok_or("the dataset has no messages: make one with --messages")?;
    let mut client = Client::new(target, &data.key);
    let mut people = Vec::new();
    for page in 1..=PEOPLE_PAGES {
        let query = "is_group=false&source_platform=whatsapp&limit=100";
        let call = Call::Get(format!("/api/v1/contacts?{query}&page={page}"));
        let answer = client.call(&call).await.map_err(|error| format!("no answer: {error}"))?;
        if answer.status != 200 {
            return Err(format!("{}: {}", answer.status, String::from_utf8_lossy(answer.body)));
        }
        let found: serde_json::Value =
            serde_json::from_slice(answer.body).map_err(|error| error.to_string())?;
        let found = found["data"].as_array().cloned().unwrap_or_default();
        let last = found.len() < 100;
        people.extend(found.iter().filter_map(|contact| {
            let contact_id = contact["id"].as_str()?.to_owned();
            let phone = contact["phone"].as_str().filter(|phone| phone.starts_with('+'))?;
            Some(Person { contact: contact_id, phone: phone.to_owned() })
        }));
        if last {
            break;
        }
    }
    people.retain(Person::is_ordinary);
    if people.is_empty() {
        return Err("the company has nobody to write to".to_owned());
    }
    Ok(KnownMessaging { company: data.company.to_string(), messaging, people })
}
