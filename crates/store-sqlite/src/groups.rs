//! Groups as each connection knows them.

use std::collections::BTreeMap;

use async_trait::async_trait;
use recado_core::groups::{ConnectionGroup, GroupCode, GroupReads};
use recado_core::ids::{CompanyId, ConnectionId};
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::database::Connection;
use crate::error::ReadResult;
use crate::table::{self};

/// What all connections know of these groups. For a community, its groups are included.
fn by_code(
    conn: &Connection,
    company: CompanyId,
    codes: &[GroupCode],
) -> ReadResult<Vec<Stored<ConnectionGroup>>> {
    let mut found = BTreeMap::new();
    for code in codes {
        for condition in
            ["company_id = ?1 AND code = ?2", "company_id = ?1 AND community_code = ?2"]
        {
            let values = [company.into(), code.as_str().into()];
            for row in table::list::<ConnectionGroup>(conn, condition, &values)? {
                found.insert((row.group.code.clone(), row.connection), row);
            }
        }
    }
    Ok(found.into_values().collect())
}

#[async_trait]
impl GroupReads for SqliteStore {
    async fn groups(
        &self,
        company: CompanyId,
        connection: ConnectionId,
    ) -> Result<Vec<Stored<ConnectionGroup>>, StoreError> {
        let condition = "company_id = ?1 AND connection_id = ?2 ORDER BY code";
        self.read_of(company, move |conn| {
            table::list(conn, condition, &[company.into(), connection.into()])
        })
        .await
    }

    async fn groups_by_code(
        &self,
        company: CompanyId,
        codes: &[GroupCode],
    ) -> Result<Vec<Stored<ConnectionGroup>>, StoreError> {
        let codes = codes.to_vec();
        self.read_of(company, move |conn| by_code(conn, company, &codes)).await
    }
}
