//! The same work without a server: only the database driver, on its own threads.

use std::time::{Duration, Instant};

use super::cpu::Meter;
use super::{bare_postgres, bare_sqlite};
use crate::dataset::Manifest;
use crate::report::{Report, Tally};
use crate::run::Effort;
use crate::stores::{AnyError, Database};

/// An operation that one thread repeats.
pub(crate) type Work = Box<dyn FnMut() -> Result<(), AnyError>>;

/// Reads the first page as often as possible, with one thread for each connection.
///
/// # Errors
///
/// When the database fails.
pub(crate) async fn pages(data: &Manifest, effort: Effort) -> Result<Report, AnyError> {
    let company = data.company;
    let name = format!("bare driver, page of {}", data.contacts);
    let meter = Meter::new(std::process::id(), &data.database)?;
    let before = meter.used()?;
    let report = match Database::parse(&data.database)? {
        Database::Sqlite(path) => {
            let path = path.to_owned();
            measure(name, effort, move |_| bare_sqlite::pages(&path, company)).await
        }
        Database::Postgres(url) => {
            let url = url.to_owned();
            measure(name, effort, move |_| bare_postgres::pages(&url, company)).await
        }
    }?;
    Ok(report.with_cpu(meter.used()? - before, effort))
}

/// Inserts rows, each in its own commit. On SQLite one thread inserts, because there can be only
/// one writer. On Postgres there are as many connections as clients that create contacts over HTTP.
///
/// # Errors
///
/// When the database fails.
pub(crate) async fn inserts(data: &Manifest, effort: Effort) -> Result<Report, AnyError> {
    let data = data.clone();
    match Database::parse(&data.database)? {
        Database::Sqlite(path) => {
            let path = format!("{path}.bare");
            let scratch = path.clone();
            let effort = Effort { connections: 1, ..effort };
            let name = "one-row commits, one by one".to_owned();
            let report = measure(name, effort, move |_| bare_sqlite::inserts(&scratch)).await;
            for end in ["", "-wal", "-shm"] {
                // The file may not exist.
                drop(std::fs::remove_file(format!("{path}{end}")));
            }
            report
        }
        Database::Postgres(url) => {
            bare_postgres::prepare_inserts(url)?;
            let name = format!("one-row commits, {} connections", effort.connections);
            let on = url.to_owned();
            let report =
                measure(name, effort, move |connection| bare_postgres::inserts(&on, connection))
                    .await;
            bare_postgres::drop_inserts(url)?;
            report
        }
    }
}

/// Lets several threads repeat their operations until the time is over.
async fn measure(
    name: String,
    effort: Effort,
    make: impl Fn(usize) -> Result<Work, AnyError> + Clone + Send + 'static,
) -> Result<Report, AnyError> {
    let begin = Instant::now() + effort.warmup;
    let end = begin + effort.measured;
    let threads: Vec<_> = (0..effort.connections)
        .map(|connection| {
            let make = make.clone();
            std::thread::spawn(move || repeat(make(connection)?, begin, end))
        })
        .collect();
    let mut total = Tally::new();
    for thread in threads {
        let tally = thread.join().map_err(|_| "a thread of the bare driver panicked")?;
        total.add(&tally?);
    }
    let took: Duration = begin.elapsed();
    Ok(Report::new(&name, effort.connections, took, &total))
}

fn repeat(mut work: Work, begin: Instant, end: Instant) -> Result<Tally, AnyError> {
    let mut tally = Tally::new();
    loop {
        let started = Instant::now();
        if started >= end {
            return Ok(tally);
        }
        work()?;
        if started >= begin {
            tally.timed(started.elapsed());
        }
    }
}
