//! Connections.

use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::connections::{Connection, ConnectionReads};
use recado_core::gateway::{KeptEvents, KeptQuery};
use recado_core::ids::{CompanyId, ConnectionId};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::param::params;
use crate::session::{first_sealed, rows};
use crate::table::Table;

/// A connection by its id, of any company.
pub(crate) static ANYWHERE: LazyLock<String> = LazyLock::new(|| {
    format!("{} WHERE id = $1 ORDER BY company_id LIMIT 1", Connection::sql().select)
});

/// Whether a row refers to a connection, other than its groups and reports that came early.
const IN_USE: &str = "\
SELECT FROM (SELECT) AS one WHERE \
EXISTS (SELECT FROM conversations WHERE company_id = $1 AND connection_id = $2) \
OR EXISTS (SELECT FROM messages WHERE company_id = $1 AND connection_id = $2) \
OR EXISTS (SELECT FROM templates WHERE company_id = $1 AND connection_id = $2) \
OR EXISTS (SELECT FROM contact_listings WHERE company_id = $1 AND connection_id = $2)";

#[async_trait]
impl ConnectionReads for PostgresStore {
    async fn connection_anywhere(
        &self,
        id: ConnectionId,
    ) -> Result<Option<Stored<Connection>>, StoreError> {
        let found = rows(&self.pool, ANYWHERE.as_str(), params![id.uuid()]).await?;
        first_sealed(&found, self.pool.sealer())
    }

    async fn unknown_events(
        &self,
        company: CompanyId,
        query: &KeptQuery,
    ) -> Result<KeptEvents, StoreError> {
        self.kept_events(company, query).await
    }
}

impl PostgresStore {
    pub(crate) async fn connection_in_use(
        &self,
        company: CompanyId,
        id: ConnectionId,
    ) -> Result<bool, StoreError> {
        Ok(!rows(&self.pool, IN_USE, params![company.uuid(), id.uuid()]).await?.is_empty())
    }
}
