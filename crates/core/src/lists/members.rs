//! The contacts of a list (D78).

use std::collections::HashSet;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::{
    AddContacts, List, ListCandidates, ListMember, Lists, RemoveContacts, ReplaceContacts,
};
use crate::Timestamp;
use crate::body::IntoBody;
use crate::code::Code;
use crate::contacts::{ContactFilter, ContactListItem};
use crate::error::{Error, Rejection, object};
use crate::ids::{CompanyId, ContactId, ListId};
use crate::page::{Page, PageRequest};
use crate::problems::Problems;
use crate::store::{ChangeSet, Decided, Reads, StoreError, Stored, Version};
use crate::use_case::UseCase;

/// Why the contacts of a list were not read or changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListMembersError {
    /// The body is not acceptable; correct what it names.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// There is no such list in the company.
    #[error("no such list")]
    NotFound,
    /// These contacts are not of the company; nothing was changed.
    #[error("a contact does not exist")]
    ContactsNotFound(Vec<ContactId>),
}

impl Rejection for ListMembersError {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(problems) => problems.code(),
            Self::NotFound | Self::ContactsNotFound(_) => Code::NotFound,
        }
    }

    fn details(&self) -> Option<Map<String, Value>> {
        match self {
            Self::Invalid(problems) => problems.details(),
            Self::NotFound => None,
            Self::ContactsNotFound(ids) => Some(object([("contact_ids", json!(ids))])),
        }
    }
}

/// What adding contacts did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Added {
    /// How many were added.
    pub added: usize,
    /// How many were in the list already.
    pub already_in_list: usize,
}

/// What removing contacts did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Removed {
    /// How many were removed.
    pub removed: usize,
    /// How many were not in the list.
    pub not_in_list: usize,
}

/// What replacing the contacts of a list did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Replaced {
    /// How many were added.
    pub added: usize,
    /// How many were in the list already.
    pub already_in_list: usize,
    /// How many others were removed.
    pub removed: usize,
}

/// What a change of a list's contacts reads first.
type Found = (Option<Stored<List>>, ListCandidates);

async fn find(
    store: &dyn Reads,
    company: CompanyId,
    list: ListId,
    contacts: &[ContactId],
    first: u32,
) -> Result<Found, StoreError> {
    let found = store.list(company, list).await?.map(|(list, _)| list);
    Ok((found, store.list_candidates(company, list, contacts, first).await?))
}

/// Contacts of a list, each once, as a body names them.
#[derive(Clone, Debug)]
struct Named {
    company: CompanyId,
    list: ListId,
    contacts: Vec<ContactId>,
}

impl Named {
    /// Which of the contacts are members: a change needs the list, and every contact that it names,
    /// in the company (R20, R271).
    fn members(
        &self,
        (list, candidates): Found,
    ) -> Result<(Stored<List>, HashSet<ContactId>), ListMembersError> {
        let Some(list) = list else { return Err(ListMembersError::NotFound) };
        let existing: HashSet<_> = candidates.existing.into_iter().collect();
        let missing: Vec<ContactId> =
            self.contacts.iter().filter(|id| !existing.contains(id)).copied().collect();
        if !missing.is_empty() {
            return Err(ListMembersError::ContactsNotFound(missing));
        }
        Ok((list, candidates.members.into_iter().collect()))
    }

    const fn row(&self, contact: ContactId) -> ListMember {
        ListMember { company: self.company, list: self.list, contact }
    }

    /// Adds those that are not members; how many they are.
    fn add(&self, mut changes: ChangeSet, members: &HashSet<ContactId>) -> (ChangeSet, usize) {
        let mut added = 0;
        for contact in self.contacts.iter().filter(|id| !members.contains(id)) {
            added += 1;
            changes = changes.insert(self.row(*contact));
        }
        (changes, added)
    }

    /// Removes a member.
    fn remove(&self, changes: ChangeSet, contact: ContactId) -> ChangeSet {
        changes.with(Stored::new(self.row(contact), Version::FIRST).delete())
    }
}

/// Adds contacts to a list: all of them, or none (R20).
#[derive(Clone, Debug)]
pub struct AddToList(Named);

#[async_trait]
impl UseCase for AddToList {
    type Loaded = Found;
    type Output = Added;
    type Error = ListMembersError;

