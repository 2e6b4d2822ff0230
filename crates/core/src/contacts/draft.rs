//! A body that creates or changes a contact, read and checked as far as it can be without the
//! database (4.3, 4.4, D8, D9, D18, D20, D21, D23).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Birthday, Contact, Cpf, DraftQuery, Email, Identifier, Phone, PostalCode, Region};
use crate::ids::{CustomFieldId, ListId};
use crate::input::{Given, Input, read_id};
use crate::organizations::Cnpj;
use crate::problems::Problems;
use crate::text;

/// Whether a body creates or changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftMode {
    /// POST: `phone` is required, `null` and the empty string count as absent.
    Create,
    /// PATCH: `null` and the empty string clear.
    Update,
}

/// The most lists one body may name.
const MAX_LISTS: usize = 1000;

/// Keys of the detail form that cannot be written: accepted and ignored, so that what was read can
/// be sent back whole (4.4.4, D8, D23).
const READ_ONLY: &[&str] = &[
    "id",
    "display_name",
    "wa_profile_name",
    "wa_push_name",
    "source_platform",
    "inbox_status",
    "priority",
    "crm_status",
    "is_ai_enabled",
    "is_archived",
    "is_pinned",
    "is_muted",
    "is_blocked",
    "first_message_at",
    "last_message_at",
    "last_inbound_at",
    "last_read_at",
    "last_closed_at",
    "last_close_reason_id",
    "pipeline_stage_id",
    "assigned_to_member_id",
    "last_connection_id",
    "created_at",
    "updated_at",
    "pipeline_stage",
    "tags",
    "assigned_to",
    "connections",
    "lead_memory",
    "shared_email",
];

/// What a body says of a contact. Everything wrong with it is collected, so that the answer can
/// name all of it together with what only the database can tell (D8).
#[derive(Clone, Debug)]
pub struct ContactDraft {
    /// The phone, where the body has one that can be read.
    pub phone: Option<Phone>,
    /// The `phone` and `identifier` of a PATCH as they were sent: compared with the record, never
    /// written (4.4.5).
    pub(crate) sent_phone: Option<String>,
    pub(crate) sent_identifier: Option<String>,
    pub(crate) name: Given<String>,
    pub(crate) email: Given<Email>,
    pub(crate) birthday: Given<Birthday>,
    pub(crate) observation: Given<String>,
    pub(crate) cpf: Given<Cpf>,
    pub(crate) rg: Given<String>,
    pub(crate) genero: Given<String>,
    pub(crate) estado_civil: Given<String>,
    pub(crate) profissao: Given<String>,
    pub(crate) city: Given<String>,
    pub(crate) state: Given<String>,
    pub(crate) postal_code: Given<PostalCode>,
    pub(crate) cnpj: Option<Cnpj>,
    /// Values by definition; an empty one removes (D23).
    pub(crate) custom_fields: BTreeMap<CustomFieldId, String>,
    pub(crate) lists: Vec<ListId>,
    pub(crate) problems: Problems,
}

impl ContactDraft {
    /// Reads a body. Never fails: what is wrong is kept and answered by the use case.
    pub fn parse(body: &Map<String, Value>, mode: DraftMode, region: &Region) -> Self {
        let mut input = Input::new(body);
        input.ignore(READ_ONLY);
        let mut draft = Self {
            phone: None,
            sent_phone: None,
            sent_identifier: None,
            name: input.given_text("name", text::NAME),
            email: input.given_form("email", Email::parse),
            birthday: input.given_form("birthday", Birthday::parse),
            observation: input.given_text("observation", text::OBSERVATION),
            cpf: input.given_form("cpf", Cpf::parse),
            rg: input.given_text("rg", text::SHORT),
            genero: input.given_text("genero", text::SHORT),
            estado_civil: input.given_text("estado_civil", text::SHORT),
            profissao: input.given_text("profissao", text::SHORT),
            city: input.given_text("city", text::SHORT),
            state: input.given_text("state", text::SHORT),
            postal_code: input.given_form("postal_code", PostalCode::parse),
            cnpj: input.given_form("cnpj", Cnpj::parse).value(),
            custom_fields: BTreeMap::new(),
            lists: Vec::new(),
            problems: Problems::new(),
        };
        draft.read_phone(&mut input, mode, region);
        draft.read_custom_fields(&mut input, mode);
        draft.read_lists(&mut input, mode);
        draft.problems = input.finish();
        draft
    }

