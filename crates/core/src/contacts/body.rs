//! The bodies that create and change contacts (4.3, 4.4), read without the database.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Birthday, Cpf, Email, Phone, PostalCode, Region};
use crate::body::{BodyField, Clearable, Optional, Required, as_form, body};
use crate::custom_fields::is_slug;
use crate::form::{Form, Name, Observation, Short};
use crate::ids::{CustomFieldId, ListId};
use crate::input::{Given, Input};
#[cfg(feature = "openapi")]
use crate::openapi::{self, Property};
use crate::organizations::Cnpj;
use crate::text;

/// Why a key of `custom_fields` is wrong that is no id.
pub(super) const NO_FIELD_ID: &str = "has keys that are no field ids";
/// The most lists one body may name.
const MAX_LISTS: usize = 1000;

/// The phone of a new contact.
pub(crate) struct NewPhone;

impl BodyField for NewPhone {
    type Value = Option<Phone>;
    const REQUIRED: bool = true;

    fn read(input: &mut Input<'_>, name: &'static str) -> Option<Option<Phone>> {
        let text = Required::<PhoneText>::read(input, name)?;
        match Phone::parse(&text, &region(input)) {
            Ok(phone) => Some(Some(phone)),
            Err(error) => input.refuse(name, error.to_string()),
        }
    }

    as_form!(PhoneText);
}

/// A phone as it is written.
pub(crate) struct PhoneText;

impl Form for PhoneText {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        value.as_str().map(str::to_owned).ok_or_else(|| "must be a string".to_owned())
    }

    #[cfg(feature = "openapi")]
    fn schema() -> Property {
        openapi::text(|text| openapi::example(text, "+55 11 98765-4321"))
    }
}

/// The phone in a PATCH, as it was sent. The shown phone of a group is not a phone (D16), so it can
/// be checked only by a comparison with the record.
pub(crate) struct SamePhone;

impl BodyField for SamePhone {
    type Value = Option<String>;

    fn read(input: &mut Input<'_>, name: &'static str) -> Option<Self::Value> {
        match input.raw(name) {
            None => Some(None),
            Some(Value::String(text)) => Some(Some(text.clone())),
            Some(_) => input.refuse(name, "must be a string"),
        }
    }

    #[cfg(feature = "openapi")]
    fn schema() -> Property {
        openapi::text(|text| text)
    }
}

/// The identifier in a PATCH, as it was sent.
pub(crate) struct SameIdentifier;

impl BodyField for SameIdentifier {
    type Value = Option<String>;

    fn read(input: &mut Input<'_>, name: &'static str) -> Option<Option<String>> {
        match input.raw(name) {
            None => Some(None),
            Some(Value::String(text)) => Some(Some(text.clone())),
            Some(_) => input.refuse(name, "cannot be changed"),
        }
    }

    #[cfg(feature = "openapi")]
    fn schema() -> Property {
        openapi::text(|text| text)
    }
}

/// The region whose national phone numbers the body's company writes.
pub(super) fn region(input: &Input<'_>) -> Region {
    Region::parse(input.region()).unwrap_or_default()
}

/// A value of a custom field that is given by slug, as the list form shows it; `None` for any other
/// entry (2.1, D23).
pub(super) fn read_listed(key: &str, value: &Value) -> Option<String> {
    if !is_slug(key) {
        return None;
    }
    text::clean(value.as_str()?, text::CUSTOM_VALUE).ok()
}

/// Values of custom fields by definition; each invalid one is named (4.3). A PATCH, in which null
/// is invalid, may also have values by slug, which are read separately.
pub(crate) struct CustomValues<const NULLABLE: bool>;

impl<const NULLABLE: bool> BodyField for CustomValues<NULLABLE> {
    type Value = BTreeMap<CustomFieldId, String>;
    const NULLABLE: bool = NULLABLE;

