//! The comparisons: the server with the database driver alone, and a large company with a small
//! one; also start time and memory of the process. All are measured in one run on one machine.

mod bare;
mod bare_postgres;
mod bare_sqlite;
pub(crate) mod cpu;
mod messaging;
mod scale;
pub(crate) mod server;
pub(crate) mod table;

use std::path::PathBuf;
use std::time::Duration;

use crate::dataset::Manifest;
use crate::report::Report;
use crate::run::{self, Effort, MAX_CONNECTIONS};
use crate::scenario::{Calls, Known, Scenario};
use crate::stores::AnyError;
pub(crate) use messaging::{MessagingOrder, measure_messaging};
use scale::{Scale, Side};
use server::Server;
use table::Table;

/// Clients that create contacts at the same time.
const CREATORS: usize = 32;
/// How often a start is timed; the median counts.
const STARTS: usize = 5;
/// The time before each measurement that is not measured.
const WARMUP: Duration = Duration::from_millis(500);

/// What to compare.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Order {
    /// The server's program, built with --release.
    #[arg(long)]
    server: PathBuf,
    /// The manifest of a dataset of 10,000 contacts.
    #[arg(long)]
    small: PathBuf,
    /// The manifest of a dataset of 1,000,000 contacts, on the same kind of database.
    #[arg(long)]
    large: PathBuf,
    /// The manifest of a dataset to create contacts in.
    #[arg(long)]
    scratch: PathBuf,
    /// How many connections read at the same time.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=MAX_CONNECTIONS))]
    connections: u64,
    /// How long each of the measurements takes.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=60))]
    seconds: u64,
    /// Keeps every single result in this file, as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
}

/// Measures, and prints every result and a table in Markdown.
///
/// # Errors
///
/// When a server does not start or a database fails.
pub(crate) async fn measure(order: &Order) -> Result<(), AnyError> {
    let small = Manifest::read(&order.small)?;
    let large = Manifest::read(&order.large)?;
    let scratch = Manifest::read(&order.scratch)?;
    let effort = Effort {
        connections: usize::try_from(order.connections)?,
        warmup: WARMUP,
        measured: Duration::from_secs(order.seconds),
        rate: None,
    };
    let mut table = Table::default();

    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let server = Server::start(&order.server, &large.database).await?;
        starts.push(server.started_in());
        server.stop().await?;
    }
    starts.sort_unstable();
    let server = Server::start(&order.server, &large.database).await?;
    let idle = server.memory_after(Duration::from_secs(2)).await?;
    server.stop().await?;

    let sides =
        [Side::start(&order.server, small).await?, Side::start(&order.server, large).await?];
    let scale = scale::measure(&sides, effort).await?;
    let [small, large] = sides;
    let loaded = large.server.memory()?;
    small.server.stop().await?;
    large.server.stop().await?;

    let server = Server::start(&order.server, &scratch.database).await?;
    let creators = Effort { connections: CREATORS, ..effort };
    let seed = fastrand::u64(..);
    let calls = |c| Calls::new(Scenario::Create, &Known::default(), (c, CREATORS), seed);
    let created =
        run::run("create, 32 connections", server.target(), &scratch.key, creators, calls).await;
    server.stop().await?;
    let inserted = bare::inserts(&scratch, creators).await?;
    println!("{created}\n{inserted}");

    table.compare_pages(&scale);
    table.compare_scales(&scale);
    table.compare_creates(&scratch.database, &created, &inserted);
    table.process(starts[STARTS / 2], idle, loaded);
    if let Some(path) = &order.json {
        let Scale { page, bare, flat, growing } = scale;
        let pairs = [page, bare].into_iter().chain(flat).chain(growing);
        let all: Vec<Report> = pairs.flatten().chain([created, inserted]).collect();
        std::fs::write(path, serde_json::to_string_pretty(&all)?)?;
    }
    println!("\n{table}");
    Ok(())
}
