//! Managing lists.

use std::future::ready;

use super::{List, ListDraft, ListPatch, ListView};
use crate::Recado;
use crate::access::{Caller, Scope};
use crate::body::IntoBody;
use crate::ids::{CompanyId, ListId};
use crate::manage::{ManageResult, NOT_FOUND, invalid};
use crate::store::{ChangeSet, Collection};

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

impl Lists<'_> {
    /// All lists of the caller's company (4.12, D58).
    ///
    /// # Errors
    ///
    /// Only [`Error::Denied`](crate::Error::Denied) and [`Error::Store`](crate::Error::Store).
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

    /// Deletes a list; its contacts stay. Many of them leave it in commits of their own before
    /// (R442): if this fails between two, the list is there with fewer contacts, and a repeat
    /// completes it.
    ///
    /// # Errors
    ///
    /// [`crate::ManageError::NotFound`].
    pub async fn delete(&self, company: CompanyId, id: ListId) -> ManageResult<()> {
        let store = self.app.store();
        let load = || async move { Ok(store.list(company, id).await?.map(|(list, _)| list)) };
        let (_, contacts) = store.list(company, id).await?.ok_or(NOT_FOUND)?;
        self.app.remove_rows(company, Collection::List(id), contacts, load).await?;
        self.app.remove(load, || ready(Ok(false))).await
    }
}
