//! Imports of this process: files that wait for their columns, imports under way, and their
//! reports. A restart forgets them; what was imported is recognized when the file is sent again
//! (R438).

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use recado_core::Timestamp;
use recado_core::ids::CompanyId;
use recado_core::imports::{
    Imported, Labels, Row, RowImport, RowManner, RowOutcome, RowProblems, RowTally, Skipped,
};
use recado_core::{ManageResult, Recado};
use tokio::time::Instant;

use super::cells_held::{AllCells, CellsHeld};
use super::file::Sheet;
use crate::visit::Visit;

/// How many rows are imported before others have their turn.
const PORTION: usize = 64;
/// How often a portion is tried when the store fails.
const ATTEMPTS: u32 = 5;
/// How long to wait between attempts.
const PAUSE: Duration = Duration::from_secs(2);
/// How long files and reports are kept that nobody looks at.
const KEPT: Duration = Duration::from_secs(2 * 60 * 60);
/// How many files and reports of one company are kept.
const OF_COMPANY: usize = 5;
/// How many of all companies are.
const OF_PROCESS: usize = 20;
/// How many columns of a company are remembered.
const REMEMBERED: usize = 500;
/// How many values that were left out are listed.
const EXAMPLES: usize = 100;

/// What is imported how, as the form says.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// The field of each column.
    pub(super) fields: Vec<Option<String>>,
    pub(super) manner: RowManner,
    pub(super) list: Option<String>,
    pub(super) tag: Option<String>,
}

/// How far an import is: asked for every second, so that it has nothing of single rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    pub(super) tally: RowTally,
    /// Why it ended before its end.
    pub(super) stopped: Option<String>,
    pub(super) is_over: bool,
    pub(super) is_rehearsal: bool,
}

/// What an import says of single rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    /// Refused rows by their index in the file.
    pub(super) refused: Vec<(usize, RowProblems)>,
    /// The first values that were left out, with their lines.
    pub(super) skipped: Vec<(u64, Skipped)>,
}

#[derive(Debug)]
struct State {
    plan: Plan,
    progress: Option<Progress>,
    report: Arc<Report>,
    /// When somebody last looked at it, or its import ended.
    seen: Instant,
}

/// A file and what becomes of it.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) id: String,
    company: CompanyId,
    pub(super) filename: String,
    pub(super) sheet: Sheet,
    state: Mutex<State>,
}

impl Run {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn plan(&self) -> Plan {
        self.state().plan.clone()
    }

    pub(super) fn set_plan(&self, plan: Plan) {
        self.state().plan = plan;
    }

    pub(super) fn progress(&self) -> Option<Progress> {
        self.state().progress.clone()
    }

    /// What it says of single rows: shared, because it can have as many as the file.
    ///
    /// R426.
    pub(super) fn report(&self) -> Arc<Report> {
        Arc::clone(&self.state().report)
    }

    /// Back to the columns.
    pub(super) fn forget_progress(&self) {
        let mut state = self.state();
        (state.progress, state.report) = (None, Arc::default());
    }

    fn is_under_way(&self) -> bool {
        self.state().progress.as_ref().is_some_and(|progress| !progress.is_over)
    }

    /// For how long it is still kept if nobody looks at it.
    fn left(&self) -> Duration {
        if self.is_under_way() { KEPT } else { KEPT.saturating_sub(self.state().seen.elapsed()) }
    }

    /// R426. Does the work of an import to its end. A panic of it is a failed import: it would
    /// otherwise look as if it went on.
    async fn carry_out(&self, work: impl Future<Output = Result<(), String>> + Send) {
        let outcome = AssertUnwindSafe(work).catch_unwind().await;
        let outcome = outcome.unwrap_or_else(|_| {
            tracing::error!(import = self.id, "an import of contacts panicked");
            Err("an error of this program; its log says more".to_owned())
        });
        let mut state = self.state();
        let progress = state.progress.get_or_insert_default();
        progress.stopped = outcome.err();
        progress.is_over = true;
        state.seen = Instant::now();
    }

    fn change(&self, change: impl FnOnce(&mut Progress, &mut Report)) {
        let mut state = self.state();
        let State { progress, report, .. } = &mut *state;
        change(progress.get_or_insert_default(), Arc::make_mut(report));
    }

