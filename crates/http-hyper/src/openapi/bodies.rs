//! The request bodies, for the document only: the core reads bodies field by field, so that one
//! answer can name everything that is wrong. A test sends every documented example through.
#![expect(dead_code, reason = "these types are schemas; nothing is read out of them")]

use std::collections::BTreeMap;

use recado_core::Timestamp;
use recado_core::contacts::{CrmStatus, InboxStatus, Priority};
use recado_core::ids::{CloseReasonId, MemberId, OrganizationId, TagId};
#[cfg(test)]
use utoipa::ToSchema;

pub(crate) use super::hook_bodies::*;
pub(crate) use super::messaging_bodies::*;

/// A contact to import: any stored field. `phone` or `identifier` is required.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct ImportContact {
    phone: Option<String>,
    #[cfg_attr(test, schema(max_length = 200))]
    identifier: Option<String>,
    /// `whatsapp` by default.
    #[cfg_attr(test, schema(max_length = 32))]
    source_platform: Option<String>,
    name: Option<String>,
    email: Option<String>,
    shared_email: Option<String>,
    wa_profile_name: Option<String>,
    wa_push_name: Option<String>,
    avatar_url: Option<String>,
    observation: Option<String>,
    custom_fields: Option<BTreeMap<String, String>>,
    inbox_status: Option<InboxStatus>,
    priority: Option<Priority>,
    crm_status: Option<CrmStatus>,
    is_ai_enabled: Option<bool>,
    external_ai_enabled: Option<bool>,
    is_archived: Option<bool>,
    is_pinned: Option<bool>,
    is_muted: Option<bool>,
    is_blocked: Option<bool>,
    is_group: Option<bool>,
    is_simulated: Option<bool>,
    external_chat_id: Option<String>,
    first_message_at: Option<Timestamp>,
    last_message_at: Option<Timestamp>,
    last_inbound_at: Option<Timestamp>,
    last_read_at: Option<Timestamp>,
    last_closed_at: Option<Timestamp>,
    last_close_reason_id: Option<CloseReasonId>,
    opted_out_at: Option<Timestamp>,
    ai_paused_until: Option<Timestamp>,
    street: Option<String>,
    street_number: Option<String>,
    address_complement: Option<String>,
    neighborhood: Option<String>,
    city: Option<String>,
    state: Option<String>,
    postal_code: Option<String>,
    country: Option<String>,
    #[cfg_attr(test, schema(format = Date))]
    birthday: Option<String>,
    cpf: Option<String>,
    rg: Option<String>,
    genero: Option<String>,
    estado_civil: Option<String>,
    profissao: Option<String>,
    cargo: Option<String>,
    organization_id: Option<OrganizationId>,
    assigned_to_member_id: Option<MemberId>,
    tag_ids: Option<Vec<TagId>>,
    created_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
}
