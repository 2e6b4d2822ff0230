//! Changing a contact (4.4).

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::link_facts::{
    OrganizationIds, apply_email, check_fields, check_listed_fields, join_lists, link_organization,
    merge_custom_fields, missing_lists, rely_on_fields,
};
use super::{
    Contact, ContactDraft, ContactPatch, Contacts, Created, DraftFacts, DraftQuery, Region,
};
use crate::Timestamp;
use crate::access::{Caller, Scope};
use crate::body::IntoBody;
use crate::code::Code;
use crate::error::{Error, Rejection, object};
use crate::ids::{CompanyId, ContactId, ListId};
use crate::problems::Problems;
use crate::store::{ChangeSet, Decided, Reads, StoreError};
use crate::use_case::UseCase;

/// Why a contact was not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpdateContactError {
    /// The body is not acceptable; correct what it names.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// There is no such contact in the company.
    #[error("no such contact")]
    NotFound,
    /// These lists are not of the company or inactive; leave them out.
    #[error("a list does not exist or is inactive")]
    ListsNotFound(Vec<ListId>),
}

impl Rejection for UpdateContactError {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(problems) => problems.code(),
            Self::NotFound | Self::ListsNotFound(_) => Code::NotFound,
        }
    }

    fn details(&self) -> Option<Map<String, Value>> {
        match self {
            Self::Invalid(problems) => problems.details(),
            Self::NotFound => None,
            Self::ListsNotFound(lists) => Some(object([("list_ids", json!(lists))])),
        }
    }
}

/// Merges what was sent into a contact. A refusal changes nothing (D23).
#[derive(Clone, Debug)]
pub struct UpdateContact {
    /// The company.
    pub company: CompanyId,
    /// The contact.
    pub id: ContactId,
    /// The region whose national numbers the caller writes.
    pub region: Region,
    /// What was sent.
    pub draft: ContactDraft,
    /// Ids for an organization that may have to be made.
    pub organization: OrganizationIds,
}

#[async_trait]
impl UseCase for UpdateContact {
    type Loaded = DraftFacts;
    type Output = Created;
    type Error = UpdateContactError;

    async fn load(&self, store: &dyn Reads) -> Result<DraftFacts, StoreError> {
        let query = DraftQuery { contact: Some(self.id), ..self.draft.query() };
        store.draft_facts(self.company, &query).await
    }

    fn decide(
        &self,
        facts: DraftFacts,
        now: Timestamp,
    ) -> Result<Decided<Created>, UpdateContactError> {
        let mut problems = self.draft.problems.clone();
        check_fields(&self.draft.custom_fields, &facts, &mut problems);
        check_listed_fields(&self.draft.listed_fields, &facts, None, &mut problems);
        problems.into_result()?;
        let Some(stored) = facts.contact.as_ref() else {
            return Err(UpdateContactError::NotFound);
        };
        let mut problems = self.draft.immutable_problems(stored, &self.region);
        check_listed_fields(&self.draft.listed_fields, &facts, Some(stored), &mut problems);
        problems.into_result()?;
        let missing = missing_lists(&self.draft.lists, &facts);
        if !missing.is_empty() {
            return Err(UpdateContactError::ListsNotFound(missing));
        }

        let mut warnings = Vec::new();
        let mut changes = rely_on_fields(&facts, ChangeSet::new());
        let contact: Contact = stored.changed(now, |contact| {
            self.draft.apply_native(contact);
            merge_custom_fields(contact, &self.draft.custom_fields);
            warnings.extend(apply_email(contact, &self.draft.email, facts.email_holder));
            changes = link_organization(
                contact,
                self.draft.cnpj.as_ref(),
                &facts,
                self.organization,
                now,
                std::mem::take(&mut changes),
            );
        });
        if contact != *stored.value() {
            changes = changes.with(stored.update(contact.clone()));
        }
        let changes = join_lists(&contact, &self.draft.lists, &facts, changes);
        Ok(Decided::new(changes, Created { contact, warnings }))
    }
}

impl Contacts<'_> {
    /// Merges what was sent into a contact (4.4). Atomic; concurrent changes of one contact are
    /// applied one after the other, none is lost.
    ///
    /// # Errors
    ///
    /// [`UpdateContactError`]; nothing was changed.
    pub async fn update(
        &self,
        caller: &Caller,
        id: ContactId,
        body: impl IntoBody<ContactPatch>,
    ) -> Result<Created, Error<UpdateContactError>> {
        caller.require(Scope::ContactsWrite)?;
        let use_case = UpdateContact {
            company: caller.company(),
            id,
            region: *caller.region(),
            draft: ContactDraft::of_patch(body, caller.region()),
            organization: self.app.organization_ids(self.app.now()),
        };
        self.app.run(&use_case).await
    }
}