    async fn load(&self, store: &dyn Reads) -> Result<Found, StoreError> {
        find(store, self.0.company, self.0.list, &self.0.contacts, 0).await
    }

    fn decide(&self, found: Found, _now: Timestamp) -> Result<Decided<Added>, ListMembersError> {
        let (list, members) = self.0.members(found)?;
        let (changes, added) = self.0.add(ChangeSet::new().require(list.unchanged()), &members);
        let already_in_list = self.0.contacts.len() - added;
        Ok(Decided::new(changes, Added { added, already_in_list }))
    }
}

/// Removes contacts from a list: all of them, or none (R271).
#[derive(Clone, Debug)]
pub struct RemoveFromList(Named);

#[async_trait]
impl UseCase for RemoveFromList {
    type Loaded = Found;
    type Output = Removed;
    type Error = ListMembersError;

    async fn load(&self, store: &dyn Reads) -> Result<Found, StoreError> {
        find(store, self.0.company, self.0.list, &self.0.contacts, 0).await
    }

    fn decide(&self, found: Found, _now: Timestamp) -> Result<Decided<Removed>, ListMembersError> {
        let (_, members) = self.0.members(found)?;
        let leave = self.0.contacts.iter().filter(|id| members.contains(id));
        let changes = leave.fold(ChangeSet::new(), |changes, id| self.0.remove(changes, *id));
        let removed = members.len();
        let not_in_list = self.0.contacts.len() - removed;
        Ok(Decided::new(changes, Removed { removed, not_in_list }))
    }
}

/// How many contacts one commit of [`ReplaceList`] removes at most (R272).
const REMOVED_AT_ONCE: usize = 10_000;
/// How many members it reads: if all that are to stay are among them, the others are as many as one
/// commit removes.
const MEMBERS_READ: u32 = 20_000;

/// Makes a list hold these contacts and no other: one step of it (R272).
#[derive(Clone, Debug)]
pub struct ReplaceList(Named);

#[async_trait]
impl UseCase for ReplaceList {
    type Loaded = Found;
    /// What this step did, and whether others may be left.
    type Output = (Replaced, bool);
    type Error = ListMembersError;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        find(store, self.0.company, self.0.list, &self.0.contacts, MEMBERS_READ).await
    }

    fn decide(
        &self,
        (list, mut candidates): Self::Loaded,
        _now: Timestamp,
    ) -> Result<Decided<Self::Output>, ListMembersError> {
        let first = std::mem::take(&mut candidates.first);
        let (list, members) = self.0.members((list, candidates))?;
        let (mut changes, added) = self.0.add(ChangeSet::new().require(list.unchanged()), &members);
        let stay: HashSet<_> = self.0.contacts.iter().copied().collect();
        let read = first.len();
        let mut others = first.into_iter().filter(|id| !stay.contains(id));
        let mut removed = 0;
        for contact in others.by_ref().take(REMOVED_AT_ONCE) {
            removed += 1;
            changes = self.0.remove(changes, contact);
        }
        let more = read == MEMBERS_READ as usize || others.next().is_some();
        let already_in_list = self.0.contacts.len() - added;
        Ok(Decided::new(changes, (Replaced { added, already_in_list, removed }, more)))
    }
}

fn unreadable(problems: Problems) -> Error<ListMembersError> {
    Error::Rejected(problems.into())
}

