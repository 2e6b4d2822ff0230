//! Contacts, the names they have on their channels, and their tags.

use std::collections::BTreeMap;

use recado_core::contacts::{
    Address, Alias, Birthday, ChannelKey, Contact, ContactTag, Cpf, CrmStatus, Email, Identifier,
    InboxStatus, Phone, Platform, PostalCode, Priority, Profile,
};
use recado_core::ids::CustomFieldId;

use crate::cell::{CellReader, CellWriter};
use crate::field::{Column, json, texts, words};
use crate::record::record;

record! {
    Contact in "contacts" key(company_id, id) {
        company("company_id"),
        id,
        source_platform,
        identifier,
        phone,
        email,
        shared_email,
        name,
        wa_profile_name,
        wa_push_name,
        display_name,
        avatar_url,
        observation,
        inbox_status,
        priority,
        crm_status,
        is_ai_enabled,
        external_ai_enabled,
        ai_paused_until,
        opted_out_at,
        opt_out_backfilled,
        opted_in_at,
        is_archived,
        is_pinned,
        is_muted,
        is_blocked,
        is_group,
        is_simulated,
        has_unread,
        external_chat_id,
        first_message_at,
        last_message_at,
        last_inbound_at,
        last_read_at,
        last_closed_at,
        last_close_reason_id,
        address: Address {
            street,
            street_number,
            complement,
            neighborhood,
            city,
            state,
            postal_code,
            country,
        },
        profile: Profile { birthday, cpf, rg, genero, estado_civil, profissao, cargo },
        organization_id,
        pipeline_stage_id,
        assigned_to_member_id,
        last_connection_id,
        custom_fields,
        created_at,
        updated_at,
    }
    activity { first_message_at, last_message_at, last_inbound_at, last_connection_id }
}

record! {
    Alias in "aliases" key(company_id, source_platform, key) {
        company("company_id"),
        platform("source_platform"),
        key,
        contact("contact_id"),
    }
}

record! {
    ContactTag in "contact_tags" key(company_id, contact_id, tag_id) {
        company("company_id"),
        contact("contact_id"),
        tag("tag_id"),
    }
}

words! { CrmStatus, InboxStatus, Priority }

texts! {
    ChannelKey: ChannelKey::as_str, |text| Some(ChannelKey::from_stored(text.to_owned()));
    Cpf: Cpf::as_str, |text| Cpf::from_stored(text.to_owned()).ok();
    Email: Email::as_str, |text| Email::from_stored(text.to_owned()).ok();
    Identifier: Identifier::as_str, Identifier::parse;
    Phone: Phone::as_str, |text| Phone::from_stored(text.to_owned()).ok();
    Platform: Platform::as_str, Platform::parse;
    PostalCode: PostalCode::as_str, |text| PostalCode::from_stored(text.to_owned()).ok();
}

json! { BTreeMap<CustomFieldId, String> }

impl Column for Birthday {
    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W) {
        writer.owned_text(self.to_string());
    }

    fn read_or_null<R: CellReader>(reader: &mut R) -> Result<Option<Self>, R::Error> {
        reader.text(|text| Self::from_stored(text.to_owned()).ok())
    }
}
