//! How many methods a new store has to implement.

#![expect(clippy::unwrap_used, reason = "a failure is a failed test")]

use std::path::Path;

/// The methods of the traits that [`recado_core::store::Store`] joins, at most.
///
/// A read of a kind of row belongs into [`recado_core::store::Listing`]. These do not:
/// `login_by_email` and `login_by_subject`, as they look in all companies, and keys begin with the
/// company; `sessions_of`, which would be a listing of its own, with the same condition in each
/// store; `count_about`, `has_many`, `ledger_totals` and `figures`, which answer numbers of rows
/// that are too many to be read; `newest_events`, as events are no rows; and `shards`, as a number
/// that indexes are computed by is none either.
const METHODS: usize = 63;

/// Counts the methods of the read traits and of the others, in a folder and below.
fn methods(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| match path.is_dir() {
            true => methods(&path),
            false => in_file(&std::fs::read_to_string(path).unwrap()),
        })
        .sum()
}

fn in_file(source: &str) -> usize {
    let mut counts = false;
    let mut found = 0;
    for line in source.lines() {
        if let Some(rest) = line.strip_prefix("pub trait ") {
            let name = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap();
            counts = name.ends_with("Reads")
                || ["Records", "Commit", "Claims", "Upkeep", "Outbox", "Signals"].contains(&name);
        }
        counts &= line != "}";
        let is_method = line.starts_with("    async fn ") || line.starts_with("    fn ");
        found += usize::from(counts && is_method);
    }
    found
}

#[test]
fn a_store_has_no_more_methods_than_it_needs() {
    let found = methods(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert_eq!(found, METHODS, "the contract of a store grew or shrank");
}
