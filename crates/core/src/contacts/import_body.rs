//! The body of the import of a contact: any stored field of the list or detail form.

use std::collections::BTreeMap;

use serde_json::Value;

use super::body::region;
use super::operator::ContactTags;
use super::{
    Birthday, Contact, Cpf, CrmStatus, Email, Identifier, InboxStatus, Phone, Platform, PostalCode,
    Priority,
};
use crate::Timestamp;
use crate::body::{BodyField, Clearable, Optional, OrDefault, WriteOver, as_form, body};
use crate::form::{Form, Name, Observation, Short, Text, is_blank_text, text_form, to_json};
use crate::ids::{CloseReasonId, ConnectionId, CustomFieldId, MemberId, OrganizationId, TagId};
use crate::input::{Given, Input};
#[cfg(feature = "openapi")]
use crate::openapi::{self, Property};
use crate::text;

text_form!(Identifier, read_identifier, Identifier::as_str, blank is null, |text| text.max_length(Some(crate::text::SHORT)));

to_json!(Platform, |platform| platform.as_str());
to_json!(Phone, |phone| phone.as_str());

impl Form for Platform {
    type Value = Self;

    fn read(value: &Value) -> Result<Self, String> {
        let platform = value.as_str().and_then(Self::parse);
        platform.ok_or_else(|| "must be 1 to 32 of a-z, 0-9, _ and -".to_owned())
    }

    #[cfg(feature = "openapi")]
    fn schema() -> Property {
        openapi::text(|text| text.max_length(Some(32)))
    }
}

fn read_identifier(text: &str) -> Result<Identifier, &'static str> {
    Identifier::parse(text).ok_or("must be 1 to 200 characters without control characters")
}

/// The phone of an imported contact, in any notation of its company's region.
pub(crate) struct ImportedPhone;

impl BodyField for ImportedPhone {
    type Value = Option<Phone>;
    const NULLABLE: bool = true;

    fn read(input: &mut Input<'_>, name: &'static str) -> Option<Option<Phone>> {
        match input.raw(name) {
            None | Some(Value::Null) => Some(None),
            Some(value) if is_blank_text(value) => Some(None),
            Some(Value::String(text)) => match Phone::parse(text, &region(input)) {
                Ok(phone) => Some(Some(phone)),
                Err(error) => input.refuse(name, error.to_string()),
            },
            Some(_) => input.refuse(name, "must be a string"),
        }
    }

    #[cfg(feature = "openapi")]
    fn schema() -> Property {
        openapi::text(|text| text)
    }
}

/// The identifier of an imported contact; without one it needs a phone.
pub(crate) struct ImportedIdentifier;

impl BodyField for ImportedIdentifier {
    type Value = Option<Identifier>;
    const NULLABLE: bool = true;

    fn read(input: &mut Input<'_>, name: &'static str) -> Option<Option<Identifier>> {
        let read = Optional::<Identifier>::read(input, name);
        let phone = input.raw("phone").filter(|phone| !phone.is_null() && !is_blank_text(phone));
        if read.as_ref().is_none_or(Option::is_none) && phone.is_none() {
            input.problem("phone", "or identifier is required");
        }
        read
    }

    as_form!(Identifier);
}

/// Values of custom fields by definition; each invalid one is named.
pub(crate) struct ImportedValues;

impl BodyField for ImportedValues {
    type Value = BTreeMap<CustomFieldId, String>;
    const NULLABLE: bool = true;