    fn read_phone(&mut self, input: &mut Input<'_>, mode: DraftMode, region: &Region) {
        match (mode, input.raw("phone")) {
            (DraftMode::Create, None | Some(Value::Null)) => input.problem("phone", "is required"),
            (DraftMode::Update, None) => {}
            (_, Some(Value::String(text))) => {
                self.sent_phone = Some(text.clone());
                match Phone::parse(text, region) {
                    Ok(phone) => self.phone = Some(phone),
                    // The shown phone of a group is no phone (D16); whether this is it, only the
                    // record can tell.
                    Err(_) if mode == DraftMode::Update => {}
                    Err(error) => input.problem("phone", error.to_string()),
                }
            }
            (_, Some(_)) => input.problem("phone", "must be a string"),
        }
        match (mode, input.raw("identifier")) {
            (DraftMode::Create, _) | (DraftMode::Update, None) => {}
            (DraftMode::Update, Some(Value::String(text))) => {
                self.sent_identifier = Some(text.clone());
            }
            (DraftMode::Update, Some(_)) => input.problem("identifier", "cannot be changed"),
        }
    }

    fn read_custom_fields(&mut self, input: &mut Input<'_>, mode: DraftMode) {
        let entries = match input.raw("custom_fields") {
            None => return,
            Some(Value::Null) if mode == DraftMode::Create => return,
            Some(Value::Object(entries)) => entries,
            Some(_) => return input.problem("custom_fields", "must be an object"),
        };
        for (key, value) in entries {
            let Some(id) = CustomFieldId::parse(key) else {
                input.problems().add_custom_field(key.clone(), "has keys that are no field ids");
                continue;
            };
            let cleaned = value.as_str().map(|value| text::clean(value, text::CUSTOM_VALUE));
            match cleaned {
                Some(Ok(value)) => {
                    self.custom_fields.insert(id, value);
                }
                Some(Err(error)) => {
                    let reason = format!("has a value that {error}");
                    input.problems().add_custom_field(key.clone(), &reason);
                }
                None => input
                    .problems()
                    .add_custom_field(key.clone(), "has values that are not strings"),
            }
        }
    }

    fn read_lists(&mut self, input: &mut Input<'_>, mode: DraftMode) {
        let entries = match input.raw("list_ids") {
            None => return,
            Some(Value::Null) if mode == DraftMode::Create => return,
            Some(Value::Array(entries)) => entries,
            Some(_) => return input.problem("list_ids", "must be an array of UUIDs"),
        };
        if entries.len() > MAX_LISTS {
            return input.problem("list_ids", format!("may name at most {MAX_LISTS} lists"));
        }
        for entry in entries {
            match read_id(ListId::parse)(entry) {
                Ok(id) if self.lists.contains(&id) => {}
                Ok(id) => self.lists.push(id),
                Err(_) => {
                    let text = entry.as_str().map_or_else(|| entry.to_string(), str::to_owned);
                    input.problems().add_list_id(text, "has entries that are no UUIDs");
                }
            }
        }
    }

    /// What has to be known to decide on this body.
    pub(crate) fn query(&self) -> DraftQuery {
        DraftQuery {
            email: self.email.as_ref().cloned(),
            cnpj: self.cnpj.clone(),
            lists: self.lists.clone(),
            fields: self.custom_fields.keys().copied().collect(),
            ..DraftQuery::default()
        }
    }

    /// Whether `phone` and `identifier`, where they were sent, are those of the record, in whatever
    /// form (4.4.5).
    pub(crate) fn immutable_problems(&self, contact: &Contact, region: &Region) -> Problems {
        let mut problems = Problems::new();
        if let Some(sent) = &self.sent_phone {
            let same = match (&self.phone, &contact.phone) {
                (Some(sent), Some(stored)) => sent == stored,
                _ => false,
            };
            if !same && sent.trim() != contact.shown_phone() {
                problems.add("phone", "cannot be changed; create a new contact instead");
            }
        }
        if let Some(sent) = &self.sent_identifier {
            let reformatted = || {
                let sent = Phone::parse(sent, region).ok()?;
                (Identifier::of_phone(&sent) == contact.identifier).then_some(())
            };
            if sent.trim() != contact.identifier.as_str() && reformatted().is_none() {
                problems.add("identifier", "cannot be changed");
            }
        }
        problems
    }

    /// Writes the native fields that were sent over those of `contact`, the e-mail aside.
    pub(crate) fn apply_native(&self, contact: &mut Contact) {
        match &self.name {
            Given::Absent => {}
            Given::Cleared => contact.name.clear(),
            Given::Value(name) => contact.name.clone_from(name),
        }
        self.observation.clone().apply(&mut contact.observation);
        self.birthday.clone().apply(&mut contact.profile.birthday);
        self.cpf.clone().apply(&mut contact.profile.cpf);
        self.rg.clone().apply(&mut contact.profile.rg);
        self.genero.clone().apply(&mut contact.profile.genero);
        self.estado_civil.clone().apply(&mut contact.profile.estado_civil);
        self.profissao.clone().apply(&mut contact.profile.profissao);
        self.city.clone().apply(&mut contact.address.city);
        self.state.clone().apply(&mut contact.address.state);
        self.postal_code.clone().apply(&mut contact.address.postal_code);
    }
}
