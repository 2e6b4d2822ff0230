//! The progress bar: on standard error, and only if that is a terminal.

use indicatif::{ProgressBar, ProgressStyle};

use super::summary::Tally;

/// The progress through a file.
pub(super) struct ImportProgress(ProgressBar);

impl ImportProgress {
    /// The progress through so many bytes.
    pub(super) fn new(bytes: u64) -> Self {
        // It is hidden if standard error is not a terminal.
        let bar = ProgressBar::new(bytes);
        let style = ProgressStyle::with_template("{bar:40} {percent:>3}%  {msg}  {eta} left");
        Self(style.map_or(bar.clone(), |style| bar.with_style(style)))
    }

    /// Shows how far it has come.
    pub(super) fn show(&self, position: u64, tally: &Tally) {
        self.0.set_position(position);
        self.0.set_message(format!("{} lines, {} refused", tally.lines, tally.refused));
    }

    /// Removes the bar.
    pub(super) fn end(&self) {
        self.0.finish_and_clear();
    }
}
