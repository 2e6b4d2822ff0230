//! Webhooks, and where the events of a company go.

use async_trait::async_trait;
use recado_core::ids::{CompanyId, WebhookId};
use recado_core::store::{StoreError, Stored};
use recado_core::webhooks::{
    RotatedSecret, Routes, SigningSecret, SigningSecrets, Webhook, WebhookReads, WebhookState,
    WebhookUrl,
};

use crate::SqliteStore;
use crate::cell::{Cell, Columns, json};
use crate::error::ReadResult;
use crate::table::{self, Table, statements};

/// The webhooks of a company that are not deleted, as [`table::list`] takes it.
const KEPT: &str = "company_id = ?1 AND state <> 'deleted' ORDER BY created_at, id";

impl Table for Webhook {
    statements!(
        "webhooks",
        ["company_id", "id"],
        [
            "url",
            "topics",
            "state",
            "standard_headers",
            "secret",
            "previous_secret",
            "previous_until",
            "created_at",
            "updated_at",
        ]
    );

    fn values(&self) -> Vec<Cell<'_>> {
        let previous = self.secrets.previous.as_ref();
        vec![
            self.company.into(),
            self.id.into(),
            self.url.as_str().into(),
            json(&self.topics),
            self.state.as_str().into(),
            self.standard_headers.into(),
            self.secrets.current.expose().into(),
            previous.map(|previous| previous.secret.expose()).into(),
            previous.map(|previous| previous.until).into(),
            self.created_at.into(),
            self.updated_at.into(),
        ]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(WebhookId::new)?,
            url: columns.stored(|url| WebhookUrl::parse(&url))?,
            topics: columns.json()?,
            state: columns.word(WebhookState::parse)?,
            standard_headers: columns.flag()?,
            secrets: SigningSecrets {
                current: SigningSecret::stored(columns.text()?),
                previous: {
                    let (secret, until) = (columns.opt_text()?, columns.opt_time()?);
                    let secret = secret.map(SigningSecret::stored);
                    secret.zip(until).map(|(secret, until)| RotatedSecret { secret, until })
                },
            },
            created_at: columns.time()?,
            updated_at: columns.time()?,
        })
    }
}

impl Table for Routes {
    statements!("routes", ["company_id"], ["fires", "routes"]);

    fn values(&self) -> Vec<Cell<'_>> {
        vec![self.company.into(), self.fires.into(), json(&self.routes)]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            fires: columns.flag()?,
            routes: columns.json()?,
        })
    }
}

#[async_trait]
impl WebhookReads for SqliteStore {
    async fn webhook(
        &self,
        company: CompanyId,
        id: WebhookId,
    ) -> Result<Option<Stored<Webhook>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), id.into()])).await
    }

    async fn webhooks(&self, company: CompanyId) -> Result<Vec<Stored<Webhook>>, StoreError> {
        self.read(move |conn| table::list(conn, KEPT, &[company.into()])).await
    }

    async fn routes(&self, company: CompanyId) -> Result<Option<Stored<Routes>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into()])).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;

    #[test]
    fn the_webhooks_of_a_company_are_listed_in_their_order_without_the_deleted_ones() {
        let conn = plans::database();
        let query = format!("{} WHERE {KEPT}", Webhook::statements().select);
        let step = plans::step(&conn, &query);
        assert_eq!(step, "SEARCH webhooks USING INDEX webhooks_kept (company_id=?)");
    }
}
