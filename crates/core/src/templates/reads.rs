//! Reads of templates.

use async_trait::async_trait;

use super::{Template, TemplateTokenHash};
use crate::access::Company;
use crate::store::StoreError;

/// Reads of templates.
#[async_trait]
pub trait TemplateReads: Send + Sync {
    /// The template of any company whose token has this hash, with its company: made for every
    /// dispatch (4.10, R222).
    async fn template_by_token(
        &self,
        token: &TemplateTokenHash,
    ) -> Result<Option<(Template, Company)>, StoreError>;
}
