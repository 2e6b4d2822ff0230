//! Message templates (4.10, D48, D69).

use async_trait::async_trait;
use uuid::Uuid;

use crate::Timestamp;
use crate::ids::{CompanyId, ConnectionId, TemplateId};
use crate::store::{StoreError, Stored};
use crate::words::words;

words! {
    /// What a template is for (D48).
    TemplateCategory {
        /// Advertising.
        Marketing = "MARKETING",
        /// About something the contact did.
        Utility = "UTILITY",
        /// One-time codes.
        Authentication = "AUTHENTICATION",
    }
}

words! {
    /// Whether the channel lets a template be sent.
    TemplateStatus {
        /// Under review.
        Pending = "PENDING",
        /// It may be sent.
        Approved = "APPROVED",
        /// It was refused.
        Rejected = "REJECTED",
        /// Not for now.
        Paused = "PAUSED",
    }
}

/// A template of a company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// Its id.
    pub id: TemplateId,
    /// Its company.
    pub company: CompanyId,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub category: TemplateCategory,
    /// Its language.
    pub language: String,
    /// Its text, with `{{1}}`, `{{2}}`, … where variables go.
    pub body: String,
    /// Whether it may be sent.
    pub status: TemplateStatus,
    /// The only connection it may be sent through.
    pub connection: Option<ConnectionId>,
    /// The credential of template dispatch; a UUIDv4.
    pub token: Uuid,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// Reads of templates. Listings are by `created_at`, then `id`.
#[async_trait]
pub trait TemplateReads: Send + Sync {
    /// A template of the company.
    async fn template(
        &self,
        company: CompanyId,
        id: TemplateId,
    ) -> Result<Option<Stored<Template>>, StoreError>;

    /// All templates of the company.
    async fn templates(&self, company: CompanyId) -> Result<Vec<Stored<Template>>, StoreError>;
}
