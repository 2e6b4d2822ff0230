//! Lists of contacts.

use async_trait::async_trait;
use recado_core::ids::{CompanyId, ContactId, ListId};
use recado_core::lists::{List, ListCandidates, ListMember, ListReads};
use recado_core::store::{StoreError, Stored};
use uuid::Uuid;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::param::params;
use crate::session::{Statement, rows, snapshot};
use crate::table::columns_of;

/// One statement that adds contacts to lists of one company.
pub(crate) fn insert_members(members: &[ListMember]) -> Option<Statement> {
    let company = members.first()?.company;
    let sql = "INSERT INTO list_members (company_id, list_id, contact_id) \
               SELECT $1::uuid, member.list_id, member.contact_id \
               FROM unnest($2::uuid[], $3::uuid[]) AS member (list_id, contact_id)";
    let lists: Vec<Uuid> = members.iter().map(|member| member.list.uuid()).collect();
    let contacts: Vec<Uuid> = members.iter().map(|member| member.contact.uuid()).collect();
    Some(Statement::new(sql, params![company.uuid(), lists, contacts]))
}

/// Lists with the number of their contacts: the folded count plus the later differences.
fn counted(condition: &str) -> String {
    format!(
        "SELECT {}, \
         coalesce((SELECT c.n FROM list_counts c \
         WHERE c.company_id = l.company_id AND c.list_id = l.id), 0) \
         + coalesce((SELECT sum(d.n) FROM list_count_deltas d \
         WHERE d.company_id = l.company_id AND d.list_id = l.id), 0)::bigint \
         FROM lists l WHERE l.company_id = $1 {condition}",
        columns_of::<List>("l")
    )
}

#[async_trait]
impl ListReads for PostgresStore {
    async fn list(
        &self,
        company: CompanyId,
        id: ListId,
    ) -> Result<Option<(Stored<List>, u64)>, StoreError> {
        let sql = counted("AND l.id = $2");
        let found = rows(&self.pool, sql, params![company.uuid(), id.uuid()]).await?;
        let Some(row) = found.first() else { return Ok(None) };
        let mut columns = Columns::new(row);
        Ok(Some((columns.stored()?, columns.get()?)))
    }

    async fn lists(&self, company: CompanyId) -> Result<Vec<(List, u64)>, StoreError> {
        let sql = counted("ORDER BY l.created_at, l.id");
        let found = rows(&self.pool, sql, params![company.uuid()]).await?;
        let read = |row| {
            let mut columns = Columns::new(row);
            Ok((columns.record()?, columns.get()?))
        };
        found.iter().map(read).collect()
    }

    async fn list_candidates(
        &self,
        company: CompanyId,
        list: ListId,
        contacts: &[ContactId],
        first: u32,
    ) -> Result<ListCandidates, StoreError> {
        let wanted: Vec<Uuid> = contacts.iter().map(|id| id.uuid()).collect();
        let existing = "SELECT w.id FROM unnest($2::uuid[]) WITH ORDINALITY AS w (id, place) \
                        JOIN contacts c ON c.company_id = $1 AND c.id = w.id ORDER BY w.place";
        let members = "SELECT w.id FROM unnest($3::uuid[]) WITH ORDINALITY AS w (id, place) \
                       JOIN list_members m ON m.company_id = $1 AND m.list_id = $2 \
                       AND m.contact_id = w.id ORDER BY w.place";
        let mut statements = vec![
            Statement::new(existing, params![company.uuid(), wanted.clone()]),
            Statement::new(members, params![company.uuid(), list.uuid(), wanted]),
        ];
        if first > 0 {
            // One row, as lists are long.
            let sql = "SELECT ARRAY(SELECT contact_id FROM list_members WHERE company_id = $1 \
                       AND list_id = $2 ORDER BY contact_id LIMIT $3)";
            let params = params![company.uuid(), list.uuid(), i64::from(first)];
            statements.push(Statement::new(sql, params));
        }
        let mut found = snapshot(&self.pool, statements).await?.into_iter();
        let mut ids = || {
            let rows = found.next().unwrap_or_default();
            rows.iter().map(|row| Columns::new(row).get()).collect::<Result<_, _>>()
        };
        let (existing, members) = (ids()?, ids()?);
        let all = found.next().and_then(|rows| rows.into_iter().next());
        let first: Vec<Uuid> = all.map_or_else(Vec::new, |row| row.get(0));
        let first = first.into_iter().map(ContactId::new).collect();
        Ok(ListCandidates { existing, members, first })
    }
}
