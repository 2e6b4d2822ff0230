//! Connections.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::connections::{Connection, ConnectionReads};
use recado_core::gateway::{KeptEvents, KeptQuery};
use recado_core::ids::{CompanyId, ConnectionId};
use recado_core::store::{Row, StoreError, Stored};
use tokio_postgres::Row as Found;
use uuid::Uuid;

use crate::PostgresStore;
use crate::param::params;
use crate::pool::Pool;
use crate::session::{all_sealed, first_sealed, rows};
use crate::shared_calls::SharedCall;
use crate::table::{Table, columns_of};

/// A connection by its id, of any company.
pub(crate) static ANYWHERE: LazyLock<String> = LazyLock::new(|| {
    format!("{} WHERE id = $1 ORDER BY company_id LIMIT 1", Connection::sql().select)
});

/// The connections of the companies `$1`, each company's by creation. The first column is the
/// company.
static OF_COMPANIES: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {} FROM unnest($1::uuid[]) AS wanted (company_id) \
         JOIN connections c ON c.company_id = ANY(ARRAY[wanted.company_id]) \
         ORDER BY c.created_at, c.id",
        columns_of::<Connection>("c")
    )
});

/// The listing of a company's connections. Each send asks for it.
pub(crate) struct ConnectionListing(CompanyId);

impl SharedCall for ConnectionListing {
    /// A connection that cannot be read fails its own company.
    type Answer = Result<Vec<Stored<Row>>, StoreError>;

    async fn answer_all(pool: &Pool, calls: Vec<Self>) -> Result<Vec<Self::Answer>, StoreError> {
        let wanted: BTreeSet<Uuid> = calls.iter().map(|call| call.0.uuid()).collect();
        let wanted: Vec<Uuid> = wanted.into_iter().collect();
        let found = rows(pool, OF_COMPANIES.as_str(), params![wanted]).await?;
        let mut known: HashMap<Uuid, Vec<Found>> = HashMap::new();
        for row in found {
            known.entry(row.get(0)).or_default().push(row);
        }
        let read = |call: &Self| {
            let found = known.get(&call.0.uuid()).map(Vec::as_slice).unwrap_or_default();
            let stored = all_sealed::<Connection>(found, pool.sealer())?;
            Ok(stored.into_iter().map(|connection| connection.map(Row::from)).collect())
        };
        Ok(calls.iter().map(read).collect())
    }
}

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
    /// The connections of a company, by creation. Listings that are asked for at once are read by
    /// one statement (R440).
    pub(crate) async fn connections_of(
        &self,
        company: CompanyId,
    ) -> Result<Vec<Stored<Row>>, StoreError> {
        self.connection_listings.make(&self.pool, ConnectionListing(company)).await?
    }

    pub(crate) async fn connection_in_use(
        &self,
        company: CompanyId,
        id: ConnectionId,
    ) -> Result<bool, StoreError> {
        Ok(!rows(&self.pool, IN_USE, params![company.uuid(), id.uuid()]).await?.is_empty())
    }
}
