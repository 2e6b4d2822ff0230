//! Pipelines, stages and deals.

use async_trait::async_trait;
use recado_core::deals::{Deal, DealReads};
use recado_core::ids::{CompanyId, ContactId};
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::table::{self};

#[async_trait]
impl DealReads for SqliteStore {
    async fn deals(
        &self,
        company: CompanyId,
        contact: Option<ContactId>,
    ) -> Result<Vec<Deal>, StoreError> {
        self.read_of(company, move |conn| {
            let Some(contact) = contact else { return table::all(conn, company) };
            let condition = "company_id = ?1 AND contact_id = ?2 ORDER BY created_at, id";
            let deals = table::list(conn, condition, &[company.into(), contact.into()])?;
            Ok(deals.into_iter().map(Stored::into_value).collect())
        })
        .await
    }
}
