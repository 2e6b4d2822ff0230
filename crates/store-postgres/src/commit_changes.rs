//! The changes of a transaction as statements, as few as possible.

use std::collections::HashSet;
use std::mem::discriminant;

use recado_core::deliveries::Delivery;
use recado_core::events::Event;
use recado_core::lists::ListMember;
use recado_core::match_row;
use recado_core::store::{Change, ChangeKind, Conflict, Row, RowKey, UpdatedPart, Version};
use recado_store_sql::{Sealer, signed};

use crate::activity;
use crate::commit::{CommitStep, Sharing};
use crate::contacts_write;
use crate::deliveries_batch::{emit, update as update_deliveries};
use crate::lists::insert_members;
use crate::message_refs::forget;
use crate::messages_write;
use crate::param::{Param, bind, bind_sealed};
use crate::portions::{reassign_some, remove_rows, remove_some};
use crate::reassign::reassign_all;
use crate::recipients::enroll;
use crate::table::{Sql, Table, WriteMany};
use crate::table_key::TableKey;

/// Consecutive changes that one statement can make together.
#[derive(Default)]
struct Together {
    sealer: Sealer,
    sharing: Sharing,
    members: Vec<ListMember>,
    /// New rows of one kind.
    rows: Vec<Row>,
    /// Replaced rows of one kind.
    replaced: Vec<(Row, Version)>,
    /// Whether more than their activity is replaced, of one at least.
    replaces_whole: bool,
    /// Their keys. Each row is replaced once.
    keys: HashSet<RowKey>,
    updates: Vec<(Delivery, Version)>,
    /// Inserted at the end, because they get positions: by then the rows that other commits may
    /// wait for are locked.
    deliveries: Vec<Delivery>,
}

