//! Lists of contacts.

use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::ids::{CompanyId, ContactId, ListId};
use recado_core::lists::{List, ListCandidates, ListMember, ListReads};
use recado_core::store::{StoreError, Stored};
use rusqlite::{OptionalExtension, Row, params_from_iter};

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::error::ReadResult;
use crate::table::{self, Table, read_stored, statements};

impl Table for List {
    statements!("lists", ["company_id", "id"], ["name", "is_active", "created_at"]);

    fn values(&self) -> Vec<Cell<'_>> {
        vec![
            self.company.into(),
            self.id.into(),
            (&self.name).into(),
            self.is_active.into(),
            self.created_at.into(),
        ]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(ListId::new)?,
            name: columns.text()?,
            is_active: columns.flag()?,
            created_at: columns.time()?,
        })
    }
}

impl Table for ListMember {
    statements!(unversioned "list_members", ["company_id", "list_id", "contact_id"], []);

    fn values(&self) -> Vec<Cell<'_>> {
        vec![self.company.into(), self.list.into(), self.contact.into()]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            list: columns.id(ListId::new)?,
            contact: columns.id(ContactId::new)?,
        })
    }
}

static COUNTED: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT {}, l.contacts FROM lists AS l", List::statements().qualified("l"))
});

fn read_counted(row: &Row<'_>) -> ReadResult<(Stored<List>, u64)> {
    let list = read_stored(row)?;
    let mut count = Columns::from(row, List::statements().columns.len() + 1);
    Ok((list, count.number()?))
}

#[async_trait]
impl ListReads for SqliteStore {
    async fn list(
        &self,
        company: CompanyId,
        id: ListId,
    ) -> Result<Option<(Stored<List>, u64)>, StoreError> {
        self.read(move |conn| {
            let query = format!("{} WHERE l.company_id = ?1 AND l.id = ?2", *COUNTED);
            let key: [Cell<'_>; 2] = [company.into(), id.into()];
            conn.prepare_cached(&query)?.query_row(params_from_iter(&key), read_counted).optional()
        })
        .await
    }

    async fn lists(&self, company: CompanyId) -> Result<Vec<(List, u64)>, StoreError> {
        self.read(move |conn| {
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
    ) -> Result<ListCandidates, StoreError> {
        let contacts = contacts.to_vec();
        self.read(move |conn| {
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
            Ok(found)
        })
        .await
    }
}
