//! Reads of contacts, and the records they answer.

use async_trait::async_trait;

use super::{
    ChannelKey, Contact, ContactFilter, Email, ExportPosition, Identifier, Phone, Platform,
};
use crate::Timestamp;
use crate::access::Member;
use crate::connections::Connection;
use crate::conversations::Conversation;
use crate::custom_fields::CustomField;
use crate::deals::Stage;
use crate::ids::{
    CloseReasonId, CompanyId, ConnectionId, ContactId, CustomFieldId, ListId, MemberId,
    OrganizationId, TagId,
};
use crate::leads::LeadMemory;
use crate::links::LinkClicks;
use crate::lists::List;
use crate::organizations::{Cnpj, Organization};
use crate::page::PageRequest;
use crate::store::{StoreError, Stored};
use crate::tags::Tag;

/// The records that a contact's row refers to (R16).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Related {
    /// The member it is assigned to. Only in [`ContactReads::contact_record`].
    pub assigned_to: Option<Member>,
    /// Its organization.
    pub organization: Option<Organization>,
    /// Its focus stage.
    pub stage: Option<Stage>,
    /// Its tags, by `created_at`, then `id`.
    pub tags: Vec<Tag>,
    /// Its human link clicks, if requested.
    pub clicks: Option<LinkClicks>,
    /// The lists it is in, by `created_at`, then `id`. Only in [`ContactReads::contact_record`].
    pub lists: Vec<ListBrief>,
    /// Its conversations with their connections, by the connections' `created_at`, then `id`. Only
    /// in [`ContactReads::contact_record`].
    pub conversations: Vec<(Connection, Conversation)>,
    /// Its lead memory. Only in [`ContactReads::contact_record`].
    pub lead_memory: Option<LeadMemory>,
}

/// A list by name.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ListBrief {
    /// Its id.
    pub id: ListId,
    /// Its name.
    pub name: String,
}

/// A contact with the records it refers to.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactRecord {
    /// The contact.
    pub contact: Stored<Contact>,
    /// What it refers to.
    pub related: Related,
}

/// A part of a listing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactSlice {
    /// The contacts, in the listing's order.
    pub records: Vec<ContactRecord>,
    /// How many contacts match in all; exact, in the same state of the database as `records`.
    pub total: u64,
    /// Whether another contact follows (exports only).
    pub more: bool,
    /// Definitions of the company, at least those that the records have values of, in any status.
    pub fields: Vec<CustomField>,
}

/// How a body names an organization: one named by its number is created if it is missing (D22), one
/// named by its id must exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrganizationKey {
    /// By its number.
    Cnpj(Cnpj),
    /// By its id.
    Id(OrganizationId),
}

/// The records to which a body that writes a contact refers. Empty fields request nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DraftQuery {
    /// The contact that is written, if it exists already.
    pub contact: Option<ContactId>,
    /// Phones whose holder is requested.
    pub phones: Vec<Phone>,
    /// Identifiers whose holder is requested, on any channel.
    pub identifiers: Vec<Identifier>,
    /// Aliases whose holder is requested, on any channel.
    pub keys: Vec<ChannelKey>,
    /// An alias of one channel, to check whether it is free.
    pub alias: Option<(Platform, ChannelKey)>,
    /// An e-mail whose holder is requested.
    pub email: Option<Email>,
    /// An organization.
    pub organization: Option<OrganizationKey>,
    /// Lists.
    pub lists: Vec<ListId>,
    /// Custom-field definitions by id.
    pub fields: Vec<CustomFieldId>,
    /// Custom-field definitions by slug.
    pub slugs: Vec<String>,
    /// Tags.
    pub tags: Vec<TagId>,
    /// A member.
    pub member: Option<MemberId>,
    /// A close reason.
    pub close_reason: Option<CloseReasonId>,
    /// A connection.
    pub connection: Option<ConnectionId>,
}

/// The existing records to which a [`DraftQuery`] refers, in one state of the database.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DraftFacts {
    /// The contact.
    pub contact: Option<Stored<Contact>>,
    /// The lists the contact is in, as far as the query names them.
    pub member_of: Vec<ListId>,
    /// All tags of the contact.
    pub tagged: Vec<TagId>,
    /// The oldest contact (`created_at`, then `id`) that has one of the phones, of the identifiers
    /// or of the keys.
    pub holder: Option<ContactId>,
    /// The contact that has the e-mail.
    pub email_holder: Option<ContactId>,
    /// The organization.
    pub organization: Option<Stored<Organization>>,
    /// The lists that exist, in any state.
    pub lists: Vec<Stored<List>>,
    /// The existing definitions of those requested by id or by slug, in any status, each once.
    pub fields: Vec<Stored<CustomField>>,
    /// The tags that exist.
    pub tags: Vec<Stored<Tag>>,
    /// Whether the member exists.
    pub member: bool,
    /// Whether the close reason exists.
    pub close_reason: bool,
    /// The connection.
    pub connection: Option<Stored<Connection>>,
    /// Whether the alias belongs to a contact already.
    pub alias_taken: bool,
    /// How far exports of the company have read: the `created_at` of the latest position that was
    /// returned (D25).
    pub export_frontier: Option<Timestamp>,
}

/// Reads of contacts.
///
/// # Contract
///
/// - `contact_page` orders by `last_message_at` descending, contacts without messages last, then
///   `id` ascending; `contact_export` by `created_at`, then `id`, both ascending (4.1, D25).
/// - Both pass exactly the contacts for which [`super::Facets::pass`] and
///   [`super::ContactFilter::since`] hold, that are in all of [`super::ContactFilter::sets`] and,
///   with a search, that [`super::SearchQuery::matches`]; both totals are exact.
/// - When `contact_export` answers `more`, the position of its last record has been returned to a
///   caller: from then on [`crate::store::Precondition::NotExported`] fails for any `created_at`
///   that is not later, and no contact that was committed under that precondition can appear at or
///   before it.
/// - Neither cost grows with the number of contacts that do not match. With a search, a time or a
///   second set, it may grow with the contacts that the search or the smallest of the others finds.
#[async_trait]
pub trait ContactReads: Send + Sync {
    /// A contact of the company with all it refers to, and the definitions of its custom fields.
    async fn contact_record(
        &self,
        company: CompanyId,
        id: ContactId,
    ) -> Result<Option<(ContactRecord, Vec<CustomField>)>, StoreError>;

    /// The contact that has this identifier on this channel.
    async fn contact_by_identifier(
        &self,
        company: CompanyId,
        platform: &Platform,
        identifier: &Identifier,
    ) -> Result<Option<Stored<Contact>>, StoreError>;

    /// One page of the listing by last message.
    async fn contact_page(
        &self,
        company: CompanyId,
        filter: &ContactFilter,
        page: PageRequest,
        clicks: bool,
    ) -> Result<ContactSlice, StoreError>;

    /// Up to `limit` contacts after a position, in the order of creation.
    async fn contact_export(
        &self,
        company: CompanyId,
        filter: &ContactFilter,
        after: Option<ExportPosition>,
        limit: u32,
        clicks: bool,
    ) -> Result<ContactSlice, StoreError>;

    /// The records to which a body that writes a contact refers, in one round trip.
    async fn draft_facts(
        &self,
        company: CompanyId,
        query: &DraftQuery,
    ) -> Result<DraftFacts, StoreError>;
}
