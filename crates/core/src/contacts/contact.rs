//! A contact as it is stored, and the facts that are derived from it.

use std::collections::BTreeMap;

use super::identifier::{Identifier, Platform};
use super::status::{CrmStatus, InboxStatus, Priority};
use super::{Birthday, Cpf, Email, FacetKey, Facets, Phone, PostalCode, SearchText};
use crate::Timestamp;
use crate::ids::{
    CloseReasonId, CompanyId, ConnectionId, ContactId, CustomFieldId, MemberId, OrganizationId,
    StageId, TagId,
};
use crate::secret::hides;

/// The address of a contact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// Street.
    pub street: Option<String>,
    /// Number in the street.
    pub street_number: Option<String>,
    /// Flat, floor and the like.
    pub complement: Option<String>,
    /// Neighborhood.
    pub neighborhood: Option<String>,
    /// City.
    pub city: Option<String>,
    /// State.
    pub state: Option<String>,
    /// Postal code, digits only.
    pub postal_code: Option<PostalCode>,
    /// Country.
    pub country: Option<String>,
}

/// The personal data of a contact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Date of birth.
    pub birthday: Option<Birthday>,
    /// Taxpayer number, digits only.
    pub cpf: Option<Cpf>,
    /// Identity card.
    pub rg: Option<String>,
    /// Gender, as the company writes it.
    pub genero: Option<String>,
    /// Marital status.
    pub estado_civil: Option<String>,
    /// Profession.
    pub profissao: Option<String>,
    /// Position.
    pub cargo: Option<String>,
}

