//! The first steps of a commit, before it locks any row: they take the locks of rows that many
//! commits rely on and the locks of companies, and make the checks that need those locks.

use std::collections::BTreeMap;

use recado_core::Timestamp;
use recado_core::halts::HaltSubject;
use recado_core::ids::CompanyId;
use recado_core::store::{Change, ChangeKind, ChangeSet, Precondition, Row, RowKey, Version};
use recado_store_sql::signed;

use crate::commit::{CommitStep, company_lock};
use crate::events::journal_lock;
use crate::param::params;

/// Takes the locks that are not null.
const ENTER: &str =
    "SELECT pg_advisory_xact_lock_shared($1::bigint), pg_advisory_xact_lock_shared($2::bigint)";

/// Fails unless the routes of `$1` have the version `$2`, or are missing if that is null. It comes
/// after the advisory lock of the journal, as a statement of its own: an engine with several nodes
/// may run a statement where its rows are, and would take the lock there.
const ROUTED: &str = "\
SELECT 1 / CASE WHEN (SELECT version FROM routes WHERE company_id = $1) \
IS NOT DISTINCT FROM $2::bigint THEN 1 ELSE 0 END";

/// Waits for every commit that has [`OPEN`], and keeps later ones waiting until this one has ended.
/// Dumps, which lock every table for as long as they last, neither wait nor are waited for.
const CLOSE: &str = "LOCK TABLE halts IN EXCLUSIVE MODE";

/// Fails if one of `$1` is closed. The statement's lock on the table, which is kept until the
/// commit has ended, is one that [`CLOSE`] conflicts with, and it is taken before the statement
/// gets its snapshot: so a commit either ends before a closure begins, or sees it. While nothing is
/// closed, no row is locked.
const OPEN: &str = "SELECT 1 / CASE WHEN EXISTS (SELECT 1 FROM halts WHERE kind = 'writing' \
AND subject = ANY ($1::uuid[]) FOR KEY SHARE) THEN 0 ELSE 1 END";

/// Fails while the frontier of exports is at or after `$2`.
const NOT_EXPORTED: &str = "SELECT 1 / (1 - count(*)) FROM export_frontiers \
                            WHERE company_id = $1 AND created_at >= $2";

/// Takes the locks `$1`, in order. Those for which `$2` is true are taken exclusively, the others
/// shared.
const RELY: &str = "\
SELECT CASE WHEN l.alone THEN pg_advisory_xact_lock(l.number) END, \
CASE WHEN NOT l.alone THEN pg_advisory_xact_lock_shared(l.number) END \
FROM unnest($1::bigint[], $2::boolean[]) AS l (number, alone)";

/// The advisory lock of a row that very many commits rely on and few write. While a campaign runs,
/// each of its messages relies on the campaign and on its connection. If each of them locked the
/// row itself, each would write to it, and an update would wait as long as there is always another
/// one.
pub(crate) fn relied_on(key: &RowKey) -> Option<i64> {
    let (id, kind) = match key {
        RowKey::Campaign { id, .. } => (id.uuid(), 0x6361_6d70_6169_676e),
        RowKey::Connection { id, .. } => (id.uuid(), 0x636f_6e6e_6563_7469),
        _ => return None,
    };
    let (high, low) = id.as_u64_pair();
    Some((high.rotate_left(29) ^ low ^ kind).cast_signed())
}

/// The step that takes the locks of rows that many commits rely on. It comes before all other
/// locks, so that a commit that waits here holds no lock that others need.
fn rely(steps: &mut Vec<CommitStep>, changes: &ChangeSet) {
    let mut locks: BTreeMap<i64, bool> = BTreeMap::new();
    for precondition in &changes.requires {
        if let Precondition::Unchanged { key, .. } = precondition
            && let Some(lock) = relied_on(key)
        {
            locks.entry(lock).or_default();
        }
    }
    for change in &changes.changes {
        let lock = match change.kind() {
            ChangeKind::Update { row, .. } => relied_on(&row.key()),
            ChangeKind::Delete { key, .. } => relied_on(key),
            _ => None,
        };
        locks.extend(lock.map(|lock| (lock, true)));
    }
    if !locks.is_empty() {
        let (numbers, alone): (Vec<i64>, Vec<bool>) = locks.into_iter().unzip();
        steps.push(CommitStep::new(RELY, params![numbers, alone], None));
    }
}

/// The locks and checks of one company that a change set needs.
#[derive(Default)]
struct CompanyLocks {
    /// Whether there are events of the company, which get positions.
    journal: bool,
    /// The creation time of the oldest contact that no export may have passed.
    not_exported: Option<Timestamp>,
    /// The versions that the company's routes must have.
    routed: Vec<Option<Version>>,
}

/// The steps on what is closed. They come before all others, so that a commit that waits for a
/// closure holds nothing that others need.
fn open(steps: &mut Vec<CommitStep>, changes: &ChangeSet) {
    let is_halt = |change: &Change| match change.kind() {
        ChangeKind::Insert(row) | ChangeKind::Update { row, .. } => matches!(row, Row::Halt(_)),
        ChangeKind::Delete { key, .. } => matches!(key, RowKey::Halt { .. }),
        _ => false,
    };
    if changes.changes.iter().any(is_halt) {
        steps.push(CommitStep::new(CLOSE, Vec::new(), None));
    }
    for precondition in &changes.requires {
        if let Precondition::Open { companies } = precondition {
            let mut subjects = vec![HaltSubject::Writing.whose()];
            subjects.extend(companies.iter().map(|company| company.uuid()));
            steps.push(CommitStep::open(OPEN, params![subjects]));
        }
    }
}

/// The first steps of a commit. Every commit locks companies in the same order, and holds no row
/// lock yet.
pub(crate) fn enter(steps: &mut Vec<CommitStep>, changes: &ChangeSet) {
    open(steps, changes);
    rely(steps, changes);
    let mut companies: BTreeMap<CompanyId, CompanyLocks> = BTreeMap::new();
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
            Precondition::Unchanged { .. }
            | Precondition::Open { .. }
            | Precondition::Counted { .. } => {}
        }
    }
    for (company, wanted) in &companies {
        let journal = wanted.journal.then(|| journal_lock(*company));
        let export = wanted.not_exported.map(|_| company_lock(*company));
        if journal.is_some() || export.is_some() {
            steps.push(CommitStep::new(ENTER, params![journal, export], None));
        }
    }
    // These statements have to see everything that was committed before the lock was granted.
    for (company, wanted) in &companies {
        if let Some(created_at) = wanted.not_exported {
            let params = params![company.uuid(), created_at.millis()];
            steps.push(CommitStep::not_exported(NOT_EXPORTED, params, *company));
        }
        for read_at in &wanted.routed {
            let read_at = read_at.map(|version| signed(version.number()));
            let about = RowKey::Routes { company: *company };
            let params = params![company.uuid(), read_at];
            steps.push(CommitStep::new(ROUTED, params, Some(about)));
        }
    }
}
