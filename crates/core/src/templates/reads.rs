//! Reads of templates.

use async_trait::async_trait;
use uuid::Uuid;

use super::Template;
use crate::access::Company;
use crate::store::StoreError;

/// Reads of templates.
#[async_trait]
pub trait TemplateReads: Send + Sync {
    /// The template of any company that has this token, with its company: made for every dispatch
    /// (4.10).
    async fn template_by_token(
        &self,
        token: Uuid,
    ) -> Result<Option<(Template, Company)>, StoreError>;
}
