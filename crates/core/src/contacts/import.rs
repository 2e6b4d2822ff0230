//! The operator's import of one contact: any stored field, no events, no uniqueness of phone
//! (operator API, POST contacts).

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::link_facts::{apply_email, check_fields, merge_custom_fields};
use super::operator::{check_connection, check_tags, read_tags, rely_on_connection};
use super::{
    Alias, Birthday, Contact, ContactTag, Contacts, Cpf, CrmStatus, DraftFacts, DraftQuery, Email,
    Identifier, InboxStatus, Phone, Platform, PostalCode, Priority, Region, Warning,
    creation_stamp,
};
use crate::Timestamp;
use crate::access::Company;
use crate::app::UseCase;
use crate::error::{Code, Error, Kind, Rejection};
use crate::ids::{
    CloseReasonId, CompanyId, ConnectionId, ContactId, CustomFieldId, MemberId, OrganizationId,
    TagId,
};
use crate::input::{Given, Input, read_bool, read_id, read_timestamp, read_word};
use crate::problems::Problems;
use crate::store::{ChangeSet, Decided, Precondition, Reads, StoreError};
use crate::text;

/// Why a contact was not imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportContactError {
    /// The body is not acceptable; correct what it names.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// The channel already has a contact with this identifier.
    #[error("a contact with this identifier exists on this channel")]
    IdentifierTaken {
        /// That contact.
        by: ContactId,
    },
}

impl Rejection for ImportContactError {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(problems) => problems.code(),
            Self::IdentifierTaken { .. } => Code::ContactExists,
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Invalid(problems) => problems.kind(),
            Self::IdentifierTaken { .. } => Kind::Conflict,
        }
    }

    fn details(&self) -> Option<Map<String, Value>> {
        match self {
            Self::Invalid(problems) => problems.details(),
            Self::IdentifierTaken { .. } => None,
        }
    }

    fn extra(&self) -> Option<Map<String, Value>> {
        match self {
            Self::Invalid(_) => None,
            Self::IdentifierTaken { by } => {
                Some(crate::error::object([("contact_id", serde_json::json!(by))]))
            }
        }
    }
}

/// A body of the import, read.
#[derive(Clone, Debug)]
pub struct ImportDraft {
    /// The contact as it will be stored, but for id, company, times and e-mail. Without a phone or
    /// identifier, which is a problem, it has a stand-in.
    contact: Contact,
    email: Given<Email>,
    custom_fields: BTreeMap<CustomFieldId, String>,
    tags: Vec<TagId>,
    created_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
    problems: Problems,
}

impl ImportDraft {
    /// Reads any stored field of the list or detail form. Never fails: what is wrong is kept and
    /// answered by the use case.
    pub fn parse(
        body: &Map<String, Value>,
        id: ContactId,
        company: CompanyId,
        region: &Region,
        now: Timestamp,
    ) -> Self {
        let mut input = Input::new(body);
        // A contact that was read may be sent as it is; it gets an id of its own (D8).
        input.ignore(&["id"]);
        let contact = read_contact(&mut input, id, company, region, now);
        let email = input.given_form("email", Email::parse);
        let custom_fields = read_custom_fields(&mut input);
        let tags = input.given("tag_ids", read_tags).value().unwrap_or_default();
        let created_at = input.given("created_at", read_timestamp).value();
        if created_at.is_some_and(|at| at > now) {
            input.problem("created_at", "lies in the future");
        }
        let updated_at = input.given("updated_at", read_timestamp).value();
        let problems = input.finish();
        Self { contact, email, custom_fields, tags, created_at, updated_at, problems }
    }
}

fn read_custom_fields(input: &mut Input<'_>) -> BTreeMap<CustomFieldId, String> {
    let mut values = BTreeMap::new();
    match input.raw("custom_fields") {
        None | Some(Value::Null) => {}
        Some(Value::Object(entries)) => {
            for (key, value) in entries {
                let cleaned = value.as_str().and_then(|v| text::clean(v, text::CUSTOM_VALUE).ok());
                match (CustomFieldId::parse(key), cleaned) {
                    (Some(id), Some(value)) => {
                        values.insert(id, value);
                    }
                    _ => input
                        .problems()
                        .add_custom_field(key.clone(), "has unacceptable keys or values"),
                }
            }
        }
        Some(_) => input.problem("custom_fields", "must be an object"),
    }
    values
}

/// The phone and identifier; `None` means that a problem was recorded or neither is there.
fn read_identity(input: &mut Input<'_>, region: &Region) -> Option<(Identifier, Option<Phone>)> {
    let phone = input.given_form("phone", |text| Phone::parse(text, region)).value();
    let identifier = input
        .given_form("identifier", |text| {
            Identifier::parse(text).ok_or("must be 1 to 200 characters without control characters")
        })
        .value();
    match (identifier, phone) {
        (Some(identifier), phone) => Some((identifier, phone)),
        (None, Some(phone)) => Some((Identifier::of_phone(&phone), Some(phone))),
        (None, None) => {
            input.problem("phone", "or identifier is required");
            None
        }
    }
}

