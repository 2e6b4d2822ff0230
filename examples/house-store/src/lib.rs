//! A store of one's own, begun from stubs. It keeps rows in the memory of one process and passes
//! the topics `commits`, `unique_keys`, `preconditions` and `references` of the conformance suite
//! (tests/conformance.rs); whatever it has not got answers with its name.
//!
//! docs/writing-a-store.md goes on from here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use recado_core::events::Event;
use recado_core::halts::HaltSubject;
use recado_core::ids::{CompanyId, ListId};
use recado_core::lists::List;
use recado_core::store::{
    ChangeKind, ChangeSet, CommitError, Conflict, OnDelete, Precondition, RecordsExt, Reference,
    Row, RowKey, StoreError, Stored, UniqueKey, Version,
};

/// A store in memory. Clones are handles on the same data.
#[derive(Clone, Debug, Default)]
pub struct HouseStore(Arc<Mutex<Tables>>);

recado_core::stubs!(HouseStore except { row, list, lists, commit });

#[derive(Clone, Debug, Default)]
struct Tables {
    rows: HashMap<RowKey, (Row, Version)>,
    events: Vec<Event>,
}

impl HouseStore {
    /// The events of a company, in the order of their commits.
    pub fn events(&self, company: CompanyId) -> Vec<Event> {
        let tables = self.tables();
        tables.events.iter().filter(|event| event.company == company).cloned().collect()
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn row(&self, key: &RowKey) -> Result<Option<Stored<Row>>, StoreError> {
        let found = self.tables().rows.get(key).cloned();
        Ok(found.map(|(row, version)| Stored::new(row, version)))
    }

    async fn list(
        &self,
        company: CompanyId,
        id: ListId,
    ) -> Result<Option<(Stored<List>, u64)>, StoreError> {
        let found = self.get::<List>((company, id)).await?;
        let members = self.tables().members(company, id);
        Ok(found.map(|list| (list, members)))
    }

    async fn lists(&self, company: CompanyId) -> Result<Vec<(List, u64)>, StoreError> {
        let tables = self.tables();
        let lists = tables.rows.values().filter_map(|(row, _)| List::try_from(row.clone()).ok());
        let mut lists: Vec<List> = lists.filter(|list| list.company == company).collect();
        lists.sort_by_key(|list| (list.created_at, list.id));
        let counted = lists.into_iter().map(|list| {
            let members = tables.members(company, list.id);
            (list, members)
        });
        Ok(counted.collect())
    }

    async fn commit(&self, changes: ChangeSet) -> Result<(), CommitError> {
        let mut tables = self.tables();
        // A copy, so that a set which fails leaves everything as it was.
        let mut next = tables.clone();
        next.apply(changes)?;
        *tables = next;
        Ok(())
    }
}

impl Tables {
    fn members(&self, company: CompanyId, list: ListId) -> u64 {
        let is_member = |(row, _): &&(Row, Version)| match row {
            Row::ListMember(member) => (member.company, member.list) == (company, list),
            _ => false,
        };
        self.rows.values().filter(is_member).count() as u64
    }

    fn apply(&mut self, set: ChangeSet) -> Result<(), CommitError> {
        for required in &set.requires {
            match required {
                Precondition::Unchanged { key, read_at } => self.is_at(key, Some(*read_at))?,
                Precondition::Routed { company, read_at } => {
                    self.is_at(&RowKey::Routes { company: *company }, *read_at)?;
                }
                // Without `contact_export` nothing has been exported.
                Precondition::NotExported { .. } => {}
                Precondition::Open { companies } => self.is_open(companies)?,
                Precondition::Counted { .. } => Err(StoreError::corrupt("not written yet"))?,
            }
        }
        for change in set.changes {
            match change.into_kind() {
                ChangeKind::Insert(row) if self.rows.contains_key(&row.key()) => {
                    return Err(Conflict::Taken(UniqueKey::identity(row.kind())).into());
                }
                ChangeKind::Insert(row) => self.put(row, Version::FIRST)?,
                ChangeKind::Update { row, read_at, .. } => {
                    self.is_at(&row.key(), Some(read_at))?;
                    self.put(row, read_at.next())?;
                }
                ChangeKind::Delete { key, read_at } => {
                    self.is_at(&key, Some(read_at))?;
                    self.delete(&key)?;
                }
                other => {
                    return Err(StoreError::corrupt(format!("not written yet: {other:?}")).into());
                }
            }
        }
        self.events.extend(set.events);
        Ok(())
    }

    fn is_open(&self, companies: &[CompanyId]) -> Result<(), Conflict> {
        let all = companies.iter().map(|company| HaltSubject::WritingOf(*company));
        let mut all = all.chain([HaltSubject::Writing]);
        let is_closed = |subject| self.rows.contains_key(&RowKey::Halt { subject });
        if all.any(is_closed) { Err(Conflict::Closed) } else { Ok(()) }
    }

    fn is_at(&self, key: &RowKey, version: Option<Version>) -> Result<(), Conflict> {
        let found = self.rows.get(key).map(|(_, version)| *version);
        if found == version { Ok(()) } else { Err(Conflict::Stale(key.clone())) }
    }

    fn put(&mut self, row: Row, version: Version) -> Result<(), Conflict> {
        for value in row.unique_values() {
            let mut same_kind = self.rows.values().filter(|(other, _)| other.kind() == row.kind());
            let held = |(other, _): &(Row, Version)| other.unique_values().contains(&value);
            if same_kind.any(|other| held(other) && other.0.key() != row.key()) {
                return Err(Conflict::Taken(value.key()));
            }
        }
        let there = |key: &RowKey| self.rows.contains_key(key);
        if row.references().iter().any(|(reference, to)| reference.is_enforced() && !there(to)) {
            return Err(Conflict::Reference);
        }
        self.rows.insert(row.key(), (row, version));
        Ok(())
    }

    fn delete(&mut self, key: &RowKey) -> Result<(), Conflict> {
        self.rows.remove(key);
        let to_it = |row: &Row| row.references().into_iter().find(|(_, to)| to == key);
        let refers = |(row, _): &(Row, Version)| Some((to_it(row)?.0, row.key()));
        let referring: Vec<(Reference, RowKey)> = self.rows.values().filter_map(refers).collect();
        for (reference, from) in referring {
            match reference.on_delete {
                OnDelete::Restrict => return Err(Conflict::Reference),
                OnDelete::Cascade => self.delete(&from)?,
                OnDelete::SetNull => {
                    let row = self.rows.get_mut(&from).map(|(row, _)| row);
                    row.into_iter()
                        .for_each(|row| *row = row.cleared(&reference).expect("it can be"));
                }
                OnDelete::Keep => {}
            }
        }
        Ok(())
    }
}
