//! Lead memories.

use async_trait::async_trait;
use recado_core::ids::{CompanyId, ContactId};
use recado_core::leads::{LeadMemory, LeadReads};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::param::params;
use crate::session::get;

#[async_trait]
impl LeadReads for PostgresStore {
    async fn lead_memory(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Option<Stored<LeadMemory>>, StoreError> {
        get(&self.pool, params![company.uuid(), contact.uuid()]).await
    }
}
