//! Reads of dispatch windows.

use async_trait::async_trait;

use super::window::DispatchWindow;
use crate::ids::{CompanyId, ContactId};
use crate::store::{StoreError, Stored};

/// Reads of dispatch windows.
#[async_trait]
pub trait DispatchReads: Send + Sync {
    /// The reserved windows of a contact, by key: dispatches without a recorded outcome.
    async fn reserved_windows(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Vec<Stored<DispatchWindow>>, StoreError>;
}
