//! Measures healthy receivers while other receivers are faulty.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;

use super::Order;
use super::drive::{Kind, Marks, drive};
use super::latency::{CLIENTS, Latencies};
use super::receivers::Receivers;
use super::stage::{self, Company, Hook};
use crate::baseline::server::Server;
use crate::client::{Call, Client};
use crate::receiver;
use crate::report::millis;
use crate::run::Effort;
use crate::stores::{self, AnyError};

/// The number of receivers that answer at once.
const HEALTHY: u16 = 96;
/// The least time with faulty receivers: longer than the server waits for an answer.
const LEAST: Duration = Duration::from_secs(25);
/// The time after receivers were added or removed that is not measured.
const WARMUP: Duration = Duration::from_secs(2);
/// The number of contacts of each company, if there are many companies.
const FEW_PEOPLE: u64 = 25;
/// The number of contacts, if there is one company.
const MANY_PEOPLE: u64 = 500;
/// Events per second, if each goes to all receivers.
const FAN_OUT_RATE: u32 = 10;

/// The results.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Isolation {
    pub(super) what: String,
    /// Latencies of the healthy receivers: alone, with the faulty ones, and alone again.
    pub(super) phases: [Latencies; 3],
    /// The greatest resident memory of the server, in KiB.
    pub(super) peak: u64,
}

impl Isolation {
    /// Latencies of the healthy receivers alone: the worse of both phases.
    pub(super) fn alone(&self) -> (u64, u64) {
        let [before, _, after] = self.phases.map(|phase| phase.from_answer);
        (before.p50_us.max(after.p50_us), before.p99_us.max(after.p99_us))
    }

    /// Latencies of the healthy receivers with the faulty ones.
    pub(super) const fn beside(&self) -> (u64, u64) {
        (self.phases[1].from_answer.p50_us, self.phases[1].from_answer.p99_us)
    }
}

/// The companies of the receivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spread {
    /// Each receiver has its own company. Events are made for one company after the other.
    Companies,
    /// All receivers have one company. Each event goes to all.
    Webhooks,
}

/// Measures with the receivers of many companies and with the receivers of one.
///
/// # Errors
///
/// When something fails.
pub(super) async fn measure(order: &Order) -> Result<Vec<Isolation>, AnyError> {
    Ok(vec![spread(order, Spread::Companies).await?, spread(order, Spread::Webhooks).await?])
}

async fn spread(order: &Order, spread: Spread) -> Result<Isolation, AnyError> {
    let mut healthy =
        Receivers::start(receiver::Order { healthy: HEALTHY, ..Default::default() }).await?;
    // The faulty receivers run in their own process, so that they do not delay the healthy ones.
    let harmful = receiver::Order { healthy: 0, dead: 1, silent: 1, slow: 1, flooding: 1 };
    let harmful = Receivers::start(harmful).await?;
    let addresses = &harmful.addresses;
    let urls = [&addresses.dead, &addresses.silent, &addresses.slow, &addresses.flooding];
    let harmful_hooks =
        urls.into_iter().flatten().map(|url| Hook { url, is_active: false }).collect::<Vec<_>>();

    let store = stores::open(&order.database).await?;
    let healthy_hooks = Hook::active(&healthy.addresses.healthy);
    let hooks: Vec<Hook<'_>> = healthy_hooks.iter().chain(&harmful_hooks).copied().collect();
    let mut companies = Vec::new();
    let rate = match spread {
        Spread::Companies => {
            for hook in &hooks {
                companies.push(stage::company(&*store, "isolation", FEW_PEOPLE, &[*hook]).await?);
            }
            order.rate
        }
        Spread::Webhooks => {
            companies.push(stage::company(&*store, "isolation", MANY_PEOPLE, &hooks).await?);
            FAN_OUT_RATE
        }
    };
    drop((hooks, healthy_hooks, store));
    let all = companies
        .iter()
        .flat_map(|company| company.webhooks.iter().map(|webhook| (company.id, *webhook)));
    let toggled = all.skip(usize::from(HEALTHY));
    let paths: Vec<String> = toggled
        .map(|(company, webhook)| format!("/operator/v1/companies/{company}/webhooks/{webhook}"))
        .collect();
    let companies = Arc::new(companies);

    let server = order.start().await?;
    let marks = Marks::default();
    let length = order.duration().max(LEAST);
    let mut phases = Vec::new();
    for harmful in [false, true, false] {
        toggle(&server, &paths, harmful).await?;
        phases.push(phase(&server, &companies, &mut healthy, rate, length, &marks).await?);
    }
    let peak = server.memory()?.peak;
    server.stop().await?;
    let phases = phases.try_into().map_err(|_| "three phases were measured")?;
    let what = match spread {
        Spread::Companies => format!("100 companies with a receiver each, {rate} events/s in turn"),
        Spread::Webhooks => format!("one company with 100 receivers, {rate} events/s to all"),
    };
    let seen = Isolation { what, phases, peak };
    for (name, phase) in ["alone", "beside", "alone again"].into_iter().zip(&seen.phases) {
        let from_answer = phase.from_answer;
        println!(
            "{}: healthy ones {name}: p50 {} ms p99 {} ms max {} ms of {}; from the call p50 {} ms p99 {} ms",
            seen.what,
            millis(from_answer.p50_us),
            millis(from_answer.p99_us),
            millis(from_answer.max_us),
            from_answer.count,
            millis(phase.from_call.p50_us),
            millis(phase.from_call.p99_us),
        );
    }
    Ok(seen)
}

async fn toggle(server: &Server, paths: &[String], is_active: bool) -> Result<(), AnyError> {
    let mut operator = Client::new(server.target(), server.token());
    for path in paths {
        let call = Call::Patch(path.clone(), json!({ "is_active": is_active }).to_string());
        let answer = operator.call(&call).await?;
        if answer.status != 200 {
            return Err(
                format!("{}: {}", answer.status, String::from_utf8_lossy(answer.body)).into()
            );
        }
    }
    Ok(())
}

async fn phase(
    server: &Server,
    companies: &Arc<Vec<Company>>,
    healthy: &mut Receivers,
    rate: u32,
    length: Duration,
    marks: &Marks,
) -> Result<Latencies, AnyError> {
    let effort =
        Effort { connections: CLIENTS, warmup: WARMUP, measured: WARMUP, rate: Some(rate) };
    drive(server, companies, Kind::Messages(1), effort, marks).await?;
    let effort = Effort { measured: length, ..effort };
    let driven = drive(server, companies, Kind::Messages(1), effort, marks).await?;
    // Deliveries that have not arrived by then are missing in the count.
    tokio::time::sleep(WARMUP).await;
    Ok(Latencies::of(&driven.sent, &healthy.take().await?))
}
