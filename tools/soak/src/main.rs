//! Kills a loaded server, or one of several on a Postgres (SIGKILL), N times on each database, also
//! while it starts and migrates, and counts what was acknowledged and is gone; or plays fail-overs
//! of the database. See `docs/benchmarks.md`.
#![forbid(unsafe_code)]

mod campaign;
mod check;
mod era;
mod failover;
mod load;
mod order;
mod tally;

use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use clap::Parser;
use recado_tests::StoreKind;

use crate::tally::Tally;

/// After how many kills everything is checked, and a fresh database is taken.
const ERA: usize = 25;

/// Kills a loaded server again and again, and counts what was acknowledged and is gone.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    /// How many kills on each database.
    #[arg(value_parser = clap::value_parser!(u32).range(1..), required_unless_present = "failover")]
    kills: Option<u32>,
    /// In place of kills, plays fail-overs of a Postgres that Patroni keeps.
    #[arg(long, conflicts_with_all = ["kills", "store", "processes", "seed"])]
    failover: bool,
    /// One database only.
    #[arg(long, value_enum)]
    store: Option<Store>,
    /// How many servers run at the same time on every second Postgres database. One of them is
    /// killed while another starts.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    processes: u32,
    /// Repeats the moments of an earlier run, as far as the machine does.
    #[arg(long)]
    seed: Option<u64>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Store {
    Sqlite,
    Postgres,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    // Built before the first one is timed.
    recado_tests::binary::recado();
    if cli.failover {
        return told(runtime().block_on(failover::run()), true);
    }
    let seed = cli.seed.unwrap_or_else(|| fastrand::u64(..));
    println!("the seed is {seed}");
    let stores = match cli.store {
        None => vec![StoreKind::Sqlite, StoreKind::Postgres],
        Some(Store::Sqlite) => vec![StoreKind::Sqlite],
        Some(Store::Postgres) => vec![StoreKind::Postgres],
    };
    let kills = usize::try_from(cli.kills.unwrap_or_default()).unwrap_or(usize::MAX);
    let processes = |kind| match kind {
        StoreKind::Sqlite => 1,
        StoreKind::Postgres => usize::try_from(cli.processes).unwrap_or(usize::MAX),
    };
    let runs = stores.into_iter().map(|kind| {
        let processes = processes(kind);
        (kind, thread::spawn(move || soak(kind, kills, processes, seed)))
    });
    let runs: Vec<_> = runs.collect();
    let (mut all, mut is_whole) = (Tally::default(), true);
    for (kind, run) in runs {
        match run.join() {
            Ok(tally) => {
                println!("{kind:?}: {tally}");
                all += tally;
            }
            Err(_) => {
                println!("{kind:?}: the run broke off");
                is_whole = false;
            }
        }
    }
    told(all, is_whole)
}

/// Prints the end of all.
fn told(all: Tally, is_whole: bool) -> ExitCode {
    let is_clean = is_whole && all.is_clean();
    println!("soak: {}: {all}", if is_clean { "passed" } else { "FAILED" });
    if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().expect("a runtime")
}

/// So many kills on databases of this kind. On every second one so many servers run, on the others
/// one.
fn soak(kind: StoreKind, kills: usize, processes: usize, seed: u64) -> Tally {
    let mut chance = fastrand::Rng::with_seed(seed);
    let (mut all, mut eras, began) = (Tally::default(), 0, Instant::now());
    while all.kills + all.early_kills < kills {
        let more = ERA.min(kills - all.kills - all.early_kills);
        // With a runtime of its own, nothing of an era is left behind.
        let runtime = runtime();
        let servers = if eras % 2 == 0 { 1 } else { processes };
        let tally = runtime.block_on(era::run(kind, more, servers, &mut chance));
        eras += 1;
        runtime.shutdown_background();
        all += tally;
        let done = all.kills + all.early_kills;
        println!("{kind:?}: {done} of {kills} after {} s: {tally}", began.elapsed().as_secs());
    }
    all
}
