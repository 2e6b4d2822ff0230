//! Measures a server on one dataset: the calls whose cost must not depend on its size.

use std::path::Path;

use super::bare;
use super::cpu::Meter;
use super::server::Server;
use crate::client::{Call, Client};
use crate::dataset::Manifest;
use crate::report::Report;
use crate::run::{Effort, explore, run};
use crate::scenario::{Calls, Known, PAGE, Scenario, export_path, filters, next_cursor};
use crate::stores::AnyError;

/// How many cursors near the end of an export are kept.
const DEEP_CURSORS: usize = 64;

/// How often each measurement is made, alternating between the datasets. The best one counts,
/// because the other load of the machine affected it least.
const ROUNDS: usize = 3;

/// A server with a dataset.
pub(crate) struct Side {
    pub(crate) server: Server,
    pub(crate) data: Manifest,
    known: Known,
    meter: Meter,
}

impl Side {
    /// Starts a server and reads about its data.
    ///
    /// # Errors
    ///
    /// When it does not become ready.
    pub(crate) async fn start(program: &Path, data: Manifest) -> Result<Self, AnyError> {
        let server = Server::start(program, &data.database).await?;
        let known = explore(server.target(), &data.key).await?;
        let meter = Meter::new(server.id()?, &data.database)?;
        Ok(Self { server, data, known, meter })
    }

    async fn run(
        &self,
        name: &str,
        effort: Effort,
        calls: impl Fn(&Known, usize) -> Calls,
    ) -> Result<Report, AnyError> {
        let before = self.meter.used()?;
        let (target, known) = (self.server.target(), &self.known);
        let report = run(name, target, &self.data.key, effort, |c| calls(known, c)).await;
        Ok(report.with_cpu(self.meter.used()? - before, effort))
    }
}

/// The reports of one kind of call: of the small dataset, then of the large one.
pub(crate) type Pair = [Report; 2];

/// The results.
#[derive(Debug)]
pub(crate) struct Scale {
    /// The first page without filters.
    pub(crate) page: Pair,
    /// The same, by the database driver alone.
    pub(crate) bare: Pair,
    /// Calls that must cost the same for any number of contacts.
    pub(crate) flat: Vec<Pair>,
    /// Calls that may cost more with more matches.
    pub(crate) growing: Vec<Pair>,
}

/// The better one of two results.
fn better(a: Option<Report>, b: Report) -> Option<Report> {
    match a {
        Some(a) if a.per_second >= b.per_second => Some(a),
        _ => Some(b),
    }
}

/// Measures both sides alternately; the best round of each.
async fn both(
    sides: &[Side; 2],
    name: &str,
    effort: Effort,
    calls: impl Fn(&Known, usize) -> Calls,
) -> Result<Pair, AnyError> {
    let mut best = [None, None];
    for _ in 0..ROUNDS {
        for (side, best) in sides.iter().zip(&mut best) {
            *best = better(best.take(), side.run(name, effort, &calls).await?);
        }
    }
    shown(best)
}

fn shown(best: [Option<Report>; 2]) -> Result<Pair, AnyError> {
    let [Some(small), Some(large)] = best else { return Err("nothing was measured".into()) };
    println!("{small}\n{large}");
    Ok([small, large])
}

/// Measures both datasets.
///
/// # Errors
///
/// When a server does not answer as expected.
pub(crate) async fn measure(sides: &[Side; 2], effort: Effort) -> Result<Scale, AnyError> {
    let seed = fastrand::u64(..);
    let limit = format!("limit={PAGE}");
    let (mut page, mut bare) = ([None, None], [None, None]);
    for _ in 0..ROUNDS {
        for at in 0..2 {
            let first = |_: &Known, _| Calls::listing(&limit);
            let served = sides[at].run("page, first", effort, first).await?;
            page[at] = better(page[at].take(), served);
            bare[at] = better(bare[at].take(), bare::pages(&sides[at].data, effort).await?);
        }
    }
    let (page, bare) = (shown(page)?, shown(bare)?);

    let mut flat = Vec::new();
    for (at, filter) in filters(&sides[0].known).iter().enumerate() {
        let name = format!("page, {}", filter.name);
        let calls =
            |known: &Known, _| Calls::listing(&format!("{limit}&{}", filters(known)[at].query));
        flat.push(both(sides, &name, effort, calls).await?);
    }
    let limit = u32::try_from(PAGE)?;
    let first = |_: &Known, _| Calls::Same(Call::Get(export_path(None, limit)));
    flat.push(both(sides, "export, first page", effort, first).await?);
    let mut deep = Vec::new();
    for side in sides {
        deep.push(deep_cursors(&side.server, &side.data, &side.known).await?);
    }
    let from_deep = |known: &Known, connection| {
        let cursors = &deep[usize::from(known.contacts == sides[1].known.contacts)];
        let paths = cursors.iter().map(|cursor| export_path(Some(cursor), limit));
        let queries = paths.filter_map(|path| Some(path.split_once('?')?.1.to_owned())).collect();
        Calls::Queries { queries, at: connection }
    };
    flat.push(both(sides, "export, deep pages", effort, from_deep).await?);

    let mut growing = Vec::new();
    for (name, scenario) in [
        ("page, one of the first 20", Scenario::Page),
        ("page, any by number", Scenario::PageDeep),
        ("search, a first name", Scenario::SearchName),
        ("search, seven digits", Scenario::SearchDigits),
        ("search, two characters", Scenario::SearchShort),
    ] {
        let calls = |known: &Known, connection| {
            Calls::new(scenario, known, (connection, effort.connections), seed)
        };
        growing.push(both(sides, name, effort, calls).await?);
    }
    Ok(Scale { page, bare, flat, growing })
}

/// Cursors from the last tenth of a whole export.
async fn deep_cursors(
    server: &Server,
    data: &Manifest,
    known: &Known,
) -> Result<Vec<String>, AnyError> {
    const WALK_LIMIT: u64 = 100;
    let mut client = Client::new(server.target(), &data.key);
    let mut cursors = Vec::new();
    let mut cursor = None;
    let pages = known.contacts.div_ceil(WALK_LIMIT);
    let begun = std::time::Instant::now();
    let mut walked = 0;
    loop {
        let call = Call::Get(export_path(cursor.as_deref(), u32::try_from(WALK_LIMIT)?));
        let answer = client.call(&call).await?;
        if answer.status != 200 {
            return Err(format!("the export answered {}", answer.status).into());
        }
        walked += 1;
        cursor = next_cursor(answer.body);
        match &cursor {
            None => break,
            Some(cursor) if walked >= pages * 9 / 10 && walked < pages => {
                cursors.push(cursor.clone());
            }
            Some(_) => {}
        }
    }
    println!(
        "a walk over {} pages of {WALK_LIMIT} by one connection: {:.0} pages/s",
        walked,
        walked as f64 / begun.elapsed().as_secs_f64()
    );
    if cursors.is_empty() {
        return Err("the dataset is too small for deep pages".into());
    }
    let step = cursors.len().div_ceil(DEEP_CURSORS);
    Ok(cursors.into_iter().step_by(step).collect())
}
