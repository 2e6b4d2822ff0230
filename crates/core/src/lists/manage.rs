//! Managing lists and their contacts.

use std::future::ready;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::{AddContacts, List, ListCandidates, ListDraft, ListMember, ListPatch, ListView};
use crate::access::{Caller, Scope};
use crate::body::IntoBody;
use crate::code::Code;
use crate::error::{Error, Rejection, object};
use crate::ids::{CompanyId, ContactId, ListId};
use crate::manage::{ManageResult, NOT_FOUND, invalid};
use crate::problems::Problems;
use crate::store::{ChangeSet, Decided, Reads, StoreError, Stored};
use crate::use_case::UseCase;
use crate::{Recado, Timestamp};

/// The use cases on lists. Made by [`Recado::lists`].
#[derive(Clone, Copy, Debug)]
pub struct Lists<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Lists of contacts.
    pub fn lists(&self) -> Lists<'_> {
        Lists { app: self }
    }
}

/// Why contacts were not added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddToListError {
    /// The body is not acceptable; correct what it names.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// There is no such list in the company.
    #[error("no such list")]
    NotFound,
    /// These contacts are not of the company; none was added.
    #[error("a contact does not exist")]
    ContactsNotFound(Vec<ContactId>),
}

impl Rejection for AddToListError {
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

/// Adds contacts to a list: all of them, or none (R20).
#[derive(Clone, Debug)]
pub struct AddToList {
    /// The company.
    pub company: CompanyId,
    /// The list.
    pub list: ListId,
    /// The contacts, each once.
    pub contacts: Vec<ContactId>,
}

#[async_trait]
impl UseCase for AddToList {
    type Loaded = (Option<Stored<List>>, ListCandidates);
    type Output = Added;
    type Error = AddToListError;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        let list = store.list(self.company, self.list).await?.map(|(list, _)| list);
        let candidates = store.list_candidates(self.company, self.list, &self.contacts).await?;
        Ok((list, candidates))
    }

    fn decide(
        &self,
        (list, candidates): Self::Loaded,
        _now: Timestamp,
    ) -> Result<Decided<Added>, AddToListError> {
        let Some(list) = list else { return Err(AddToListError::NotFound) };
        let existing: std::collections::HashSet<_> = candidates.existing.into_iter().collect();
        let members: std::collections::HashSet<_> = candidates.members.into_iter().collect();
        let missing: Vec<ContactId> =
            self.contacts.iter().filter(|id| !existing.contains(id)).copied().collect();
        if !missing.is_empty() {
            return Err(AddToListError::ContactsNotFound(missing));
        }
        let mut changes = ChangeSet::new().require(list.unchanged());
        let mut added = 0;
        for contact in self.contacts.iter().filter(|id| !members.contains(id)) {
            added += 1;
            changes = changes.insert(ListMember {
                company: self.company,
                list: self.list,
                contact: *contact,
            });
        }
        let already_in_list = self.contacts.len() - added;
        Ok(Decided::new(changes, Added { added, already_in_list }))
    }
}

impl Lists<'_> {
    /// All lists of the caller's company (4.12, D58).
    ///
    /// # Errors
    ///
    /// Only [`Error::Denied`] and [`Error::Store`].
    pub async fn list(&self, caller: &Caller) -> ManageResult<Vec<ListView>> {
        caller.require(Scope::ContactsRead)?;
        self.all(caller.company()).await
    }

    /// All lists of a company.
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn all(&self, company: CompanyId) -> ManageResult<Vec<ListView>> {
        let lists = self.app.store().lists(company).await?;
        Ok(lists.iter().map(|(list, count)| ListView::new(list, *count)).collect())
    }

    /// A list.
    ///
    /// # Errors
    ///
    /// [`crate::ManageError::NotFound`].
    pub async fn get(&self, company: CompanyId, id: ListId) -> ManageResult<ListView> {
        match self.app.store().list(company, id).await? {
            Some((list, count)) => Ok(ListView::new(&list, count)),
            None => Err(NOT_FOUND),
        }
    }

    /// Makes a list.
    ///
    /// # Errors
    ///
    /// What is wrong with the body.
    pub async fn create(
        &self,
        company: CompanyId,
        body: impl IntoBody<ListDraft>,
    ) -> ManageResult<ListView> {
        let draft = ListDraft::parse(body).map_err(invalid)?;
        let now = self.app.now();
        let list = List {
            id: ListId::new(self.app.uuid(now)),
            company,
            name: draft.name,
            is_active: draft.is_active.unwrap_or(true),
            created_at: now,
        };
        let view = ListView::new(&list, 0);
        self.app.insert_all(ChangeSet::new().insert(list), view).await
    }

    /// Changes a list.
    ///
    /// # Errors
    ///
    /// What is wrong with the body, or [`crate::ManageError::NotFound`].
    pub async fn change(
        &self,
        company: CompanyId,
        id: ListId,
        body: impl IntoBody<ListPatch>,
    ) -> ManageResult<ListView> {
        let patch = ListPatch::parse(body).map_err(invalid)?;
        let store = self.app.store();
        self.app
            .change(
                || async move { Ok(store.list(company, id).await?.map(|(list, _)| list)) },
                |list| patch.over(list),
            )
            .await?;
        self.get(company, id).await
    }

    /// Deletes a list; its contacts stay.
    ///
    /// # Errors
    ///
    /// [`crate::ManageError::NotFound`].
    pub async fn delete(&self, company: CompanyId, id: ListId) -> ManageResult<()> {
        let store = self.app.store();
        self.app
            .remove(
                || async move { Ok(store.list(company, id).await?.map(|(list, _)| list)) },
                || ready(Ok(false)),
            )
            .await
    }

    /// Adds contacts to a list: all that are named, or none. Safe to repeat.
    ///
    /// # Errors
    ///
    /// [`AddToListError`]; nothing was added.
    pub async fn add_contacts(
        &self,
        company: CompanyId,
        list: ListId,
        body: impl IntoBody<AddContacts>,
    ) -> Result<Added, Error<AddToListError>> {
        let body = AddContacts::parse(body).map_err(|problems| Error::Rejected(problems.into()))?;
        self.app.run(&AddToList { company, list, contacts: body.contact_ids }).await
    }
}
