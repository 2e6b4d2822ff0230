//! Webhooks of a company.

use async_trait::async_trait;
use recado_core::ids::CompanyId;
use recado_core::store::{StoreError, Stored};
use recado_core::webhooks::{Webhook, WebhookReads};

use crate::SqliteStore;
use crate::table::{self};

/// The condition for [`table::list`]: the webhooks of a company that are not deleted.
const KEPT: &str = "company_id = ?1 AND state <> 'deleted' ORDER BY created_at, id";

#[async_trait]
impl WebhookReads for SqliteStore {
    async fn webhooks(&self, company: CompanyId) -> Result<Vec<Stored<Webhook>>, StoreError> {
        self.read_of(company, move |conn| table::list(conn, KEPT, &[company.into()])).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;
    use crate::table::Table;

    #[test]
    fn the_webhooks_of_a_company_are_listed_in_their_order_without_the_deleted_ones() {
        let conn = plans::database();
        let query = format!("{} WHERE {KEPT}", Webhook::statements().select);
        let step = plans::step(&conn, &query);
        assert_eq!(step, "SEARCH webhooks USING INDEX webhooks_kept (company_id=?)");
    }
}