    fn read(input: &mut Input<'_>, name: &'static str) -> Option<Self::Value> {
        let mut values = BTreeMap::new();
        match input.raw(name) {
            None | Some(Value::Null) => {}
            Some(Value::Object(entries)) => {
                for (key, value) in entries {
                    let cleaned =
                        value.as_str().and_then(|v| text::clean(v, text::CUSTOM_VALUE).ok());
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
            Some(_) => return input.refuse(name, "must be an object"),
        }
        Some(values)
    }

    #[cfg(feature = "openapi")]
    fn schema() -> Property {
        openapi::texts_by_name()
    }
}

body! {
    /// A contact to import: any stored field. `phone` or `identifier` is required.
    #[derive(Clone, Debug)]
    pub struct ImportedContact as "ImportContact" partial {
        phone: Option<Phone> = ImportedPhone,
        identifier: Option<Identifier> = ImportedIdentifier,
        /// `whatsapp` by default.
        source_platform: Option<Platform> = Optional<Platform>,
        name: String = OrDefault<Name>,
        observation: Option<String> = Optional<Observation>,
        wa_profile_name: Option<String> = Optional<Short>,
        wa_push_name: Option<String> = Optional<Short>,
        /// Of a group its code, by default its `identifier` if that is one; a person has none.
        external_chat_id: Option<String> = Optional<Short>,
        street: Option<String> = Optional<Short>,
        street_number: Option<String> = Optional<Short>,
        address_complement: Option<String> = Optional<Short>,
        neighborhood: Option<String> = Optional<Short>,
        city: Option<String> = Optional<Short>,
        state: Option<String> = Optional<Short>,
        country: Option<String> = Optional<Short>,
        rg: Option<String> = Optional<Short>,
        genero: Option<String> = Optional<Short>,
        estado_civil: Option<String> = Optional<Short>,
        profissao: Option<String> = Optional<Short>,
        cargo: Option<String> = Optional<Short>,
        avatar_url: Option<String> = Optional<Text<2048>>,
        postal_code: Option<PostalCode> = Optional<PostalCode>,
        birthday: Option<Birthday> = Optional<Birthday>,
        cpf: Option<Cpf> = Optional<Cpf>,
        shared_email: Option<Email> = Optional<Email>,
        inbox_status: Option<InboxStatus> = Optional<InboxStatus>,
        priority: Option<Priority> = Optional<Priority>,
        crm_status: Option<CrmStatus> = Optional<CrmStatus>,
        is_ai_enabled: Option<bool> = Optional<bool>,
        external_ai_enabled: Option<bool> = Optional<bool>,
        is_archived: Option<bool> = Optional<bool>,
        is_pinned: Option<bool> = Optional<bool>,
        is_muted: Option<bool> = Optional<bool>,
        is_blocked: Option<bool> = Optional<bool>,
        is_group: Option<bool> = Optional<bool>,
        is_simulated: Option<bool> = Optional<bool>,
        first_message_at: Option<Timestamp> = Optional<Timestamp>,
        last_message_at: Option<Timestamp> = Optional<Timestamp>,
        last_inbound_at: Option<Timestamp> = Optional<Timestamp>,
        last_read_at: Option<Timestamp> = Optional<Timestamp>,
        last_closed_at: Option<Timestamp> = Optional<Timestamp>,
        ai_paused_until: Option<Timestamp> = Optional<Timestamp>,
        opted_out_at: Option<Timestamp> = Optional<Timestamp>,
        last_close_reason_id: Option<CloseReasonId> = Optional<CloseReasonId>,
        assigned_to_member_id: Option<MemberId> = Optional<MemberId>,
        organization_id: Option<OrganizationId> = Optional<OrganizationId>,
        last_connection_id: Option<ConnectionId> = Optional<ConnectionId>,
        email: Given<Email> = Clearable<Email>,
        custom_fields: BTreeMap<CustomFieldId, String> = ImportedValues,
        tags as "tag_ids": Vec<TagId> = OrDefault<ContactTags>,
        created_at: Option<Timestamp> = Optional<Timestamp>,
        updated_at: Option<Timestamp> = Optional<Timestamp>,
    }
}

impl ImportedContact {
    /// Writes the stored fields over those of a new contact.
    pub(super) fn write_to(&self, contact: &mut Contact) {
        let body = self.clone();
        contact.name = body.name;
        contact.observation = body.observation;
        contact.wa_profile_name = body.wa_profile_name;
        contact.wa_push_name = body.wa_push_name;
        contact.address.street = body.street;
        contact.address.street_number = body.street_number;
        contact.address.complement = body.address_complement;
        contact.address.neighborhood = body.neighborhood;
        contact.address.city = body.city;
        contact.address.state = body.state;
        contact.address.country = body.country;
        contact.profile.rg = body.rg;
        contact.profile.genero = body.genero;
        contact.profile.estado_civil = body.estado_civil;
        contact.profile.profissao = body.profissao;
        contact.profile.cargo = body.cargo;
        contact.avatar_url = body.avatar_url;
        contact.address.postal_code = body.postal_code;
        contact.profile.birthday = body.birthday;
        contact.profile.cpf = body.cpf;
        contact.shared_email = body.shared_email;
        body.inbox_status.write_over(&mut contact.inbox_status);
        body.priority.write_over(&mut contact.priority);
        body.crm_status.write_over(&mut contact.crm_status);
        body.is_ai_enabled.write_over(&mut contact.is_ai_enabled);
        body.external_ai_enabled.write_over(&mut contact.external_ai_enabled);
        body.is_archived.write_over(&mut contact.is_archived);
        body.is_pinned.write_over(&mut contact.is_pinned);
        body.is_muted.write_over(&mut contact.is_muted);
        body.is_blocked.write_over(&mut contact.is_blocked);
        body.is_group.write_over(&mut contact.is_group);
        body.is_simulated.write_over(&mut contact.is_simulated);
        contact.first_message_at = body.first_message_at;
        contact.last_message_at = body.last_message_at;
        contact.last_inbound_at = body.last_inbound_at;
        contact.last_read_at = body.last_read_at;
        contact.last_closed_at = body.last_closed_at;
        contact.ai_paused_until = body.ai_paused_until;
        contact.opted_out_at = body.opted_out_at;
        contact.last_close_reason_id = body.last_close_reason_id;
        contact.assigned_to_member_id = body.assigned_to_member_id;
        contact.organization_id = body.organization_id;
        contact.last_connection_id = body.last_connection_id;
    }
}
