//! The progress bar: on standard error, and only if that is a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use recado_store_sql::transfer::{Counted, Plan, Progress, Step};

/// The progress of a move: each record is copied and compared, each document copied.
pub(super) struct MoveProgress {
    bar: ProgressBar,
    with_documents: bool,
}

impl MoveProgress {
    pub(super) fn new(with_documents: bool) -> Self {
        // It is hidden if standard error is not a terminal.
        let bar = ProgressBar::new(0);
        let style =
            ProgressStyle::with_template("{bar:30} {percent:>3}%  {msg}  {per_sec}  {eta} left");
        Self { bar: style.map_or(bar.clone(), |style| bar.with_style(style)), with_documents }
    }

    /// Shows how far it has come.
    pub(super) fn show(&mut self, progress: Progress) {
        match progress {
            Progress::Planned(plan) => self.bar.set_length(self.steps(&plan)),
            Progress::Closing => self.bar.set_message("closing the source"),
            Progress::Step(Step::Copied(counted)) => self.advance("copying", counted),
            Progress::Step(Step::Deriving) => self.bar.set_message("making indexes and counts"),
            Progress::Step(Step::Compared(counted)) => self.advance("comparing", counted),
            Progress::CaughtUp { changes } => {
                self.bar.set_message(format!("repeating {changes} changes"));
            }
            Progress::Document { .. } => {
                self.bar.set_message("copying documents");
                self.bar.inc(1);
            }
        }
    }

    /// How many steps a plan has.
    fn steps(&self, plan: &Plan) -> u64 {
        let rows: u64 = plan.parts.iter().map(|counted| counted.rows).sum();
        let documents = if self.with_documents { plan.documents.documents } else { 0 };
        2 * rows + documents
    }

    fn advance(&self, what: &str, counted: Counted) {
        self.bar.set_message(format!("{what} {}", counted.part.table()));
        self.bar.inc(counted.rows);
    }

    /// Removes the bar.
    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }
}
