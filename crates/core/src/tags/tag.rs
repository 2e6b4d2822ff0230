//! Tags and close reasons, and the bodies that make and change them.

use serde::Serialize;

use crate::Timestamp;
use crate::ids::{CloseReasonId, CompanyId, TagId};

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
