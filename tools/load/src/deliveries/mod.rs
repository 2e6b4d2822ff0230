//! Measures outbound webhooks: the real server, a receiving process and the database, all on this
//! machine. The results are the time from an answer of the API to the arrival at the receiver, the
//! number of deliveries per second, and their cost.

mod backlog;
mod drive;
mod isolation;
mod latency;
mod rates;
mod receivers;
mod stage;
mod table;

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use serde::Serialize;

use crate::baseline::server::Server;
use crate::client::{Call, Client};
use crate::run::MAX_CONNECTIONS;
use crate::stores::AnyError;

/// The server's options in addition to the database: all receivers have loopback addresses.
const OPTIONS: [&str; 1] = ["--allow-private-destinations"];

/// What to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Scenario {
    /// As many deliveries as possible, one for each event.
    One,
    /// The same with ten for each event.
    Ten,
    /// The time from the API's answer to the receiver, at a moderate rate.
    Latency,
    /// A server that has many due deliveries when it starts.
    Backlog,
    /// Healthy receivers while other receivers are faulty.
    Isolation,
}

/// How to measure.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Order {
    /// The server's program, built with --release.
    #[arg(long)]
    server: PathBuf,
    /// The database: sqlite:PATH or postgres://…; new companies are created in it.
    #[arg(long)]
    database: String,
    /// What to measure; everything by default.
    #[arg(long, value_enum)]
    scenario: Vec<Scenario>,
    /// Runs only the lines of the scenarios `one` and `ten` whose names contain this text.
    #[arg(long)]
    line: Option<String>,
    /// How many clients call at the same time in scenarios without a rate.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u64).range(1..=MAX_CONNECTIONS))]
    clients: u64,
    /// How long each of the measurements takes.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=120))]
    seconds: u64,
    /// Events per second in scenarios that measure latencies.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rate: u32,
    /// How many deliveries are due in the backlog.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1_000..=10_000_000))]
    backlog: u64,
    /// Keeps every single result in this file, as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
}

impl Order {
    /// Whether a line with this name is selected.
    fn wants(&self, name: &str) -> bool {
        self.line.as_ref().is_none_or(|part| name.contains(part))
    }

    const fn duration(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    async fn start(&self) -> Result<Server, AnyError> {
        let server = Server::start_with(&self.server, &self.database, &OPTIONS).await?;
        // The id allows you to inspect the process during the measurement.
        eprintln!("server: process {}", server.id()?);
        Ok(server)
    }
}

/// The results.
#[derive(Debug, Default, Serialize)]
struct Seen {
    rates: Vec<rates::DeliveryRate>,
    latency: Option<latency::Latency>,
    backlogs: Vec<backlog::Drained>,
    isolation: Vec<isolation::Isolation>,
}

/// Measures, and prints every result and a table in Markdown.
///
/// # Errors
///
/// When the server or the receiver does not start, the database fails, or a delivery is lost.
pub(crate) async fn measure(order: &Order) -> Result<(), AnyError> {
    let wanted = |scenario| order.scenario.is_empty() || order.scenario.contains(&scenario);
    let mut seen = Seen::default();
    if wanted(Scenario::One) {
        rates::measure_one(order, &mut seen.rates).await?;
    }
    if wanted(Scenario::Ten) {
        rates::measure_ten(order, &mut seen.rates).await?;
    }
    if wanted(Scenario::Latency) {
        seen.latency = Some(latency::measure(order).await?);
    }
    if wanted(Scenario::Backlog) {
        seen.backlogs = backlog::measure(order).await?;
    }
    if wanted(Scenario::Isolation) {
        seen.isolation = isolation::measure(order).await?;
    }
    if let Some(path) = &order.json {
        std::fs::write(path, serde_json::to_string_pretty(&seen)?)?;
    }
    println!("\n{}", table::table(&seen));
    Ok(())
}

/// How many deliveries of a company are pending.
async fn pending(operator: &mut Client, company: &stage::Company) -> Result<u64, AnyError> {
    let path = format!("/operator/v1/companies/{}/deliveries?status=pending&limit=1", company.id);
    let answer = operator.call(&Call::Get(path)).await?;
    if answer.status != 200 {
        return Err(format!("{}: {}", answer.status, String::from_utf8_lossy(answer.body)).into());
    }
    let page: serde_json::Value = serde_json::from_slice(answer.body)?;
    page["pagination"]["total"].as_u64().ok_or_else(|| "a listing without a total".into())
}

/// Waits until the server has recorded the outcome of every delivery of a company.
///
/// # Errors
///
/// When it does not in time.
async fn finished(server: &Server, company: &stage::Company) -> Result<(), AnyError> {
    let mut operator = Client::new(server.target(), server.token());
    for _ in 0..200 {
        if pending(&mut operator, company).await? == 0 {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err("deliveries that have arrived are still pending".into())
}
