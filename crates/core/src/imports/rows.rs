//! Importing many rows at once, in the order of the file where rows name the same person (R426).

use std::collections::HashSet;

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, stream};
use serde_json::{Map, Value};

use super::outcome::{Imported, RowOutcome, RowProblems};
use super::person::person_keys;
use super::row::RowImport;
use crate::manage::ManageResult;

/// How many rows are imported at the same time.
const AT_ONCE: usize = 16;

/// A row as it was read: its body, or why it has none.
pub type Row = Result<Map<String, Value>, String>;

/// How many of the first rows can be imported at the same time; at least one.
fn apart(rows: &[Row]) -> usize {
    let mut seen = HashSet::new();
    for (count, row) in rows.iter().enumerate() {
        let keys = row.as_ref().map(person_keys).unwrap_or_default();
        if keys.iter().any(|key| seen.contains(key)) {
            return count;
        }
        seen.extend(keys);
    }
    rows.len()
}

impl RowImport {
    /// Imports rows, several at the same time; of rows that name the same person the earlier one
    /// comes first. The outcomes are in the order of the rows, and their contacts are in the list
    /// that was named.
    ///
    /// # Errors
    ///
    /// When the store fails; some of the rows may be imported. A repeat recognizes them.
    ///
    /// R426.
    pub async fn import_all(&self, rows: &[Row]) -> ManageResult<Vec<RowOutcome>> {
        let mut outcomes = Vec::with_capacity(rows.len());
        let mut rest = rows;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(apart(rest));
            let running: Vec<BoxFuture<'_, ManageResult<RowOutcome>>> =
                now.iter().map(|row| self.import_row(row.clone()).boxed()).collect();
            let running = stream::iter(running).buffered(AT_ONCE);
            let of_now: Vec<ManageResult<RowOutcome>> = running.collect().await;
            outcomes.extend(of_now.into_iter().collect::<ManageResult<Vec<_>>>()?);
            rest = later;
        }
        self.list(&outcomes).await?;
        Ok(outcomes)
    }

    async fn import_row(&self, row: Row) -> ManageResult<RowOutcome> {
        match row {
            Ok(body) => self.import(body).await,
            Err(reason) => Ok(RowOutcome::refused(RowProblems::whole(reason))),
        }
    }
}

/// The outcomes of rows, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowTally {
    /// Rows in all.
    pub rows: u64,
    /// New contacts.
    pub made: u64,
    /// Contacts that were changed.
    pub updated: u64,
    /// Contacts that were there and stay as they are.
    pub already_there: u64,
    /// Rows that were refused.
    pub refused: u64,
    /// Values that were left out.
    pub skipped: u64,
}

impl RowTally {
    /// Counts a row.
    pub const fn count(&mut self, outcome: &RowOutcome) {
        self.rows += 1;
        self.skipped += outcome.skipped.len() as u64;
        match &outcome.imported {
            Imported::Made => self.made += 1,
            Imported::Updated => self.updated += 1,
            Imported::AlreadyThere => self.already_there += 1,
            Imported::Refused(_) => self.refused += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(body: Value) -> Row {
        Ok(body.as_object().cloned().expect("an object"))
    }

    /// R426.
    #[test]
    fn rows_of_one_person_are_not_imported_at_the_same_time() {
        let rows = [
            row(json!({"phone": "+55 11 98765-4321"})),
            row(json!({"phone": "+5511987654322", "email": "a@example.org"})),
            row(json!({"phone": "(11) 98765-4321"})),
            row(json!({"phone": "+5511987654323", "email": "A@example.org "})),
        ];
        assert_eq!(apart(&rows), 2);
        assert_eq!(apart(&rows[1..3]), 2);
        assert_eq!(apart(&rows[1..]), 2);
        assert_eq!(apart(&[Err("is not UTF-8".to_owned())]), 1);
    }
}
