//! Datasets and load for measuring a Recado server. See `docs/benchmarks.md`.
#![forbid(unsafe_code)]

mod baseline;
mod client;
mod clock;
mod console;
mod dataset;
mod deliveries;
mod people;
mod receiver;
mod report;
mod run;
mod scenario;
mod stores;
mod target;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};

use crate::dataset::Manifest;
use crate::run::{Effort, MAX_CONNECTIONS, MAX_SECONDS};
use crate::scenario::Calls;
use crate::stores::AnyError;
use crate::target::Target;

/// Makes datasets, and measures a server on this machine.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Makes a company with a key and many contacts, directly in a database.
    Dataset(dataset::Order),
    /// Runs one scenario against a server on this machine.
    Run(RunOrder),
    /// Compares the server with the database driver alone, and prints a table.
    Baseline(baseline::Order),
    /// Measures sends, gateway events and listings of messages, and prints a table.
    Messaging(baseline::MessagingOrder),
    /// Measures outbound webhooks, and prints a table.
    Deliveries(deliveries::Order),
    /// Measures the console, and prints a table.
    Console(console::Order),
    /// Receives webhooks and records their times until standard input ends; `deliveries` starts
    /// this command.
    Receiver(receiver::Order),
}

#[derive(Debug, clap::Args)]
struct RunOrder {
    /// The server: http://HOST:PORT, on the loopback interface.
    #[arg(long)]
    url: String,
    /// An API key; not needed with a manifest.
    #[arg(long, required_unless_present = "manifest")]
    key: Option<String>,
    /// The manifest of the dataset; scenarios about messages need it.
    #[arg(long)]
    manifest: Option<PathBuf>,
    /// The operator token; scenarios of gateway events need it.
    #[arg(long)]
    operator_token: Option<String>,
    /// What to do.
    #[arg(long, value_enum)]
    scenario: scenario::Scenario,
    /// How many connections, each with one call at a time.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=MAX_CONNECTIONS))]
    connections: u64,
    /// How long to measure, after one second of warming up.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=MAX_SECONDS))]
    seconds: u64,
    /// Calls per second of all connections together; by default as many as possible.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
    /// Prints the result as JSON.
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    // One thread for the load, because the server needs the others.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = match (runtime, Cli::parse().command) {
        (Err(error), _) => Err(error.into()),
        (Ok(runtime), command) => runtime.block_on(async {
            match command {
                Command::Dataset(order) => dataset::make(&order).await,
                Command::Run(order) => run_scenario(&order).await,
                Command::Baseline(order) => baseline::measure(&order).await,
                Command::Messaging(order) => baseline::measure_messaging(&order).await,
                Command::Deliveries(order) => deliveries::measure(&order).await,
                Command::Console(order) => console::measure(&order).await,
                Command::Receiver(order) => receiver::serve(&order).await,
            }
        }),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("recado-load: {error}");
            ExitCode::from(2)
        }
    }
}

async fn run_scenario(order: &RunOrder) -> Result<(), AnyError> {
    let target = Target::parse(&order.url)?;
    let manifest = order.manifest.as_deref().map(Manifest::read).transpose()?;
    let key = order.key.clone().or_else(|| manifest.as_ref().map(|data| data.key.clone()));
    let key = key.ok_or("give --key or --manifest")?;
    let mut known = run::explore(&target, &key).await?;
    if order.scenario.topic().is_some() {
        let data = manifest.as_ref().ok_or("this scenario needs --manifest")?;
        known.messaging = Some(run::explore_messaging(&target, data).await?);
    }
    let bearer = match order.scenario.is_operator() {
        true => order.operator_token.clone().ok_or("this scenario needs --operator-token")?,
        false => key,
    };
    let connections = usize::try_from(order.connections)?;
    let effort = Effort {
        connections,
        warmup: Duration::from_secs(1),
        measured: Duration::from_secs(order.seconds),
        rate: order.rate,
    };
    let seed = fastrand::u64(..);
    let name = clap::ValueEnum::to_possible_value(&order.scenario)
        .map(|value| value.get_name().to_owned())
        .unwrap_or_default();
    let report = run::run(&name, &target, &bearer, effort, |connection| {
        Calls::new(order.scenario, &known, (connection, connections), seed)
    })
    .await;
    if order.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        println!("{report}");
    }
    if report.is_clean() { Ok(()) } else { Err("some calls failed".into()) }
}
