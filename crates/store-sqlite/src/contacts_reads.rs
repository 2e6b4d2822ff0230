//! The reads of contacts.

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::contacts::{
    Contact, ContactFilter, ContactReads, ContactRecord, ContactSlice, DraftFacts, DraftQuery,
    ExportPosition, Identifier, Platform,
};
use recado_core::custom_fields::CustomField;
use recado_core::ids::{CloseReasonId, CompanyId, ContactId, MemberId};
use recado_core::page::PageRequest;
use recado_core::store::{CommitError, StoreError, Stored};
use rusqlite::params_from_iter;

use crate::SqliteStore;
use crate::batch::Transaction;
use crate::cell::Cell;
use crate::contacts::export_frontier;
use crate::contacts_draft;
use crate::contacts_listing::{ListingOrder, ListingPage, ListingPart, SortKey, list};
use crate::contacts_record::{self, ContactRecords};
use crate::database::Connection;
use crate::error::commit_error;
use crate::table;
use crate::writer::expect_no_conflict;

/// How often an export reads its page again because contacts before its end were deleted meanwhile.
const EXPORT_ATTEMPTS: u32 = 64;

/// The result of one attempt at an export.
enum Export {
    Page(ContactSlice),
    /// The last position of the page is beyond the frontier, which has to be moved first.
    Beyond(Timestamp),
}

/// Moves the frontier of a company forward.
fn advance(tx: &Transaction<'_>, company: CompanyId, to: Timestamp) -> Result<(), CommitError> {
    let values: [Cell<'_>; 2] = [company.into(), to.into()];
    tx.conn
        .prepare_cached(
            "INSERT INTO export_frontiers (company_id, created_at) VALUES (?1, ?2) \
             ON CONFLICT (company_id) DO UPDATE SET created_at = max(created_at, ?2)",
        )
        .and_then(|mut statement| statement.execute(params_from_iter(values)))
        .map_err(commit_error)?;
    Ok(())
}

#[async_trait]
impl ContactReads for SqliteStore {
    async fn contact_record(
        &self,
        company: CompanyId,
        id: ContactId,
    ) -> Result<Option<(ContactRecord, Vec<CustomField>)>, StoreError> {
        self.read_of(company, move |conn| contacts_record::whole(conn, company, id)).await
    }

    async fn contact_by_identifier(
        &self,
        company: CompanyId,
        platform: &Platform,
        identifier: &Identifier,
    ) -> Result<Option<Stored<Contact>>, StoreError> {
        let (platform, identifier) = (platform.clone(), identifier.clone());
        self.read_of(company, move |conn| {
            table::find(
                conn,
                "company_id = ?1 AND identifier = ?2 AND source_platform = ?3",
                &[company.into(), identifier.as_str().into(), platform.as_str().into()],
            )
        })
        .await
    }

    async fn contact_page(
        &self,
        company: CompanyId,
        filter: &ContactFilter,
        page: PageRequest,
        clicks: bool,
    ) -> Result<ContactSlice, StoreError> {
        let filter = filter.clone();
        let part = ListingPart { after: None, offset: page.offset(), limit: page.limit.into() };
        self.read_of(company, move |conn| {
            let listed = list(conn, company, &filter, ListingOrder::LastMessage, part)?;
            ContactRecords::new(conn, company, clicks).slice(&listed)
        })
        .await
    }

    // A page may be answered once the frontier has reached its last position. If it had in the
    // state that the page was read from, the page is complete: the frontier never moves back, so
    // every later commit lies after it. Otherwise the frontier is moved durably, and the page is
    // read again in a later state, which has everything that was committed before the move. The
    // writer is occupied only while it writes one small row.
    async fn contact_export(
        &self,
        company: CompanyId,
        filter: &ContactFilter,
        after: Option<ExportPosition>,
        limit: u32,
        clicks: bool,
    ) -> Result<ContactSlice, StoreError> {
        let limit = limit as usize;
        let part =
            ListingPart { after: after.map(SortKey::of), offset: 0, limit: limit as u64 + 1 };
        for _ in 0..EXPORT_ATTEMPTS {
            let filter = filter.clone();
            let attempt = move |conn: &Connection| {
                let mut listed = list(conn, company, &filter, ListingOrder::Creation, part)?;
                let more = listed.keys.len() > limit;
                listed.keys.truncate(limit);
                if let Some(end) = handed_out(&listed, more)
                    && export_frontier(conn, company)?.is_none_or(|frontier| frontier < end)
                {
                    return Ok(Export::Beyond(end));
                }
                let slice = ContactRecords::new(conn, company, clicks).slice(&listed)?;
                Ok(Export::Page(ContactSlice { more, ..slice }))
            };
            match self.read_of(company, attempt).await? {
                Export::Page(slice) => return Ok(slice),
                Export::Beyond(end) => self
                    .write(move |tx| advance(tx, company, end))
                    .await
                    .map_err(expect_no_conflict)?,
            }
        }
        Err(StoreError::Unavailable(None))
    }

    async fn draft_facts(
        &self,
        company: CompanyId,
        query: &DraftQuery,
    ) -> Result<DraftFacts, StoreError> {
        let query = query.clone();
        self.read_of(company, move |conn| contacts_draft::facts(conn, company, &query)).await
    }
}

/// The time of the position in an answer, if the answer has one.
fn handed_out(listed: &ListingPage, more: bool) -> Option<Timestamp> {
    let last = listed.keys.last().filter(|_| more)?;
    Some(Timestamp::from_millis(last.key()))
}

impl SqliteStore {
    pub(crate) async fn member_in_use(
        &self,
        company: CompanyId,
        id: MemberId,
    ) -> Result<bool, StoreError> {
        let query = "SELECT 1 FROM contacts WHERE company_id = ?1 AND assigned_to_member_id = ?2";
        self.read_of(company, move |conn| table::exists(conn, query, &[company.into(), id.into()]))
            .await
    }

    pub(crate) async fn close_reason_in_use(
        &self,
        company: CompanyId,
        id: CloseReasonId,
    ) -> Result<bool, StoreError> {
        let query = "SELECT 1 FROM contacts WHERE company_id = ?1 AND last_close_reason_id = ?2";
        self.read_of(company, move |conn| table::exists(conn, query, &[company.into(), id.into()]))
            .await
    }
}
