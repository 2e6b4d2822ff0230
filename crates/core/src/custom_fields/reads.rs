//! Reads of definitions of custom fields.

use async_trait::async_trait;

use super::CustomField;
use crate::ids::CompanyId;
use crate::store::{StoreError, Stored};

/// Reads of custom-field definitions.
#[async_trait]
pub trait CustomFieldReads: Send + Sync {
    /// The definition of the company that has this slug.
    async fn custom_field_by_slug(
        &self,
        company: CompanyId,
        slug: &str,
    ) -> Result<Option<Stored<CustomField>>, StoreError>;
}