    /// The rows of the file from one to another, by the plan.
    fn rows(&self, plan: &Plan, from: usize, to: usize) -> Vec<Row> {
        let lines = self.sheet.lines.iter().take(to).skip(from);
        lines.map(|line| self.sheet.row(line, &plan.fields)).collect()
    }

    /// What the first rows would become, and nothing is written (R286).
    pub(super) async fn preview(
        &self,
        visit: &Visit,
        count: usize,
    ) -> ManageResult<Vec<RowOutcome>> {
        let plan = self.plan();
        let manner = RowManner { is_rehearsal: true, ..plan.manner };
        let import = RowImport::new(&visit.recado, visit.company.clone(), manner).await?;
        import.import_all(&self.rows(&plan, 0, count)).await
    }
}

/// The imports of this process. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Imports {
    known: Arc<Mutex<Known>>,
    cells: AllCells,
}

#[derive(Debug, Default)]
struct Known {
    made: u64,
    runs: Vec<Arc<Run>>,
    /// The field that a company last chose for a column, by its name in lower case.
    columns: BTreeMap<(CompanyId, String), String>,
}

impl Imports {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// R426. What counts the cells of a file of the company.
    pub(super) fn hold(&self, company: CompanyId) -> CellsHeld {
        CellsHeld::new(self.cells.clone(), company)
    }

    /// R426. Forgets a file, so that another one of the company has room: of its own files the one
    /// that was not looked at for the longest time, else of all; false while imports are under way
    /// in all of them.
    pub(super) fn forget_one(&self, company: CompanyId) -> bool {
        let runs = &mut self.known().runs;
        forget_oldest(runs, |run| run.company == company) || forget_oldest(runs, |_| true)
    }

    /// R426. Keeps a file. Old ones of the company make room, and then those of the process that
    /// were not looked at for the longest time; `None` while imports are under way in all of them.
    pub(super) fn keep(
        &self,
        company: CompanyId,
        now: Timestamp,
        filename: String,
        sheet: Sheet,
        plan: Plan,
    ) -> Option<Arc<Run>> {
        let mut known = self.known();
        let of_company = |run: &Run| run.company == company;
        make_room(&mut known.runs, OF_COMPANY, of_company)?;
        make_room(&mut known.runs, OF_PROCESS, |_| true)?;
        known.made += 1;
        let id = format!("{:x}-{}", now.millis(), known.made);
        let state = Mutex::new(State {
            plan,
            progress: None,
            report: Arc::default(),
            seen: Instant::now(),
        });
        let run = Arc::new(Run { id, company, filename, sheet, state });
        known.runs.push(Arc::clone(&run));
        drop(known);
        self.forget_later(&run);
        Some(run)
    }

    /// R426. Forgets a file and its report once nobody has looked at it for two hours, also when no
    /// other file comes.
    fn forget_later(&self, run: &Arc<Run>) {
        let (all, run) = (Arc::downgrade(&self.known), Arc::downgrade(run));
        tokio::spawn(async move {
            loop {
                let left = {
                    // Another file took its place, or the console is gone.
                    let (Some(all), Some(run)) = (all.upgrade(), run.upgrade()) else { return };
                    let mut known = all.lock().unwrap_or_else(PoisonError::into_inner);
                    let left = run.left();
                    if left.is_zero() {
                        known.runs.retain(|other| !Arc::ptr_eq(other, &run));
                        return;
                    }
                    left
                };
                tokio::time::sleep(left).await;
            }
        });
    }

    /// A file of the company.
    pub(super) fn find(&self, company: CompanyId, id: &str) -> Option<Arc<Run>> {
        let known = self.known();
        let run = known.runs.iter().find(|run| run.company == company && run.id == id)?;
        run.state().seen = Instant::now();
        Some(run.clone())
    }

