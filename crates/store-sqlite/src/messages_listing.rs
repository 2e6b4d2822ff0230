//! The listings of messages, newest first (4.6, 4.7).
//!
//! There is one index of the company's messages and one of each combination of the values that the
//! filters compare. The messages of a contact are four ranges of a third index. Totals over all
//! time are counters. Totals of a contact or of a span of time are counted in the indexes.

use std::collections::HashMap;
use std::sync::LazyLock;

use recado_core::ids::{CompanyId, ContactId, MessageId};
use recado_core::messages::{ContactBrief, Direction, Message, MessageFilter, MessageRecord};
use recado_core::page::{Page, PageRequest};
use rusqlite::{CachedStatement, params_from_iter};

use crate::cell::{Cell, Columns};
use crate::database::Connection;
use crate::error::ReadResult;
use crate::merge::Merged;
use crate::messages_facets::{FacetId, Passing, passing};
use crate::messages_search;
use crate::newest_first::{Index, IndexRange, SortKey, Span, part_of};
use crate::table::{Table, read_sealed};

static BY_CREATION: Index =
    Index { table: "messages", name: "messages_by_creation", scope: &["company_id"] };
static BY_FACET: Index =
    Index { table: "messages", name: "messages_by_facet", scope: &["facet_id"] };
static BY_CONTACT: Index = Index {
    table: "messages",
    name: "messages_by_contact",
    scope: &["company_id", "contact_id", "direction", "is_history"],
};

static BY_QUOTED: Index = Index {
    table: "messages",
    name: "messages_by_quoted",
    scope: &["company_id", "quoted_message_id"],
};

/// All indexes of listings.
#[cfg(test)]
pub(crate) static INDEXES: [&Index; 4] = [&BY_CREATION, &BY_FACET, &BY_CONTACT, &BY_QUOTED];

/// One page of a listing with the total of all pages.
pub(crate) fn page(
    conn: &Connection,
    company: CompanyId,
    filter: &MessageFilter,
    page: PageRequest,
) -> ReadResult<Page<MessageRecord>> {
    let passing = passing(conn, company, filter)?;
    if passing.facets.is_empty() {
        return Ok(Page::empty());
    }
    let span = Span::new(filter.from, filter.to);
    let (keys, total) = match (&filter.search, filter.quoting, filter.contact) {
        (Some(search), ..) => {
            messages_search::page(conn, company, (filter, search), &passing, page)?
        }
        (None, None, None) => of_company(conn, company, filter, &passing, page)?,
        (None, None, Some(_)) if is_only_of_direction(filter) => {
            counted(conn, ranges(company, filter, &passing, span), page)?
        }
        (None, ..) => filtered(conn, company, filter, &passing, page)?,
    };
    Ok(Page { items: records(conn, company, &keys)?, total })
}

/// Whether the filter accepts all messages in the ranges of a contact.
fn is_only_of_direction(filter: &MessageFilter) -> bool {
    filter.connection.is_none() && filter.message_type.is_none() && filter.status.is_none()
}

/// The ranges of an index in which all messages are that a filter accepts; [`Check`] accepts those
/// that it does not. A search is not considered.
pub(crate) fn ranges(
    company: CompanyId,
    filter: &MessageFilter,
    passing: &Passing,
    span: Span,
) -> Vec<IndexRange> {
    if let Some(quoted) = filter.quoting {
        return vec![IndexRange::new(&BY_QUOTED, vec![company.into(), quoted.into()], span)];
    }
    if let Some(contact) = filter.contact {
        return of_contact(company, contact, filter.direction, span);
    }
    if passing.all {
        return vec![IndexRange::new(&BY_CREATION, vec![company.into()], span)];
    }
    let of = |facet: &FacetId| IndexRange::new(&BY_FACET, vec![Cell::Int(facet.0)], span);
    passing.facets.iter().map(of).collect()
}

fn of_company(
    conn: &Connection,
    company: CompanyId,
    filter: &MessageFilter,
    passing: &Passing,
    page: PageRequest,
) -> ReadResult<(Vec<SortKey>, u64)> {
    let span = Span::new(filter.from, filter.to);
    let ranges = ranges(company, filter, passing, span);
    if !span.is_all() {
        return counted(conn, ranges, page);
    }
    Ok((shown(conn, ranges, passing.total, page)?, passing.total))
}

fn of_contact(
    company: CompanyId,
    contact: ContactId,
    direction: Option<Direction>,
    span: Span,
) -> Vec<IndexRange> {
    let wanted = |of: &&Direction| direction.is_none_or(|direction| direction == **of);
    let range = |direction: Direction, is_history: bool| {
        let scope =
            vec![company.into(), contact.into(), direction.as_str().into(), is_history.into()];
        IndexRange::new(&BY_CONTACT, scope, span)
    };
    let directions = Direction::ALL.iter().filter(wanted);
    directions.flat_map(|of| [range(*of, false), range(*of, true)]).collect()
}

/// The page, when every message of the ranges belongs to the listing.
fn counted(
    conn: &Connection,
    ranges: Vec<IndexRange>,
    page: PageRequest,
) -> ReadResult<(Vec<SortKey>, u64)> {
    let mut total = 0;
    for range in &ranges {
        total += range.count(conn)?;
    }
    Ok((shown(conn, ranges, total, page)?, total))
}

