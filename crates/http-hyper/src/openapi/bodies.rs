//! The request bodies, for the document only: the core reads bodies field by field, so that one
//! answer can name everything that is wrong. A test sends every documented example through.
#![expect(dead_code, reason = "these types are schemas; nothing is read out of them")]

use std::collections::BTreeMap;

use recado_core::Timestamp;
use recado_core::contacts::{CrmStatus, InboxStatus, Priority};
use recado_core::ids::{CloseReasonId, ConnectionId, ListId, MemberId, OrganizationId, TagId};
use utoipa::ToSchema;

pub(crate) use super::hook_bodies::*;
pub(crate) use super::messaging_bodies::*;
pub(crate) use super::webhook_bodies::*;

/// A new contact. Read-only fields of the contact are ignored, any other field is refused.
#[derive(ToSchema)]
pub(crate) struct CreateContact {
    /// Anything that normalizes to a phone number; without `+` a national number of the company's
    /// region.
    #[schema(example = "+55 11 98765-4321")]
    phone: String,
    #[schema(max_length = 200)]
    name: Option<String>,
    #[schema(max_length = 254)]
    email: Option<String>,
    #[schema(format = Date)]
    birthday: Option<String>,
    #[schema(max_length = 10000)]
    observation: Option<String>,
    /// With or without punctuation; stored as 11 digits.
    cpf: Option<String>,
    #[schema(max_length = 200)]
    rg: Option<String>,
    #[schema(max_length = 200)]
    genero: Option<String>,
    #[schema(max_length = 200)]
    estado_civil: Option<String>,
    #[schema(max_length = 200)]
    profissao: Option<String>,
    #[schema(max_length = 200)]
    city: Option<String>,
    #[schema(max_length = 200)]
    state: Option<String>,
    /// With or without punctuation; stored as 8 digits.
    postal_code: Option<String>,
    /// Links the organization with this registration number, which is made if it is missing.
    cnpj: Option<String>,
    /// Values of at most 500 characters by the id of an active field.
    custom_fields: Option<BTreeMap<String, String>>,
    /// Active lists of the company.
    list_ids: Option<Vec<ListId>>,
}

/// What changes of a contact. The whole detail form may be sent back: what cannot be written in it
/// is ignored.
#[derive(ToSchema)]
pub(crate) struct UpdateContact {
    /// Only the number the contact has, in any form.
    #[schema(nullable = false)]
    phone: Option<String>,
    /// Only the identifier the contact has.
    identifier: Option<String>,
    /// `null` or the empty string clears a native field.
    #[schema(max_length = 200)]
    name: Option<String>,
    #[schema(max_length = 254)]
    email: Option<String>,
    #[schema(format = Date)]
    birthday: Option<String>,
    #[schema(max_length = 10000)]
    observation: Option<String>,
    cpf: Option<String>,
    #[schema(max_length = 200)]
    rg: Option<String>,
    #[schema(max_length = 200)]
    genero: Option<String>,
    #[schema(max_length = 200)]
    estado_civil: Option<String>,
    #[schema(max_length = 200)]
    profissao: Option<String>,
    #[schema(max_length = 200)]
    city: Option<String>,
    #[schema(max_length = 200)]
    state: Option<String>,
    postal_code: Option<String>,
    /// Ignored when the contact has an organization.
    cnpj: Option<String>,
    /// Merged value by value; an empty one removes the value.
    #[schema(nullable = false)]
    custom_fields: Option<BTreeMap<String, String>>,
    /// Lists to add the contact to; it stays in the others.
    #[schema(nullable = false)]
    list_ids: Option<Vec<ListId>>,
}

/// A contact to import: any stored field. `phone` or `identifier` is required.
#[derive(ToSchema)]
pub(crate) struct ImportContact {
    phone: Option<String>,
    #[schema(max_length = 200)]
    identifier: Option<String>,
    /// `whatsapp` by default.
    #[schema(max_length = 32)]
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
    #[schema(format = Date)]
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

/// What the operator changes of a contact.
#[derive(ToSchema)]
pub(crate) struct PatchContact {
    priority: Option<Priority>,
    crm_status: Option<CrmStatus>,
    is_archived: Option<bool>,
    is_pinned: Option<bool>,
    is_muted: Option<bool>,
    /// The whole set.
    #[schema(max_items = 200)]
    tag_ids: Option<Vec<TagId>>,
    last_connection_id: Option<ConnectionId>,
}
