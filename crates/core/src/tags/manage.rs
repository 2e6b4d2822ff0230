//! Managing tags and close reasons.

use std::future::ready;

use super::{CloseReason, CloseReasonDraft, Tag, TagDraft, TagPatch};
use crate::Recado;
use crate::body::IntoBody;
use crate::contacts::ContactFilter;
use crate::ids::{CloseReasonId, CompanyId, TagId};
use crate::manage::{ManageResult, NOT_FOUND, invalid};
use crate::page::PageRequest;
use crate::store::{ChangeSet, Collection, RecordsExt, Removable};

/// The use cases on tags and close reasons. Made by [`Recado::tags`].
#[derive(Clone, Copy, Debug)]
pub struct Tags<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Tags and close reasons.
    pub fn tags(&self) -> Tags<'_> {
        Tags { app: self }
    }
}

impl Tags<'_> {
    /// All tags of a company.
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn all(&self, company: CompanyId) -> ManageResult<Vec<Tag>> {
        Ok(self.app.store().all::<Tag>(company).await?)
    }

    /// A tag.
    ///
    /// # Errors
    ///
    /// [`crate::ManageError::NotFound`].
    pub async fn get(&self, company: CompanyId, id: TagId) -> ManageResult<Tag> {
        match self.app.store().get::<Tag>((company, id)).await? {
            Some(tag) => Ok(tag.into_value()),
            None => Err(NOT_FOUND),
        }
    }

    /// Makes a tag.
    ///
    /// # Errors
    ///
    /// What is wrong with the body.
    pub async fn create(
        &self,
        company: CompanyId,
        body: impl IntoBody<TagDraft>,
    ) -> ManageResult<Tag> {
        let draft = TagDraft::parse(body).map_err(invalid)?;
        let now = self.app.now();
        let tag = Tag {
            id: TagId::new(self.app.uuid(now)),
            company,
            name: draft.name,
            color: draft.color,
            created_at: now,
        };
        self.app.insert_all(ChangeSet::new().insert(tag.clone()), tag).await
    }

    /// Changes a tag.
    ///
    /// # Errors
    ///
    /// What is wrong with the body, or [`crate::ManageError::NotFound`].
    pub async fn change(
        &self,
        company: CompanyId,
        id: TagId,
        body: impl IntoBody<TagPatch>,
    ) -> ManageResult<Tag> {
        let patch = TagPatch::parse(body).map_err(invalid)?;
        let store = self.app.store();
        self.app.change(|| store.get::<Tag>((company, id)), |tag| patch.over(tag)).await
    }

    /// Deletes a tag; contacts lose it (R5), many of them in commits of their own before (R442). If
    /// this fails between two, fewer contacts have the tag, and a repeat completes it.
    ///
    /// # Errors
    ///
    /// [`crate::ManageError::NotFound`].
    pub async fn delete(&self, company: CompanyId, id: TagId) -> ManageResult<()> {
        let store = self.app.store();
        let load = || store.get::<Tag>((company, id));
        let having = ContactFilter { tag: Some(id), ..ContactFilter::default() };
        let one = PageRequest { page: 1, limit: 1 };
        let contacts = store.contact_page(company, &having, one, false).await?.total;
        self.app.remove_rows(company, Collection::Tag(id), contacts, load).await?;
        self.app.remove(load, || ready(Ok(false))).await
    }

    /// All close reasons of a company.
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn close_reasons(&self, company: CompanyId) -> ManageResult<Vec<CloseReason>> {
        Ok(self.app.store().all::<CloseReason>(company).await?)
    }

    /// A close reason.
    ///
    /// # Errors
    ///
    /// [`crate::ManageError::NotFound`].
    pub async fn close_reason(
        &self,
        company: CompanyId,
        id: CloseReasonId,
    ) -> ManageResult<CloseReason> {
        match self.app.store().get::<CloseReason>((company, id)).await? {
            Some(reason) => Ok(reason.into_value()),
            None => Err(NOT_FOUND),
        }
    }

    /// Makes a close reason.
    ///
    /// # Errors
    ///
    /// What is wrong with the body.
    pub async fn create_close_reason(
        &self,
        company: CompanyId,
        body: impl IntoBody<CloseReasonDraft>,
    ) -> ManageResult<CloseReason> {
        let draft = CloseReasonDraft::parse(body).map_err(invalid)?;
        let now = self.app.now();
        let id = CloseReasonId::new(self.app.uuid(now));
        let reason = CloseReason { id, company, name: draft.name, created_at: now };
        self.app.insert_all(ChangeSet::new().insert(reason.clone()), reason).await
    }

    /// Renames a close reason.
    ///
    /// # Errors
    ///
    /// What is wrong with the body, or [`crate::ManageError::NotFound`].
    pub async fn change_close_reason(
        &self,
        company: CompanyId,
        id: CloseReasonId,
        body: impl IntoBody<CloseReasonDraft>,
    ) -> ManageResult<CloseReason> {
        let draft = CloseReasonDraft::parse(body).map_err(invalid)?;
        let store = self.app.store();
        self.app
            .change(
                || store.get::<CloseReason>((company, id)),
                |reason: &CloseReason| CloseReason { name: draft.name.clone(), ..reason.clone() },
            )
            .await
    }

    /// Deletes a close reason that no contact was closed with (R5).
    ///
    /// # Errors
    ///
    /// [`crate::ManageError::NotFound`] or [`crate::ManageError::InUse`].
    pub async fn delete_close_reason(
        &self,
        company: CompanyId,
        id: CloseReasonId,
    ) -> ManageResult<()> {
        let store = self.app.store();
        self.app
            .remove(
                || store.get::<CloseReason>((company, id)),
                || store.is_in_use(company, Removable::CloseReason(id)),
            )
            .await
    }
}