fn read_contact(
    input: &mut Input<'_>,
    id: ContactId,
    company: CompanyId,
    region: &Region,
    now: Timestamp,
) -> Contact {
    let identity = read_identity(input, region);
    let platform = input
        .given("source_platform", |value| {
            value
                .as_str()
                .and_then(Platform::parse)
                .ok_or_else(|| "must be 1 to 32 of a-z, 0-9, _ and -".to_owned())
        })
        .value()
        .unwrap_or_else(Platform::whatsapp);
    // Read into a stand-in even without an identity, so that one answer names every problem.
    let (identifier, phone) = identity
        .unwrap_or_else(|| (Identifier::parse("none").expect("a word is an identifier"), None));
    let mut contact = Contact::new(id, company, platform, identifier, phone, now);
    read_texts(input, &mut contact);
    read_states(input, &mut contact);
    read_times(input, &mut contact);
    contact
}

fn read_texts(input: &mut Input<'_>, contact: &mut Contact) {
    contact.name = input.given_text("name", text::NAME).value().unwrap_or_default();
    contact.observation = input.given_text("observation", text::OBSERVATION).value();
    let mut short = |name| input.given_text(name, text::SHORT).value();
    contact.wa_profile_name = short("wa_profile_name");
    contact.wa_push_name = short("wa_push_name");
    contact.external_chat_id = short("external_chat_id");
    contact.address.street = short("street");
    contact.address.street_number = short("street_number");
    contact.address.complement = short("address_complement");
    contact.address.neighborhood = short("neighborhood");
    contact.address.city = short("city");
    contact.address.state = short("state");
    contact.address.country = short("country");
    contact.profile.rg = short("rg");
    contact.profile.genero = short("genero");
    contact.profile.estado_civil = short("estado_civil");
    contact.profile.profissao = short("profissao");
    contact.profile.cargo = short("cargo");
    contact.avatar_url = input.given_text("avatar_url", 2048).value();
    contact.address.postal_code = input.given_form("postal_code", PostalCode::parse).value();
    contact.profile.birthday = input.given_form("birthday", Birthday::parse).value();
    contact.profile.cpf = input.given_form("cpf", Cpf::parse).value();
    contact.shared_email = input.given_form("shared_email", Email::parse).value();
}

fn read_states(input: &mut Input<'_>, contact: &mut Contact) {
    let inbox = input.given("inbox_status", read_word(InboxStatus::parse, InboxStatus::WORDS));
    contact.inbox_status = inbox.value().unwrap_or(contact.inbox_status);
    let priority = input.given("priority", read_word(Priority::parse, Priority::WORDS));
    contact.priority = priority.value().unwrap_or(contact.priority);
    let crm = input.given("crm_status", read_word(CrmStatus::parse, CrmStatus::WORDS));
    contact.crm_status = crm.value().unwrap_or(contact.crm_status);
    let mut flag = |name, field: &mut bool| {
        *field = input.given(name, read_bool).value().unwrap_or(*field);
    };
    flag("is_ai_enabled", &mut contact.is_ai_enabled);
    flag("external_ai_enabled", &mut contact.external_ai_enabled);
    flag("is_archived", &mut contact.is_archived);
    flag("is_pinned", &mut contact.is_pinned);
    flag("is_muted", &mut contact.is_muted);
    flag("is_blocked", &mut contact.is_blocked);
    flag("is_group", &mut contact.is_group);
    flag("is_simulated", &mut contact.is_simulated);
}

fn read_times(input: &mut Input<'_>, contact: &mut Contact) {
    let mut time = |name| input.given(name, read_timestamp).value();
    contact.first_message_at = time("first_message_at");
    contact.last_message_at = time("last_message_at");
    contact.last_inbound_at = time("last_inbound_at");
    contact.last_read_at = time("last_read_at");
    contact.last_closed_at = time("last_closed_at");
    contact.ai_paused_until = time("ai_paused_until");
    contact.opted_out_at = time("opted_out_at");
    contact.last_close_reason_id =
        input.given("last_close_reason_id", read_id(CloseReasonId::parse)).value();
    contact.assigned_to_member_id =
        input.given("assigned_to_member_id", read_id(MemberId::parse)).value();
    contact.organization_id =
        input.given("organization_id", read_id(OrganizationId::parse)).value();
    contact.last_connection_id =
        input.given("last_connection_id", read_id(ConnectionId::parse)).value();
}

/// Imports one contact.
#[derive(Clone, Debug)]
pub struct ImportContact {
    /// The company.
    pub company: CompanyId,
    /// What was sent.
    pub draft: ImportDraft,
}