impl Together {
    fn flush(&mut self, steps: &mut Vec<CommitStep>) {
        let members = insert_members(&std::mem::take(&mut self.members));
        steps.extend(members.map(CommitStep::plain));
        insert_rows(steps, std::mem::take(&mut self.rows), &self.sealer);
        let replaced = std::mem::take(&mut self.replaced);
        let activity =
            (!std::mem::take(&mut self.replaces_whole)).then(|| activity::update(&replaced));
        match activity.flatten() {
            Some(step) => steps.push(step),
            None => update_rows(steps, replaced, &self.sealer),
        }
        self.keys.clear();
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
            ChangeKind::Update { row: Row::Delivery(delivery), read_at, .. } => {
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
            ChangeKind::Update { row, read_at, part } if is_replaced_together(&row) => {
                let last = self.replaced.last().map(|(last, _)| discriminant(last));
                let key = row.key();
                if last != Some(discriminant(&row)) || self.keys.contains(&key) {
                    self.flush(steps);
                }
                self.keys.insert(key);
                // One statement replaces them in the order of their keys: if one of them needs all
                // of its columns, all of them are given.
                self.replaces_whole |= part == UpdatedPart::Whole;
                self.replaced.push((row, read_at));
            }
            ChangeKind::Insert(row) if self.inserts_together(&row) => {
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

    /// Whether new rows of this kind are worth a statement for several. Each number of rows is a
    /// statement of its own, which each connection has to prepare.
    fn inserts_together(&self, row: &Row) -> bool {
        match self.sharing {
            Sharing::Alone => is_often_many(row),
            Sharing::Shared => true,
        }
    }

    fn insert_deliveries(&mut self, steps: &mut Vec<CommitStep>, events: Vec<Event>) {
        if !self.deliveries.is_empty() || !events.is_empty() {
            emit(steps, events, std::mem::take(&mut self.deliveries));
        }
    }
}

/// Whether change sets often insert several rows of this kind, as a batch of gateway events does,
/// or a portion of a campaign's list (R447).
const fn is_often_many(row: &Row) -> bool {
    matches!(
        row,
        Row::Alias(_)
            | Row::Conversation(_)
            | Row::Message(_)
            | Row::MessageRef(_)
            | Row::Recipient(_)
    )
}

/// Inserts rows of one kind by as few statements as possible.
///
/// R439.
fn insert_rows(steps: &mut Vec<CommitStep>, rows: Vec<Row>, sealer: &Sealer) {
    let mut rows = rows.into_iter();
    while let Some(row) = rows.next() {
        let (sql, mut params) = written(row, sealer);
        let several = WriteMany::for_rows(&sql.insert_many, rows.len() + 1);
        let Some(several) = several.filter(|_| rows.len() > 0) else {
            steps.push(CommitStep::new(&sql.insert, params, None));
            continue;
        };
        params.reserve(several.room * several.width);
        for row in rows.by_ref().take(several.room - 1) {
            params.extend(written(row, sealer).1);
        }
        params.resize_with(several.room * several.width, || Param::Null);
        steps.push(CommitStep::new(&several.sql, params, None));
    }
}

/// Whether rows of this kind have a statement that replaces several: all that have a version, and
/// something besides their key.
fn is_replaced_together(row: &Row) -> bool {
    match_row!(row, record => versioned(record))
}

const fn versioned<T: Table>(_: &T) -> bool {
    T::VERSIONED
}

/// Replaces rows of one kind by as few statements as possible.
///
/// R439.
fn update_rows(steps: &mut Vec<CommitStep>, rows: Vec<(Row, Version)>, sealer: &Sealer) {
    let mut rows = rows.into_iter();
    while let Some((row, read_at)) = rows.next() {
        let key = row.key();
        let (sql, mut params) = replaced(row, read_at, sealer);
        let several = WriteMany::for_rows(&sql.update_many, rows.len() + 1);
        let Some(several) = several.filter(|_| rows.len() > 0) else {
            steps.push(CommitStep::new(&sql.update, params, Some(key)));
            continue;
        };
        let mut expected = vec![(key, Some(read_at))];
        for (row, read_at) in rows.by_ref().take(several.room - 1) {
            expected.push((row.key(), Some(read_at)));
            params.extend(replaced(row, read_at, sealer).1);
        }
        params.resize_with(several.room * several.width, || Param::Null);
        params.push(Param::Int(signed(expected.len() as u64)));
        steps.push(CommitStep::of_rows(several.sql.as_str(), params, expected));
    }
}

/// The statements of a replaced row, its values, and the version that it must have.
fn replaced(row: Row, read_at: Version, sealer: &Sealer) -> (&'static Sql, Vec<Param>) {
    let (sql, mut params) = written(row, sealer);
    params.push(Param::Int(signed(read_at.number())));
    (sql, params)
}

/// The statements of a row, its values, and its search text if it has one.
fn written(row: Row, sealer: &Sealer) -> (&'static Sql, Vec<Param>) {
    match row {
        Row::Message(message) => {
            let mut params = bind_sealed(&message, sealer);
            params.push(messages_write::text(&message));
            (messages_write::sql(), params)
        }
        Row::Contact(contact) => {
            let mut params = contacts_write::params(&contact);
            params.push(contacts_write::text(&contact));
            (contacts_write::sql(), params)
        }
        row => match_row!(row, record => bound(&record, sealer)),
    }
}

/// The statements and the values of a record that has no search text.
fn bound<T: Table>(record: &T, sealer: &Sealer) -> (&'static Sql, Vec<Param>) {
    (T::sql(), bind_sealed(record, sealer))
}

/// Adds the statements of changes and events.
pub(crate) fn apply_changes(
    steps: &mut Vec<CommitStep>,
    changes: Vec<Change>,
    events: Vec<Event>,
    sealer: &Sealer,
    sharing: Sharing,
) -> Result<(), Conflict> {
    let mut together = Together { sealer: sealer.clone(), sharing, ..Together::default() };
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
            Some(ChangeKind::ReassignSome { company, from, into, most }) => {
                steps.extend(reassign_some(company, from, into, most));
            }
            Some(ChangeKind::RemoveSome { company, contact, expires_at, most }) => {
                steps.extend(remove_some(company, contact, expires_at, most));
            }
            Some(ChangeKind::RemoveRows { company, of, most }) => {
                steps.push(remove_rows(company, of, most));
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
        ChangeKind::Update { row: Row::Contact(contact), read_at, .. } => {
            Ok(contacts_write::update(&contact, read_at))
        }
        ChangeKind::Update { row: Row::Message(message), read_at, .. } => {
            Ok(messages_write::update(&message, read_at, sealer))
        }
        ChangeKind::Update { row, read_at, .. } => {
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