    fn read(input: &mut Input<'_>, name: &'static str) -> Option<Self::Value> {
        let entries = match input.raw(name) {
            None => return Some(BTreeMap::new()),
            Some(Value::Null) if NULLABLE => return Some(BTreeMap::new()),
            Some(Value::Object(entries)) => entries,
            Some(_) => return input.refuse(name, "must be an object"),
        };
        let mut values = BTreeMap::new();
        for (key, value) in entries {
            let Some(id) = CustomFieldId::parse(key) else {
                if NULLABLE || read_listed(key, value).is_none() {
                    input.problems().add_custom_field(key.clone(), NO_FIELD_ID);
                }
                continue;
            };
            match value.as_str().map(|value| text::clean(value, text::CUSTOM_VALUE)) {
                Some(Ok(value)) => {
                    values.insert(id, value);
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
        Some(values)
    }

    #[cfg(feature = "openapi")]
    fn schema() -> Property {
        openapi::texts_by_name()
    }
}

/// Lists by id; each invalid entry is named (4.3).
pub(crate) struct ListIds<const NULLABLE: bool>;

impl<const NULLABLE: bool> BodyField for ListIds<NULLABLE> {
    type Value = Vec<ListId>;
    const NULLABLE: bool = NULLABLE;

    fn read(input: &mut Input<'_>, name: &'static str) -> Option<Vec<ListId>> {
        let entries = match input.raw(name) {
            None => return Some(Vec::new()),
            Some(Value::Null) if NULLABLE => return Some(Vec::new()),
            Some(Value::Array(entries)) => entries,
            Some(_) => return input.refuse(name, "must be an array of UUIDs"),
        };
        if entries.len() > MAX_LISTS {
            return input.refuse(name, format!("may name at most {MAX_LISTS} lists"));
        }
        let mut lists = Vec::new();
        for entry in entries {
            match ListId::read(entry) {
                Ok(id) if lists.contains(&id) => {}
                Ok(id) => lists.push(id),
                Err(_) => {
                    let text = entry.as_str().map_or_else(|| entry.to_string(), str::to_owned);
                    input.problems().add_list_id(text, "has entries that are no UUIDs");
                }
            }
        }
        Some(lists)
    }

    #[cfg(feature = "openapi")]
    fn schema() -> Property {
        openapi::array(ListId::schema(), |lists| lists)
    }

    #[cfg(feature = "openapi")]
    fn components(all: &mut crate::openapi::Components) {
        ListId::components(all);
    }
}

body! {
    /// A new contact. Read-only fields of the contact are ignored, any other field is refused.
    pub struct NewContact as "CreateContact" partial {
        name: Given<String> = Clearable<Name>,
        email: Given<Email> = Clearable<Email>,
        birthday: Given<Birthday> = Clearable<Birthday>,
        observation: Given<String> = Clearable<Observation>,
        /// With or without punctuation; stored as 11 digits.
        cpf: Given<Cpf> = Clearable<Cpf>,
        rg: Given<String> = Clearable<Short>,
        genero: Given<String> = Clearable<Short>,
        estado_civil: Given<String> = Clearable<Short>,
        profissao: Given<String> = Clearable<Short>,
        city: Given<String> = Clearable<Short>,
        state: Given<String> = Clearable<Short>,
        /// With or without punctuation; stored as 8 digits.
        postal_code: Given<PostalCode> = Clearable<PostalCode>,
        /// Links the organization with this registration number, which is made if it is missing.
        cnpj: Option<Cnpj> = Optional<Cnpj>,
        /// Anything that normalizes to a phone number; without `+` a national number of the
        /// company's region.
        phone: Option<Phone> = NewPhone,
        /// Values of at most 500 characters by the id of an active field.
        custom_fields: BTreeMap<CustomFieldId, String> = CustomValues<true>,
        /// Active lists of the company.
        lists as "list_ids": Vec<ListId> = ListIds<true>,
    }
}

impl NewContact {
    /// A new contact with only the required phone.
    pub fn new(phone: Phone) -> Self {
        Self::default().phone(phone)
    }
}

body! {
    /// What changes of a contact. Any form may be sent back whole: its read-only fields are
    /// ignored.
    pub struct ContactPatch as "UpdateContact" partial {
        /// `null` or the empty string clears a native field.
        name: Given<String> = Clearable<Name>,
        email: Given<Email> = Clearable<Email>,
        birthday: Given<Birthday> = Clearable<Birthday>,
        observation: Given<String> = Clearable<Observation>,
        cpf: Given<Cpf> = Clearable<Cpf>,
        rg: Given<String> = Clearable<Short>,
        genero: Given<String> = Clearable<Short>,
        estado_civil: Given<String> = Clearable<Short>,
        profissao: Given<String> = Clearable<Short>,
        city: Given<String> = Clearable<Short>,
        state: Given<String> = Clearable<Short>,
        postal_code: Given<PostalCode> = Clearable<PostalCode>,
        /// Ignored when the contact has an organization.
        cnpj: Option<Cnpj> = Optional<Cnpj>,
        /// Only the number that the contact has, in any form.
        phone: Option<String> = SamePhone,
        /// Only the identifier the contact has.
        identifier: Option<String> = SameIdentifier,
        /// Merged value by value; an empty one removes the value. By slug, as the list form has
        /// them, only the values that are stored.
        custom_fields: BTreeMap<CustomFieldId, String> = CustomValues<false>,
        /// Lists to add the contact to; it stays in the others.
        lists as "list_ids": Vec<ListId> = ListIds<false>,
    }
}
