//! Groups and communities, as each connection knows them.

use async_trait::async_trait;
use recado_core::groups::{ConnectionGroup, GroupCode, GroupReads};
use recado_core::ids::{CompanyId, ConnectionId};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::param::params;
use crate::session::select;

#[async_trait]
impl GroupReads for PostgresStore {
    async fn groups(
        &self,
        company: CompanyId,
        connection: ConnectionId,
    ) -> Result<Vec<Stored<ConnectionGroup>>, StoreError> {
        let condition = "WHERE company_id = $1 AND connection_id = $2 ORDER BY code";
        select(&self.pool, condition, params![company.uuid(), connection.uuid()]).await
    }

    async fn groups_by_code(
        &self,
        company: CompanyId,
        codes: &[GroupCode],
    ) -> Result<Vec<Stored<ConnectionGroup>>, StoreError> {
        let condition = "WHERE company_id = $1 AND (code = ANY($2) OR community_code = ANY($2)) \
                         ORDER BY code, connection_id";
        let codes: Vec<String> = codes.iter().map(|code| code.as_str().to_owned()).collect();
        select(&self.pool, condition, params![company.uuid(), codes]).await
    }
}
