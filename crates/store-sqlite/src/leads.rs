//! Lead memories.

use async_trait::async_trait;
use recado_core::ids::{CompanyId, ContactId};
use recado_core::leads::{LeadMemory, LeadReads};
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::error::ReadResult;
use crate::table::{self, Table, statements};

impl Table for LeadMemory {
    statements!(
        "lead_memories",
        ["company_id", "contact_id"],
        [
            "memory_version",
            "inferred",
            "interaction_count",
            "first_interaction_at",
            "last_memory_update_at",
        ]
    );

    fn values(&self) -> Vec<Cell<'_>> {
        let inferred = serde_json::to_string(&self.inferred).expect("a memory is plain data");
        vec![
            self.company.into(),
            self.contact.into(),
            self.version.into(),
            Cell::Owned(inferred),
            self.interaction_count.into(),
            self.first_interaction_at.into(),
            self.last_memory_update_at.into(),
        ]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            contact: columns.id(ContactId::new)?,
            version: columns.number()?,
            inferred: columns.json()?,
            interaction_count: columns.number()?,
            first_interaction_at: columns.time()?,
            last_memory_update_at: columns.time()?,
        })
    }
}

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
