//! What a move prints.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::ids::CompanyId;
use recado_core::store::StoreError;
use recado_store_sql::transfer::{
    DocumentCount, Fill, Outcome, Plan, Scope, TransferReader, TransferWriter, Transferable,
};
use serde::Serialize;

use super::super::output;
use crate::options::DatabaseLocation;

/// What was moved, or would be.
#[derive(Debug, Serialize)]
pub(super) struct View {
    from: String,
    to: String,
    company: Option<CompanyId>,
    dry_run: bool,
    /// Whether an earlier move had done everything.
    already: bool,
    rows: BTreeMap<&'static str, u64>,
    total_rows: u64,
    documents: Documents,
    seconds: Option<f64>,
    /// Changes of a company that was in use, which were repeated at the target.
    repeated: u64,
    /// For how long such a company was held.
    held_seconds: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Documents {
    count: u64,
    bytes: u64,
    /// Without bytes in the source.
    missing: u64,
}

impl From<DocumentCount> for Documents {
    fn from(counted: DocumentCount) -> Self {
        let DocumentCount { documents, bytes, missing } = counted;
        Self { count: documents, bytes, missing }
    }
}

/// Seconds with three decimals.
fn in_milliseconds(took: Duration) -> f64 {
    (took.as_secs_f64() * 1000.0).round() / 1000.0
}

impl View {
    pub(super) fn planned(
        from: &DatabaseLocation,
        to: &DatabaseLocation,
        scope: Scope,
        plan: &Plan,
    ) -> Self {
        let rows = plan.parts.iter().map(|counted| (counted.part.table(), counted.rows)).collect();
        let planned = Self::of(from, to, scope, rows, plan.documents);
        Self { dry_run: true, ..planned }
    }

    pub(super) fn moved(
        from: &DatabaseLocation,
        to: &DatabaseLocation,
        scope: Scope,
        outcome: &Outcome,
        took: Duration,
    ) -> Self {
        let moved = Self::of(from, to, scope, outcome.rows.clone(), outcome.documents);
        Self {
            already: outcome.already,
            seconds: Some(in_milliseconds(took)),
            repeated: outcome.repeated,
            held_seconds: outcome.held.map(in_milliseconds),
            ..moved
        }
    }

    fn of(
        from: &DatabaseLocation,
        to: &DatabaseLocation,
        scope: Scope,
        rows: BTreeMap<&'static str, u64>,
        documents: DocumentCount,
    ) -> Self {
        Self {
            from: format!("{from:?}"),
            to: format!("{to:?}"),
            company: scope.company(),
            dry_run: false,
            already: false,
            total_rows: rows.values().sum(),
            rows,
            documents: documents.into(),
            seconds: None,
            repeated: 0,
            held_seconds: None,
        }
    }

    pub(super) fn print(&self, json: bool) {
        if json {
            return output::record(true, &[], self);
        }
        for (table, rows) in self.rows.iter().filter(|(_, rows)| **rows > 0) {
            output::line(format_args!("{table:20} {rows:>12}"));
        }
        let Documents { count, bytes, missing } = &self.documents;
        if *count > 0 {
            output::line(format_args!("{:20} {count:>12} ({bytes} bytes)", "files"));
        }
        if *missing > 0 {
            output::line(format_args!("{missing} documents have no file in the source"));
        }
        output::line(match self {
            Self { dry_run: true, from, to, total_rows, .. } => {
                format!("{total_rows} records would be moved from {from} to {to}")
            }
            Self { already: true, from, to, .. } => {
                format!("{to} has everything of {from} already; {from} stays closed")
            }
            Self { from, to, total_rows, repeated, held_seconds: Some(held), .. } => format!(
                "{total_rows} records and {repeated} later changes were moved to {to} and \
                 compared; the company was held for {held:.1} s; in {from} it stays closed"
            ),
            Self { from, to, total_rows, seconds, .. } => format!(
                "{total_rows} records were moved to {to} in {:.1} s and compared; {from} stays \
                 closed",
                seconds.unwrap_or_default()
            ),
        });
    }
}

/// A target that is not there yet. A dry run does not make it.
pub(super) struct Nothing;

#[async_trait]
impl Transferable for Nothing {
    async fn held_companies(&self) -> Result<Vec<CompanyId>, StoreError> {
        Ok(Vec::new())
    }

    async fn identity(&self) -> Result<String, StoreError> {
        Ok(String::new())
    }

    async fn under_way(&self, _: Scope, _: Timestamp) -> Result<u64, StoreError> {
        Ok(0)
    }

    async fn transfer_out(&self, _: Scope, _: bool) -> Result<Box<dyn TransferReader>, StoreError> {
        Err(StoreError::Unavailable(None))
    }

    async fn transfer_in(&self, _: Scope, _: Fill) -> Result<Box<dyn TransferWriter>, StoreError> {
        Err(StoreError::Unavailable(None))
    }
}
