//! Webhooks of a company.

use async_trait::async_trait;
use recado_core::ids::CompanyId;
use recado_core::store::{StoreError, Stored};
use recado_core::webhooks::{Webhook, WebhookReads};

use crate::PostgresStore;
use crate::param::params;
use crate::session::select;

#[async_trait]
impl WebhookReads for PostgresStore {
    async fn webhooks(&self, company: CompanyId) -> Result<Vec<Stored<Webhook>>, StoreError> {
        let condition = "WHERE company_id = $1 AND state <> 'deleted' ORDER BY created_at, id";
        select(&self.pool, condition, params![company.uuid()]).await
    }
}
