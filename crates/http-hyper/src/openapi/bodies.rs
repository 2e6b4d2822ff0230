//! The request bodies, for the document only: the core reads bodies field by field, so that one
//! answer can name everything that is wrong. A test sends every documented example through.
#![expect(dead_code, reason = "these types are schemas; nothing is read out of them")]

use std::collections::BTreeMap;

use recado_core::Timestamp;
use recado_core::access::{Plan, Role, Scope};
use recado_core::contacts::{CrmStatus, InboxStatus, Priority};
use recado_core::custom_fields::{FieldStatus, FieldType};
use recado_core::deals::DealStatus;
use recado_core::ids::{
    CloseReasonId, ConnectionId, ContactId, ListId, MemberId, OrganizationId, StageId, TagId,
};
use utoipa::ToSchema;

pub(crate) use super::hook_bodies::*;
pub(crate) use super::talk_bodies::*;
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

/// What a company has enabled; what is not named stays.
#[derive(ToSchema)]
pub(crate) struct FeaturesBody {
    inbound_contacts: Option<bool>,
    template_dispatch: Option<bool>,
}

/// A new company.
#[derive(ToSchema)]
pub(crate) struct CreateCompany {
    #[schema(max_length = 200)]
    name: String,
    /// `enterprise` by default.
    plan: Option<Plan>,
    features: Option<FeaturesBody>,
    /// The region whose national phone numbers it writes; `BR` by default.
    default_region: Option<String>,
}

/// What changes of a company.
#[derive(ToSchema)]
pub(crate) struct UpdateCompany {
    #[schema(max_length = 200)]
    name: Option<String>,
    plan: Option<Plan>,
    features: Option<FeaturesBody>,
    default_region: Option<String>,
}

/// A new API key.
#[derive(ToSchema)]
pub(crate) struct CreateKey {
    #[schema(max_length = 200)]
    name: String,
    scopes: Vec<Scope>,
    /// 600 by default.
    #[schema(minimum = 1, maximum = 1000000)]
    rate_per_minute: Option<u32>,
    /// 60 by default.
    #[schema(minimum = 1, maximum = 1000000)]
    export_rate_per_minute: Option<u32>,
}

/// What changes of an API key; it holds from the next call on.
#[derive(ToSchema)]
pub(crate) struct UpdateKey {
    #[schema(max_length = 200)]
    name: Option<String>,
    scopes: Option<Vec<Scope>>,
    #[schema(minimum = 1, maximum = 1000000)]
    rate_per_minute: Option<u32>,
    #[schema(minimum = 1, maximum = 1000000)]
    export_rate_per_minute: Option<u32>,
}

/// A new member.
#[derive(ToSchema)]
pub(crate) struct CreateMember {
    #[schema(max_length = 200)]
    display_name: String,
    /// `agent` by default.
    role: Option<Role>,
}

/// What changes of a member.
#[derive(ToSchema)]
pub(crate) struct UpdateMember {
    #[schema(max_length = 200)]
    display_name: Option<String>,
    role: Option<Role>,
}

/// A stage of a new pipeline.
#[derive(ToSchema)]
pub(crate) struct StageBody {
    #[schema(max_length = 200)]
    name: String,
    /// A hex colour.
    color: String,
}

/// A new pipeline with its stages in order.
#[derive(ToSchema)]
pub(crate) struct CreatePipeline {
    #[schema(max_length = 200)]
    name: String,
    #[schema(max_items = 100)]
    stages: Vec<StageBody>,
}

/// What changes of a record that only has a name.
#[derive(ToSchema)]
pub(crate) struct Rename {
    #[schema(max_length = 200)]
    name: Option<String>,
}

/// A new deal.
#[derive(ToSchema)]
pub(crate) struct CreateDeal {
    contact_id: ContactId,
    #[schema(max_length = 200)]
    title: String,
    stage_id: Option<StageId>,
    /// `open` by default.
    status: Option<DealStatus>,
    /// For imports; now by default.
    stage_entered_at: Option<Timestamp>,
}

/// What changes of a deal. Another stage stamps `stage_entered_at`.
#[derive(ToSchema)]
pub(crate) struct UpdateDeal {
    #[schema(max_length = 200)]
    title: Option<String>,
    /// `null`: no stage.
    stage_id: Option<StageId>,
    status: Option<DealStatus>,
}

/// A new tag.
#[derive(ToSchema)]
pub(crate) struct CreateTag {
    #[schema(max_length = 200)]
    name: String,
    #[schema(max_length = 32)]
    color: String,
}

/// What changes of a tag.
#[derive(ToSchema)]
pub(crate) struct UpdateTag {
    #[schema(max_length = 200)]
    name: Option<String>,
    #[schema(max_length = 32)]
    color: Option<String>,
}

/// A new custom field.
#[derive(ToSchema)]
pub(crate) struct CreateCustomField {
    #[schema(max_length = 200)]
    label: String,
    /// Unique in the company.
    #[schema(pattern = "^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$")]
    slug: String,
    /// `text` by default.
    r#type: Option<FieldType>,
    /// `active` by default.
    status: Option<FieldStatus>,
}

/// What changes of a custom field.
#[derive(ToSchema)]
pub(crate) struct UpdateCustomField {
    #[schema(max_length = 200)]
    label: Option<String>,
    status: Option<FieldStatus>,
}

/// A new list.
#[derive(ToSchema)]
pub(crate) struct CreateList {
    #[schema(max_length = 200)]
    name: String,
    /// True by default.
    is_active: Option<bool>,
}

/// What changes of a list.
#[derive(ToSchema)]
pub(crate) struct UpdateList {
    #[schema(max_length = 200)]
    name: Option<String>,
    is_active: Option<bool>,
}

/// Contacts for a list.
#[derive(ToSchema)]
pub(crate) struct AddContacts {
    #[schema(max_items = 10000)]
    contact_ids: Vec<ContactId>,
}

/// A new close reason, or its new name.
#[derive(ToSchema)]
pub(crate) struct NameBody {
    #[schema(max_length = 200)]
    name: String,
}

/// A new tracked link.
#[derive(ToSchema)]
pub(crate) struct CreateLink {
    contact_id: ContactId,
    /// http or https.
    #[schema(max_length = 2048)]
    url: String,
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
