//! The forms in which contacts are shown (2.1, 2.2, 4.3).

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Contact, ContactRecord, CrmStatus, Email, InboxStatus, ListBrief, Priority};
use crate::Timestamp;
use crate::access::{Member, Role};
use crate::connections::{Connection, ConnectionKind};
use crate::conversations::Conversation;
use crate::custom_fields::CustomField;
use crate::deals::Stage;
use crate::ids::{
    CloseReasonId, ConnectionId, ContactId, MemberId, OrganizationId, StageId, TagId,
};
use crate::leads::LeadMemoryView;
use crate::links::LinkClicks;
use crate::organizations::OrganizationView;
use crate::tags::Tag;

/// A focus stage as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct StageView {
    /// Its id.
    pub id: StageId,
    /// Its name.
    pub name: String,
    /// Its colour.
    pub color: String,
    /// Its position in the pipeline, from 0.
    pub display_order: u32,
}

impl From<&Stage> for StageView {
    fn from(stage: &Stage) -> Self {
        Self {
            id: stage.id,
            name: stage.name.clone(),
            color: stage.color.clone(),
            display_order: stage.display_order,
        }
    }
}

/// A tag as it is shown on a contact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct TagView {
    /// Its id.
    pub id: TagId,
    /// Its name.
    pub name: String,
    /// Its colour.
    pub color: String,
}

impl From<&Tag> for TagView {
    fn from(tag: &Tag) -> Self {
        Self { id: tag.id, name: tag.name.clone(), color: tag.color.clone() }
    }
}

/// The member a contact is assigned to, as it is shown (2.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct AssignedTo {
    /// Its id.
    pub id: MemberId,
    /// The name to show.
    pub display_name: String,
    /// The member's role.
    pub role: Role,
}

impl From<&Member> for AssignedTo {
    fn from(member: &Member) -> Self {
        Self { id: member.id, display_name: member.display_name.clone(), role: member.role }
    }
}

fn text_of(email: Option<&Email>) -> Option<String> {
    email.map(|email| email.as_str().to_owned())
}

/// A contact in the answers of POST and PATCH (4.3, 4.4); the data of `contact.created`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct ContactSummary {
    /// Its id.
    pub id: ContactId,
    /// Its id on the channel.
    pub identifier: String,
    /// The phone, or what is shown in its place (D16).
    pub phone: String,
    /// The e-mail address.
    pub email: Option<String>,
    /// Only in the answer of POST: an e-mail that belongs to another contact.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub shared_email: Option<Option<String>>,
    /// Its name.
    pub name: String,
    /// The name to show.
    pub display_name: String,
    /// The channel it came from.
    pub source_platform: String,
    /// The status of its conversation.
    pub inbox_status: InboxStatus,
    /// How urgent it is.
    pub priority: Priority,
    /// Its status in the CRM.
    pub crm_status: CrmStatus,
    /// Whether the service's AI answers.
    pub is_ai_enabled: bool,
    /// Whether it is archived.
    pub is_archived: bool,
    /// Whether the company blocked it.
    pub is_blocked: bool,
    /// When the first message was.
    pub first_message_at: Option<Timestamp>,
    /// When the last message was.
    pub last_message_at: Option<Timestamp>,
    /// When it last wrote.
    pub last_inbound_at: Option<Timestamp>,
    /// When its conversation was last closed.
    pub last_closed_at: Option<Timestamp>,
    /// Why it was last closed.
    pub last_close_reason_id: Option<CloseReasonId>,
    /// Its focus stage (2.5.1).
    pub pipeline_stage_id: Option<StageId>,
    /// The member it is assigned to.
    pub assigned_to_member_id: Option<MemberId>,
    /// The connection of its last message.
    pub last_connection_id: Option<ConnectionId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl ContactSummary {
    /// The answer of POST: with `shared_email` (4.3).
    pub fn created(contact: &Contact) -> Self {
        let shared_email = Some(text_of(contact.shared_email.as_ref()));
        Self { shared_email, ..Self::updated(contact) }
    }

    /// The answer of PATCH: without `shared_email` (4.4).
    pub fn updated(contact: &Contact) -> Self {
        Self {
            id: contact.id,
            identifier: contact.identifier.as_str().to_owned(),
            phone: contact.shown_phone().to_owned(),
            email: text_of(contact.email.as_ref()),
            shared_email: None,
            name: contact.name.clone(),
            display_name: contact.display_name.clone(),
            source_platform: contact.source_platform.as_str().to_owned(),
            inbox_status: contact.inbox_status,
            priority: contact.priority,
            crm_status: contact.crm_status,
            is_ai_enabled: contact.is_ai_enabled,
            is_archived: contact.is_archived,
            is_blocked: contact.is_blocked,
            first_message_at: contact.first_message_at,
            last_message_at: contact.last_message_at,
            last_inbound_at: contact.last_inbound_at,
            last_closed_at: contact.last_closed_at,
            last_close_reason_id: contact.last_close_reason_id,
            pipeline_stage_id: contact.pipeline_stage_id,
            assigned_to_member_id: contact.assigned_to_member_id,
            last_connection_id: contact.last_connection_id,
            created_at: contact.created_at,
            updated_at: contact.updated_at,
        }
    }
}

