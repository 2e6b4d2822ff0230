//! What a commit does before it touches any row: it takes the locks of its companies and checks
//! what holds without a lock.

use std::collections::BTreeMap;

use recado_core::Timestamp;
use recado_core::ids::CompanyId;
use recado_core::store::{ChangeSet, Precondition, RowKey, Version};

use crate::commit::{Step, company_lock};
use crate::events::journal_lock;
use crate::table::{params, signed};

/// Takes the locks that are not null.
const ENTER: &str =
    "SELECT pg_advisory_xact_lock_shared($1::bigint), pg_advisory_xact_lock_shared($2::bigint)";

/// The same, and fails unless the routes of `$3` have the version `$4`, or none.
const ENTER_ROUTED: &str = "\
SELECT pg_advisory_xact_lock_shared($1::bigint), pg_advisory_xact_lock_shared($2::bigint), \
1 / CASE WHEN (SELECT version FROM routes WHERE company_id = $3) IS NOT DISTINCT FROM $4::bigint \
THEN 1 ELSE 0 END";

/// Fails while the frontier of exports is at or after `$2`.
const NOT_EXPORTED: &str = "SELECT 1 / (1 - count(*)) FROM export_frontiers \
                            WHERE company_id = $1 AND created_at >= $2";

/// What a change set wants of one company.
#[derive(Default)]
struct Wanted {
    /// Its events get places.
    journal: bool,
    /// The creation of the oldest contact that no export may have passed.
    not_exported: Option<Timestamp>,
    /// The versions of its routes.
    routed: Vec<Option<Version>>,
}

/// The first steps of a commit. All of them take companies in the same order, and hold no row.
pub(crate) fn enter(steps: &mut Vec<Step>, changes: &ChangeSet) {
    let mut companies: BTreeMap<CompanyId, Wanted> = BTreeMap::new();
    for event in &changes.events {
        companies.entry(event.company).or_default().journal = true;
    }
    for precondition in &changes.requires {
        match precondition {
            Precondition::NotExported { company, created_at } => {
                let oldest = &mut companies.entry(*company).or_default().not_exported;
                *oldest = Some(oldest.map_or(*created_at, |oldest| oldest.min(*created_at)));
            }
            Precondition::Routed { company, read_at } => {
                companies.entry(*company).or_default().routed.push(*read_at);
            }
            Precondition::Unchanged { .. } => {}
        }
    }
    for (company, wanted) in &companies {
        let mut locks = (
            wanted.journal.then(|| journal_lock(*company)),
            wanted.not_exported.map(|_| company_lock(*company)),
        );
        for read_at in &wanted.routed {
            let read_at = read_at.map(|version| signed(version.number()));
            let (journal, export) = std::mem::take(&mut locks);
            let params = params![journal, export, company.uuid(), read_at];
            let about = RowKey::Routes { company: *company };
            steps.push(Step::new(ENTER_ROUTED, params, Some(about)));
        }
        if let (journal, export) = locks
            && (journal.is_some() || export.is_some())
        {
            steps.push(Step::new(ENTER, params![journal, export], None));
        }
    }
    // These have to see what was committed until the lock was there.
    for (company, wanted) in &companies {
        if let Some(created_at) = wanted.not_exported {
            let params = params![company.uuid(), created_at.millis()];
            let about = RowKey::ExportFrontier { company: *company };
            steps.push(Step::new(NOT_EXPORTED, params, Some(about)));
        }
    }
}
