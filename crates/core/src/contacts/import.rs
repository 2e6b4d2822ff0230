//! The operator's import of one contact: any stored field, no uniqueness of phone, no events unless
//! they are asked for (operator API, POST contacts; D65).

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::link_facts::{apply_email, check_fields, merge_custom_fields};
use super::operator::{check_connection, check_tags, rely_on_connection};
use super::{
    Alias, Contact, ContactTag, Contacts, DraftFacts, DraftQuery, Identifier, ImportedContact,
    OrganizationKey, Phone, Platform, Region, Warning, contact_created, creation_stamp,
};
use crate::Timestamp;
use crate::access::Company;
use crate::body::IntoBody;
use crate::code::Code;
use crate::conversations::ChannelQuery;
use crate::error::{Error, Rejection};
use crate::events::Event;
use crate::groups::GroupCode;
use crate::ids::{CompanyId, ContactId, EventId};
use crate::input::{Given, Input};
use crate::problems::Problems;
use crate::store::{ChangeSet, Decided, Precondition, Reads, StoreError};
use crate::use_case::UseCase;

/// Why a contact was not imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportContactError {
    /// The body is not acceptable; correct what it names.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// The channel already has a contact with this identifier.
    #[error("a contact with this identifier exists on this channel")]
    IdentifierTaken {
        /// The existing contact.
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

/// A parsed body of the import.
#[derive(Clone, Debug)]
pub struct ImportDraft {
    /// The contact as it will be stored, without id, company, times and e-mail. If phone and
    /// identifier are missing, which is a problem, it has a substitute.
    contact: Contact,
    body: ImportedContact,
    problems: Problems,
}

/// The chat of an imported contact: of a group its code, which is its identifier if that is one,
/// and of a person none (2.1). What is wrong is recorded.
fn group_chat(input: &mut Input<'_>, body: &ImportedContact, suffix: &str) -> Option<String> {
    const FIELD: &str = "external_chat_id";
    let is_group = match input.raw("is_group") {
        None | Some(Value::Null) => false,
        // What is no flag is named already, and says nothing of the chat.
        given => given?.as_bool()?,
    };
    let given = body.external_chat_id.as_deref();
    if !is_group {
        return given.and_then(|_| input.refuse(FIELD, "is for groups only"));
    }
    let read = |code: &str| GroupCode::parse(code, suffix).map(|code| code.as_str().to_owned());
    match given {
        Some(given) => read(given)
            .or_else(|| input.refuse(FIELD, format!("must be a code like 1234@{suffix}"))),
        None => body.identifier.as_ref().and_then(|identifier| read(identifier.as_str())),
    }
}

impl ImportDraft {
    /// Reads an [`ImportedContact`]. Never fails: problems are kept, and the use case answers them.
    /// An identifier never becomes a phone, even if it looks like one (R12).
    pub fn parse(
        body: impl IntoBody<ImportedContact>,
        id: ContactId,
        company: CompanyId,
        region: &Region,
        group_suffix: &str,
        now: Timestamp,
    ) -> Self {
        let body = body.into_map();
        let mut input = Input::new(&body).in_region(region.as_str());
        // A contact that was read may be sent unchanged; a new id is generated (D8).
        input.ignore(["id"]);
        let body = ImportedContact::fields(&mut input);
        if body.created_at.is_some_and(|at| at > now) {
            input.problem("created_at", "lies in the future");
        }
        let of_phone = || body.phone.as_ref().map(Identifier::of_phone);
        // A substitute without an identity, so that one answer names every problem.
        let identifier = body
            .identifier
            .clone()
            .or_else(of_phone)
            .unwrap_or_else(|| Identifier::parse("none").expect("a word is an identifier"));
        let chat = group_chat(&mut input, &body, group_suffix);
        let platform = body.source_platform.clone().unwrap_or_else(Platform::whatsapp);
        let mut contact = Contact::new(id, company, platform, identifier, body.phone.clone(), now);
        body.write_to(&mut contact);
        contact.external_chat_id = chat;
        Self { contact, problems: input.finish(), body }
    }
}

/// Imports one contact.
#[derive(Clone, Debug)]
pub struct ImportContact {
    /// The company.
    pub company: CompanyId,
    /// What was sent.
    pub draft: ImportDraft,
    /// The id of the event `contact.created`, where it is asked for.
    pub event: Option<EventId>,
}

impl ImportContact {
    fn check_references(&self, facts: &DraftFacts, problems: &mut Problems) {
        check_fields(&self.draft.body.custom_fields, facts, problems);
        check_tags(&self.draft.body.tags, facts, problems);
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

    /// The contact of the channel that has the identifier, a number in any of its forms (D15, D17).
    async fn identifier_holder(&self, store: &dyn Reads) -> Result<Option<ContactId>, StoreError> {
        let Contact { source_platform, identifier, .. } = &self.draft.contact;
        let Some(number) = Phone::on_channel(identifier.as_str()) else {
            let holder =
                store.contact_by_identifier(self.company, source_platform, identifier).await?;
            return Ok(holder.map(|holder| holder.id));
        };
        let query = ChannelQuery {
            platform: Some(source_platform.clone()),
            identifiers: number.forms().iter().map(Identifier::of_phone).collect(),
            ..ChannelQuery::default()
        };
        let holders = store.channel_contacts(self.company, &query).await?;
        Ok(holders.first().map(|holder| holder.contact.id))
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
            email: self.draft.body.email.as_ref().cloned(),
            fields: self.draft.body.custom_fields.keys().copied().collect(),
            tags: self.draft.body.tags.clone(),
            member: contact.assigned_to_member_id,
            close_reason: contact.last_close_reason_id,
            organization: contact.organization_id.map(OrganizationKey::Id),
            connection: contact.last_connection_id,
            alias: Alias::at_first(contact).map(|alias| (alias.platform, alias.key)),
            ..DraftQuery::default()
        };
        let facts = store.draft_facts(self.company, &query).await?;
        Ok((facts, self.identifier_holder(store).await?))
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
        contact.created_at = match self.draft.body.created_at {
            Some(at) => at,
            None => {
                let created_at = creation_stamp(now, facts.export_frontier);
                let company = self.company;
                changes = changes.require(Precondition::NotExported { company, created_at });
                created_at
            }
        };
        contact.updated_at = self.draft.body.updated_at.unwrap_or(contact.created_at);
        merge_custom_fields(&mut contact, &self.draft.body.custom_fields);
        let warning = match &self.draft.body.email {
            Given::Value(_) => {
                apply_email(&mut contact, &self.draft.body.email, facts.email_holder)
            }
            Given::Absent | Given::Cleared => None,
        };
        contact.derive();
        let id = contact.id;
        let alias = Alias::at_first(&contact).filter(|_| !facts.alias_taken);
        if let Some(event) = self.event {
            // It happens now, however old the contact is.
            changes = changes.emit(Event { at: now, ..contact_created(event, &contact) });
        }
        changes = changes.insert(contact);
        changes = alias.into_iter().fold(changes, ChangeSet::insert);
        changes = rely_on_connection(&facts, changes);
        for tag in &self.draft.body.tags {
            changes = changes.insert(ContactTag { company: self.company, contact: id, tag: *tag });
        }
        Ok(Decided::new(changes, (id, warning.into_iter().collect())))
    }
}

impl Contacts<'_> {
    /// Imports one contact for the operator: without the uniqueness of phone (D17), without events.
    /// A given `created_at` is stored unchanged; an export that has passed it does not show the
    /// contact (R3).
    ///
    /// # Errors
    ///
    /// [`ImportContactError`]; nothing was stored.
    pub async fn import(
        &self,
        company: &Company,
        body: impl IntoBody<ImportedContact>,
    ) -> Result<(ContactId, Vec<Warning>), Error<ImportContactError>> {
        self.import_as(company, body, false).await
    }

    /// The same with the event `contact.created`, for receivers that shall learn of the contact
    /// (D65). A contact that was there before is refused, so a repeat fires no second event.
    ///
    /// # Errors
    ///
    /// As [`Contacts::import`].
    pub async fn import_with_events(
        &self,
        company: &Company,
        body: impl IntoBody<ImportedContact>,
    ) -> Result<(ContactId, Vec<Warning>), Error<ImportContactError>> {
        self.import_as(company, body, true).await
    }

    async fn import_as(
        &self,
        company: &Company,
        body: impl IntoBody<ImportedContact>,
        fires_event: bool,
    ) -> Result<(ContactId, Vec<Warning>), Error<ImportContactError>> {
        let now = self.app.now();
        let id = ContactId::new(self.app.uuid(now));
        let event = fires_event.then(|| EventId::new(self.app.uuid(now)));
        let (region, suffix) = (&company.default_region, &self.app.settings().group_suffix);
        let draft = ImportDraft::parse(body, id, company.id, region, suffix, now);
        self.app.run(&ImportContact { company: company.id, draft, event }).await
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
        let draft = ImportDraft::parse(body, id, company, &Region::br(), "g.us", now);
        assert_eq!(draft.contact.id, id);
        assert_eq!(draft.problems.fields().collect::<Vec<_>>(), ["key"]);
    }

    #[test]
    fn a_contact_may_have_been_created_until_now_and_not_later() {
        let (id, company) = (ContactId::new(uuid::Uuid::nil()), CompanyId::new(uuid::Uuid::nil()));
        let now = Timestamp::from_millis(5);
        for (millis, wrong) in [(4, vec![]), (5, vec![]), (6, vec!["created_at"])] {
            let created_at = Timestamp::from_millis(millis);
            let body = json!({"phone": "+5511987654321", "created_at": created_at});
            let body = body.as_object().expect("an object");
            let draft = ImportDraft::parse(body, id, company, &Region::br(), "g.us", now);
            assert_eq!(draft.problems.fields().collect::<Vec<_>>(), wrong, "{millis}");
        }
    }

    /// 2.1.
    #[test]
    fn a_group_has_its_code_as_chat_and_a_person_has_none() {
        let chat = |body: Value| {
            let id = ContactId::new(uuid::Uuid::nil());
            let company = CompanyId::new(uuid::Uuid::nil());
            let (body, now) = (body.as_object().expect("an object"), Timestamp::from_millis(0));
            let draft = ImportDraft::parse(body, id, company, &Region::br(), "g.us", now);
            let wrong: Vec<String> = draft.problems.fields().map(str::to_owned).collect();
            if wrong.is_empty() { Ok(draft.contact.external_chat_id) } else { Err(wrong) }
        };
        let wrong = || Err(vec!["external_chat_id".to_owned()]);
        let code = "1203@g.us";
        for person in [json!({}), json!({"is_group": false}), json!({"is_group": null})] {
            let mut person = person;
            person["phone"] = json!("+5511987654321");
            for none in [Value::Null, json!(""), json!(" ")] {
                person["external_chat_id"] = none;
                assert_eq!(chat(person.clone()), Ok(None), "{person}");
            }
            person["external_chat_id"] = json!(code);
            assert_eq!(chat(person.clone()), wrong(), "{person}");
        }
        let group = |identifier: &str, chat: Value| json!({"identifier": identifier, "external_chat_id": chat, "is_group": true});
        assert_eq!(chat(group("a", json!(" 1203@g.us "))), Ok(Some(code.to_owned())));
        assert_eq!(chat(group(code, Value::Null)), Ok(Some(code.to_owned())));
        assert_eq!(chat(group("a", Value::Null)), Ok(None), "it is not known");
        assert_eq!(chat(group(code, json!("1203@c.us"))), wrong());
        let unclear = json!({"identifier": "a", "external_chat_id": code, "is_group": 1});
        assert_eq!(chat(unclear), Err(vec!["is_group".to_owned()]));
    }
}