fn shown(
    conn: &Connection,
    ranges: Vec<IndexRange>,
    total: u64,
    page: PageRequest,
) -> ReadResult<Vec<SortKey>> {
    if page.offset() >= total {
        return Ok(Vec::new());
    }
    part_of(conn, ranges, page.limit.into(), page.offset())
}

/// The page of the messages in the ranges of a filter that pass its other conditions.
fn filtered(
    conn: &Connection,
    company: CompanyId,
    filter: &MessageFilter,
    passing: &Passing,
    page: PageRequest,
) -> ReadResult<(Vec<SortKey>, u64)> {
    let ranges = ranges(company, filter, passing, Span::new(filter.from, filter.to));
    let mut merged = Merged::new(ranges, None, u64::MAX);
    let mut check = Check::new(conn, filter, passing)?;
    let mut picked = Picked::new(page);
    while let Some(key) = merged.next(conn)? {
        if check.passes(key)? {
            picked.add(key);
        }
    }
    Ok(picked.into_page())
}

/// The page of a listing whose messages are met one by one, in order, and their number.
pub(crate) struct Picked {
    page: PageRequest,
    keys: Vec<SortKey>,
    total: u64,
}

impl Picked {
    /// No message yet.
    pub(crate) fn new(page: PageRequest) -> Self {
        Self { page, keys: Vec::new(), total: 0 }
    }

    /// Adds the next message of the listing.
    pub(crate) fn add(&mut self, key: SortKey) {
        self.total += 1;
        if self.total > self.page.offset() && self.keys.len() < self.page.limit as usize {
            self.keys.push(key);
        }
    }

    /// The messages of the page, and the number of all.
    pub(crate) fn into_page(self) -> (Vec<SortKey>, u64) {
        (self.keys, self.total)
    }
}

/// Whether messages pass a filter, by the start of their rows. Time and search are compared
/// elsewhere.
pub(crate) struct Check<'c> {
    row_at: CachedStatement<'c>,
    filter: &'c MessageFilter,
    passing: &'c Passing,
}

impl<'c> Check<'c> {
    pub(crate) fn new(
        conn: &'c Connection,
        filter: &'c MessageFilter,
        passing: &'c Passing,
    ) -> ReadResult<Self> {
        let row = match filter.quoting {
            Some(_) => {
                "SELECT facet_id, contact_id, quoted_message_id FROM messages WHERE seq = ?1"
            }
            None => "SELECT facet_id, contact_id, NULL FROM messages WHERE seq = ?1",
        };
        Ok(Self { row_at: conn.prepare_cached(row)?, filter, passing })
    }

    /// Whether the message at a position passes.
    pub(crate) fn passes(&mut self, key: SortKey) -> ReadResult<bool> {
        let MessageFilter { contact, quoting, .. } = self.filter;
        if self.passing.all && contact.is_none() && quoting.is_none() {
            return Ok(true);
        }
        let (facet, of, quotes): (FacetId, ContactId, Option<MessageId>) =
            self.row_at.query_row([key.seq], |row| {
                let mut columns = Columns::new(row);
                Ok((FacetId(columns.get()?), columns.get()?, columns.get()?))
            })?;
        Ok(contact.is_none_or(|contact| contact == of)
            && quoting.is_none_or(|quoted| quotes == Some(quoted))
            && self.passing.facets.binary_search(&facet).is_ok())
    }
}

/// The messages at these positions with their contacts. Each contact is read once.
fn records(
    conn: &Connection,
    company: CompanyId,
    keys: &[SortKey],
) -> ReadResult<Vec<MessageRecord>> {
    static SELECT: LazyLock<String> =
        LazyLock::new(|| format!("{} WHERE seq = ?1", Message::statements().select));
    let mut statement = conn.prepare_cached(&SELECT)?;
    let mut contacts: HashMap<ContactId, ContactBrief> = HashMap::new();
    let mut records = Vec::with_capacity(keys.len());
    for key in keys {
        let message = statement.query_row([key.seq], read_sealed::<Message>(conn))?.into_value();
        let contact = match contacts.get(&message.contact) {
            Some(contact) => contact.clone(),
            None => {
                let contact = brief(conn, company, message.contact)?;
                contacts.insert(contact.id, contact.clone());
                contact
            }
        };
        records.push(MessageRecord { message, contact });
    }
    Ok(records)
}

/// A contact as listings of messages show it. A contact without a phone is shown with its
/// identifier (D16).
fn brief(conn: &Connection, company: CompanyId, id: ContactId) -> ReadResult<ContactBrief> {
    let query = "SELECT coalesce(phone, identifier), name, display_name, source_platform \
                 FROM contacts WHERE company_id = ?1 AND id = ?2";
    let key: [Cell<'_>; 2] = [company.into(), id.into()];
    conn.prepare_cached(query)?.query_row(params_from_iter(&key), |row| {
        let mut columns = Columns::new(row);
        Ok(ContactBrief {
            id,
            phone: columns.get()?,
            name: columns.get()?,
            display_name: columns.get()?,
            source_platform: columns.get()?,
        })
    })
}
