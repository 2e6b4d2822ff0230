//! Creating or updating a contact from a mapped body (4.9, D46, D47).

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde::Serialize;

use super::{Admitted, Inbound, InboundError, Mapped, MappingError, Payload, UpsertAction};
use crate::Timestamp;
use crate::contacts::{
    Alias, Contact, DraftFacts, DraftQuery, Identifier, OrganizationIds, OrganizationKey, Platform,
    Warning, apply_email, contact_created, creation_stamp, link_organization,
};
use crate::conversations::{ChannelContact, ChannelQuery, meant_by_phone};
use crate::custom_fields::{CustomField, FieldStatus, FieldType};
use crate::error::Error;
use crate::ids::{CompanyId, ContactId, CustomFieldId, EventId};
use crate::input::Given;
use crate::store::{ChangeSet, Decided, Precondition, Reads, StoreError, Stored};
use crate::use_case::UseCase;

/// A definition that was made for a slug without one (D46).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PendingField {
    /// Its id.
    pub id: CustomFieldId,
    /// Its slug.
    pub slug: String,
}

/// The answer to an upsert (4.9).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Upserted {
    /// The contact.
    pub contact_id: ContactId,
    /// Whether it was made.
    pub action: UpsertAction,
    /// How many values of custom fields were stored.
    pub custom_fields_captured: usize,
    /// The definitions that were made, by slug.
    pub new_pending_definitions: Vec<PendingField>,
    /// Warnings about values that were skipped or changed; usually none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// Creates or updates a contact.
#[derive(Clone, Debug)]
pub struct UpsertContact {
    /// The company.
    pub company: CompanyId,
    /// The values of the body.
    pub mapped: Mapped,
    /// The id of a new contact.
    pub id: ContactId,
    /// The id of its event.
    pub event: EventId,
    /// Ids for an organization that may have to be made.
    pub organization: OrganizationIds,
    /// Ids for definitions that may have to be made, one for each slug with a value.
    pub definitions: BTreeMap<String, CustomFieldId>,
}

/// What an upsert reads.
#[derive(Debug)]
pub struct UpsertFacts {
    /// `None` when contacts could not be read.
    found: Option<(Vec<ChannelContact>, DraftFacts)>,
}

impl UpsertContact {
    async fn read(
        &self,
        store: &dyn Reads,
    ) -> Result<(Vec<ChannelContact>, DraftFacts), StoreError> {
        let query = ChannelQuery::of_phone(&self.mapped.phone);
        let found = store.channel_contacts(self.company, &query).await?;
        let query = DraftQuery {
            email: self.mapped.email.clone(),
            organization: self.mapped.cnpj.clone().map(OrganizationKey::Cnpj),
            slugs: self.definitions.keys().cloned().collect(),
            ..DraftQuery::default()
        };
        Ok((found, store.draft_facts(self.company, &query).await?))
    }

    /// The definitions that values need and that do not exist (R82).
    fn missing_definitions(&self, facts: &DraftFacts, now: Timestamp) -> Vec<CustomField> {
        let is_missing = |slug: &str| !facts.fields.iter().any(|field| field.slug == slug);
        let make = |(slug, id): (&String, &CustomFieldId)| CustomField {
            id: *id,
            company: self.company,
            slug: slug.clone(),
            label: slug.clone(),
            field_type: FieldType::Text,
            status: FieldStatus::Pending,
            created_at: now,
        };
        self.definitions.iter().filter(|(slug, _)| is_missing(slug)).map(make).collect()
    }

    /// Sets the fields that the body has; others stay (D47).
    fn apply(&self, contact: &mut Contact, fields: &BTreeMap<&str, CustomFieldId>) {
        let mapped = &self.mapped;
        fn over<T: Clone>(said: &Option<T>, field: &mut Option<T>) {
            if said.is_some() {
                field.clone_from(said);
            }
        }
        if let Some(name) = &mapped.name {
            contact.name.clone_from(name);
        }
        over(&mapped.observation, &mut contact.observation);
        over(&mapped.birthday, &mut contact.profile.birthday);
        over(&mapped.cpf, &mut contact.profile.cpf);
        over(&mapped.rg, &mut contact.profile.rg);
        over(&mapped.genero, &mut contact.profile.genero);
        over(&mapped.estado_civil, &mut contact.profile.estado_civil);
        over(&mapped.profissao, &mut contact.profile.profissao);
        over(&mapped.city, &mut contact.address.city);
        over(&mapped.state, &mut contact.address.state);
        over(&mapped.postal_code, &mut contact.address.postal_code);
        for (slug, value) in &mapped.custom {
            if let Some(id) = fields.get(slug.as_str()) {
                contact.custom_fields.insert(*id, value.clone());
            }
        }
    }

    fn email(&self) -> Given<crate::contacts::Email> {
        self.mapped.email.clone().map_or(Given::Absent, Given::Value)
    }