    /// Remembers which field each column is.
    pub(super) fn remember(&self, run: &Run, plan: &Plan) {
        let mut known = self.known();
        for (name, field) in run.sheet.names.iter().zip(&plan.fields) {
            let key = (run.company, name.trim().to_lowercase());
            let of_company = known.columns.keys().filter(|(company, _)| *company == run.company);
            if of_company.count() < REMEMBERED || known.columns.contains_key(&key) {
                known.columns.insert(key, field.clone().unwrap_or_default());
            }
        }
    }

    /// The field that the company last chose for a column of this name.
    pub(super) fn remembered(&self, company: CompanyId, name: &str) -> Option<Option<String>> {
        let known = self.known();
        let field = known.columns.get(&(company, name.trim().to_lowercase()))?;
        Some(Some(field.clone()).filter(|field| !field.is_empty()))
    }

    /// Begins the import of a file, which goes on by itself; false if one of the company is under
    /// way.
    pub(super) fn begin(&self, visit: &Visit, run: &Arc<Run>) -> bool {
        let known = self.known();
        if known.runs.iter().any(|other| other.company == run.company && other.is_under_way()) {
            return false;
        }
        let plan = run.plan();
        let is_rehearsal = plan.manner.is_rehearsal;
        run.forget_progress();
        run.state().progress = Some(Progress { is_rehearsal, ..Progress::default() });
        let (recado, company, run) = (visit.recado.clone(), visit.company.clone(), run.clone());
        tokio::spawn(async move { run.carry_out(work(&recado, company, &run, &plan)).await });
        true
    }
}

/// Forgets those that were not looked at for the longest time, until fewer than `most` of these are
/// left; `None` while imports are under way in too many of them.
fn make_room(runs: &mut Vec<Arc<Run>>, most: usize, are: impl Fn(&Run) -> bool) -> Option<()> {
    while runs.iter().filter(|run| are(run)).count() >= most {
        if !forget_oldest(runs, &are) {
            return None;
        }
    }
    Some(())
}

/// Forgets the one of these that was not looked at for the longest time; false while imports are
/// under way in all of them.
fn forget_oldest(runs: &mut Vec<Arc<Run>>, are: impl Fn(&Run) -> bool) -> bool {
    let idle = runs.iter().enumerate().filter(|(_, run)| are(run) && !run.is_under_way());
    let oldest = idle.min_by_key(|(_, run)| run.state().seen).map(|(oldest, _)| oldest);
    oldest.map(|oldest| runs.remove(oldest)).is_some()
}

/// Imports all rows, portion by portion; an error is why it stopped.
async fn work(
    recado: &Recado,
    company: recado_core::access::Company,
    run: &Run,
    plan: &Plan,
) -> Result<(), String> {
    let id = company.id;
    let import = RowImport::new(recado, company, plan.manner).await;
    let mut import = import.map_err(|error| error.to_string())?;
    if !plan.manner.is_rehearsal {
        let (list, tag) = (plan.list.as_deref(), plan.tag.as_deref());
        let labels = Labels::find_or_make(recado, id, list, tag).await;
        import = import.with_labels(labels.map_err(|error| error.to_string())?);
    }
    let mut done = 0;
    while done < run.sheet.lines.len() {
        let rows = run.rows(plan, done, done + PORTION);
        let outcomes = tried(&import, &rows).await?;
        run.change(|progress, report| {
            for (index, outcome) in (done..).zip(&outcomes) {
                progress.tally.count(outcome);
                if let Imported::Refused(problems) = &outcome.imported {
                    report.refused.push((index, problems.clone()));
                }
                let line = run.sheet.lines.get(index).map_or(0, |line| line.line);
                let room = EXAMPLES.saturating_sub(report.skipped.len());
                let skipped = outcome.skipped.iter().take(room).cloned();
                report.skipped.extend(skipped.map(|skipped| (line, skipped)));
            }
        });
        done += rows.len();
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// Imports a portion, again while the store fails: rows that are there are recognized.
async fn tried(import: &RowImport, rows: &[Row]) -> Result<Vec<RowOutcome>, String> {
    let mut failed = 0;
    loop {
        match import.import_all(rows).await {
            Ok(outcomes) => return Ok(outcomes),
            Err(error) if failed + 1 >= ATTEMPTS => return Err(error.to_string()),
            Err(_) => {
                failed += 1;
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

#[cfg(test)]
mod tests;
