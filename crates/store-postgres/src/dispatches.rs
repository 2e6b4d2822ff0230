//! The windows in which a template is not dispatched to a contact a second time.

use async_trait::async_trait;
use recado_core::dispatches::{DispatchReads, DispatchWindow};
use recado_core::ids::{CompanyId, ContactId};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::param::params;
use crate::session::select;

#[async_trait]
impl DispatchReads for PostgresStore {
    async fn reserved_windows(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Vec<Stored<DispatchWindow>>, StoreError> {
        let condition =
            "WHERE company_id = $1 AND contact_id = $2 AND state = 'reserved' ORDER BY key";
        select(&self.pool, condition, params![company.uuid(), contact.uuid()]).await
    }
}
