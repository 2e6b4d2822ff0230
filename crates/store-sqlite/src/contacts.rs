//! Contacts: their rows, how they are written, and the reads of one contact.

use recado_core::Timestamp;
use recado_core::contacts::Contact;
use recado_core::ids::{CompanyId, ContactId};
use recado_core::store::{CommitError, Conflict, RowKey, Stored, Version};
use rusqlite::{OptionalExtension, params_from_iter};

use crate::batch::Transaction;
use crate::cell::{Cell, Columns};
use crate::contacts_facets;
use crate::contacts_search::Pending;
use crate::database::Connection;
use crate::error::{ReadResult, commit_error};
use crate::table::{Table, insert_error, update_changed, values};
use crate::writer::read_error;

/// The row number of a contact in the table and in the search index. The contacts of one company
/// have neighbouring numbers: the high bits are the company's `no`, the low bits count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seq(pub(crate) i64);

/// The cost of looking up one row by its `seq`, in steps along an index.
pub(crate) const LOOKUP: u64 = 8;

/// The number of low bits.
const SEQ_BITS: u32 = 36;

impl Seq {
    /// The `no` of the contact's company.
    pub(crate) fn company_no(self) -> i64 {
        self.0 >> SEQ_BITS
    }
}

/// The row numbers of a company's contacts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeqRange {
    pub(crate) first: i64,
    pub(crate) last: i64,
}

impl SeqRange {
    fn of_company(no: i64) -> Self {
        let first = no << SEQ_BITS;
        Self { first, last: first + (1 << SEQ_BITS) - 1 }
    }

    /// The `no` of the company.
    pub(crate) fn company_no(self) -> i64 {
        Seq(self.first).company_no()
    }

    /// The range of a company, if the company exists.
    pub(crate) fn find(
        conn: &rusqlite::Connection,
        company: CompanyId,
    ) -> ReadResult<Option<Self>> {
        let no = conn
            .prepare_cached("SELECT no FROM companies WHERE id = ?1")?
            .query_row([Cell::from(company)], |row| row.get(0))
            .optional()?;
        Ok(no.map(Self::of_company))
    }

    fn next_free(self, conn: &Connection) -> ReadResult<Seq> {
        let query = "SELECT seq FROM contacts WHERE seq BETWEEN ?1 AND ?2 \
                     ORDER BY seq DESC LIMIT 1";
        let last: Option<i64> = conn
            .prepare_cached(query)?
            .query_row([self.first, self.last], |row| row.get(0))
            .optional()?;
        Ok(Seq(last.unwrap_or(self.first) + 1))
    }
}

/// The sort key of the listing by last message, ascending.
fn recency(contact: &Contact) -> Cell<'static> {
    Cell::Int(contact.last_message_at.map_or(i64::MAX, |at| -at.millis()))
}

/// Inserts a contact, counts it and indexes its search text.
pub(crate) fn insert(tx: &mut Transaction<'_>, contact: &Contact) -> Result<(), CommitError> {
    insert_at(tx.conn, &mut tx.search, contact, Version::FIRST)
}

/// The same, with a version.
pub(crate) fn insert_at(
    conn: &Connection,
    search: &mut Pending,
    contact: &Contact,
    version: Version,
) -> Result<(), CommitError> {
    let range = SeqRange::find(conn, contact.company).map_err(read_error)?;
    let Some(range) = range else { return Err(Conflict::Reference.into()) };
    let seq = range.next_free(conn).map_err(read_error)?;
    let facet = contacts_facets::add(conn, contact).map_err(read_error)?;
    let mut values = values(contact);
    values.push(Cell::from(version.number()));
    values.extend([Cell::Int(seq.0), Cell::Int(facet.0), recency(contact)]);
    conn.prepare_cached(&INSERT)
        .and_then(|mut statement| statement.execute(params_from_iter(values)))
        .map_err(|error| insert_error(conn, contact, error))?;
    search.added(seq, contact.search_text());
    Ok(())
}

static INSERT: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
    Contact::statements().restore_with(&["seq", "facet_id", "recency"])
});

/// A contact before a change, with what is derived from it.
struct Before {
    seq: Seq,
    facet: contacts_facets::FacetId,
    contact: Stored<Contact>,
}

/// Reads the contact that is to be changed. If it has another version, the write is stale.
fn before(
    conn: &Connection,
    company: CompanyId,
    id: ContactId,
    read_at: Version,
) -> Result<Before, CommitError> {
    static SELECT: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
        let columns = Contact::statements().qualified("c");
        format!(
            "SELECT {columns}, c.seq, c.facet_id FROM contacts AS c \
             WHERE c.company_id = ?1 AND c.id = ?2"
        )
    });
    let key: [Cell<'_>; 2] = [company.into(), id.into()];
    let found = conn
        .prepare_cached(&SELECT)
        .and_then(|mut statement| {
            let read = |row: &rusqlite::Row<'_>| {
                let mut columns = Columns::new(row);
                let contact = columns.stored()?;
                let seq = Seq(columns.get()?);
                let facet = contacts_facets::FacetId(columns.get()?);
                Ok(Before { seq, facet, contact })
            };
            statement.query_row(params_from_iter(&key), read).optional()
        })
        .map_err(read_error)?;
    found
        .filter(|before| before.contact.version() == read_at)
        .ok_or_else(|| Conflict::Stale(RowKey::Contact { company, id }).into())
}

/// Replaces a contact. Its count and its search text are written only if they change.
pub(crate) fn update(
    tx: &mut Transaction<'_>,
    contact: &Contact,
    read_at: Version,
) -> Result<(), CommitError> {
    let before = before(tx.conn, contact.company, contact.id, read_at)?;
    let old = before.contact.value();
    let mut facet = before.facet;
    if old.facets() != contact.facets() {
        contacts_facets::remove(tx.conn, facet).map_err(read_error)?;
        facet = contacts_facets::add(tx.conn, contact).map_err(read_error)?;
    }

    let mut derived = Vec::new();
    if facet != before.facet {
        derived.push(("facet_id", Cell::Int(facet.0)));
    }
    if old.last_message_at != contact.last_message_at {
        derived.push(("recency", recency(contact)));
    }
    update_changed(tx.conn, before.seq.0, (old, contact), derived)?;
    let (was, text) = (old.search_text(), contact.search_text());
    if text != was {
        tx.search.changed(before.seq, was, text);
    }
    Ok(())
}

/// Deletes a contact with the rows that are deleted with it, its count and its search text.
pub(crate) fn delete(
    tx: &mut Transaction<'_>,
    company: CompanyId,
    id: ContactId,
    read_at: Version,
) -> Result<(), CommitError> {
    let before = before(tx.conn, company, id, read_at)?;
    tx.conn
        .prepare_cached("DELETE FROM contacts WHERE seq = ?1")
        .and_then(|mut statement| statement.execute([before.seq.0]))
        .map_err(commit_error)?;
    contacts_facets::remove(tx.conn, before.facet).map_err(read_error)?;
    tx.search.removed(before.seq, before.contact.search_text());
    Ok(())
}

/// The position up to which exports of the company have read (D25).
pub(crate) fn export_frontier(
    conn: &Connection,
    company: CompanyId,
) -> ReadResult<Option<Timestamp>> {
    conn.prepare_cached("SELECT created_at FROM export_frontiers WHERE company_id = ?1")?
        .query_row([Cell::from(company)], |row| Columns::new(row).get())
        .optional()
}
