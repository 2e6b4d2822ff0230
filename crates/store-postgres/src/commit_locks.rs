//! The locks of existing rows that a commit writes, and the checks of rows that it relies on.

use std::collections::{BTreeMap, HashSet};

use recado_core::store::{Change, ChangeKind, ChangeSet, Precondition, Row, RowKey, Version};

use crate::commit::{CommitStep, Sharing};
use crate::commit_entry::relied_on;
use crate::table_key::{KeyValue, Strength, TableKey, lock_many};

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

impl Locks {
    /// Whether the row is only to be locked against changes.
    const fn is_plain(&self) -> bool {
        self.written && !self.deleted && self.unchanged.is_empty()
    }

    fn parts(&self) -> Option<(&RowKey, &TableKey, &Self)> {
        self.place.as_ref().map(|(key, place)| (key, place, self))
    }

    /// Whether one statement can lock both rows: they are of one table, neither is deleted, and
    /// neither is protected by an advisory lock.
    fn go_together(&self, other: &Self) -> bool {
        let table = |locks: &Self| {
            let (key, place, _) = locks.parts()?;
            (!locks.deleted && relied_on(key).is_none()).then_some(place.table)
        };
        table(self).is_some_and(|of| table(other) == Some(of))
    }
}

/// Locks existing rows if there are several, and checks the preconditions.
///
/// A shared transaction locks only the rows that have preconditions: its replacements lock theirs,
/// and should it and another transaction wait for each other, it fails soon, and its sets are
/// applied alone (R439).
pub(crate) fn lock_rows(steps: &mut Vec<CommitStep>, changes: &ChangeSet, sharing: Sharing) {
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
            // contact, and its id would not be kept as forgotten; or what was counted would change.
            ChangeKind::ForgetMessages { company, contact, .. }
            | ChangeKind::RemoveSome { company, contact, .. } => {
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
    let first = match sharing {
        Sharing::Alone => in_order(&locks, &changes.changes),
        Sharing::Shared => {
            locks.retain(|_, locks| !locks.is_plain());
            None
        }
    };
    let several = locks.len() > 1;
    let mut group: Vec<Locks> = Vec::new();
    for locks in locks.into_values().take(first.unwrap_or(usize::MAX)) {
        if group.last().is_some_and(|last| !last.go_together(&locks)) {
            lock_group(steps, std::mem::take(&mut group), several);
        }
        group.push(locks);
    }
    lock_group(steps, group, several);
}

/// Locks rows, and checks their versions: one row, or several of one table by one statement. If it
/// writes some of them, it locks all of them for that: one order of locks is kept, and no row is
/// locked twice.
fn lock_group(steps: &mut Vec<CommitStep>, group: Vec<Locks>, several: bool) {
    let group = match <[Locks; 1]>::try_from(group) {
        Ok([locks]) => return lock_one(steps, locks, several),
        Err(group) => group,
    };
    let strength = match group.iter().any(|locks| locks.written) {
        true => Strength::Writes,
        false => Strength::Reads,
    };
    let mut places = Vec::with_capacity(group.len());
    let mut rows = Vec::with_capacity(group.len());
    for (key, place, locks) in group.iter().filter_map(Locks::parts) {
        let versions = locks.unchanged.iter().map(|version| Some(*version));
        for version in versions.chain(locks.unchanged.is_empty().then_some(None)) {
            places.push((place, version));
            rows.push((key.clone(), version));
        }
    }
    if let Some((sql, params)) = lock_many(&places, strength) {
        steps.push(CommitStep::of_rows(sql, params, rows));
    }
}

fn lock_one(steps: &mut Vec<CommitStep>, locks: Locks, several: bool) {
    let Some((key, place, locks)) = locks.parts() else { return };
    if locks.written && (several || locks.alone || !locks.unchanged.is_empty()) {
        let sql = if locks.deleted { &place.sql.lock_key } else { &place.sql.lock };
        steps.push(CommitStep::new(sql, place.params(), None));
    }
    let unchanged = match relied_on(key) {
        Some(_) => &place.sql.still,
        None => &place.sql.unchanged,
    };
    for version in &locks.unchanged {
        steps.push(CommitStep::new(unchanged, place.params_at(*version), Some(key.clone())));
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
    let after = locks.values().rev().take_while(|locks| locks.is_plain()).count();
    let before = locks.len() - after;
    let key = |locks: &Locks| locks.place.as_ref().map(|(key, _)| key.clone());
    let locked: HashSet<RowKey> = locks.values().take(before).filter_map(key).collect();
    let waiting = changes.iter().filter(
        |change| !matches!(change.kind(), ChangeKind::Insert(row) if waits_for_nobody(row)),
    );
    let keys = waiting
        .map_while(|change| match change.kind() {
            ChangeKind::Update { row, .. } => Some(row.key()),
            _ => None,
        })
        .filter(|key| !locked.contains(key));
    locks.values().skip(before).map(key).eq(keys.take(after).map(Some)).then_some(before)
}

#[cfg(test)]
mod tests {
    use recado_core::Timestamp;
    use recado_core::contacts::{Contact, Identifier, Platform};
    use recado_core::ids::{CompanyId, ContactId};
    use recado_core::store::Stored;
    use uuid::Uuid;

    use super::*;

    fn contact(number: u128) -> Stored<Contact> {
        let (company, id) = (CompanyId::new(Uuid::nil()), ContactId::new(Uuid::from_u128(number)));
        let identifier = Identifier::parse(&format!("c{number}")).expect("an identifier");
        let now = Timestamp::from_millis(0);
        let contact = Contact::new(id, company, Platform::whatsapp(), identifier, None, now);
        Stored::new(contact, Version::FIRST)
    }

    /// How many statements lock rows before these contacts are replaced, one after the other.
    fn locks(replaced: [u128; 2], relied_on: Option<u128>, sharing: Sharing) -> usize {
        let mut changes = ChangeSet::new();
        for stored in replaced.map(contact) {
            changes = changes.with(stored.update(stored.value().clone()));
        }
        if let Some(number) = relied_on {
            changes = changes.require(contact(number).unchanged());
        }
        let mut steps = Vec::new();
        lock_rows(&mut steps, &changes, sharing);
        steps.len()
    }

    #[test]
    fn rows_are_locked_before_unless_their_replacements_lock_them_in_order() {
        assert_eq!(locks([1, 2], None, Sharing::Alone), 0);
        assert_eq!(locks([2, 1], None, Sharing::Alone), 1);
        assert_eq!(locks([1, 2], Some(3), Sharing::Alone), 1);
    }

    /// R439.
    #[test]
    fn a_shared_transaction_locks_only_what_its_sets_rely_on() {
        assert_eq!(locks([2, 1], None, Sharing::Shared), 0);
        assert_eq!(locks([2, 1], Some(3), Sharing::Shared), 1);
    }
}