impl ImportContact {
    fn check_references(&self, facts: &DraftFacts, problems: &mut Problems) {
        check_fields(&self.draft.custom_fields, facts, problems);
        check_tags(&self.draft.tags, facts, problems);
        let contact = &self.draft.contact;
        if contact.assigned_to_member_id.is_some() && !facts.member {
            problems.add("assigned_to_member_id", "names a member that the company does not have");
        }
        if contact.last_close_reason_id.is_some() && !facts.close_reason {
            problems
                .add("last_close_reason_id", "names a close reason that the company does not have");
        }
        if contact.organization_id.is_some() && facts.organization.is_none() {
            problems.add("organization_id", "names an organization that the company does not have");
        }
        check_connection(contact.last_connection_id, facts, problems);
    }
}

#[async_trait]
impl UseCase for ImportContact {
    type Loaded = (DraftFacts, Option<ContactId>);
    type Output = (ContactId, Vec<Warning>);
    type Error = ImportContactError;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        let contact = &self.draft.contact;
        let query = DraftQuery {
            email: self.draft.email.as_ref().cloned(),
            fields: self.draft.custom_fields.keys().copied().collect(),
            tags: self.draft.tags.clone(),
            member: contact.assigned_to_member_id,
            close_reason: contact.last_close_reason_id,
            organization: contact.organization_id,
            connection: contact.last_connection_id,
            alias: Alias::at_first(contact).map(|alias| (alias.platform, alias.key)),
            ..DraftQuery::default()
        };
        let facts = store.draft_facts(self.company, &query).await?;
        let (platform, identifier) = (&contact.source_platform, &contact.identifier);
        let holder = store.contact_by_identifier(self.company, platform, identifier).await?;
        Ok((facts, holder.map(|holder| holder.id)))
    }

    fn decide(
        &self,
        (facts, holder): Self::Loaded,
        now: Timestamp,
    ) -> Result<Decided<Self::Output>, ImportContactError> {
        let mut problems = self.draft.problems.clone();
        self.check_references(&facts, &mut problems);
        problems.into_result()?;
        if let Some(by) = holder {
            return Err(ImportContactError::IdentifierTaken { by });
        }
        let mut contact = self.draft.contact.clone();
        let mut changes = ChangeSet::new();
        contact.created_at = match self.draft.created_at {
            Some(at) => at,
            None => {
                let created_at = creation_stamp(now, facts.export_frontier);
                let company = self.company;
                changes = changes.require(Precondition::NotExported { company, created_at });
                created_at
            }
        };
        contact.updated_at = self.draft.updated_at.unwrap_or(contact.created_at);
        merge_custom_fields(&mut contact, &self.draft.custom_fields);
        let warning = match &self.draft.email {
            Given::Value(_) => apply_email(&mut contact, &self.draft.email, facts.email_holder),
            Given::Absent | Given::Cleared => None,
        };
        contact.derive();
        let id = contact.id;
        let alias = Alias::at_first(&contact).filter(|_| !facts.alias_taken);
        changes = changes.insert(contact);
        changes = alias.into_iter().fold(changes, ChangeSet::insert);
        changes = rely_on_connection(&facts, changes);
        for tag in &self.draft.tags {
            changes = changes.insert(ContactTag { company: self.company, contact: id, tag: *tag });
        }
        Ok(Decided::new(changes, (id, warning.into_iter().collect())))
    }
}

impl Contacts<'_> {
    /// Imports one contact for the operator: without the uniqueness of phone (D17), without
    /// events. A `created_at` that is given stands as it is; an export that is past it does not
    /// show the contact.
    ///
    /// # Errors
    ///
    /// [`ImportContactError`]; nothing was stored.
    pub async fn import(
        &self,
        company: &Company,
        body: &Map<String, Value>,
    ) -> Result<(ContactId, Vec<Warning>), Error<ImportContactError>> {
        let now = self.app.now();
        let id = ContactId::new(self.app.uuid(now));
        let draft = ImportDraft::parse(body, id, company.id, &company.default_region, now);
        self.app.run(&ImportContact { company: company.id, draft }).await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_id_is_ignored_and_what_nobody_knows_is_not() {
        let id = ContactId::parse("01939b5e-0000-7000-8000-000000000001").expect("an id");
        let company = CompanyId::parse("01939b5e-0000-7000-8000-000000000002").expect("an id");
        let other = "01939b5e-0000-7000-8000-000000000003";
        let body = json!({"phone": "+5511987654321", "id": other, "key": 1});
        let body = body.as_object().expect("an object");
        let now = Timestamp::from_millis(0);
        let draft = ImportDraft::parse(body, id, company, &Region::br(), now);
        assert_eq!(draft.contact.id, id);
        assert_eq!(draft.problems.fields().collect::<Vec<_>>(), ["key"]);
    }
}
