//! Measures the console: how long a list of conversations takes at the server, what pages weigh,
//! and what open pages cost in memory.

mod live;
mod site;
mod stage;

use std::path::PathBuf;
use std::time::Duration;

use crate::baseline::server::Server;
use crate::baseline::table::Table;
use crate::report::millis;
use crate::stores::AnyError;
use live::Live;
use site::Site;

/// The list of conversations.
const INBOX: &str = "/console/inbox";
/// A conversation.
const THREAD: &str = "/console/inbox/{id}";
/// How often the list is asked for.
const TIMES: usize = 100;
/// How many pages one member keeps open.
const PAGES_EACH: usize = 10;
/// The time in which memory settles.
const IDLE: Duration = Duration::from_secs(2);
/// The target of the list's median, in microseconds.
const LIST_US: u64 = 50_000;
/// The target of a page's weight, in bytes.
const WEIGHT: usize = 150 * 1024;
/// The target of the memory of all open pages, in KiB.
const MEMORY_KIB: u64 = 50 * 1024;

/// How to measure.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Order {
    /// The server's program, built with --release.
    #[arg(long)]
    server: PathBuf,
    /// The database: sqlite:PATH or postgres://…; a new company is created in it.
    #[arg(long)]
    database: String,
    /// How many conversations the company has.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    conversations: u64,
    /// How many pages are open at once.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pages: u64,
}

/// Measures, and prints a table in Markdown.
///
/// # Errors
///
/// When the server does not start or refuses something.
pub(crate) async fn measure(order: &Order) -> Result<(), AnyError> {
    let server = Server::start_with(&order.server, &order.database, &[]).await?;
    let pages = usize::try_from(order.pages)?;
    let stage = stage::make(&server, order.conversations, pages.div_ceil(PAGES_EACH)).await?;
    let sites: Vec<Site> = stage.sign_in(server.target()).await?;
    let first = sites.first().ok_or("nobody signed in")?;
    let mut table = Table::default();
    list(first, order.conversations, &mut table).await?;
    weights(first, &mut table).await?;
    open_pages(&server, &sites, pages, &mut table).await?;
    server.stop().await?;
    println!("\n{table}");
    Ok(())
}

async fn list(site: &Site, conversations: u64, table: &mut Table) -> Result<(), AnyError> {
    let mut times = Vec::new();
    for _ in 0..TIMES {
        times.push(site.get(INBOX).await?.took);
    }
    times.sort_unstable();
    let at = |share: usize| u64::try_from(times[(times.len() - 1) * share / 100].as_micros());
    let (median, p99) = (at(50)?, at(99)?);
    table.row(
        format!("the list of {conversations} conversations, p50"),
        format!("{} ms (p99 {} ms)", millis(median), millis(p99)),
        format!("≤ {} ms", millis(LIST_US)),
        Some(median <= LIST_US),
    );
    Ok(())
}

async fn weights(site: &Site, table: &mut Table) -> Result<(), AnyError> {
    let weights = site.weights(INBOX).await?;
    for (path, weight) in &weights {
        eprintln!("{:6.1} KiB  {path}", *weight as f64 / 1024.0);
    }
    let heaviest = weights.iter().max_by_key(|(_, weight)| **weight).map(|(path, _)| path.clone());
    let heaviest = heaviest.ok_or("no page was found")?;
    let others = format!("the heaviest of {} pages, {heaviest}", weights.len());
    for (what, path) in [("the list", INBOX), ("a thread", THREAD), (&others, &heaviest)] {
        let weight = *weights.get(path).ok_or_else(|| format!("no link leads to {path}"))?;
        table.row(
            format!("weight of {what}"),
            format!("{:.1} KiB", weight as f64 / 1024.0),
            format!("≤ {} KiB", WEIGHT / 1024),
            Some(weight <= WEIGHT),
        );
    }
    Ok(())
}

async fn open_pages(
    server: &Server,
    sites: &[Site],
    pages: usize,
    table: &mut Table,
) -> Result<(), AnyError> {
    let before = server.memory_after(IDLE).await?;
    let mut open = Vec::new();
    for n in 0..pages {
        let site = &sites[n / PAGES_EACH];
        site.get(INBOX).await?;
        open.push(Live::open(site).await?);
    }
    let after = server.memory_after(IDLE).await?;
    for page in &mut open {
        page.still_open().await?;
    }
    let grown = after.resident.saturating_sub(before.resident);
    table.row(
        format!("memory of {pages} open pages"),
        format!(
            "{:.1} MiB (from {:.1} to {:.1})",
            grown as f64 / 1024.0,
            before.resident as f64 / 1024.0,
            after.resident as f64 / 1024.0
        ),
        format!("≤ {} MiB", MEMORY_KIB / 1024),
        Some(grown <= MEMORY_KIB),
    );
    Ok(())
}