/// A contact (2.1, 2.2).
///
/// `display_name` is derived: call [`Contact::derive`] after changing what it comes from.
/// `pipeline_stage_id` is the focus stage, written with every change of a deal (2.5.1).
#[derive(Clone, PartialEq, Eq)]
#[allow(clippy::allow_attributes, missing_docs, reason = "the fields are those of 2.1 and 2.2")]
pub struct Contact {
    pub id: ContactId,
    pub company: CompanyId,
    pub source_platform: Platform,
    pub identifier: Identifier,
    pub phone: Option<Phone>,
    pub email: Option<Email>,
    pub shared_email: Option<Email>,
    /// Empty when unknown (D18).
    pub name: String,
    pub wa_profile_name: Option<String>,
    pub wa_push_name: Option<String>,
    pub display_name: String,
    pub avatar_url: Option<String>,
    pub observation: Option<String>,
    pub inbox_status: InboxStatus,
    pub priority: Priority,
    pub crm_status: CrmStatus,
    pub is_ai_enabled: bool,
    pub external_ai_enabled: bool,
    pub ai_paused_until: Option<Timestamp>,
    pub opted_out_at: Option<Timestamp>,
    /// Whether the current block was announced by a backfill (D43).
    pub opt_out_backfilled: bool,
    /// When a block was last lifted: older requests that arrive later do not block again (D70).
    pub opted_in_at: Option<Timestamp>,
    pub is_archived: bool,
    pub is_pinned: bool,
    pub is_muted: bool,
    pub is_blocked: bool,
    pub is_group: bool,
    pub is_simulated: bool,
    /// Whether one of its conversations has unread messages (D77): written with them, as the focus
    /// stage is with deals, so that a filter finds it.
    pub has_unread: bool,
    pub external_chat_id: Option<String>,
    pub first_message_at: Option<Timestamp>,
    pub last_message_at: Option<Timestamp>,
    pub last_inbound_at: Option<Timestamp>,
    pub last_read_at: Option<Timestamp>,
    pub last_closed_at: Option<Timestamp>,
    pub last_close_reason_id: Option<CloseReasonId>,
    pub address: Address,
    pub profile: Profile,
    pub organization_id: Option<OrganizationId>,
    pub pipeline_stage_id: Option<StageId>,
    pub assigned_to_member_id: Option<MemberId>,
    pub last_connection_id: Option<ConnectionId>,
    /// Values by definition; never empty texts.
    pub custom_fields: BTreeMap<CustomFieldId, String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Contact {
    /// A new contact with the defaults of D19.
    pub fn new(
        id: ContactId,
        company: CompanyId,
        source_platform: Platform,
        identifier: Identifier,
        phone: Option<Phone>,
        now: Timestamp,
    ) -> Self {
        let mut contact = Self {
            id,
            company,
            source_platform,
            identifier,
            phone,
            email: None,
            shared_email: None,
            name: String::new(),
            wa_profile_name: None,
            wa_push_name: None,
            display_name: String::new(),
            avatar_url: None,
            observation: None,
            inbox_status: InboxStatus::Open,
            priority: Priority::Normal,
            crm_status: CrmStatus::Lead,
            is_ai_enabled: true,
            external_ai_enabled: true,
            ai_paused_until: None,
            opted_out_at: None,
            opt_out_backfilled: false,
            opted_in_at: None,
            is_archived: false,
            is_pinned: false,
            is_muted: false,
            is_blocked: false,
            is_group: false,
            is_simulated: false,
            has_unread: false,
            external_chat_id: None,
            first_message_at: None,
            last_message_at: None,
            last_inbound_at: None,
            last_read_at: None,
            last_closed_at: None,
            last_close_reason_id: None,
            address: Address::default(),
            profile: Profile::default(),
            organization_id: None,
            pipeline_stage_id: None,
            assigned_to_member_id: None,
            last_connection_id: None,
            custom_fields: BTreeMap::new(),
            created_at: now,
            updated_at: now,
        };
        contact.derive();
        contact
    }

    /// The `phone` that is shown: the stored one, or the channel identifier (D16).
    pub fn shown_phone(&self) -> &str {
        self.phone.as_ref().map_or(self.identifier.as_str(), Phone::as_str)
    }

    /// Brings the derived fields up to date.
    pub fn derive(&mut self) {
        self.display_name = display_name(self);
    }

    /// `self` after `change`: derived fields are brought up to date, and `updated_at` moves to
    /// `now` only when something else changed (D44a).
    #[must_use]
    pub fn changed(&self, now: Timestamp, change: impl FnOnce(&mut Self)) -> Self {
        let mut changed = self.clone();
        change(&mut changed);
        changed.derive();
        if changed != *self {
            changed.updated_at = now;
        }
        changed
    }

    /// What a store indexes for `search` (D24).
    pub fn search_text(&self) -> SearchText {
        SearchText::of(
            &self.name,
            &self.display_name,
            self.email.as_ref(),
            self.identifier.as_str(),
            self.phone.as_ref(),
        )
    }

    /// What the exact filters of the listing compare (4.1).
    pub fn facets(&self) -> Facets {
        Facets {
            source_platform: self.source_platform.clone(),
            inbox_status: self.inbox_status,
            pipeline_stage_id: self.pipeline_stage_id,
            crm_status: self.crm_status,
            is_ai_enabled: self.is_ai_enabled,
            is_group: self.is_group,
            is_assigned: self.assigned_to_member_id.is_some(),
            has_unread: self.has_unread,
        }
    }

    /// The key of [`Contact::facets`].
    pub fn facet_key(&self) -> FacetKey {
        self.facets().key()
    }
}

hides! {
    Contact {
        shows { id, company }
        hides {
            source_platform, identifier, phone, email, shared_email, name, wa_profile_name,
            wa_push_name, display_name, avatar_url, observation, inbox_status, priority,
            crm_status, is_ai_enabled, external_ai_enabled, ai_paused_until, opted_out_at,
            opt_out_backfilled, opted_in_at, is_archived, is_pinned, is_muted, is_blocked,
            is_group, is_simulated, has_unread, external_chat_id, first_message_at, last_message_at,
            last_inbound_at, last_read_at, last_closed_at, last_close_reason_id, address,
            profile, organization_id, pipeline_stage_id, assigned_to_member_id,
            last_connection_id, custom_fields, created_at, updated_at,
        }
    }
}

/// The first that is filled of: name, wa_profile_name, wa_push_name, the phone in international
/// format, identifier (D18).
pub fn display_name(contact: &Contact) -> String {
    let filled = |name: &Option<String>| name.clone().filter(|name| !name.trim().is_empty());
    Some(contact.name.clone())
        .filter(|name| !name.trim().is_empty())
        .or_else(|| filled(&contact.wa_profile_name))
        .or_else(|| filled(&contact.wa_push_name))
        .or_else(|| contact.phone.as_ref().map(Phone::international))
        .unwrap_or_else(|| contact.identifier.as_str().to_owned())
}

/// A tag on a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContactTag {
    /// The company of both.
    pub company: CompanyId,
    /// The contact.
    pub contact: ContactId,
    /// The tag.
    pub tag: TagId,
}
