//! Commits: one transaction, sent whole.
//!
//! Its statements come in this order: the lock and the check of exports; rows that exist already,
//! locked in the order of their keys, so that two commits cannot wait for each other; the changes;
//! the events. Changes that lock in that order by themselves need no locks before.

use std::collections::BTreeMap;
use std::collections::HashSet;

use async_trait::async_trait;
use recado_core::events::Event;
use recado_core::ids::CompanyId;
use recado_core::lists::ListMember;
use recado_core::store::{
    Change, ChangeKind, ChangeSet, Commit, CommitError, Conflict, Precondition, Row, RowKey,
    Version,
};

use crate::PostgresStore;
use crate::error::refused;
use crate::lists::insert_members;
use crate::place::{Part, Place};
use crate::session::{Around, Session, Statement};
use crate::table::{Param, Table, params, signed};

/// The lock that creators of contacts share and exports take alone.
pub(crate) fn company_lock(company: CompanyId) -> i64 {
    let (high, low) = company.uuid().as_u64_pair();
    // Ids made in the same millisecond differ in the low half. Another company under the same lock
    // costs time, nothing else.
    (high.rotate_left(17) ^ low).cast_signed()
}

/// Fails while the frontier of exports is at or after `$2`.
const NOT_EXPORTED: &str = "SELECT 1 / (1 - count(*)) FROM export_frontiers \
                            WHERE company_id = $1 AND created_at >= $2";

/// Calls a generic function with the table of a row.
macro_rules! with_table {
    ($row:expr, $record:ident => $body:expr) => {
        match $row {
            Row::Company($record) => $body,
            Row::ApiKey($record) => $body,
            Row::Member($record) => $body,
            Row::Secret($record) => $body,
            Row::Contact($record) => $body,
            Row::ContactTag($record) => $body,
            Row::CustomField($record) => $body,
            Row::List($record) => $body,
            Row::ListMember($record) => $body,
            Row::Tag($record) => $body,
            Row::CloseReason($record) => $body,
            Row::Pipeline($record) => $body,
            Row::Stage($record) => $body,
            Row::Deal($record) => $body,
            Row::Organization($record) => $body,
            Row::Document($record) => $body,
            Row::Link($record) => $body,
            Row::Click($record) => $body,
            Row::Connection($record) => $body,
            Row::Group($record) => $body,
            Row::Alias($record) => $body,
            Row::Conversation($record) => $body,
            Row::Message($record) => $body,
            Row::MessageRef($record) => $body,
            Row::LeadMemory($record) => $body,
            Row::LedgerLine($record) => $body,
            Row::RememberedCall($record) => $body,
            Row::Worker($record) => $body,
            Row::Template($record) => $body,
            Row::Job($record) => $body,
        }
    };
}

/// A statement, and the row that is stale if it fails for want of a row.
struct Step {
    statement: Statement,
    about: Option<RowKey>,
}

impl Step {
    fn new(sql: &'static str, params: Vec<Param>, about: Option<RowKey>) -> Self {
        Self { statement: Statement::new(sql, params), about }
    }
}

/// Lays a change set out as the steps of one transaction.
fn steps(changes: ChangeSet) -> Result<Vec<Step>, Conflict> {
    let mut steps = Vec::new();
    for precondition in &changes.requires {
        if let Precondition::NotExported { company, created_at } = precondition {
            let lock = "SELECT pg_advisory_xact_lock_shared($1)";
            steps.push(Step::new(lock, params![company_lock(*company)], None));
            let params = params![company.uuid(), created_at.millis()];
            let about = RowKey::ExportFrontier { company: *company };
            steps.push(Step::new(NOT_EXPORTED, params, Some(about)));
        }
    }
    lock_rows(&mut steps, &changes)?;
    apply_changes(&mut steps, changes.changes)?;
    for event in changes.events {
        steps.push(Step::new(&Event::sql().insert, event.bind(), None));
    }
    Ok(steps)
}

/// What has to be locked of a row before anything is written.
#[derive(Default)]
struct Locks {
    place: Option<(RowKey, Place)>,
    unchanged: Vec<Version>,
    written: bool,
    deleted: bool,
}

