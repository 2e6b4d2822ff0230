//! Commits: each is one transaction, sent at once.
//!
//! The statements of a commit have this order:
//!
//! 1. the check that nothing is closed, the locks of rows that many commits rely on, the locks of
//!    companies, and the checks that need the latter;
//! 2. the locks of existing rows, in the order of their keys, so that two commits cannot wait for
//!    each other;
//! 3. the changes;
//! 4. the events with their deliveries.
//!
//! Changes that lock rows in the order of their keys by themselves need no locks before.

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::mem::discriminant;

use async_trait::async_trait;
use recado_core::deliveries::Delivery;
use recado_core::events::Event;
use recado_core::ids::CompanyId;
use recado_core::lists::ListMember;
use recado_core::match_row;
use recado_core::store::{
    Change, ChangeKind, ChangeSet, Commit, CommitError, Conflict, Precondition, Row, RowKey,
    Version,
};
use recado_store_sql::{Sealer, signed};

use crate::PostgresStore;
use crate::commit_entry::{enter, relied_on};
use crate::contacts_write;
use crate::deliveries_batch::{BatchKeys, emit, sort_updates, update as update_deliveries};
use crate::error::refused;
use crate::lists::insert_members;
use crate::message_refs::forget;
use crate::messages_write;
use crate::param::{Param, bind, bind_sealed, params};
use crate::reassign::reassign_all;
use crate::recipients::enroll;
use crate::records::counted_of;
use crate::session::{Session, Statement, TransactionMode};
use crate::table::{Sql, Table};
use crate::table_key::{KeyValue, TableKey};

/// The advisory lock that commits which create contacts take shared and exports take exclusively.
pub(crate) fn company_lock(company: CompanyId) -> i64 {
    let (high, low) = company.uuid().as_u64_pair();
    // Ids made in the same millisecond differ in the low half. If two companies get the same lock,
    // commits of one may wait for the other; nothing else happens.
    (high.rotate_left(17) ^ low).cast_signed()
}

/// A statement, and the conflict to report if it fails because it found no row.
pub(crate) struct CommitStep {
    statement: Statement,
    about: Option<Conflict>,
    /// The keys of all rows of a statement on several rows.
    batch: Option<BatchKeys>,
}

impl CommitStep {
    pub(crate) fn new(sql: &'static str, params: Vec<Param>, about: Option<RowKey>) -> Self {
        let about = about.map(Conflict::Stale);
        Self { statement: Statement::new(sql, params), about, batch: None }
    }

    /// A step that fails when an export has passed the position of a new contact of the company.
    pub(crate) fn not_exported(sql: &'static str, params: Vec<Param>, company: CompanyId) -> Self {
        let about = Some(Conflict::Exported(company));
        Self { statement: Statement::new(sql, params), about, batch: None }
    }

    /// A step that fails when something is closed that the commit writes.
    pub(crate) fn open(sql: &'static str, params: Vec<Param>) -> Self {
        let about = Some(Conflict::Closed);
        Self { statement: Statement::new(sql, params), about, batch: None }
    }

    /// A step that fails when another number of rows refers to a contact.
    fn counted(sql: String, params: Vec<Param>, contact: RowKey) -> Self {
        let about = Some(Conflict::Stale(contact));
        Self { statement: Statement::new(sql, params), about, batch: None }
    }

    /// The same step, for several rows.
    pub(crate) fn of_batch(self, batch: BatchKeys) -> Self {
        Self { batch: Some(batch), ..self }
    }
}

/// Makes a change set into the steps of one transaction.
fn steps(mut changes: ChangeSet, sealer: &Sealer) -> Result<Vec<CommitStep>, Conflict> {
    let mut steps = Vec::new();
    sort_updates(&mut changes.changes);
    enter(&mut steps, &changes);
    lock_rows(&mut steps, &changes);
    check_counts(&mut steps, &changes);
    apply_changes(&mut steps, changes.changes, changes.events, sealer)?;
    Ok(steps)
}

/// The locks that a row needs before anything is written.
#[derive(Default)]
struct Locks {
    place: Option<(RowKey, TableKey)>,
    unchanged: Vec<Version>,
    written: bool,
    deleted: bool,
    /// Whether the row has to be locked even if it is the only one.
    alone: bool,
}

