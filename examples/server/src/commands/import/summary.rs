//! What is said of an import at its end.

use std::path::Path;
use std::time::Duration;

use recado_core::imports::{Imported, RowOutcome, Skipped};
use serde_json::json;

use super::target::Manner;
use crate::commands::output;

/// How many values that were left out are shown.
const SHOWN: usize = 20;

/// The outcomes of the lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) lines: u64,
    imported: u64,
    updated: u64,
    already_there: u64,
    pub(super) refused: u64,
    /// How many values were left out.
    skipped: u64,
    /// The first of them, with their lines.
    examples: Vec<(u64, Skipped)>,
}

impl Tally {
    /// Counts a line.
    pub(super) fn count(&mut self, line: u64, outcome: RowOutcome) {
        self.lines += 1;
        match outcome.imported {
            Imported::Made => self.imported += 1,
            Imported::Updated => self.updated += 1,
            Imported::AlreadyThere => self.already_there += 1,
            Imported::Refused(_) => {
                self.refused += 1;
                return;
            }
        }
        self.skipped += outcome.skipped.len() as u64;
        let room = SHOWN.saturating_sub(self.examples.len());
        self.examples.extend(outcome.skipped.into_iter().take(room).map(|skipped| (line, skipped)));
    }
}

/// Prints the summary.
pub(super) fn print(
    json: bool,
    manner: Manner,
    tally: &Tally,
    report: Option<&Path>,
    took: Duration,
) {
    let Tally { lines, imported, updated, already_there, refused, skipped, examples } = tally;
    let kind = manner.kind.as_str();
    if json {
        let examples: Vec<_> = examples
            .iter()
            .map(|(line, (field, reason))| json!({"line": line, "field": field, "reason": reason}))
            .collect();
        return output::json(&json!({
                "kind": kind,
                "dry_run": manner.is_rehearsal,
                "lines": lines,
                "imported": imported,
                "updated": updated,
                "already_there": already_there,
                "refused": refused,
                "refused_file": report,
                "values_left_out": skipped,
                "left_out": examples,
        }));
    }
    let dry = if manner.is_rehearsal { ", nothing was imported" } else { "" };
    output::line(format_args!("{kind}: {lines} lines in {:.1} s{dry}", took.as_secs_f64()));
    output::line(format_args!("imported       {imported}"));
    if manner.update {
        output::line(format_args!("updated        {updated}"));
    }
    output::line(format_args!("already there  {already_there}"));
    output::line(format_args!("refused        {refused}"));
    if *skipped > 0 {
        output::line(format_args!("left out       {skipped} values"));
        for (line, (field, reason)) in examples {
            output::line(format_args!("  line {line}: {field} {reason}"));
        }
    }
    if let Some(path) = report {
        output::line(format_args!("refused lines  {}", path.display()));
    }
}
