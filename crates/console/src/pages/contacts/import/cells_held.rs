//! How many cells of files the process holds (R426).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use recado_core::ids::CompanyId;

use super::runs::Imports;

/// The most cells of all files of the process. A cell takes about 50 bytes besides its text.
const MAX_HELD: usize = 6_000_000;

/// How many cells the files of the process hold. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct AllCells(Arc<AtomicUsize>);

impl AllCells {
    /// Counts cells, unless they would be too many.
    fn take(&self, cells: usize) -> bool {
        let grown = |held: usize| held.checked_add(cells).filter(|held| *held <= MAX_HELD);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown).is_ok()
    }
}

/// The cells of one file. They are given back when this is dropped.
#[derive(Debug)]
pub(super) struct CellsHeld {
    all: AllCells,
    company: CompanyId,
    cells: usize,
}

impl CellsHeld {
    /// Nothing yet, of a file of the company.
    pub(super) const fn new(all: AllCells, company: CompanyId) -> Self {
        Self { all, company, cells: 0 }
    }

    /// R426. Holds more cells. Other files make room; false if those hold too many whose imports
    /// are under way.
    pub(super) fn grow(&mut self, imports: &Imports, cells: usize) -> bool {
        while !self.all.take(cells) {
            if !imports.forget_one(self.company) {
                return false;
            }
        }
        self.cells += cells;
        true
    }
}

impl Drop for CellsHeld {
    fn drop(&mut self) {
        self.all.0.fetch_sub(self.cells, Ordering::Relaxed);
    }
}
