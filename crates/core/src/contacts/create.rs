//! Creating a contact (4.3).

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::created::{contact_created, creation_stamp};
use super::link_facts::{
    OrganizationIds, apply_email, check_fields, join_lists, link_organization, merge_custom_fields,
    missing_lists, rely_on_fields,
};
use super::{
    Alias, Contact, ContactDraft, Contacts, DraftFacts, DraftQuery, Identifier, NewContact,
    Platform, Warning,
};
use crate::Timestamp;
use crate::access::{Caller, Scope};
use crate::body::IntoBody;
use crate::code::Code;
use crate::conversations::ChannelQuery;
use crate::error::{Error, Rejection, object};
use crate::ids::{CompanyId, ContactId, EventId, ListId};
use crate::problems::Problems;
use crate::store::{ChangeSet, Decided, Precondition, Reads, StoreError};
use crate::use_case::UseCase;

/// Why a contact was not created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CreateContactError {
    /// The body is not acceptable; correct what it names.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// These lists are not of the company or inactive; leave them out.
    #[error("a list does not exist or is inactive")]
    ListsNotFound(Vec<ListId>),
    /// The phone is registered already; use that contact.
    #[error("the phone is already registered in the company")]
    PhoneTaken {
        /// The contact that has it.
        by: ContactId,
    },
}

impl Rejection for CreateContactError {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(problems) => problems.code(),
            Self::ListsNotFound(_) => Code::NotFound,
            Self::PhoneTaken { .. } => Code::ContactExists,
        }
    }

    fn details(&self) -> Option<Map<String, Value>> {
        match self {
            Self::Invalid(problems) => problems.details(),
            Self::ListsNotFound(lists) => Some(object([("list_ids", json!(lists))])),
            Self::PhoneTaken { .. } => None,
        }
    }

    fn extra(&self) -> Option<Map<String, Value>> {
        match self {
            Self::PhoneTaken { by } => Some(object([("contact_id", json!(by))])),
            Self::Invalid(_) | Self::ListsNotFound(_) => None,
        }
    }
}

/// A contact that was created.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Created {
    /// The contact.
    pub contact: Contact,
    /// Warnings about values that were stored differently than sent; usually none.
    pub warnings: Vec<Warning>,
}

/// Creates a contact by phone and puts it on its lists, in one commit (R19).
#[derive(Clone, Debug)]
pub struct CreateContact {
    /// The company.
    pub company: CompanyId,
    /// What was sent.
    pub draft: ContactDraft,
    /// The id it will have.
    pub id: ContactId,
    /// The id of its event.
    pub event: EventId,
    /// Ids for an organization that may have to be made.
    pub organization: OrganizationIds,
}

#[async_trait]
impl UseCase for CreateContact {
    type Loaded = DraftFacts;
    type Output = Created;
    type Error = CreateContactError;

    async fn load(&self, store: &dyn Reads) -> Result<DraftFacts, StoreError> {
        // D17: whoever has the phone in any of its forms.
        let holders = self.draft.phone.as_ref().map(ChannelQuery::of_phone).unwrap_or_default();
        let query = DraftQuery {
            identifiers: holders.identifiers,
            keys: holders.keys,
            phones: holders.phones,
            ..self.draft.query()
        };
        store.draft_facts(self.company, &query).await
    }

    fn decide(
        &self,
        facts: DraftFacts,
        now: Timestamp,
    ) -> Result<Decided<Created>, CreateContactError> {
        let mut problems = self.draft.problems.clone();
        check_fields(&self.draft.custom_fields, &facts, &mut problems);
        problems.into_result()?;
        let Some(phone) = self.draft.phone.clone() else {
            return Err(Problems::of("phone", "is required").into());
        };
        let missing = missing_lists(&self.draft.lists, &facts);
        if !missing.is_empty() {
            return Err(CreateContactError::ListsNotFound(missing));
        }
        if let Some(by) = facts.holder {
            return Err(CreateContactError::PhoneTaken { by });
        }

        let now = creation_stamp(now, facts.export_frontier);
        let identifier = Identifier::of_phone(&phone);
        let mut contact =
            Contact::new(self.id, self.company, Platform::whatsapp(), identifier, Some(phone), now);
        self.draft.apply_native(&mut contact);
        merge_custom_fields(&mut contact, &self.draft.custom_fields);
        let warning = apply_email(&mut contact, &self.draft.email, facts.email_holder);
        let changes = rely_on_fields(&facts, ChangeSet::new()).require(Precondition::NotExported {
            company: self.company,
            created_at: contact.created_at,
        });
        let changes = link_organization(
            &mut contact,
            self.draft.cnpj.as_ref(),
            &facts,
            self.organization,
            now,
            changes,
        );
        contact.derive();
        let changes = changes.insert(contact.clone());
        let changes = Alias::at_first(&contact).into_iter().fold(changes, ChangeSet::insert);
        let changes = join_lists(&contact, &self.draft.lists, &facts, changes)
            .emit(contact_created(self.event, &contact));
        Ok(Decided::new(changes, Created { contact, warnings: warning.into_iter().collect() }))
    }
}

impl Contacts<'_> {
    /// Creates a contact by phone (4.3).
    ///
    /// Atomic: the contact, its organization, its list memberships and the event `contact.created`
    /// are durable when this returns; after an error nothing was stored.
    ///
    /// # Errors
    ///
    /// [`CreateContactError`] with all problems of the body at once.
    pub async fn create(
        &self,
        caller: &Caller,
        body: impl IntoBody<NewContact>,
    ) -> Result<Created, Error<CreateContactError>> {
        caller.require(Scope::ContactsWrite)?;
        let now = self.app.now();
        let use_case = CreateContact {
            company: caller.company(),
            draft: ContactDraft::of_new(body, caller.region()),
            id: ContactId::new(self.app.uuid(now)),
            event: EventId::new(self.app.uuid(now)),
            organization: self.app.organization_ids(now),
        };
        self.app.run(&use_case).await
    }
}
