//! A deal.

use serde::Serialize;

use crate::Timestamp;
use crate::ids::{CompanyId, ContactId, DealId, StageId};
use crate::words::words;

words! {
    /// The status of a deal.
    DealStatus {
        /// Active: under way.
        Open = "open",
        /// Closed, won.
        Won = "won",
        /// Closed, lost.
        Lost = "lost",
    }
}

/// A deal with a contact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Deal {
    /// Its id.
    pub id: DealId,
    /// Its company.
    #[serde(skip)]
    pub company: CompanyId,
    /// The contact.
    pub contact_id: ContactId,
    /// Its title.
    pub title: String,
    /// The stage it is in, if any.
    pub stage_id: Option<StageId>,
    /// When it entered that stage; null without a stage.
    pub stage_entered_at: Option<Timestamp>,
    /// Its status.
    pub status: DealStatus,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}
