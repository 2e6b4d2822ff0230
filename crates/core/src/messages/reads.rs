//! Reads of messages.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

use super::message_ref::MessageRef;
use super::provider_id::ProviderMessageId;
use super::{Direction, Message, MessageSearch, MessageStatus, MessageType};
use crate::Timestamp;
use crate::ids::{CompanyId, ConnectionId, ContactId, MessageId, WorkerId};
use crate::page::{Page, PageRequest};
use crate::store::{StoreError, Stored};

/// How long the traces of deleted messages are kept (R145): longer than any provider repeats a
/// notification.
pub const FORGOTTEN_KEPT: Duration = Duration::from_secs(8 * 24 * 60 * 60);

/// A reference with the message it refers to.
#[derive(Clone, Debug, PartialEq)]
pub struct Referred {
    /// The reference.
    pub reference: Stored<MessageRef>,
    /// Its message, if it refers to one.
    pub message: Option<Stored<Message>>,
}

/// Which messages a listing holds; every part that is given must match (4.6, 4.7).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageFilter {
    /// Of this contact.
    pub contact: Option<ContactId>,
    /// Through this connection.
    pub connection: Option<ConnectionId>,
    /// Going this way.
    pub direction: Option<Direction>,
    /// Of this type.
    pub message_type: Option<MessageType>,
    /// In this status.
    pub status: Option<MessageStatus>,
    /// Quoting this message: answers to it, reactions, votes (D31a).
    pub quoting: Option<MessageId>,
    /// `created_at` at or after this.
    pub from: Option<Timestamp>,
    /// `created_at` at or before this.
    pub to: Option<Timestamp>,
    /// Whose [`MessageText`](super::MessageText) contains this (X17).
    pub search: Option<MessageSearch>,
}

/// The `contacts` block of the general listing (2.4).
#[derive(Clone, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ContactBrief {
    /// The contact.
    pub id: ContactId,
    /// Its phone, or its identifier (D16).
    pub phone: String,
    /// Its name.
    pub name: String,
    /// The name it is shown by.
    pub display_name: String,
    /// Its channel.
    pub source_platform: String,
}

impl fmt::Debug for ContactBrief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContactBrief").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A message of a listing.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageRecord {
    /// The message.
    pub message: Message,
    /// Its contact.
    pub contact: ContactBrief,
}

/// Reads of messages.
///
/// # Contract
///
/// - `message_page` orders by `created_at` descending, then `id` descending (D29); its total is
///   exact and belongs to the same state of the database as its items. With a search it has the
///   messages that [`MessageSearch::matches`] finds. A store that has not yet made the texts of all
///   messages, because an earlier release stored them, either reads those messages or answers
///   [`StoreError::NotSearchable`] (R302).
#[async_trait]
pub trait MessageReads: Send + Sync {
    /// The messages of these ids, in any order.
    async fn messages(
        &self,
        company: CompanyId,
        ids: &[MessageId],
    ) -> Result<Vec<Stored<Message>>, StoreError>;

    /// What these provider ids refer to on a connection, in any order; unknown ids are left out.
    async fn referred(
        &self,
        company: CompanyId,
        connection: ConnectionId,
        ids: &[ProviderMessageId],
    ) -> Result<Vec<Referred>, StoreError>;

    /// One page of a listing.
    async fn message_page(
        &self,
        company: CompanyId,
        filter: &MessageFilter,
        page: PageRequest,
    ) -> Result<Page<MessageRecord>, StoreError>;

    /// Up to `limit` pending messages, of every company, whose sender's lease lapsed at `now` or
    /// that is not registered, in any order (D36).
    async fn abandoned_messages(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Stored<Message>>, StoreError>;

    /// Up to `limit` pending messages of one sender, of every company, in any order.
    async fn messages_in_flight(
        &self,
        sender: WorkerId,
        limit: u32,
    ) -> Result<Vec<Stored<Message>>, StoreError>;
}
