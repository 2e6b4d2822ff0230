//! The columns of unique keys and references.

use std::collections::BTreeSet;

use recado_core::match_kind;
use recado_core::store::{RowKind, Unique, UniqueKey};

use crate::record::{Layout, TableDef};

/// The table of a kind.
pub fn table_of(kind: RowKind) -> TableDef {
    match_kind!(kind, T => T::TABLE)
}

/// The columns that a unique key is on.
pub fn unique_columns(unique: &Unique) -> BTreeSet<&'static str> {
    let table = table_of(unique.kind);
    match unique.key {
        // A job's kind and subject are parts of its data; the key is on columns derived from it.
        UniqueKey::JobSubject => {
            table.columns_of("company").chain(table.derived.iter().copied()).collect()
        }
        _ => unique.fields.iter().flat_map(|field| table.columns_of(field)).collect(),
    }
}
