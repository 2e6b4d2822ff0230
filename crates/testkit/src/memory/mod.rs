//! [`MemoryStore`]: the model that every other store is compared with.
//!
//! Plain maps with one lock, and the contract of [`recado_core::store`] written as literally as
//! code allows. The model is meant to be easy to check, not fast: most reads visit every row of
//! their kind.

mod accounts;
mod campaigns;
mod channels;
mod contacts;
mod deliveries;
mod events;
mod figures;
mod forgotten;
mod inbound;
mod messages;
mod portions;
mod reassign;
mod records;
mod rows;
mod signals;
mod upkeep;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::events::{Event, EventRecord};
use recado_core::halts::{Halt, Halted};
use recado_core::ids::CompanyId;
use recado_core::jobs::Job;
use recado_core::store::{
    Change, ChangeKind, ChangeSet, Claims, Commit, CommitError, Conflict, OnDelete, Precondition,
    Reference, Row, RowKey, Store, StoreError, Stored, UniqueKey, UpdatedPart, Version,
};

use crate::conformance::Harness;
use rows::{MemoryRows, VersionedRow};
use signals::MemorySignals;

/// A store in memory. Clones are handles on the same data, in the same process.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    state: Arc<Mutex<State>>,
    /// The number of this process. Notifications are received by the others.
    process: u32,
}

#[derive(Debug, Default)]
struct State {
    rows: MemoryRows,
    /// The position of the next inserted row.
    next_sequence: u64,
    events: Vec<SequencedEvent>,
    /// The position of the newest event.
    newest_event: u64,
    /// Events to move from one contact to another if the current commit succeeds.
    moving_events: Vec<portions::MovingEvents>,
    notifier: MemorySignals,
    /// The latest creation time that exports of a company have answered as a position.
    frontiers: BTreeMap<CompanyId, Timestamp>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// A handle on the same data that acts as another process: each receives the notifications of
    /// the other.
    #[must_use]
    pub fn another_process(&self) -> Self {
        let process = self.state().notifier.another_process();
        Self { state: Arc::clone(&self.state), process }
    }

    /// All events of a company, in the order of their commits. An erased event has no data.
    pub fn events(&self, company: CompanyId) -> Vec<Event> {
        let state = self.state();
        let records = state.events.iter().map(|event| &event.record);
        records.filter(|record| record.company == company).map(events::as_written).collect()
    }

    /// All jobs of a company, by id.
    pub fn jobs(&self, company: CompanyId) -> Vec<Job> {
        let state = self.state();
        let mut jobs: Vec<Job> =
            state.rows.all::<Job>().filter(|job| job.company == company).cloned().collect();
        jobs.sort_by_key(|job| job.id);
        jobs
    }