impl Lists<'_> {
    /// One page of the contacts of a list, in the order and form of the listing of all (D78).
    ///
    /// # Errors
    ///
    /// [`ListMembersError::NotFound`].
    pub async fn contacts(
        &self,
        company: CompanyId,
        list: ListId,
        page: PageRequest,
    ) -> Result<Page<ContactListItem>, Error<ListMembersError>> {
        if self.app.store().list(company, list).await?.is_none() {
            return Err(Error::Rejected(ListMembersError::NotFound));
        }
        let filter = ContactFilter { list: Some(list), ..ContactFilter::default() };
        let slice = self.app.store().contact_page(company, &filter, page, false).await?;
        Ok(Page { items: crate::contacts::listed(&slice), total: slice.total })
    }

    /// Adds contacts to a list: all that are named, or none. Safe to repeat.
    ///
    /// # Errors
    ///
    /// [`ListMembersError`]; nothing was added.
    pub async fn add_contacts(
        &self,
        company: CompanyId,
        list: ListId,
        body: impl IntoBody<AddContacts>,
    ) -> Result<Added, Error<ListMembersError>> {
        let contacts = AddContacts::parse(body).map_err(unreadable)?.contact_ids;
        self.app.run(&AddToList(Named { company, list, contacts })).await
    }

    /// Removes contacts from a list: all that are named, or none. Safe to repeat.
    ///
    /// # Errors
    ///
    /// [`ListMembersError`]; nothing was removed.
    pub async fn remove_contacts(
        &self,
        company: CompanyId,
        list: ListId,
        body: impl IntoBody<RemoveContacts>,
    ) -> Result<Removed, Error<ListMembersError>> {
        let contacts = RemoveContacts::parse(body).map_err(unreadable)?.contact_ids;
        self.app.run(&RemoveFromList(Named { company, list, contacts })).await
    }

    /// Makes a list hold the named contacts and no other. Safe to repeat. A list that loses more
    /// than 10,000 contacts loses them in several commits, the first of which adds (R272).
    ///
    /// # Errors
    ///
    /// [`ListMembersError`] of the first commit; nothing was changed. A later error leaves some of
    /// the others in the list.
    pub async fn replace_contacts(
        &self,
        company: CompanyId,
        list: ListId,
        body: impl IntoBody<ReplaceContacts>,
    ) -> Result<Replaced, Error<ListMembersError>> {
        let contacts = ReplaceContacts::parse(body).map_err(unreadable)?.contact_ids;
        let step = ReplaceList(Named { company, list, contacts });
        let (mut all, mut more) = self.app.run(&step).await?;
        while more {
            let (next, left) = self.app.run(&step).await?;
            all.removed += next.removed;
            more = left && next.removed > 0;
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::store::ChangeKind;

    fn id(n: u32) -> ContactId {
        ContactId::new(Uuid::from_u128(n.into()))
    }

    fn step(contacts: Vec<ContactId>) -> ReplaceList {
        let (company, list) = (CompanyId::new(Uuid::nil()), ListId::new(Uuid::nil()));
        ReplaceList(Named { company, list, contacts })
    }

    /// What a step decides on the members that it reads; contact `n` exists if it is named.
    fn decided(step: &ReplaceList, first: Vec<ContactId>) -> (usize, Replaced, bool) {
        let Named { company, list: id, contacts } = &step.0;
        let list = List {
            id: *id,
            company: *company,
            name: "VIP".to_owned(),
            is_active: true,
            created_at: Timestamp::MIN,
        };
        let members = contacts.iter().filter(|id| first.contains(id)).copied().collect();
        let candidates = ListCandidates { existing: contacts.clone(), members, first };
        let found = (Some(Stored::new(list, Version::FIRST)), candidates);
        let decided = step.decide(found, Timestamp::MIN).expect("all exist");
        let (replaced, more) = decided.output;
        let removals = decided.changes.changes.into_iter().map(|change| change.into_kind());
        let removals = removals.filter(|kind| matches!(kind, ChangeKind::Delete { .. })).count();
        (removals, replaced, more)
    }

    /// R272.
    #[test]
    fn a_list_is_replaced_in_one_commit_unless_it_loses_more_than_one_commit_may_remove() {
        let stay = vec![id(1), id(3), id(90_000)];
        let replaced = Replaced { added: 1, already_in_list: 2, removed: 3 };
        let few = (0..5).map(id).collect();
        assert_eq!(decided(&step(stay.clone()), few), (3, replaced, false));

        let many = (0..MEMBERS_READ).map(id).collect();
        let replaced = Replaced { removed: 10_000, ..replaced };
        assert_eq!(decided(&step(stay.clone()), many), (10_000, replaced, true));

        let left = (0..10_003).map(id).collect();
        let (removals, _, more) = decided(&step(stay), left);
        assert_eq!((removals, more), (10_000, true), "one is left");
    }

    /// D78.
    #[test]
    fn an_empty_list_replaces_everybody_by_nobody() {
        let none = Replaced { added: 0, already_in_list: 0, removed: 2 };
        assert_eq!(decided(&step(Vec::new()), vec![id(1), id(2)]), (2, none, false));
    }
}
