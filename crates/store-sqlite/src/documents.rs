//! Documents of contacts.

use async_trait::async_trait;
use recado_core::documents::{Document, DocumentReads, DocumentState};
use recado_core::ids::{CompanyId, ContactId, DocumentId};
use recado_core::jobs::Job;
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::error::ReadResult;
use crate::table::{self, Table, statements};

impl Table for Document {
    statements!(
        "documents",
        ["company_id", "id"],
        ["contact_id", "filename", "size", "state", "created_at"]
    );

    fn values(&self) -> Vec<Cell<'_>> {
        vec![
            self.company.into(),
            self.id.into(),
            self.contact_id.into(),
            (&self.filename).into(),
            self.size.into(),
            self.state.as_str().into(),
            self.created_at.into(),
        ]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(DocumentId::new)?,
            contact_id: columns.id(ContactId::new)?,
            filename: columns.text()?,
            size: columns.number()?,
            state: columns.word(DocumentState::parse)?,
            created_at: columns.time()?,
        })
    }
}

#[async_trait]
impl DocumentReads for SqliteStore {
    async fn document(
        &self,
        company: CompanyId,
        id: DocumentId,
    ) -> Result<Option<Stored<Document>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), id.into()])).await
    }

    async fn documents(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Vec<Stored<Document>>, StoreError> {
        let condition = "company_id = ?1 AND contact_id = ?2 ORDER BY created_at, id";
        self.read(move |conn| table::list(conn, condition, &[company.into(), contact.into()])).await
    }

    async fn purge(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Option<Stored<Job>>, StoreError> {
        let condition = "company_id = ?1 AND kind = 'purge' AND subject = ?2";
        self.read(move |conn| table::find(conn, condition, &[company.into(), contact.into()])).await
    }
}
