//! Datasets: one company with many contacts, optionally with messages. They are written by the
//! store's own commit, so that indexes, counters and search texts are the same as those a server
//! makes.

pub(crate) mod company;
pub(crate) mod contacts;
mod deliveries;
mod manifest;
pub(crate) mod messages;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Instant;

use futures_util::future::try_join_all;
use recado_core::Timestamp;
use recado_core::store::{ChangeSet, Store};

pub(crate) use manifest::{Manifest, Messaging};
pub(crate) use messages::{APP_SECRET, PHONE_NUMBER_ID, outbound_id};

use crate::stores::{self, AnyError};

/// Records in one change set. Much larger sets are slow on SQLite, because each statement reads
/// everything that the savepoint has kept so far.
const PER_COMMIT: u64 = 100;
/// Commits at the same time. SQLite writes them as one group.
const AT_ONCE: u64 = 16;
/// Records of one round.
const ROUND: u64 = PER_COMMIT * AT_ONCE;
/// Rounds of commits between two calls of the store's housekeeping.
const ROUNDS_PER_UPKEEP: u64 = 10;
/// The most contacts of a dataset.
pub(crate) const MAX_CONTACTS: u64 = 10_000_000;
/// The most messages of a dataset.
const MAX_MESSAGES: u64 = 100_000_000;
/// The number of messages on the silent connection for each message on the official one.
const OFFICIAL_SHARE: u64 = 4;
/// The greatest number of contacts with conversations.
const MAX_PARTNERS: usize = 100_000;

/// What to make.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Order {
    /// The database: sqlite:PATH or postgres://…
    #[arg(long)]
    database: String,
    /// How many contacts.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=MAX_CONTACTS))]
    contacts: u64,
    /// How many messages; with any, the company also gets two connections.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=MAX_MESSAGES))]
    messages: u64,
    /// How many deliveries, each with its event; only with messages.
    #[arg(long, default_value_t = 0, requires = "messages",
        value_parser = clap::value_parser!(u64).range(..=MAX_MESSAGES))]
    deliveries: u64,
    /// The company's name.
    #[arg(long, default_value = "Load")]
    company: String,
    /// Writes what was made, key included, to this file, for `baseline`.
    #[arg(long)]
    manifest: Option<PathBuf>,
}

/// Makes a dataset and prints the key.
///
/// # Errors
///
/// When the database fails.
pub(crate) async fn make(order: &Order) -> Result<(), AnyError> {
    let started = Instant::now();
    let store = stores::open(&order.database).await?;
    let made = company::make(&order.company, now());
    store.commit(made.changes).await?;
    let mut maker = contacts::Maker::new(made.company, now(), MAX_PARTNERS);
    let company = maker.company();
    write(&*store, "contacts", order.contacts, |index, changes| {
        maker.contact(index, order.contacts, changes)
    })
    .await?;
    let messaging = match order.messages {
        0 => None,
        count => {
            let (connections, changes) =
                messages::Connections::make(company, now(), ChangeSet::new());
            store.commit(changes).await?;
            let partners = maker.into_partners();
            if partners.is_empty() {
                return Err("so few contacts have nobody to write to".into());
            }
            let messages::Connections { silent, reporting, official } = connections;
            let official_messages = (count / OFFICIAL_SHARE).max(2);
            for (what, connection, count) in
                [("messages", silent, count), ("official messages", official, official_messages)]
            {
                let mut maker = messages::Maker::new(company, connection, partners.clone(), now());
                write(&*store, what, count, |index, changes| maker.message(index, count, changes))
                    .await?;
            }
            if order.deliveries > 0 {
                let mut maker = deliveries::Maker::new(company, partners, now());
                let count = order.deliveries;
                write(&*store, "deliveries", count, |index, changes| {
                    maker.delivery(index, count, changes)
                })
                .await?;
            }
            Some(Messaging { messages: count, silent, reporting, official, official_messages })
        }
    };
    store.upkeep(now()).await?;
    drop(store);
    stores::finish(&order.database).await?;
    eprintln!("made in {:.1} s", started.elapsed().as_secs_f64());
    let manifest = Manifest {
        database: order.database.clone(),
        company,
        key: made.secret,
        contacts: order.contacts,
        messaging,
    };
    if let Some(path) = &order.manifest {
        manifest.write(path)?;
    }
    println!("{}", manifest.to_json());
    Ok(())
}

/// Writes a number of records. `add` adds them to change sets in order.
///
/// # Errors
///
/// When the database fails.
pub(crate) async fn write(
    store: &dyn Store,
    what: &str,
    count: u64,
    mut add: impl FnMut(u64, ChangeSet) -> ChangeSet,
) -> Result<(), AnyError> {
    let started = Instant::now();
    let mut done = 0;
    for round in 1.. {
        let mut commits = Vec::new();
        for _ in 0..AT_ONCE {
            let until = (done + PER_COMMIT).min(count);
            let changes =
                (done..until).fold(ChangeSet::new(), |changes, index| add(index, changes));
            commits.push(store.commit(changes));
            done = until;
        }
        try_join_all(commits).await?;
        if round % ROUNDS_PER_UPKEEP == 0 {
            store.upkeep(now()).await?;
        }
        progress(what, done, count, started);
        if done == count {
            break;
        }
    }
    Ok(())
}

/// The wall clock.
#[expect(clippy::disallowed_methods, reason = "a program at the edge has to ask somebody")]
pub(crate) fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let millis = since.map(|since| since.as_millis()).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}

fn progress(what: &str, done: u64, all: u64, started: Instant) {
    let mut err = std::io::stderr().lock();
    let per_second = done as f64 / started.elapsed().as_secs_f64();
    let line = format!("{done} of {all} {what}, {per_second:.0}/s");
    // An error in showing the progress is ignored.
    let _ = match err.is_terminal() {
        true => write!(err, "\r{line} "),
        false if done % (all / 10).max(ROUND) < ROUND => writeln!(err, "{line}"),
        false => Ok(()),
    };
}
