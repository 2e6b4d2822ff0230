//! Tracked links and their clicks.

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::ids::{CompanyId, ContactId};
use recado_core::links::{Link, LinkClicks, LinkCodeHash, LinkReads};
use recado_core::store::{StoreError, Stored};
use rusqlite::{Connection, params_from_iter};

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::error::ReadResult;
use crate::table;

/// The human clicks on all links of a contact (2.1).
pub(crate) fn human_clicks(
    conn: &Connection,
    company: CompanyId,
    contact: ContactId,
) -> ReadResult<LinkClicks> {
    let query = "SELECT coalesce(sum(human_clicks), 0), max(last_human_click_at) FROM links \
                 WHERE company_id = ?1 AND contact_id = ?2";
    let values: [Cell<'_>; 2] = [company.into(), contact.into()];
    conn.prepare_cached(query)?.query_row(params_from_iter(&values), |row| {
        let mut columns = Columns::new(row);
        let (total, last_at): (u64, Option<Timestamp>) = (columns.get()?, columns.get()?);
        Ok(LinkClicks { total, last_at })
    })
}

#[async_trait]
impl LinkReads for SqliteStore {
    async fn link_by_code(&self, code: &LinkCodeHash) -> Result<Option<Stored<Link>>, StoreError> {
        let code = code.to_text();
        self.read_first(move |conn| table::find(conn, "code_hash = ?1", &[code.as_str().into()]))
            .await
    }
}
