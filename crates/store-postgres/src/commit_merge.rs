//! Which change sets can share a transaction, and several change sets as one.

use std::cmp::Ordering;
use std::collections::{HashSet, VecDeque};

use recado_core::contacts::Alias;
use recado_core::ids::CompanyId;
use recado_core::store::{Change, ChangeKind, ChangeSet, Precondition, Record, Row, RowKey};

use crate::commit_entry::relied_on;
use crate::table_key::TableKey;

/// The most changes of a set that shares a transaction. A larger one would keep the others waiting.
const FEW: usize = 64;

/// The rows that a change set writes and relies on.
#[derive(Debug, Default)]
pub(crate) struct Footprint {
    writes: HashSet<RowKey>,
    reads: HashSet<RowKey>,
    changes: usize,
}

impl Footprint {
    /// The rows of a set that can share a transaction; `None` for a set that needs one of its own:
    /// because it is large, because it writes rows that it does not name, or because it waits for
    /// other commits or keeps them waiting.
    ///
    /// R439.
    pub(crate) fn of(set: &ChangeSet) -> Option<Self> {
        let mut footprint = Self { changes: set.changes.len(), ..Self::default() };
        for change in &set.changes {
            let key = match change.kind() {
                ChangeKind::Insert(Row::Halt(_)) | ChangeKind::Update { row: Row::Halt(_), .. } => {
                    return None;
                }
                ChangeKind::Insert(row) | ChangeKind::Update { row, .. } => row.key(),
                // What refers to such a row is locked, or goes with it.
                _ => return None,
            };
            if relied_on(&key).is_some() && !matches!(change.kind(), ChangeKind::Insert(_)) {
                return None;
            }
            // A set that writes a row twice has to make its changes one by one.
            if !footprint.writes.insert(key) {
                return None;
            }
        }
        for precondition in &set.requires {
            match precondition {
                Precondition::Unchanged { key, .. } => {
                    footprint.reads.insert(key.clone());
                }
                Precondition::Routed { company, .. } => {
                    footprint.reads.insert(RowKey::Routes { company: *company });
                }
                Precondition::NotExported { .. } | Precondition::Open { .. } => {}
                Precondition::Counted { .. } => return None,
            }
        }
        (footprint.changes + set.events.len() <= FEW).then_some(footprint)
    }

    /// Whether neither set writes a row that the other one writes or relies on. The order of two
    /// such sets makes no difference.
    pub(crate) fn is_apart_from(&self, other: &Self) -> bool {
        self.writes.is_disjoint(&other.writes)
            && self.writes.is_disjoint(&other.reads)
            && self.reads.is_disjoint(&other.writes)
    }

    /// Whether the set writes this row or relies on it.
    pub(crate) fn has(&self, row: &RowKey) -> bool {
        self.writes.contains(row) || self.reads.contains(row)
    }

    /// Takes in the rows of another set.
    pub(crate) fn add(&mut self, other: &Self) {
        self.writes.extend(other.writes.iter().cloned());
        self.reads.extend(other.reads.iter().cloned());
        self.changes += other.changes;
    }

    /// How many changes there are.
    pub(crate) const fn changes(&self) -> usize {
        self.changes
    }
}

/// Where a change stands among those of other sets: replacements before insertions, by table. The
/// rows that are replaced are then locked in the order of their keys, with no locks before.
fn place(change: &Change) -> (bool, &'static str) {
    match change.kind() {
        ChangeKind::Insert(row) => (true, TableKey::table(row.kind())),
        ChangeKind::Update { row, .. } => (false, TableKey::table(row.kind())),
        // A set with another change shares no transaction.
        _ => (true, ""),
    }
}

/// The order of changes with the same place. It is kept where it means something: events and
/// deliveries of a company have positions.
fn order(one: &Change, other: &Change) -> Ordering {
    let company = |change: &Change| match change.kind() {
        ChangeKind::Insert(Row::Delivery(delivery)) => Some(delivery.company),
        ChangeKind::Insert(Row::ListMember(member)) => Some(member.company),
        _ => None,
    };
    match (one.kind(), other.kind()) {
        (ChangeKind::Update { row: one, .. }, ChangeKind::Update { row: other, .. }) => {
            TableKey::find(&one.key()).key.cmp(&TableKey::find(&other.key()).key)
        }
        // Two transactions that insert the same names wait for each other only in this order.
        (ChangeKind::Insert(Row::Alias(one)), ChangeKind::Insert(Row::Alias(other))) => {
            let key = |alias: &Alias| TableKey::find(&alias.row_key()).key;
            key(one).cmp(&key(other))
        }
        _ => company(one).cmp(&company(other)),
    }
}

/// Several sets that are apart from each other, as one. The changes of each keep their order; among
/// the sets, those of one kind come together.
pub(crate) fn merge(sets: Vec<ChangeSet>) -> ChangeSet {
    let mut merged = ChangeSet::new();
    let mut open: Vec<CompanyId> = Vec::new();
    let mut is_open_required = false;
    let mut lists: Vec<VecDeque<Change>> = Vec::with_capacity(sets.len());
    let mut known = HashSet::new();
    for set in sets {
        merged.events.extend(set.events);
        lists.push(set.changes.into());
        for precondition in set.requires {
            match precondition {
                Precondition::Open { companies } => {
                    is_open_required = true;
                    open.extend(companies);
                }
                Precondition::Unchanged { ref key, read_at } => {
                    if known.insert((key.clone(), Some(read_at))) {
                        merged.requires.push(precondition);
                    }
                }
                Precondition::Routed { company, read_at } => {
                    if known.insert((RowKey::Routes { company }, read_at)) {
                        merged.requires.push(precondition);
                    }
                }
                other => merged.requires.push(other),
            }
        }
    }
    if is_open_required {
        open.sort_unstable();
        open.dedup();
        merged.requires.push(Precondition::Open { companies: open });
    }
    merged.events.sort_by_key(|event| event.company);
    while let Some(next) = lists.iter().filter_map(VecDeque::front).map(place).min() {
        let from = merged.changes.len();
        for list in &mut lists {
            let first = list.iter().position(|change| place(change) != next);
            merged.changes.extend(list.drain(..first.unwrap_or(list.len())));
        }
        if let Some(run) = merged.changes.get_mut(from..) {
            run.sort_by(order);
        }
    }
    merged
}
