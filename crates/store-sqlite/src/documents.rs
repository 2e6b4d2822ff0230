//! Documents of contacts.

use async_trait::async_trait;
use recado_core::documents::{Document, DocumentReads};
use recado_core::ids::{CompanyId, ContactId, DocumentId};
use recado_core::jobs::Job;
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::table::{self};

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
