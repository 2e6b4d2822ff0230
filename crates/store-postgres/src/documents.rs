//! Documents of contacts, and the purges that delete them.

use async_trait::async_trait;
use recado_core::documents::{Document, DocumentReads, DocumentState};
use recado_core::ids::{CompanyId, ContactId, DocumentId};
use recado_core::jobs::Job;
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::session::{get, select};
use crate::table::{Columns, Param, Table, params, table_sql};

impl Table for Document {
    const NAME: &'static str = "documents";
    const KEY: usize = 2;
    const COLUMNS: &'static [&'static str] =
        &["company_id", "id", "contact_id", "filename", "size", "state", "created_at"];
    table_sql!(Document);

    fn bind(self) -> Vec<Param> {
        params![
            self.company.uuid(),
            self.id.uuid(),
            self.contact_id.uuid(),
            self.filename,
            i64::try_from(self.size).unwrap_or(i64::MAX),
            self.state.as_str(),
            self.created_at.millis(),
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(DocumentId::new)?,
            contact_id: columns.id(ContactId::new)?,
            filename: columns.get()?,
            size: columns.number()?,
            state: columns.word(DocumentState::parse)?,
            created_at: columns.time()?,
        })
    }
}

#[async_trait]
impl DocumentReads for PostgresStore {
    async fn document(
        &self,
        company: CompanyId,
        id: DocumentId,
    ) -> Result<Option<Stored<Document>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn documents(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Vec<Stored<Document>>, StoreError> {
        let condition = "WHERE company_id = $1 AND contact_id = $2 ORDER BY created_at, id";
        select(&self.pool, condition, params![company.uuid(), contact.uuid()]).await
    }

    async fn purge(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Option<Stored<Job>>, StoreError> {
        let condition = "WHERE company_id = $1 AND kind = 'purge' AND subject = $2";
        let found = select(&self.pool, condition, params![company.uuid(), contact.uuid()]).await?;
        Ok(found.into_iter().next())
    }
}