/// The personal fields of 2.1: part of the list form, and of the detail form with
/// `include=profile` (D44a, D63).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct ProfileView {
    /// Its picture.
    pub avatar_url: Option<String>,
    /// Notes.
    pub observation: Option<String>,
    /// Whether it is a group.
    pub is_group: bool,
    /// The group's code on its channel; null for a person (2.1).
    pub external_chat_id: Option<String>,
    /// Whether it is simulated, for tests.
    pub is_simulated: bool,
    /// The street.
    pub street: Option<String>,
    /// The number in the street.
    pub street_number: Option<String>,
    /// More of the address.
    pub address_complement: Option<String>,
    /// The neighbourhood.
    pub neighborhood: Option<String>,
    /// The city.
    pub city: Option<String>,
    /// The state.
    pub state: Option<String>,
    /// The postal code, 8 digits.
    pub postal_code: Option<String>,
    /// The country.
    pub country: Option<String>,
    /// `YYYY-MM-DD`.
    pub birthday: Option<String>,
    /// The CPF, 11 digits.
    pub cpf: Option<String>,
    /// The identity card.
    pub rg: Option<String>,
    /// The gender.
    pub genero: Option<String>,
    /// The marital status.
    pub estado_civil: Option<String>,
    /// The profession.
    pub profissao: Option<String>,
    /// The position.
    pub cargo: Option<String>,
    /// Its organization.
    pub organization_id: Option<OrganizationId>,
    /// The organization, in brief.
    pub organization: Option<OrganizationView>,
}

impl ProfileView {
    fn new(record: &ContactRecord) -> Self {
        let contact = record.contact.value();
        let (address, profile) = (contact.address.clone(), contact.profile.clone());
        Self {
            avatar_url: contact.avatar_url.clone(),
            observation: contact.observation.clone(),
            is_group: contact.is_group,
            external_chat_id: contact.external_chat_id.clone().filter(|_| contact.is_group),
            is_simulated: contact.is_simulated,
            street: address.street,
            street_number: address.street_number,
            address_complement: address.complement,
            neighborhood: address.neighborhood,
            city: address.city,
            state: address.state,
            postal_code: address.postal_code.map(|code| code.as_str().to_owned()),
            country: address.country,
            birthday: profile.birthday.map(|birthday| birthday.to_string()),
            cpf: profile.cpf.map(|cpf| cpf.as_str().to_owned()),
            rg: profile.rg,
            genero: profile.genero,
            estado_civil: profile.estado_civil,
            profissao: profile.profissao,
            cargo: profile.cargo,
            organization_id: contact.organization_id,
            organization: record.related.organization.as_ref().map(Into::into),
        }
    }
}

/// A contact in the list form (2.1).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct ContactListItem {
    /// The fields of every form.
    #[serde(flatten)]
    pub summary: ContactSummary,
    /// The name it gave itself.
    pub wa_push_name: Option<String>,
    /// Values by slug, whatever the status of their definition (D58).
    pub custom_fields: BTreeMap<String, String>,
    /// The personal fields.
    #[serde(flatten)]
    pub profile: ProfileView,
    /// The focus stage, in brief.
    pub pipeline_stage: Option<StageView>,
    /// Its tags.
    pub tags: Vec<TagView>,
    /// Whether it has unread messages; for people who look, no part of the API's form.
    #[serde(skip)]
    pub has_unread: bool,
    /// Only with `include=link_clicks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_clicks: Option<LinkClicks>,
}

impl ContactListItem {
    /// The list form of a record, given the definitions of its custom fields.
    pub fn new(record: &ContactRecord, fields: &[CustomField]) -> Self {
        let contact = record.contact.value();
        let custom_fields = fields
            .iter()
            .filter_map(|field| {
                let value = contact.custom_fields.get(&field.id)?;
                Some((field.slug.clone(), value.clone()))
            })
            .collect();
        Self {
            summary: ContactSummary::updated(contact),
            wa_push_name: contact.wa_push_name.clone(),
            custom_fields,
            profile: ProfileView::new(record),
            pipeline_stage: record.related.stage.as_ref().map(Into::into),
            tags: record.related.tags.iter().map(Into::into).collect(),
            has_unread: contact.has_unread,
            link_clicks: record.related.clicks,
        }
    }
}

/// A connection on which the contact has a conversation (2.2, D44a, R21).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct ContactConnection {
    /// Its id.
    pub id: ConnectionId,
    /// The channel (D61).
    #[serde(rename = "type")]
    pub platform: String,
    /// Its name.
    pub name: String,
    /// The kind of the connection.
    pub provider: ConnectionKind,
    /// The contact's id on the channel, for this connection.
    pub identifier: String,
    /// When the last message was.
    pub last_message_at: Option<Timestamp>,
    /// Inbound messages since an agent last replied or read.
    pub unread_count: u32,
    /// The contact's: its connections share one state.
    pub inbox_status: InboxStatus,
}

