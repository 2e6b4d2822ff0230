//! Documents of contacts.

use async_trait::async_trait;
use recado_core::documents::{Document, DocumentReads};
use recado_core::ids::{CompanyId, ContactId};
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::table::{self};

#[async_trait]
impl DocumentReads for SqliteStore {
    async fn documents(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Vec<Stored<Document>>, StoreError> {
        let condition = "company_id = ?1 AND contact_id = ?2 ORDER BY created_at, id";
        self.read_of(company, move |conn| {
            table::list(conn, condition, &[company.into(), contact.into()])
        })
        .await
    }
}
