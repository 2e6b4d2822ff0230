//! The windows of template dispatch.

use async_trait::async_trait;
use recado_core::dispatches::{DispatchReads, DispatchWindow};
use recado_core::ids::{CompanyId, ContactId};
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::table::{self};

#[async_trait]
impl DispatchReads for SqliteStore {
    async fn reserved_windows(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Vec<Stored<DispatchWindow>>, StoreError> {
        let condition = "company_id = ?1 AND contact_id = ?2 AND state = 'reserved' ORDER BY key";
        self.read_of(company, move |conn| {
            table::list(conn, condition, &[company.into(), contact.into()])
        })
        .await
    }
}