    /// The number of all rows but those of the audit log.
    pub fn row_count(&self) -> usize {
        let state = self.state();
        let rows = state.rows.every_entry();
        rows.filter(|entry| !matches!(entry.row, Row::AuditEntry(_))).count()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An event with its position.
#[derive(Clone, Debug)]
struct SequencedEvent {
    sequence: u64,
    record: EventRecord,
}

impl State {
    fn commit(&mut self, changes: ChangeSet) -> Result<(), Conflict> {
        let outcome = self.apply(changes.requires, changes.changes);
        match outcome {
            Ok(()) => {
                self.rows.keep();
                self.move_events();
                changes.events.into_iter().for_each(|event| self.append(event));
            }
            Err(_) => {
                self.rows.undo();
                self.moving_events.clear();
            }
        }
        outcome
    }

    fn apply(&mut self, requires: Vec<Precondition>, changes: Vec<Change>) -> Result<(), Conflict> {
        requires.iter().try_for_each(|precondition| self.check(precondition))?;
        for change in changes {
            match change.into_kind() {
                ChangeKind::Insert(row) => self.insert(row)?,
                ChangeKind::Update { row, read_at, part } => self.update(row, read_at, part)?,
                ChangeKind::Delete { key, read_at } => {
                    self.check_version(&key, read_at)?;
                    self.delete(key)?;
                }
                ChangeKind::Enroll { company, campaign, list } => {
                    self.enroll(company, campaign, list)?;
                }
                ChangeKind::Reassign { company, from, into } => {
                    self.reassign(company, from, into)?;
                }
                ChangeKind::ForgetMessages { company, contact, expires_at } => {
                    self.forget_messages(company, contact, expires_at, |_| true);
                }
                ChangeKind::ReassignSome { company, from, into, most } => {
                    self.reassign_some(company, from, into, most as usize)?;
                }
                ChangeKind::RemoveSome { company, contact, expires_at, most } => {
                    self.remove_some(company, contact, expires_at, most as usize)?;
                }
                ChangeKind::RemoveRows { company, of, most } => {
                    self.remove_rows(company, of, most as usize)?;
                }
                // This version cannot apply kinds of change that it does not know.
                _ => return Err(Conflict::Contended),
            }
        }
        Ok(())
    }

    fn check(&self, precondition: &Precondition) -> Result<(), Conflict> {
        match precondition {
            Precondition::Unchanged { key, read_at } => self.check_version(key, *read_at).map(drop),
            Precondition::NotExported { company, created_at } => {
                let frontier = self.frontiers.get(company);
                if frontier.is_some_and(|frontier| frontier >= created_at) {
                    return Err(Conflict::Exported(*company));
                }
                Ok(())
            }
            Precondition::Routed { company, read_at } => {
                let key = RowKey::Routes { company: *company };
                let version = self.rows.entry(&key).map(|entry| entry.version);
                if version == *read_at { Ok(()) } else { Err(Conflict::Stale(key)) }
            }
            Precondition::Open { companies } => {
                let halted = self.halted();
                let is_closed = companies.iter().any(|company| halted.is_closed_for(*company));
                if halted.is_closed() || is_closed { Err(Conflict::Closed) } else { Ok(()) }
            }
            Precondition::Counted { company, kind, contact, count } => {
                let found = self.referring_to(*company, *kind, *contact).len() as u64;
                let key = RowKey::Contact { company: *company, id: *contact };
                if found == *count { Ok(()) } else { Err(Conflict::Stale(key)) }
            }
        }
    }

    fn halted(&self) -> Halted {
        Halted::new(self.rows.all::<Halt>().cloned().collect())
    }

    /// Fails if the row has another version. Answers the position of the row.
    fn check_version(&self, key: &RowKey, read_at: Version) -> Result<u64, Conflict> {
        match self.rows.entry(key) {
            Some(entry) if entry.version == read_at => Ok(entry.sequence),
            _ => Err(Conflict::Stale(key.clone())),
        }
    }

    fn insert(&mut self, row: Row) -> Result<(), Conflict> {
        let key = row.key();
        if self.rows.entry(&key).is_some() {
            return Err(Conflict::Taken(UniqueKey::identity(key.kind())));
        }
        self.next_sequence += 1;
        self.put(key, VersionedRow { row, version: Version::FIRST, sequence: self.next_sequence })
    }

    /// Inserts a row without checks.
    fn set_new(&mut self, row: Row) {
        self.next_sequence += 1;
        let entry = VersionedRow { version: Version::FIRST, sequence: self.next_sequence, row };
        self.rows.set(entry.row.key(), Some(entry));
    }

    fn update(&mut self, row: Row, read_at: Version, part: UpdatedPart) -> Result<(), Conflict> {
        let key = row.key();
        let sequence = self.check_version(&key, read_at)?;
        if let (UpdatedPart::Activity, Some(before)) = (part, self.rows.entry(&key)) {
            let part = UpdatedPart::between(before.row.clone(), &row);
            assert_eq!(
                part,
                UpdatedPart::Activity,
                "more than the activity of {key:?} has changed"
            );
        }
        self.put(key, VersionedRow { row, version: read_at.next(), sequence })
    }

    fn put(&mut self, key: RowKey, entry: VersionedRow) -> Result<(), Conflict> {
        let held = self.rows.entry(&key).map(|held| held.row.unique_values()).unwrap_or_default();
        let values = entry.row.unique_values();
        // Values that the row already has were checked before.
        for value in values.into_iter().filter(|value| !held.contains(value)) {
            let same_kind = self.rows.entries(key.kind());
            let mut others = same_kind.filter(|other| other.row.key() != key);
            if others.any(|other| other.row.unique_values().contains(&value)) {
                return Err(Conflict::Taken(value.key()));
            }
        }
        let dangles = |(reference, to): &(Reference, RowKey)| {
            reference.is_enforced() && self.rows.entry(to).is_none()
        };
        if entry.row.references().iter().any(dangles) {
            return Err(Conflict::Reference);
        }
        self.rows.set(key, Some(entry));
        Ok(())
    }

    /// The rows that refer to a row, each with its reference.
    fn referring(&self, key: &RowKey) -> Vec<(Reference, RowKey)> {
        let mut found = Vec::new();
        for entry in self.rows.every_entry() {
            let to_it = entry.row.references().into_iter().filter(|(_, to)| to == key);
            found.extend(to_it.map(|(reference, _)| (reference, entry.row.key())));
        }
        found
    }

    /// Deletes a row and the rows that are deleted with it.
    fn delete(&mut self, key: RowKey) -> Result<(), Conflict> {
        let referring: Vec<(Reference, RowKey)> = self.referring(&key);
        self.rows.set(key, None);
        for (reference, from) in referring {
            // A click refers to its contact and to its link; it may have been deleted with the
            // other one.
            let Some(VersionedRow { row, version, sequence }) = self.rows.entry(&from).cloned()
            else {
                continue;
            };
            match reference.on_delete {
                OnDelete::Cascade => self.delete(from)?,
                OnDelete::SetNull => {
                    let cleared = row.cleared(&reference);
                    let row = cleared.expect("a reference that is cleared can be empty");
                    self.rows.set(from, Some(VersionedRow { row, version, sequence }));
                }
                OnDelete::Restrict => return Err(Conflict::Reference),
                OnDelete::Keep => {}
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Commit for MemoryStore {
    async fn commit(&self, changes: ChangeSet) -> Result<(), CommitError> {
        Ok(self.state().commit(changes)?)
    }
}

#[async_trait]
impl Claims for MemoryStore {
    async fn claim_jobs(
        &self,
        now: Timestamp,
        leased_until: Timestamp,
        limit: u32,
        except: &[&'static str],
    ) -> Result<Vec<Stored<Job>>, StoreError> {
        let mut state = self.state();
        let halted = state.halted();
        let may_be_claimed = |job: &Stored<Job>| {
            let is_excepted = except.contains(&job.kind.name());
            job.is_claimable(now) && !is_excepted && !halted.is_closed_for(job.company)
        };
        let mut due: Vec<Stored<Job>> =
            state.rows.all_stored::<Job>().filter(may_be_claimed).collect();
        due.sort_by_key(|job| (job.due_at, job.id));
        due.truncate(limit as usize);
        let claimed = due
            .into_iter()
            .map(|job| {
                let leased = Job { leased_until: Some(leased_until), ..job.value().clone() };
                Stored::new(leased, job.version().next())
            })
            .collect::<Vec<_>>();
        for job in &claimed {
            let row: Row = job.value().clone().into();
            let key = row.key();
            let sequence = state.rows.entry(&key).map_or(0, |entry| entry.sequence);
            state.rows.set(key, Some(VersionedRow { row, version: job.version(), sequence }));
        }
        state.rows.keep();
        Ok(claimed)
    }
}

/// The model is its own harness. Every handle has the same data.
#[async_trait]
impl Harness for MemoryStore {
    async fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.clone())
    }

    async fn second(&self) -> Option<Arc<dyn Store>> {
        Some(Arc::new(self.another_process()))
    }

    async fn events(&self, company: CompanyId) -> Vec<Event> {
        Self::events(self, company)
    }
}
