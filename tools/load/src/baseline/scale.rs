//! What a server shows on one dataset: everything that must not depend on its size.

use super::cpu::Meter;
use super::keep;
use super::server::Server;
use crate::client::{Call, Client};
use crate::dataset::Manifest;
use crate::report::Report;
use crate::run::{Effort, explore, run};
use crate::scenario::{Calls, Known, PAGE, Scenario, export_path, filters, next_cursor};
use crate::stores::AnyError;

/// How many cursors are kept of the walk to the deep end.
const DEEP_CURSORS: usize = 64;

/// The results on one dataset.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    /// The first page without filters.
    pub(crate) page: Report,
    /// The first page under each combination of filters.
    pub(crate) filtered: Vec<Report>,
    /// The first page of an export.
    pub(crate) export_first: Report,
    /// Pages of an export close to its end.
    pub(crate) export_deep: Report,
}

/// Measures one dataset.
///
/// # Errors
///
/// When the server does not answer as expected.
pub(crate) async fn measure(
    server: &Server,
    data: &Manifest,
    effort: Effort,
    all: &mut Vec<Report>,
) -> Result<Scale, AnyError> {
    let target = server.target();
    let known = explore(target, &data.key).await?;
    println!("\n{} contacts, {} connections", known.contacts, effort.connections);
    let seed = fastrand::u64(..);
    let limit = format!("limit={PAGE}");
    let meter = Meter::new(server.id()?, &data.database)?;
    let before = meter.used()?;
    let page = run("page, first", target, &data.key, effort, |_| Calls::listing(&limit)).await;
    let page = page.with_cpu(meter.used()? - before, effort);
    let page = keep(all, page);
    let mut filtered = Vec::new();
    for filter in filters(&known) {
        let query = format!("{limit}&{}", filter.query);
        let name = format!("page, {}", filter.name);
        let report = run(&name, target, &data.key, effort, |_| Calls::listing(&query)).await;
        filtered.push(keep(all, report));
    }
    let limit = u32::try_from(PAGE)?;
    let export_first = run("export, first page", target, &data.key, effort, |_| {
        Calls::Same(Call::Get(export_path(None, limit)))
    })
    .await;
    let export_first = keep(all, export_first);
    let deep = deep_cursors(server, data, &known).await?;
    let export_deep = run("export, deep pages", target, &data.key, effort, |connection| {
        let paths = deep.iter().map(|cursor| export_path(Some(cursor), limit));
        let queries = paths.filter_map(|path| Some(path.split_once('?')?.1.to_owned())).collect();
        Calls::Queries { queries, at: connection }
    })
    .await;
    let export_deep = keep(all, export_deep);
    for (name, scenario) in [
        ("page, one of the first 20", Scenario::Page),
        ("page, any by number", Scenario::PageDeep),
        ("search, a first name", Scenario::SearchName),
        ("search, seven digits", Scenario::SearchDigits),
        ("search, two characters", Scenario::SearchShort),
    ] {
        let report = run(name, target, &data.key, effort, |connection| {
            Calls::new(scenario, &known, (connection, effort.connections), seed)
        })
        .await;
        keep(all, report);
    }
    Ok(Scale { page, filtered, export_first, export_deep })
}

/// Cursors from the last tenth of a whole walk.
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
