//! Listing and exporting contacts (4.1).

use super::{ContactFilter, ContactListItem, ContactSlice, Contacts, ExportPosition};
use crate::access::{Caller, Scope};
use crate::error::Error;
use crate::ids::CompanyId;
use crate::page::{Page, PageRequest, limit};
use crate::query::{InvalidParameter, Params};

/// A listing of contacts, as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListQuery {
    /// By last message, page by page.
    Pages {
        /// Which contacts.
        filter: ContactFilter,
        /// Which page.
        page: PageRequest,
        /// Whether to add `link_clicks`.
        clicks: bool,
    },
    /// By creation, from a cursor on.
    Export(ExportQuery),
}

/// An export, as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportQuery {
    /// Which contacts.
    pub filter: ContactFilter,
    /// The cursor as it was sent; not opened yet.
    pub cursor: Option<String>,
    /// How many at most.
    pub limit: u32,
    /// Whether to add `link_clicks`.
    pub clicks: bool,
}

impl ListQuery {
    /// Whether a query string asks for an export: those calls use the export allowance too (8).
    pub fn is_export(params: &Params) -> bool {
        matches!(params.text("order_by"), Ok(Some("created_at")))
    }

    /// Reads the parameters of 4.1.
    ///
    /// # Errors
    ///
    /// The first parameter that is not acceptable (7.1, D7). Whether a cursor opens is checked when
    /// the listing is made.
    pub fn parse(params: &Params) -> Result<Self, InvalidParameter> {
        let by_creation = params
            .read("order_by", "last_message_at or created_at", |order| match order {
                "last_message_at" => Some(false),
                "created_at" => Some(true),
                _ => None,
            })?
            .unwrap_or(false);
        let cursor = params.text("cursor")?;
        let clicks = !params.list("include", &["link_clicks"])?.is_empty();
        let filter = ContactFilter::parse(params)?;
        if by_creation {
            if params.text("page")?.is_some() {
                return Err(InvalidParameter::new(
                    "page",
                    "does not go with order_by=created_at; use cursor",
                ));
            }
            let cursor = cursor.map(str::to_owned);
            return Ok(Self::Export(ExportQuery { filter, cursor, limit: limit(params)?, clicks }));
        }
        if cursor.is_some() {
            return Err(InvalidParameter::new("cursor", "needs order_by=created_at"));
        }
        Ok(Self::Pages { filter, page: PageRequest::parse(params)?, clicks })
    }
}

/// One page of an export.
#[derive(Clone, Debug)]
pub struct ListedPage {
    /// The contacts, in the order of creation.
    pub items: Vec<ContactListItem>,
    /// How many match in all.
    pub total: u64,
    /// Where the next page begins; `None` when nothing follows.
    pub next_cursor: Option<String>,
}

/// The contacts of a slice in the list form.
pub(crate) fn listed(slice: &ContactSlice) -> Vec<ContactListItem> {
    slice.records.iter().map(|record| ContactListItem::new(record, &slice.fields)).collect()
}

impl Contacts<'_> {
    /// One page of the company's contacts by last message (4.1.1).
    ///
    /// # Errors
    ///
    /// Only [`Error::Denied`] and [`Error::Store`].
    pub async fn page(
        &self,
        caller: &Caller,
        filter: &ContactFilter,
        page: PageRequest,
        clicks: bool,
    ) -> Result<Page<ContactListItem>, Error<InvalidParameter>> {
        caller.require(Scope::ContactsRead)?;
        self.page_of(caller.company(), filter, page, clicks).await
    }

    /// [`Contacts::page`] for the operator.
    ///
    /// # Errors
    ///
    /// Only [`Error::Store`].
    pub async fn page_of(
        &self,
        company: CompanyId,
        filter: &ContactFilter,
        page: PageRequest,
        clicks: bool,
    ) -> Result<Page<ContactListItem>, Error<InvalidParameter>> {
        if filter.matches_nothing {
            return Ok(Page::empty());
        }
        let read = self.app.listing(|store| store.contact_page(company, filter, page, clicks));
        let slice = read.await?;
        Ok(Page { items: listed(&slice), total: slice.total })
    }

    /// The next part of an export (4.1.2). It neither skips nor repeats a contact, also while
    /// contacts are created by any process on the same database (D25).
    ///
    /// # Errors
    ///
    /// [`InvalidParameter`] naming `cursor` when it is not valid for these filters.
    pub async fn export(
        &self,
        caller: &Caller,
        query: &ExportQuery,
    ) -> Result<ListedPage, Error<InvalidParameter>> {
        caller.require(Scope::ContactsRead)?;
        let (slice, next_cursor) = self.export_of(caller.company(), query).await?;
        Ok(ListedPage { items: listed(&slice), total: slice.total, next_cursor })
    }

    /// The contacts of an export, and the cursor of the next part.
    ///
    /// # Errors
    ///
    /// As [`Contacts::export`].
    pub(super) async fn export_of(
        &self,
        company: CompanyId,
        query: &ExportQuery,
    ) -> Result<(ContactSlice, Option<String>), Error<InvalidParameter>> {
        // R386.
        self.app.audit().note_read(company, []).await?;
        let key = self.app.cursor_key().await?;
        let after = match &query.cursor {
            None => None,
            Some(cursor) => match key.open(company, &query.filter, cursor) {
                Some(position) => Some(position),
                None => {
                    let reason = "is not a cursor of this listing with these filters";
                    return Err(Error::Rejected(InvalidParameter::new("cursor", reason)));
                }
            },
        };
        if query.filter.matches_nothing {
            return Ok((ContactSlice::default(), None));
        }
        // Never from a standby: no later creation may come before the end of this part, which the
        // database has to know, and a state older than the last part's would end the export early.
        let slice = self
            .app
            .store()
            .contact_export(company, &query.filter, after, query.limit, query.clicks)
            .await?;
        let last = slice.records.last().filter(|_| slice.more);
        let next_cursor = last.map(|record| {
            key.seal(company, &query.filter, ExportPosition::of(record.contact.value()))
        });
        Ok((slice, next_cursor))
    }
}
