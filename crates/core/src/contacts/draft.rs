//! A body that creates or changes a contact, read and checked without the database (4.3, 4.4, D8,
//! D9, D18, D20, D21, D23).

use std::collections::BTreeMap;

use serde_json::Value;

use super::body::read_listed;
use super::shown::{detail_keys, shown_keys};
use super::{
    Birthday, ChannelKey, Contact, ContactPatch, Cpf, DraftQuery, Email, NewContact,
    OrganizationKey, Phone, PostalCode, Region,
};
use crate::body::IntoBody;
use crate::ids::{CustomFieldId, ListId};
use crate::input::{Given, Input};
use crate::organizations::Cnpj;
use crate::problems::Problems;

/// The fields of a contact in a body. All its problems are collected, so that the answer can name
/// them together with the problems that only the database shows (D8).
#[derive(Clone, Debug)]
pub struct ContactDraft {
    /// The phone of a POST, where it can be read.
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
    /// Values of a PATCH by slug, as the list form shows them: compared with the record, never
    /// written (D23).
    pub(crate) listed_fields: BTreeMap<String, String>,
    pub(crate) lists: Vec<ListId>,
    pub(crate) problems: Problems,
}

/// A draft from a body, without its phone and identifier.
macro_rules! draft {
    ($body:ident) => {
        ContactDraft {
            phone: None,
            sent_phone: None,
            sent_identifier: None,
            name: $body.name,
            email: $body.email,
            birthday: $body.birthday,
            observation: $body.observation,
            cpf: $body.cpf,
            rg: $body.rg,
            genero: $body.genero,
            estado_civil: $body.estado_civil,
            profissao: $body.profissao,
            city: $body.city,
            state: $body.state,
            postal_code: $body.postal_code,
            cnpj: $body.cnpj,
            custom_fields: $body.custom_fields,
            listed_fields: BTreeMap::new(),
            lists: $body.lists,
            problems: Problems::new(),
        }
    };
}

impl From<NewContact> for ContactDraft {
    fn from(body: NewContact) -> Self {
        Self { phone: body.phone, ..draft!(body) }
    }
}

impl From<ContactPatch> for ContactDraft {
    fn from(body: ContactPatch) -> Self {
        let (sent_phone, sent_identifier) = (body.phone, body.identifier);
        Self { sent_phone, sent_identifier, ..draft!(body) }
    }
}

/// The values of custom fields that are given by slug (2.1).
fn listed_values(fields: &Value) -> BTreeMap<String, String> {
    let entries = fields.as_object().into_iter().flatten();
    let listed = entries.filter_map(|(key, value)| Some((key.clone(), read_listed(key, value)?)));
    listed.collect()
}

/// Whether what was sent is the current name of a contact, written as it is, as a phone in whatever
/// notation, or as a channel writes it, with punctuation or without (4.4.5, D15, D23).
fn is_form_of(sent: &str, current: &str, region: &Region) -> bool {
    let Some(key) = ChannelKey::parse(current) else { return sent.trim() == current };
    let phone = || Phone::parse(sent, region).ok().map(|phone| ChannelKey::of_phone(&phone));
    // Without `+`, only numbers of the region are phones; the channel's digits are those of any.
    let digits = || ChannelKey::parse(&Phone::written_digits(sent)?);
    sent.trim() == current
        || ChannelKey::parse(sent).as_ref() == Some(&key)
        || phone().as_ref() == Some(&key)
        || digits().as_ref() == Some(&key)
}

impl ContactDraft {
    /// Reads the body of a POST: `phone` is required, `null` and the empty string count as absent
    /// (R8). Read-only keys of the detail form are ignored (D8), other keys are refused (R1). Never
    /// fails: problems are kept, and the use case answers them.
    pub fn of_new(body: impl IntoBody<NewContact>, region: &Region) -> Self {
        let body = body.into_map();
        let mut input = Input::new(&body).in_region(region.as_str());
        input.ignore(detail_keys());
        let draft = Self::from(NewContact::fields(&mut input));
        Self { problems: input.finish(), ..draft }
    }

    /// Reads the body of a PATCH, in which `null` and the empty string clear, as
    /// [`ContactDraft::of_new`] does. Any form of a contact that was read can be sent back whole
    /// (4.4.4, D23).
    pub fn of_patch(body: impl IntoBody<ContactPatch>, region: &Region) -> Self {
        let body = body.into_map();
        let mut input = Input::new(&body).in_region(region.as_str());
        input.ignore(shown_keys());
        let draft = Self::from(ContactPatch::fields(&mut input));
        let listed_fields = body.get("custom_fields").map(listed_values).unwrap_or_default();
        Self { listed_fields, problems: input.finish(), ..draft }
    }

    /// The records needed to decide on this body.
    pub(crate) fn query(&self) -> DraftQuery {
        DraftQuery {
            email: self.email.as_ref().cloned(),
            organization: self.cnpj.clone().map(OrganizationKey::Cnpj),
            lists: self.lists.clone(),
            fields: self.custom_fields.keys().copied().collect(),
            slugs: self.listed_fields.keys().cloned().collect(),
            ..DraftQuery::default()
        }
    }

    /// Whether `phone` and `identifier`, where they were sent, are those of the record, in whatever
    /// form (4.4.5).
    pub(crate) fn immutable_problems(&self, contact: &Contact, region: &Region) -> Problems {
        let mut problems = Problems::new();
        let is_current = |sent: &Option<String>, current: &str| {
            sent.as_ref().is_none_or(|sent| is_form_of(sent, current, region))
        };
        if !is_current(&self.sent_phone, contact.shown_phone()) {
            problems.add("phone", "cannot be changed; create a new contact instead");
        }
        if !is_current(&self.sent_identifier, contact.identifier.as_str()) {
            problems.add("identifier", "cannot be changed");
        }
        problems
    }

    /// Writes the sent native fields over those of `contact`, except the e-mail.
    pub(crate) fn apply_native(&self, contact: &mut Contact) {
        match &self.name {
            Given::Absent => {}
            Given::Cleared => contact.name.clear(),
            Given::Value(name) => contact.name.clone_from(name),
        }
        self.observation.clone().apply(&mut contact.observation);
        self.birthday.apply(&mut contact.profile.birthday);
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
