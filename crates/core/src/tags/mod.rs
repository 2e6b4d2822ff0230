//! Tags on contacts and reasons for closing conversations.

mod draft;
mod manage;

use async_trait::async_trait;
use serde::Serialize;

pub use draft::{CloseReasonDraft, TagDraft, TagPatch};
pub use manage::Tags;

use crate::Timestamp;
use crate::ids::{CloseReasonId, CompanyId, TagId};
use crate::store::{StoreError, Stored};

/// A tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Tag {
    /// Its id.
    pub id: TagId,
    /// Its company.
    #[serde(skip)]
    pub company: CompanyId,
    /// Its name.
    pub name: String,
    /// Its colour, usually in hex.
    pub color: String,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A reason for closing a conversation (2.1, `last_close_reason_id`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CloseReason {
    /// Its id.
    pub id: CloseReasonId,
    /// Its company.
    #[serde(skip)]
    pub company: CompanyId,
    /// Its name.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
}

/// Reads of tags and close reasons. Listings are by `created_at`, then `id` (D58).
#[async_trait]
pub trait TagReads: Send + Sync {
    /// A tag of the company.
    async fn tag(&self, company: CompanyId, id: TagId) -> Result<Option<Stored<Tag>>, StoreError>;

    /// All tags of the company.
    async fn tags(&self, company: CompanyId) -> Result<Vec<Tag>, StoreError>;

    /// A close reason of the company.
    async fn close_reason(
        &self,
        company: CompanyId,
        id: CloseReasonId,
    ) -> Result<Option<Stored<CloseReason>>, StoreError>;

    /// All close reasons of the company.
    async fn close_reasons(&self, company: CompanyId) -> Result<Vec<CloseReason>, StoreError>;
}