/// Locks the rows that exist already, where there are several, and checks the preconditions.
fn lock_rows(steps: &mut Vec<Step>, changes: &ChangeSet) -> Result<(), Conflict> {
    let inserted: HashSet<RowKey> = changes
        .changes
        .iter()
        .filter_map(|change| match change.kind() {
            ChangeKind::Insert(row) => Some(row.key()),
            _ => None,
        })
        .collect();
    let mut locks: BTreeMap<(&'static str, Vec<Part>), Locks> = BTreeMap::new();
    let mut lock = |key: RowKey, set: &dyn Fn(&mut Locks)| match Place::find(&key) {
        None => Err(Conflict::Stale(key)),
        Some(place) => {
            let locks = locks.entry((place.table, place.key.clone())).or_default();
            set(locks);
            locks.place = Some((key, place));
            Ok(())
        }
    };
    for precondition in &changes.requires {
        if let Precondition::Unchanged { key, read_at } = precondition {
            lock(key.clone(), &|locks| locks.unchanged.push(*read_at))?;
        }
    }
    for change in &changes.changes {
        let (key, deleted) = match change.kind() {
            ChangeKind::Update { row, .. } => (row.key(), false),
            ChangeKind::Delete { key, .. } => (key.clone(), true),
            _ => continue,
        };
        if !inserted.contains(&key) {
            lock(key, &|locks| {
                locks.written = true;
                locks.deleted |= deleted;
            })?;
        }
    }
    if in_order(&locks, &changes.changes) {
        return Ok(());
    }
    let several = locks.len() > 1;
    for locks in locks.into_values() {
        let Some((key, place)) = locks.place else { continue };
        if locks.written && (several || !locks.unchanged.is_empty()) {
            let sql = if locks.deleted { &place.sql.lock_key } else { &place.sql.lock };
            steps.push(Step::new(sql, place.params(), None));
        }
        for version in locks.unchanged {
            let params = place.params_at(version);
            steps.push(Step::new(&place.sql.unchanged, params, Some(key.clone())));
        }
    }
    Ok(())
}

/// Whether the changes begin with updates of all the rows, in their order, and nothing else has to
/// be known of them: then the updates themselves lock as they should.
fn in_order(locks: &BTreeMap<(&'static str, Vec<Part>), Locks>, changes: &[Change]) -> bool {
    let plain = |locks: &Locks| !locks.deleted && locks.unchanged.is_empty();
    let keys = changes.iter().map_while(|change| match change.kind() {
        ChangeKind::Update { row, .. } => Some(row.key()),
        _ => None,
    });
    locks.values().all(plain)
        && locks
            .values()
            .map(|locks| locks.place.as_ref().map(|(key, _)| key.clone()))
            .eq(keys.take(locks.len()).map(Some))
}

fn apply_changes(steps: &mut Vec<Step>, changes: Vec<Change>) -> Result<(), Conflict> {
    // Memberships that follow each other are inserted by one statement.
    let mut members: Vec<ListMember> = Vec::new();
    let flush = |steps: &mut Vec<Step>, members: &mut Vec<ListMember>| {
        let together = insert_members(&std::mem::take(members));
        steps.extend(together.map(|statement| Step { statement, about: None }));
    };
    for change in changes {
        match change.into_kind() {
            ChangeKind::Insert(Row::ListMember(member)) => {
                if members.first().is_some_and(|first| first.company != member.company) {
                    flush(steps, &mut members);
                }
                members.push(member);
            }
            other => {
                flush(steps, &mut members);
                steps.push(step(other)?);
            }
        }
    }
    flush(steps, &mut members);
    Ok(())
}

fn step(change: ChangeKind) -> Result<Step, Conflict> {
    match change {
        ChangeKind::Insert(row) => Ok(with_table!(row, record => insert(record))),
        ChangeKind::Update { row, read_at } => {
            let key = row.key();
            Ok(with_table!(row, record => update(record, read_at, key)))
        }
        ChangeKind::Delete { key, read_at } => match Place::find(&key) {
            Some(place) => {
                let params = place.params_at(read_at);
                Ok(Step::new(&place.sql.delete, params, Some(key)))
            }
            None => Err(Conflict::Stale(key)),
        },
        // Kinds of change that this version does not know cannot be applied.
        _ => Err(Conflict::Contended),
    }
}

fn insert<T: Table>(record: T) -> Step {
    Step::new(&T::sql().insert, record.bind(), None)
}

fn update<T: Table>(record: T, read_at: Version, key: RowKey) -> Step {
    if !T::VERSIONED {
        // All columns are the key: there is nothing to write, but it must be there.
        let params = Place::find(&key).map(|place| place.params()).unwrap_or_default();
        return Step::new(&T::sql().unchanged, params, Some(key));
    }
    let mut params = record.bind();
    params.extend(params![signed(read_at.number())]);
    Step::new(&T::sql().update, params, Some(key))
}

#[async_trait]
impl Commit for PostgresStore {
    async fn commit(&self, changes: ChangeSet) -> Result<(), CommitError> {
        let steps = steps(changes)?;
        if steps.is_empty() {
            return Ok(());
        }
        let around = if steps.len() == 1 { Around::Nothing } else { Around::Transaction };
        let mut subjects = Vec::with_capacity(steps.len());
        let mut statements = Vec::with_capacity(steps.len());
        for step in steps {
            subjects.push(step.about);
            statements.push(step.statement);
        }
        let session = Session::take(&self.pool).await?;
        let outcome = session.run(around, statements).await?;
        match outcome.into_rows() {
            Ok(_) => Ok(()),
            Err((at, error)) => {
                let about = subjects.get(at).and_then(Option::as_ref);
                Err(refused(error, about))
            }
        }
    }
}