    /// The changes that write the contact and the records made for it.
    fn write(
        &self,
        known: Option<&Stored<Contact>>,
        facts: &DraftFacts,
        fields: &BTreeMap<&str, CustomFieldId>,
        now: Timestamp,
    ) -> (Contact, Option<Warning>, ChangeSet) {
        let created_at = creation_stamp(now, facts.export_frontier);
        let mut contact = match known {
            Some(known) => known.value().clone(),
            None => {
                let phone = &self.mapped.phone;
                let identifier = Identifier::of_phone(phone);
                let platform = Platform::whatsapp();
                let phone = Some(phone.clone());
                Contact::new(self.id, self.company, platform, identifier, phone, created_at)
            }
        };
        self.apply(&mut contact, fields);
        let warning = apply_email(&mut contact, &self.email(), facts.email_holder);
        let (cnpj, ids) = (self.mapped.cnpj.as_ref(), self.organization);
        let changes = link_organization(&mut contact, cnpj, facts, ids, now, ChangeSet::new());
        contact.derive();
        (contact, warning, changes)
    }
}

#[async_trait]
impl UseCase for UpsertContact {
    type Loaded = UpsertFacts;
    type Output = Upserted;
    type Error = InboundError;

    async fn load(&self, store: &dyn Reads) -> Result<UpsertFacts, StoreError> {
        match self.read(store).await {
            Ok(found) => Ok(UpsertFacts { found: Some(found) }),
            Err(StoreError::Unavailable(_)) => Ok(UpsertFacts { found: None }),
            Err(error) => Err(error),
        }
    }

    fn decide(
        &self,
        facts: UpsertFacts,
        now: Timestamp,
    ) -> Result<Decided<Upserted>, InboundError> {
        let (found, facts) = facts.found.ok_or(InboundError::ContactStateUnavailable)?;
        let known = meant_by_phone(&found).map(|found| &found.contact);
        let made = self.missing_definitions(&facts, now);
        let fields: BTreeMap<&str, CustomFieldId> = facts
            .fields
            .iter()
            .map(|field| (field.slug.as_str(), field.id))
            .chain(made.iter().map(|field| (field.slug.as_str(), field.id)))
            .collect();
        let (mut contact, warning, beside) = self.write(known, &facts, &fields, now);

        let mut changes = ChangeSet::new();
        for field in &facts.fields {
            changes = changes.require(field.unchanged());
        }
        for field in &made {
            changes = changes.insert(field.clone());
        }
        changes.changes.extend(beside.changes);
        let action = match known {
            Some(known) if contact == *known.value() => UpsertAction::Updated,
            Some(known) => {
                contact.updated_at = now;
                changes = changes.with(known.update(contact.clone()));
                UpsertAction::Updated
            }
            None => {
                let (company, created_at) = (self.company, contact.created_at);
                changes = changes
                    .require(Precondition::NotExported { company, created_at })
                    .insert(contact.clone());
                changes = Alias::at_first(&contact).into_iter().fold(changes, ChangeSet::insert);
                changes = changes.emit(contact_created(self.event, &contact));
                UpsertAction::Created
            }
        };
        let pending = |field: &CustomField| PendingField { id: field.id, slug: field.slug.clone() };
        let upserted = Upserted {
            contact_id: contact.id,
            action,
            custom_fields_captured: self.mapped.custom.len(),
            new_pending_definitions: made.iter().map(pending).collect(),
            warnings: self.mapped.warnings.iter().cloned().chain(warning).collect(),
        };
        Ok(Decided::new(changes, upserted))
    }
}

impl From<MappingError> for InboundError {
    fn from(error: MappingError) -> Self {
        match error {
            MappingError::NoPhone => Self::MissingPhone,
            failed => Self::MappingFailed(failed.to_string()),
        }
    }
}

impl Inbound<'_> {
    /// Creates or updates the contact of a body (4.9).
    ///
    /// Atomic: the contact, the definitions, the organization and the event `contact.created` are
    /// durable when this returns; after an error nothing was stored. Of simultaneous calls for one
    /// new phone, one creates the contact. Idempotent: the same body again changes nothing.
    ///
    /// # Errors
    ///
    /// [`InboundError`].
    pub async fn upsert(
        &self,
        admitted: &Admitted,
        body: &[u8],
    ) -> Result<Upserted, Error<InboundError>> {
        let result = self.make(admitted, body).await;
        self.remember(admitted.endpoint.id, &result);
        result
    }

    async fn make(
        &self,
        admitted: &Admitted,
        body: &[u8],
    ) -> Result<Upserted, Error<InboundError>> {
        let payload = Payload::read(body).map_err(Error::Rejected)?;
        let region = &admitted.company.default_region;
        let mapped = Mapped::new(&admitted.endpoint.mapping, &payload, region)
            .map_err(|error| Error::Rejected(error.into()))?;
        let now = self.app.now();
        let id = |slug: &String| (slug.clone(), CustomFieldId::new(self.app.uuid(now)));
        let use_case = UpsertContact {
            company: admitted.company.id,
            definitions: mapped.custom.keys().map(id).collect(),
            mapped,
            id: ContactId::new(self.app.uuid(now)),
            event: EventId::new(self.app.uuid(now)),
            organization: self.app.organization_ids(now),
        };
        self.app.run(&use_case).await
    }
}
