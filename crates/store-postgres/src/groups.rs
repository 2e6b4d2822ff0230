//! Groups and communities, as each connection sees them.

use async_trait::async_trait;
use recado_core::groups::{ConnectionGroup, Group, GroupCode, GroupReads};
use recado_core::ids::{CompanyId, ConnectionId};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::session::select;
use crate::table::{Columns, Param, Table, params, table_sql};

impl Table for ConnectionGroup {
    const NAME: &'static str = "connection_groups";
    const KEY: usize = 3;
    const COLUMNS: &'static [&'static str] = &[
        "company_id",
        "connection_id",
        "code",
        "subject",
        "is_community",
        "community_code",
        "is_announcement",
        "announce_only",
        "participates",
        "is_admin",
    ];
    table_sql!(ConnectionGroup);

    fn bind(self) -> Vec<Param> {
        let group = self.group;
        params![
            self.company.uuid(),
            self.connection.uuid(),
            group.code.as_str().to_owned(),
            group.subject,
            group.is_community,
            group.community_code.map(|code| code.as_str().to_owned()),
            group.is_announcement,
            group.announce_only,
            group.participates,
            group.is_admin,
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            connection: columns.id(ConnectionId::new)?,
            group: Group {
                code: GroupCode::from_stored(columns.get()?),
                subject: columns.get()?,
                is_community: columns.get()?,
                community_code: columns.get::<Option<String>>()?.map(GroupCode::from_stored),
                is_announcement: columns.get()?,
                announce_only: columns.get()?,
                participates: columns.get()?,
                is_admin: columns.get()?,
            },
        })
    }
}

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
