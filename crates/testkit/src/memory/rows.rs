//! The rows of the model: one map for each kind of record, and a journal to undo changes.

use std::collections::{BTreeMap, HashMap};

use recado_core::store::{Record, Row, RowKey, RowKind, Stored, Version};

/// A row with its version.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct VersionedRow {
    pub(super) row: Row,
    pub(super) version: Version,
    /// Its position in the order in which all rows were inserted.
    pub(super) sequence: u64,
}

/// All rows.
#[derive(Debug, Default)]
pub(super) struct MemoryRows {
    kinds: BTreeMap<RowKind, HashMap<RowKey, VersionedRow>>,
    journal: Vec<(RowKey, Option<VersionedRow>)>,
}

impl MemoryRows {
    /// The row of a key.
    pub(super) fn entry(&self, key: &RowKey) -> Option<&VersionedRow> {
        self.kinds.get(&key.kind())?.get(key)
    }

    /// The record of a key.
    pub(super) fn get<T: Record>(&self, key: &RowKey) -> Option<Stored<T>> {
        self.entry(key).and_then(stored)
    }

    /// All records of a kind, in no order.
    pub(super) fn all<T: Record>(&self) -> impl Iterator<Item = &T> {
        self.entries(T::KIND).filter_map(|entry| T::of(&entry.row))
    }

    /// All records of a kind with their versions, in no order.
    pub(super) fn all_stored<T: Record>(&self) -> impl Iterator<Item = Stored<T>> {
        self.entries(T::KIND).filter_map(stored)
    }

    /// All rows of a kind, in no order.
    pub(super) fn entries(&self, kind: RowKind) -> impl Iterator<Item = &VersionedRow> {
        self.kinds.get(&kind).into_iter().flat_map(HashMap::values)
    }

    /// All rows, in no order.
    pub(super) fn every_entry(&self) -> impl Iterator<Item = &VersionedRow> {
        self.kinds.values().flat_map(HashMap::values)
    }

    /// Sets or removes a row, and records the previous one.
    pub(super) fn set(&mut self, key: RowKey, entry: Option<VersionedRow>) {
        let before = self.replace(&key, entry);
        self.journal.push((key, before));
    }

    /// Makes all changes since the last `keep` or [`MemoryRows::undo`] permanent.
    pub(super) fn keep(&mut self) {
        self.journal.clear();
    }

    /// Undoes all changes that were not made permanent.
    pub(super) fn undo(&mut self) {
        while let Some((key, before)) = self.journal.pop() {
            self.replace(&key, before);
        }
    }

    fn replace(&mut self, key: &RowKey, entry: Option<VersionedRow>) -> Option<VersionedRow> {
        let rows = self.kinds.entry(key.kind()).or_default();
        match entry {
            Some(entry) => rows.insert(key.clone(), entry),
            None => rows.remove(key),
        }
    }
}

fn stored<T: Record>(entry: &VersionedRow) -> Option<Stored<T>> {
    T::of(&entry.row).map(|record| Stored::new(record.clone(), entry.version))
}
