//! Lead memories.

use async_trait::async_trait;
use recado_core::ids::{CompanyId, ContactId};
use recado_core::leads::{Inferred, LeadMemory, LeadReads};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::session::get;
use crate::table::{Columns, Param, Table, params, table_sql, unreadable};

impl Table for LeadMemory {
    const NAME: &'static str = "lead_memories";
    const KEY: usize = 2;
    const COLUMNS: &'static [&'static str] = &[
        "company_id",
        "contact_id",
        "memory_version",
        "inferred",
        "interaction_count",
        "first_interaction_at",
        "last_memory_update_at",
    ];
    table_sql!(LeadMemory);

    fn bind(self) -> Vec<Param> {
        params![
            self.company.uuid(),
            self.contact.uuid(),
            i64::from(self.version),
            serde_json::to_string(&self.inferred).expect("texts and lists of texts are JSON"),
            i64::from(self.interaction_count),
            self.first_interaction_at.millis(),
            self.last_memory_update_at.millis(),
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            contact: columns.id(ContactId::new)?,
            version: columns.number()?,
            inferred: serde_json::from_str(columns.get()?).map_err(|_| unreadable::<Inferred>())?,
            interaction_count: columns.number()?,
            first_interaction_at: columns.time()?,
            last_memory_update_at: columns.time()?,
        })
    }
}

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
