//! Documents of contacts, and the purges that delete them.

use async_trait::async_trait;
use recado_core::documents::{Document, DocumentReads};
use recado_core::ids::{CompanyId, ContactId};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::param::params;
use crate::session::select;

#[async_trait]
impl DocumentReads for PostgresStore {
    async fn documents(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Vec<Stored<Document>>, StoreError> {
        let condition = "WHERE company_id = $1 AND contact_id = $2 ORDER BY created_at, id";
        select(&self.pool, condition, params![company.uuid(), contact.uuid()]).await
    }
}
