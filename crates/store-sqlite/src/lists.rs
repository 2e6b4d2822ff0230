//! Lists of contacts.

use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::ids::{CompanyId, ContactId, ListId};
use recado_core::lists::{List, ListCandidates, ListReads};
use recado_core::store::{StoreError, Stored};
use rusqlite::{OptionalExtension, Row, params_from_iter};

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::error::ReadResult;
use crate::table::{self, Table};

static COUNTED: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT {}, l.contacts FROM lists AS l", List::statements().qualified("l"))
});

fn read_counted(row: &Row<'_>) -> ReadResult<(Stored<List>, u64)> {
    let mut columns = Columns::new(row);
    Ok((columns.stored()?, columns.get()?))
}

#[async_trait]
impl ListReads for SqliteStore {
    async fn list(
        &self,
        company: CompanyId,
        id: ListId,
    ) -> Result<Option<(Stored<List>, u64)>, StoreError> {
        self.read_of(company, move |conn| {
            let query = format!("{} WHERE l.company_id = ?1 AND l.id = ?2", *COUNTED);
            let key: [Cell<'_>; 2] = [company.into(), id.into()];
            conn.prepare_cached(&query)?.query_row(params_from_iter(&key), read_counted).optional()
        })
        .await
    }

    async fn lists(&self, company: CompanyId) -> Result<Vec<(List, u64)>, StoreError> {
        self.read_of(company, move |conn| {
            let query = format!("{} WHERE l.company_id = ?1 ORDER BY l.created_at, l.id", *COUNTED);
            let mut statement = conn.prepare_cached(&query)?;
            let lists = statement.query_map([Cell::from(company)], read_counted)?;
            lists.map(|list| list.map(|(list, count)| (list.into_value(), count))).collect()
        })
        .await
    }

    async fn list_candidates(
        &self,
        company: CompanyId,
        list: ListId,
        contacts: &[ContactId],
        first: u32,
    ) -> Result<ListCandidates, StoreError> {
        let contacts = contacts.to_vec();
        self.read_of(company, move |conn| {
            let mut found = ListCandidates::default();
            let exists = "SELECT 1 FROM contacts WHERE company_id = ?1 AND id = ?2";
            let is_member = "SELECT 1 FROM list_members \
                             WHERE company_id = ?1 AND list_id = ?2 AND contact_id = ?3";
            for contact in contacts {
                if table::exists(conn, exists, &[company.into(), contact.into()])? {
                    found.existing.push(contact);
                }
                let key = [company.into(), list.into(), contact.into()];
                if table::exists(conn, is_member, &key)? {
                    found.members.push(contact);
                }
            }
            if first > 0 {
                let query = "SELECT contact_id FROM list_members \
                             WHERE company_id = ?1 AND list_id = ?2 ORDER BY contact_id LIMIT ?3";
                let values: [Cell<'_>; 3] = [company.into(), list.into(), first.into()];
                let mut statement = conn.prepare_cached(query)?;
                let members =
                    statement.query_map(params_from_iter(values), |row| Columns::new(row).get())?;
                found.first = members.collect::<Result<_, _>>()?;
            }
            Ok(found)
        })
        .await
    }
}
