//! Sends, gateway events and listings of messages, on one dataset.

use std::path::PathBuf;
use std::time::Duration;

use super::bare;
use super::cpu::Meter;
use super::server::Server;
use super::table::Table;
use crate::dataset::Manifest;
use crate::report::Report;
use crate::run::{Effort, explore, explore_messaging, run};
use crate::scenario::{Calls, Known, Scenario};
use crate::stores::AnyError;

/// Clients that send at the same time.
const SENDERS: usize = 32;
/// Connections that gateways use at the same time.
const GATEWAYS: usize = 32;
/// How many of them send many events in a call.
const BATCHERS: usize = 4;
/// The number of events per second of one number at the official API's top rate.
pub(crate) const TOP_RATE: u32 = 3_300;
/// The number of events in a call with several.
const BATCH: u32 = 100;

/// What to measure.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct MessagingOrder {
    /// The server's program, built with --release.
    #[arg(long)]
    server: PathBuf,
    /// The manifest of a dataset with messages.
    #[arg(long)]
    data: PathBuf,
    /// How many connections read at the same time.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=64))]
    connections: u64,
    /// How long each of the measurements takes.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=60))]
    seconds: u64,
    /// Keeps every single result in this file, as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
}

/// The results.
#[derive(Debug)]
pub(crate) struct MeasuredMessaging {
    /// Single inserts of the driver, each in its own commit.
    pub(crate) inserted: Report,
    /// Sends without reports.
    pub(crate) sent: Report,
    /// Gateway events at the top rate: one in a call, many in a call, and one in a webhook call of
    /// the official API.
    pub(crate) paced: [Report; 3],
    /// All other measurements.
    pub(crate) others: Vec<Report>,
}

/// Measures, and prints every result and a table in Markdown.
///
/// # Errors
///
/// When the server does not start or the database fails.
pub(crate) async fn measure_messaging(order: &MessagingOrder) -> Result<(), AnyError> {
    let data = Manifest::read(&order.data)?;
    let readers = Effort {
        connections: usize::try_from(order.connections)?,
        warmup: super::WARMUP,
        measured: Duration::from_secs(order.seconds),
        rate: None,
    };
    let senders = Effort { connections: SENDERS, ..readers };
    let gateways = Effort { connections: GATEWAYS, ..readers };
    let batchers = Effort { connections: BATCHERS, ..readers };

    let inserted = bare::inserts(&data, senders).await?;
    println!("{inserted}");
    let server = Server::start(&order.server, &data.database).await?;
    let mut known = explore(server.target(), &data.key).await?;
    known.messaging = Some(explore_messaging(server.target(), &data).await?);
    let side = Side { meter: Meter::new(server.id()?, &data.database)?, server, data, known };

    let sent = side.run("send", Scenario::Send, senders).await?;
    let mut others = vec![
        side.run("send, with three reports each", Scenario::SendReported, senders).await?,
        side.run("gateway events, one a call", Scenario::Events, gateways).await?,
        side.run("gateway events, 100 a call", Scenario::EventsBatch, batchers).await?,
        side.run("webhooks of the official API, one event each", Scenario::Webhooks, gateways)
            .await?,
    ];
    let single = Effort { rate: Some(TOP_RATE), ..gateways };
    let batched = Effort { rate: Some(TOP_RATE / BATCH), ..batchers };
    let paced = [
        side.run("gateway events at the top rate, one a call", Scenario::Events, single).await?,
        side.run("gateway events at the top rate, 100 a call", Scenario::EventsBatch, batched)
            .await?,
        side.run("webhooks of the official API at the top rate", Scenario::Webhooks, single)
            .await?,
    ];
    for (name, scenario) in [
        ("messages, one of the first 20 pages", Scenario::Messages),
        ("messages of one contact, first page", Scenario::ContactMessages),
    ] {
        others.push(side.run(name, scenario, readers).await?);
    }
    let memory = side.server.memory()?;
    side.server.stop().await?;

    let mut table = Table::default();
    let measured = MeasuredMessaging { inserted, sent, paced, others };
    table.compare_messaging(&side.data.database, &measured, memory);
    if let Some(path) = &order.json {
        let MeasuredMessaging { inserted, sent, paced, others } = measured;
        let all: Vec<Report> = [inserted, sent].into_iter().chain(paced).chain(others).collect();
        std::fs::write(path, serde_json::to_string_pretty(&all)?)?;
    }
    println!("\n{table}");
    Ok(())
}

/// A server with the dataset.
struct Side {
    server: Server,
    data: Manifest,
    known: Known,
    meter: Meter,
}

impl Side {
    async fn run(&self, name: &str, kind: Scenario, effort: Effort) -> Result<Report, AnyError> {
        let bearer = if kind.is_operator() { self.server.token() } else { &self.data.key };
        let seed = fastrand::u64(..);
        let of = effort.connections;
        let calls = |connection| Calls::new(kind, &self.known, (connection, of), seed);
        let before = self.meter.used()?;
        let report = run(name, self.server.target(), bearer, effort, calls).await;
        let report = report.with_cpu(self.meter.used()? - before, effort);
        println!("{report}");
        Ok(report)
    }
}
