//! Connections.

use async_trait::async_trait;
use recado_core::connections::{Connection, ConnectionReads};
use recado_core::gateway::{KeptEvents, KeptQuery};
use recado_core::ids::{CompanyId, ConnectionId};
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::table::{self};
use crate::unknown_events;

/// Each statement asks whether one kind of row refers to a connection.
const USES: [&str; 4] = [
    "SELECT 1 FROM message_facets WHERE company_id = ?1 AND connection_id = ?2 AND messages > 0",
    "SELECT 1 FROM conversations WHERE company_id = ?1 AND connection_id = ?2",
    "SELECT 1 FROM templates WHERE company_id = ?1 AND connection_id = ?2",
    "SELECT 1 FROM contacts WHERE company_id = ?1 AND last_connection_id = ?2",
];

/// The condition for [`table::find`]. An id belongs to one company, although the key would allow
/// more.
const ANYWHERE: &str = "id = ?1 ORDER BY company_id LIMIT 1";

#[async_trait]
impl ConnectionReads for SqliteStore {
    async fn connection_anywhere(
        &self,
        id: ConnectionId,
    ) -> Result<Option<Stored<Connection>>, StoreError> {
        self.read_first(move |conn| table::find(conn, ANYWHERE, &[id.into()])).await
    }

    async fn unknown_events(
        &self,
        company: CompanyId,
        query: &KeptQuery,
    ) -> Result<KeptEvents, StoreError> {
        let query = query.clone();
        self.read_of(company, move |conn| unknown_events::kept(conn, company, &query)).await
    }
}

impl SqliteStore {
    pub(crate) async fn connection_in_use(
        &self,
        company: CompanyId,
        id: ConnectionId,
    ) -> Result<bool, StoreError> {
        self.read_of(company, move |conn| {
            for query in USES {
                if table::exists(conn, query, &[company.into(), id.into()])? {
                    return Ok(true);
                }
            }
            Ok(false)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;
    use crate::table::Table;

    #[test]
    fn a_connection_is_found_by_its_id_alone() {
        let query = format!("{} WHERE {ANYWHERE}", Connection::statements().select);
        let found = "SEARCH connections USING INDEX connections_by_id (id=?)";
        assert_eq!(plans::step(&plans::database(), &query), found);
    }

    #[test]
    fn a_connection_of_a_company_is_found_by_the_key() {
        let conn = plans::database();
        let found = "SEARCH connections USING PRIMARY KEY (company_id=? AND id=?)";
        for query in ["SELECT * FROM", "DELETE FROM"] {
            let query = format!("{query} connections WHERE company_id = ?1 AND id = ?2");
            assert!(plans::steps(&conn, &query).contains(&found.to_owned()));
        }
    }

    #[test]
    fn every_use_is_found_by_an_index() {
        let conn = plans::database();
        for query in USES {
            let step = plans::step(&conn, query);
            assert!(step.starts_with("SEARCH") && step.contains("connection_id=?"), "{step}");
        }
    }
}
