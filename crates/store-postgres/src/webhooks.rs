//! Webhooks, and where the events of a company go.

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::ids::{CompanyId, WebhookId};
use recado_core::store::{StoreError, Stored};
use recado_core::webhooks::{
    EventRoute, RotatedSecret, Routes, SigningSecret, SigningSecrets, Topics, Webhook,
    WebhookReads, WebhookState, WebhookUrl,
};

use crate::PostgresStore;
use crate::session::{get, select};
use crate::table::{Columns, Param, Table, params, table_sql, unreadable};

impl Table for Webhook {
    const NAME: &'static str = "webhooks";
    const KEY: usize = 2;
    const COLUMNS: &'static [&'static str] = &[
        "company_id",
        "id",
        "url",
        "topics",
        "state",
        "standard_headers",
        "secret",
        "previous_secret",
        "previous_until",
        "created_at",
        "updated_at",
    ];
    table_sql!(Webhook);

    fn bind(self) -> Vec<Param> {
        let SigningSecrets { current, previous } = self.secrets;
        params![
            self.company.uuid(),
            self.id.uuid(),
            self.url.as_str().to_owned(),
            serde_json::to_string(&self.topics).expect("topics are words"),
            self.state.as_str(),
            self.standard_headers,
            current.expose().to_owned(),
            previous.as_ref().map(|previous| previous.secret.expose().to_owned()),
            previous.as_ref().map(|previous| previous.until.millis()),
            self.created_at.millis(),
            self.updated_at.millis(),
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(WebhookId::new)?,
            url: WebhookUrl::parse(columns.get()?).map_err(|_| unreadable::<WebhookUrl>())?,
            topics: serde_json::from_str(columns.get()?).map_err(|_| unreadable::<Topics>())?,
            state: columns.word(WebhookState::parse)?,
            standard_headers: columns.get()?,
            secrets: SigningSecrets {
                current: columns.get().map(SigningSecret::stored)?,
                previous: read_previous(columns)?,
            },
            created_at: columns.time()?,
            updated_at: columns.time()?,
        })
    }
}

fn read_previous(columns: &mut Columns<'_>) -> Result<Option<RotatedSecret>, StoreError> {
    let secret: Option<String> = columns.get()?;
    let until: Option<Timestamp> = columns.time_or_null()?;
    let rotated = |(secret, until)| RotatedSecret { secret: SigningSecret::stored(secret), until };
    Ok(secret.zip(until).map(rotated))
}

impl Table for Routes {
    const NAME: &'static str = "routes";
    const KEY: usize = 1;
    const COLUMNS: &'static [&'static str] = &["company_id", "fires", "routes"];
    table_sql!(Routes);

    fn bind(self) -> Vec<Param> {
        let routes = serde_json::to_string(&self.routes).expect("routes are ids and words");
        params![self.company.uuid(), self.fires, routes]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            fires: columns.get()?,
            routes: serde_json::from_str(columns.get()?).map_err(|_| unreadable::<EventRoute>())?,
        })
    }
}

#[async_trait]
impl WebhookReads for PostgresStore {
    async fn webhook(
        &self,
        company: CompanyId,
        id: WebhookId,
    ) -> Result<Option<Stored<Webhook>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn webhooks(&self, company: CompanyId) -> Result<Vec<Stored<Webhook>>, StoreError> {
        let condition = "WHERE company_id = $1 AND state <> 'deleted' ORDER BY created_at, id";
        select(&self.pool, condition, params![company.uuid()]).await
    }

    async fn routes(&self, company: CompanyId) -> Result<Option<Stored<Routes>>, StoreError> {
        get(&self.pool, params![company.uuid()]).await
    }
}
