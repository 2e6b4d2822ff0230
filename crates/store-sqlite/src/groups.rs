//! Groups as the connections see them.

use std::collections::BTreeMap;

use async_trait::async_trait;
use recado_core::groups::{ConnectionGroup, Group, GroupCode, GroupReads};
use recado_core::ids::{CompanyId, ConnectionId};
use recado_core::store::{StoreError, Stored};
use rusqlite::Connection;

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::error::ReadResult;
use crate::table::{self, Table, statements};

impl Table for ConnectionGroup {
    statements!(
        "connection_groups",
        ["company_id", "connection_id", "code"],
        [
            "subject",
            "is_community",
            "community_code",
            "is_announcement",
            "announce_only",
            "participates",
            "is_admin",
        ]
    );

    fn values(&self) -> Vec<Cell<'_>> {
        let group = &self.group;
        vec![
            self.company.into(),
            self.connection.into(),
            group.code.as_str().into(),
            group.subject.as_ref().into(),
            group.is_community.into(),
            group.community_code.as_ref().map(GroupCode::as_str).into(),
            group.is_announcement.into(),
            group.announce_only.into(),
            group.participates.into(),
            group.is_admin.into(),
        ]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            connection: columns.id(ConnectionId::new)?,
            group: Group {
                code: GroupCode::from_stored(columns.text()?),
                subject: columns.opt_text()?,
                is_community: columns.flag()?,
                community_code: columns.opt_text()?.map(GroupCode::from_stored),
                is_announcement: columns.flag()?,
                announce_only: columns.flag()?,
                participates: columns.flag()?,
                is_admin: columns.flag()?,
            },
        })
    }
}

/// What all connections know of these groups, and of the groups of communities among them.
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
        self.read(move |conn| table::list(conn, condition, &[company.into(), connection.into()]))
            .await
    }

    async fn groups_by_code(
        &self,
        company: CompanyId,
        codes: &[GroupCode],
    ) -> Result<Vec<Stored<ConnectionGroup>>, StoreError> {
        let codes = codes.to_vec();
        self.read(move |conn| by_code(conn, company, &codes)).await
    }
}
