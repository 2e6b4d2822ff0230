//! Imports of this process: files that wait for their columns, imports under way, and their
//! reports. A restart forgets them; what was imported is recognized when the file is sent again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use recado_core::ids::CompanyId;
use recado_core::imports::{
    Imported, Labels, Row, RowImport, RowManner, RowOutcome, RowProblems, RowTally, Skipped,
};
use recado_core::{ManageResult, Recado};

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

/// How far an import is.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    pub(super) tally: RowTally,
    /// Refused rows by their index in the file.
    pub(super) refused: Vec<(usize, RowProblems)>,
    /// The first values that were left out, with their lines.
    pub(super) skipped: Vec<(u64, Skipped)>,
    /// Why it ended before its end.
    pub(super) stopped: Option<String>,
    pub(super) is_over: bool,
    pub(super) is_rehearsal: bool,
}

#[derive(Debug, Default)]
struct State {
    plan: Plan,
    progress: Option<Progress>,
    seen: Option<Instant>,
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

    /// Back to the columns.
    pub(super) fn forget_progress(&self) {
        self.state().progress = None;
    }

    fn is_under_way(&self) -> bool {
        self.state().progress.as_ref().is_some_and(|progress| !progress.is_over)
    }

    fn change(&self, change: impl FnOnce(&mut Progress)) {
        change(self.state().progress.get_or_insert_default());
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

/// The imports of this process.
#[derive(Debug, Default)]
pub(crate) struct Imports(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    made: u64,
    runs: Vec<Arc<Run>>,
    /// The field that a company last chose for a column, by its name in lower case.
    columns: BTreeMap<(CompanyId, String), String>,
}

impl Imports {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a file. Old ones of the company make room.
    pub(super) fn keep(
        &self,
        visit: &Visit,
        filename: String,
        sheet: Sheet,
        plan: Plan,
    ) -> Arc<Run> {
        let mut known = self.known();
        known.made += 1;
        let id = format!("{:x}-{}", visit.recado.now().millis(), known.made);
        let company = visit.company.id;
        let seen = Some(Instant::now());
        let state = Mutex::new(State { plan, progress: None, seen });
        let run = Arc::new(Run { id, company, filename, sheet, state });
        known.runs.retain(|run| {
            let is_recent = run.state().seen.is_some_and(|seen| seen.elapsed() < KEPT);
            is_recent || run.is_under_way()
        });
        let own = known.runs.iter().filter(|run| run.company == company).count();
        if own >= OF_COMPANY {
            let oldest =
                known.runs.iter().position(|run| run.company == company && !run.is_under_way());
            if let Some(oldest) = oldest {
                known.runs.remove(oldest);
            }
        }
        known.runs.push(run.clone());
        run
    }

    /// A file of the company.
    pub(super) fn find(&self, company: CompanyId, id: &str) -> Option<Arc<Run>> {
        let known = self.known();
        let run = known.runs.iter().find(|run| run.company == company && run.id == id)?;
        run.state().seen = Some(Instant::now());
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
        run.state().progress = Some(Progress { is_rehearsal, ..Progress::default() });
        let (recado, company, run) = (visit.recado.clone(), visit.company.clone(), run.clone());
        tokio::spawn(async move {
            let outcome = work(&recado, company, &run, &plan).await;
            run.change(|progress| {
                progress.stopped = outcome.err();
                progress.is_over = true;
            });
        });
        true
    }
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
        run.change(|progress| {
            for (index, outcome) in (done..).zip(&outcomes) {
                progress.tally.count(outcome);
                if let Imported::Refused(problems) = &outcome.imported {
                    progress.refused.push((index, problems.clone()));
                }
                let line = run.sheet.lines.get(index).map_or(0, |line| line.line);
                let room = EXAMPLES.saturating_sub(progress.skipped.len());
                let skipped = outcome.skipped.iter().take(room).cloned();
                progress.skipped.extend(skipped.map(|skipped| (line, skipped)));
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
