//! Managing definitions of custom fields.

use std::future::ready;

use super::{CustomField, CustomFieldDraft, CustomFieldPatch, FieldStatus, FieldType};
use crate::Recado;
use crate::access::{Caller, Scope};
use crate::body::IntoBody;
use crate::error::Error;
use crate::ids::{CompanyId, CustomFieldId};
use crate::manage::{ManageError, ManageResult, NOT_FOUND, invalid};
use crate::store::{ChangeSet, Decided, RecordsExt};

/// The use cases on custom-field definitions. Made by [`Recado::custom_fields`].
#[derive(Clone, Copy, Debug)]
pub struct CustomFields<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Definitions of custom fields.
    pub fn custom_fields(&self) -> CustomFields<'_> {
        CustomFields { app: self }
    }
}

impl CustomFields<'_> {
    /// All definitions of the caller's company (4.12, D58).
    ///
    /// # Errors
    ///
    /// Only [`Error::Denied`] and [`Error::Store`].
    pub async fn list(&self, caller: &Caller) -> ManageResult<Vec<CustomField>> {
        caller.require(Scope::ContactsRead)?;
        self.all(caller.company()).await
    }

    /// All definitions of a company.
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn all(&self, company: CompanyId) -> ManageResult<Vec<CustomField>> {
        Ok(self.app.store().all::<CustomField>(company).await?)
    }

    /// A definition.
    ///
    /// # Errors
    ///
    /// [`ManageError::NotFound`].
    pub async fn get(&self, company: CompanyId, id: CustomFieldId) -> ManageResult<CustomField> {
        match self.app.store().get::<CustomField>((company, id)).await? {
            Some(field) => Ok(field.into_value()),
            None => Err(NOT_FOUND),
        }
    }

    /// Creates a definition; of two with the same slug at once, one is refused.
    ///
    /// # Errors
    ///
    /// What is wrong with the body, or [`ManageError::SlugTaken`].
    pub async fn create(
        &self,
        company: CompanyId,
        body: impl IntoBody<CustomFieldDraft>,
    ) -> ManageResult<CustomField> {
        let draft = &CustomFieldDraft::parse(body).map_err(invalid)?;
        let id = CustomFieldId::new(self.app.uuid(self.app.now()));
        let store = self.app.store();
        let create = |now| async move {
            if store.custom_field_by_slug(company, &draft.slug).await?.is_some() {
                return Err(Error::Rejected(ManageError::SlugTaken));
            }
            if self.app.company(company).await?.is_none() {
                return Err(NOT_FOUND);
            }
            let draft = draft.clone();
            let field = CustomField {
                id,
                company,
                slug: draft.slug,
                label: draft.label,
                field_type: draft.field_type.unwrap_or(FieldType::Text),
                status: draft.status.unwrap_or(FieldStatus::Active),
                created_at: now,
            };
            Ok(Decided::new(ChangeSet::new().insert(field.clone()), field))
        };
        self.app.decide(create).await
    }

    /// Changes a definition; stored values stay, whatever its status.
    ///
    /// # Errors
    ///
    /// What is wrong with the body, or [`ManageError::NotFound`].
    pub async fn change(
        &self,
        company: CompanyId,
        id: CustomFieldId,
        body: impl IntoBody<CustomFieldPatch>,
    ) -> ManageResult<CustomField> {
        let patch = CustomFieldPatch::parse(body).map_err(invalid)?;
        let store = self.app.store();
        self.app.change(|| store.get::<CustomField>((company, id)), |field| patch.over(field)).await
    }

    /// Deletes a definition; its values are shown no more.
    ///
    /// # Errors
    ///
    /// [`ManageError::NotFound`].
    pub async fn delete(&self, company: CompanyId, id: CustomFieldId) -> ManageResult<()> {
        let store = self.app.store();
        self.app.remove(|| store.get::<CustomField>((company, id)), || ready(Ok(false))).await
    }
}