/// Locks existing rows if there are several, and checks the preconditions.
fn lock_rows(steps: &mut Vec<CommitStep>, changes: &ChangeSet) {
    let inserted: HashSet<RowKey> = changes
        .changes
        .iter()
        .filter_map(|change| match change.kind() {
            ChangeKind::Insert(row) => Some(row.key()),
            _ => None,
        })
        .collect();
    let mut locks: BTreeMap<(&'static str, Vec<KeyValue>), Locks> = BTreeMap::new();
    let mut lock = |key: RowKey, set: &dyn Fn(&mut Locks)| {
        let place = TableKey::find(&key);
        let locks = locks.entry((place.table, place.key.clone())).or_default();
        set(locks);
        locks.place = Some((key, place));
    };
    for precondition in &changes.requires {
        if let Precondition::Unchanged { key, read_at } = precondition {
            lock(key.clone(), &|locks| locks.unchanged.push(*read_at));
        }
    }
    for change in &changes.changes {
        let (keys, deleted, alone) = match change.kind() {
            ChangeKind::Update { row, .. } => (vec![row.key()], false, false),
            ChangeKind::Delete { key, .. } => (vec![key.clone()], true, false),
            // No other transaction may insert a reference to either contact meanwhile.
            ChangeKind::Reassign { company, from, into } => {
                let contact = |id| RowKey::Contact { company: *company, id };
                (vec![contact(*from), contact(*into)], true, true)
            }
            // No message may be inserted for this contact meanwhile: it would be deleted with the
            // contact, and its id would not be kept as forgotten.
            ChangeKind::ForgetMessages { company, contact, .. } => {
                (vec![RowKey::Contact { company: *company, id: *contact }], true, true)
            }
            _ => continue,
        };
        for key in keys.into_iter().filter(|key| !inserted.contains(key)) {
            lock(key, &|locks| {
                locks.written = true;
                locks.deleted |= deleted;
                locks.alone |= alone;
            });
        }
    }
    let first = in_order(&locks, &changes.changes);
    let several = locks.len() > 1;
    for locks in locks.into_values().take(first.unwrap_or(usize::MAX)) {
        let Some((key, place)) = locks.place else { continue };
        if locks.written && (several || locks.alone || !locks.unchanged.is_empty()) {
            let sql = if locks.deleted { &place.sql.lock_key } else { &place.sql.lock };
            steps.push(CommitStep::new(sql, place.params(), None));
        }
        let unchanged = match relied_on(&key) {
            Some(_) => &place.sql.still,
            None => &place.sql.unchanged,
        };
        for version in locks.unchanged {
            steps.push(CommitStep::new(unchanged, place.params_at(version), Some(key.clone())));
        }
    }
}

/// Checks how many rows refer to contacts. The contact is locked by now if the set deletes it, so
/// that no reference to it can be inserted any more.
fn check_counts(steps: &mut Vec<CommitStep>, changes: &ChangeSet) {
    for precondition in &changes.requires {
        if let Precondition::Counted { company, kind, contact, count } = precondition
            && kind.is_about_a_contact()
        {
            let params = params![company.uuid(), contact.uuid(), signed(*count)];
            let about = RowKey::Contact { company: *company, id: *contact };
            steps.push(CommitStep::counted(counted_of(*kind), params, about));
        }
    }
}

/// Whether inserting the row never waits for a commit that may wait for this one: either no other
/// commit makes a row with this id, or every commit that makes one locks its contact.
const fn waits_for_nobody(row: &Row) -> bool {
    matches!(row, Row::Message(_) | Row::LedgerLine(_) | Row::Conversation(_))
}

/// How many of the locks have to be taken before the changes. The others are left out if they are
/// of rows that the first changes update, in the order of the locks, and that have no precondition:
/// those updates lock the rows in the right order.
fn in_order(
    locks: &BTreeMap<(&'static str, Vec<KeyValue>), Locks>,
    changes: &[Change],
) -> Option<usize> {
    let plain = |locks: &Locks| locks.written && !locks.deleted && locks.unchanged.is_empty();
    let before = locks.values().take_while(|locks| !plain(locks)).count();
    let mut rest = locks.values().skip(before);
    let waiting = changes.iter().filter(
        |change| !matches!(change.kind(), ChangeKind::Insert(row) if waits_for_nobody(row)),
    );
    let keys = waiting.map_while(|change| match change.kind() {
        ChangeKind::Update { row, .. } => Some(row.key()),
        _ => None,
    });
    let in_order = rest.clone().all(plain)
        && rest
            .by_ref()
            .map(|locks| locks.place.as_ref().map(|(key, _)| key.clone()))
            .eq(keys.take(locks.len() - before).map(Some));
    in_order.then_some(before)
}

/// Consecutive changes that one statement can make together.
#[derive(Default)]
struct Together {
    sealer: Sealer,
    members: Vec<ListMember>,
    /// New rows of one kind.
    rows: Vec<Row>,
    updates: Vec<(Delivery, Version)>,
    /// Inserted at the end, because they get positions: by then the rows that other commits may
    /// wait for are locked.
    deliveries: Vec<Delivery>,
}

impl Together {
    fn flush(&mut self, steps: &mut Vec<CommitStep>) {
        let members = insert_members(&std::mem::take(&mut self.members));
        steps.extend(members.map(|statement| CommitStep { statement, about: None, batch: None }));
        insert_rows(steps, std::mem::take(&mut self.rows), &self.sealer);
        let mut updates = std::mem::take(&mut self.updates);
        match updates.len() {
            0 => {}
            1 => {
                let (sealer, one) = (&self.sealer, updates.pop());
                steps.extend(one.map(|(delivery, read_at)| update(&delivery, read_at, sealer)));
            }
            _ => steps.push(update_deliveries(updates)),
        }
    }

    /// Keeps a change that can be made together with others of its kind; answers any other change.
    fn take(&mut self, steps: &mut Vec<CommitStep>, change: ChangeKind) -> Option<ChangeKind> {
        match change {
            ChangeKind::Insert(Row::ListMember(member)) => {
                let company = self.members.first().map(|first| first.company);
                if company != Some(member.company) {
                    self.flush(steps);
                }
                self.members.push(member);
            }
            ChangeKind::Insert(Row::Delivery(delivery)) => self.deliveries.push(delivery),
            ChangeKind::Update { row: Row::Delivery(delivery), read_at } => {
                let key = |delivery: &Delivery| (delivery.company, delivery.id);
                let last = self.updates.last().map(|(last, _)| key(last));
                if last.is_none_or(|last| last == key(&delivery)) {
                    self.flush(steps);
                }
                self.insert_deliveries(steps, Vec::new());
                self.updates.push((delivery, read_at));
            }
            ChangeKind::Delete { key: RowKey::Delivery { .. }, .. } => {
                self.flush(steps);
                self.insert_deliveries(steps, Vec::new());
                return Some(change);
            }
            ChangeKind::Insert(row) if is_often_many(&row) => {
                let kind = self.rows.first().map(discriminant);
                if kind != Some(discriminant(&row)) {
                    self.flush(steps);
                }
                self.rows.push(row);
            }
            other => {
                self.flush(steps);
                return Some(other);
            }
        }
        None
    }

    fn insert_deliveries(&mut self, steps: &mut Vec<CommitStep>, events: Vec<Event>) {
        if !self.deliveries.is_empty() || !events.is_empty() {
            emit(steps, events, std::mem::take(&mut self.deliveries));
        }
    }
}

/// Whether change sets often insert several rows of this kind, as a batch of gateway events does.
const fn is_often_many(row: &Row) -> bool {
    matches!(row, Row::Alias(_) | Row::Conversation(_) | Row::Message(_) | Row::MessageRef(_))
}

/// Inserts rows of one kind by as few statements as possible.
fn insert_rows(steps: &mut Vec<CommitStep>, rows: Vec<Row>, sealer: &Sealer) {
    let mut rows = rows.into_iter().map(|row| match row {
        Row::Message(message) => {
            let text = Some(messages_write::text(&message));
            (messages_write::sql(), bind_sealed(&message, sealer), text)
        }
        row => match_row!(row, record => bound(&record, sealer)),
    });
    while let Some((sql, mut params, text)) = rows.next() {
        let mut texts = Vec::from_iter(text);
        let left = rows.len() + 1;
        let (count, insert) = match sql.insert_many.iter().find(|(count, _)| *count <= left) {
            Some((count, insert)) => (*count, insert),
            None => (1, &sql.insert),
        };
        for (_, others, text) in rows.by_ref().take(count - 1) {
            params.extend(others);
            texts.extend(text);
        }
        params.extend(texts);
        steps.push(CommitStep::new(insert, params, None));
    }
}

/// The statements, the values and the search text of a record that has none of its own.
fn bound<T: Table>(record: &T, sealer: &Sealer) -> (&'static Sql, Vec<Param>, Option<Param>) {
    (T::sql(), bind_sealed(record, sealer), None)
}

fn apply_changes(
    steps: &mut Vec<CommitStep>,
    changes: Vec<Change>,
    events: Vec<Event>,
    sealer: &Sealer,
) -> Result<(), Conflict> {
    let mut together = Together { sealer: sealer.clone(), ..Together::default() };
    for change in changes {
        match together.take(steps, change.into_kind()) {
            None => {}
            Some(ChangeKind::Enroll { company, campaign, list }) => {
                steps.extend(enroll(company, campaign, list));
            }
            Some(ChangeKind::Reassign { company, from, into }) => {
                steps.extend(reassign_all(company, from, into));
            }
            Some(ChangeKind::ForgetMessages { company, contact, expires_at }) => {
                steps.extend(forget(company, contact, expires_at));
            }
            Some(change) => steps.push(step(change, sealer)?),
        }
    }
    together.flush(steps);
    together.insert_deliveries(steps, events);
    Ok(())
}

fn step(change: ChangeKind, sealer: &Sealer) -> Result<CommitStep, Conflict> {
    match change {
        ChangeKind::Insert(Row::Contact(contact)) => Ok(contacts_write::insert(&contact)),
        ChangeKind::Insert(row) => Ok(match_row!(row, record => insert_sealed(&record, sealer))),
        ChangeKind::Update { row: Row::Contact(contact), read_at } => {
            Ok(contacts_write::update(&contact, read_at))
        }
        ChangeKind::Update { row: Row::Message(message), read_at } => {
            Ok(messages_write::update(&message, read_at, sealer))
        }
        ChangeKind::Update { row, read_at } => {
            Ok(match_row!(row, record => update(&record, read_at, sealer)))
        }
        ChangeKind::Delete { key, read_at } => {
            let place = TableKey::find(&key);
            let params = place.params_at(read_at);
            Ok(CommitStep::new(&place.sql.delete, params, Some(key)))
        }
        // This version cannot apply kinds of change that it does not know.
        _ => Err(Conflict::Contended),
    }
}

/// Inserts a record of a kind that holds no secrets.
pub(crate) fn insert<T: Table>(record: &T) -> CommitStep {
    CommitStep::new(&T::sql().insert, bind(record), None)
}

fn insert_sealed<T: Table>(record: &T, sealer: &Sealer) -> CommitStep {
    CommitStep::new(&T::sql().insert, bind_sealed(record, sealer), None)
}

fn update<T: Table>(record: &T, read_at: Version, sealer: &Sealer) -> CommitStep {
    let key = record.row_key();
    if !T::VERSIONED {
        // All columns are part of the key. There is nothing to write, but the row must exist.
        return CommitStep::new(&T::sql().unchanged, TableKey::find(&key).params(), Some(key));
    }
    let mut params = bind_sealed(record, sealer);
    params.push(Param::Int(signed(read_at.number())));
    CommitStep::new(&T::sql().update, params, Some(key))
}

#[async_trait]
impl Commit for PostgresStore {
    async fn commit(&self, changes: ChangeSet) -> Result<(), CommitError> {
        let steps = steps(changes, self.pool.sealer())?;
        if steps.is_empty() {
            return Ok(());
        }
        let around =
            if steps.len() == 1 { TransactionMode::Nothing } else { TransactionMode::Transaction };
        let mut subjects = Vec::with_capacity(steps.len());
        let mut statements = Vec::with_capacity(steps.len());
        for step in steps {
            subjects.push((step.about, step.batch));
            statements.push(step.statement);
        }
        let session = Session::take(&self.pool).await?;
        let outcome = session.run(around, statements).await?;
        drop(session);
        let Err((at, error)) = outcome.into_rows() else { return Ok(()) };
        let (about, batch) = match subjects.get_mut(at) {
            Some((about, batch)) => (about.take(), batch.take()),
            None => (None, None),
        };
        let refused = refused(error, about);
        if let (CommitError::Conflict(Conflict::Stale(_)), Some(batch)) = (&refused, batch)
            && let Some(key) = self.stale_delivery(batch).await?
        {
            return Err(Conflict::Stale(key).into());
        }
        Err(refused)
    }
}
