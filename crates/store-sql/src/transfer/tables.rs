//! What a move does with each table of a database.

use std::collections::BTreeSet;

use recado_core::match_kind;
use recado_core::store::RowKind;

use super::Scope;
use super::part::{Part, stays_behind};
use crate::record::Layout;

/// What a move does with a table that belongs to no kind of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// Its rows follow from others, and are made anew in the target.
    Derived,
    /// Its rows say something of this database only.
    Stays,
}

/// The tables whose rows are moved.
pub fn moved_tables() -> Vec<&'static str> {
    Part::order().into_iter().map(Part::table).collect()
}

/// The tables that a move fills in a target without companies, which are emptied before. Where one
/// company moves, no log is moved, and the target keeps its own.
///
/// R259, R390.
pub fn filled_tables(scope: Scope) -> Vec<&'static str> {
    let is_filled = |part: &Part| scope == Scope::Installation || !part.is_log();
    Part::order().into_iter().filter(is_filled).map(Part::table).collect()
}

/// The tables of a schema of which nothing is said: neither by a declared kind of record, nor by
/// the store that has the schema.
///
/// R257.
pub fn unaccounted<'a>(
    schema: impl IntoIterator<Item = &'a str>,
    own: &[(&str, Treatment)],
) -> Vec<&'a str> {
    let staying = RowKind::ALL.iter().copied().filter(|kind| stays_behind(*kind).is_some());
    let mut known: BTreeSet<&str> = moved_tables().into_iter().collect();
    known.extend(staying.map(|kind| match_kind!(kind, T => T::TABLE.name)));
    known.extend(own.iter().map(|(table, _)| *table));
    schema.into_iter().filter(|table| !known.contains(table)).collect()
}
