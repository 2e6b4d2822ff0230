//! Lead memories.

use async_trait::async_trait;
use recado_core::ids::{CompanyId, ContactId};
use recado_core::leads::{LeadMemory, LeadReads};
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::table::{self};

#[async_trait]
impl LeadReads for SqliteStore {
    async fn lead_memory(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Option<Stored<LeadMemory>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), contact.into()])).await
    }
}