impl ContactConnection {
    fn new(connection: &Connection, conversation: &Conversation, contact: &Contact) -> Self {
        Self {
            id: connection.id,
            platform: connection.platform.as_str().to_owned(),
            name: connection.name.clone(),
            provider: connection.kind,
            identifier: conversation.identifier.clone(),
            last_message_at: conversation.last_message_at,
            unread_count: conversation.unread,
            inbox_status: contact.inbox_status,
        }
    }
}

/// A contact in the detail form (2.2).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct ContactDetail {
    /// The fields of every form.
    #[serde(flatten)]
    pub summary: ContactSummary,
    /// The name of its profile.
    pub wa_profile_name: Option<String>,
    /// The name it gave itself.
    pub wa_push_name: Option<String>,
    /// Whether it is pinned.
    pub is_pinned: bool,
    /// Whether it is muted.
    pub is_muted: bool,
    /// When it was last read.
    pub last_read_at: Option<Timestamp>,
    /// The focus stage, in brief.
    pub pipeline_stage: Option<StageView>,
    /// Its tags.
    pub tags: Vec<TagView>,
    /// The member it is assigned to, in brief.
    pub assigned_to: Option<AssignedTo>,
    /// Values by field id, of active fields only.
    pub custom_fields: BTreeMap<String, String>,
    /// The connections on which it has a conversation.
    pub connections: Vec<ContactConnection>,
    /// Absent without the scope `lead_memory:read`; null when there is none (2.3.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<LeadMemoryView>))]
    pub lead_memory: Option<Option<LeadMemoryView>>,
    /// Only with `include=profile`.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileView>,
}

impl ContactDetail {
    /// The detail form of a record, given the definitions of its custom fields.
    pub fn new(
        record: &ContactRecord,
        fields: &[CustomField],
        lead_memory: bool,
        profile: bool,
    ) -> Self {
        let contact = record.contact.value();
        let conversations = record.related.conversations.iter();
        let memory = record.related.lead_memory.as_ref();
        Self {
            summary: ContactSummary::updated(contact),
            wa_profile_name: contact.wa_profile_name.clone(),
            wa_push_name: contact.wa_push_name.clone(),
            is_pinned: contact.is_pinned,
            is_muted: contact.is_muted,
            last_read_at: contact.last_read_at,
            pipeline_stage: record.related.stage.as_ref().map(Into::into),
            tags: record.related.tags.iter().map(Into::into).collect(),
            assigned_to: record.related.assigned_to.as_ref().map(Into::into),
            custom_fields: active_values(contact, fields),
            connections: conversations
                .map(|(connection, conversation)| {
                    ContactConnection::new(connection, conversation, contact)
                })
                .collect(),
            lead_memory: lead_memory.then(|| memory.map(LeadMemoryView::new)),
            profile: profile.then(|| ProfileView::new(record)),
        }
    }
}

/// The filled values whose definition is active, by field id (2.2, R7).
fn active_values(contact: &Contact, fields: &[CustomField]) -> BTreeMap<String, String> {
    // Looked up field by field: both may be many.
    fields
        .iter()
        .filter(|field| field.is_active())
        .filter_map(|field| Some((field.id, contact.custom_fields.get(&field.id)?)))
        .filter(|(_, value)| !value.is_empty())
        .map(|(id, value)| (id.to_string(), value.clone()))
        .collect()
}

/// A contact as the operator sees it: the detail form with further fields.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct OperatorContact {
    /// The detail form.
    #[serde(flatten)]
    pub detail: ContactDetail,
    /// An e-mail that belongs to another contact.
    pub shared_email: Option<String>,
    /// Whether an external AI may answer.
    pub external_ai_enabled: bool,
    /// Until when the AI is paused.
    pub ai_paused_until: Option<Timestamp>,
    /// When it opted out.
    pub opted_out_at: Option<Timestamp>,
    /// Whether it is opted out because its number had asked to stop before an earlier contact was
    /// deleted.
    pub is_opt_out_remembered: bool,
    /// The lists it is in.
    pub lists: Vec<ListBrief>,
}

impl OperatorContact {
    /// The operator's form of a record.
    pub fn new(record: &ContactRecord, fields: &[CustomField]) -> Self {
        let contact = record.contact.value();
        Self {
            detail: ContactDetail::new(record, fields, true, true),
            shared_email: text_of(contact.shared_email.as_ref()),
            external_ai_enabled: contact.external_ai_enabled,
            ai_paused_until: contact.ai_paused_until,
            opted_out_at: contact.opted_out_at,
            is_opt_out_remembered: false,
            lists: record.related.lists.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
