//! The number of messages with each combination of the values that the listings compare.

use recado_core::ids::CompanyId;
use recado_core::messages::{Message, MessageFilter};
use recado_core::store::CommitError;
use rusqlite::{Connection, OptionalExtension, params_from_iter};

use crate::cell::{Cell, Columns};
use crate::error::{ReadResult, commit_error};

/// The id of a combination of one company. The message's row has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FacetId(pub(crate) i64);

/// Whether two messages have different combinations.
pub(crate) fn differ(one: &Message, other: &Message) -> bool {
    let combination = |message: &Message| {
        (message.connection, message.direction, message.message_type, message.status)
    };
    combination(one) != combination(other)
}

/// Counts one more message with its combination. The combination is inserted if no message had it
/// before. These are plain statements: for an upsert or a trigger SQLite would keep a statement
/// journal.
///
/// # Errors
///
/// [`recado_core::store::Conflict::Reference`] when there is no such connection.
pub(crate) fn add(conn: &Connection, message: &Message) -> Result<FacetId, CommitError> {
    let values: [Cell<'_>; 5] = [
        message.company.into(),
        message.connection.into(),
        message.direction.as_str().into(),
        message.message_type.as_str().into(),
        message.status.as_str().into(),
    ];
    let known = "SELECT id FROM message_facets WHERE company_id = ?1 AND connection_id = ?2 \
                 AND direction = ?3 AND message_type = ?4 AND status = ?5";
    let known: Option<i64> = conn
        .prepare_cached(known)
        .and_then(|mut statement| {
            statement.query_row(params_from_iter(&values), |row| row.get(0)).optional()
        })
        .map_err(commit_error)?;
    if let Some(id) = known {
        count(conn, FacetId(id), 1)?;
        return Ok(FacetId(id));
    }
    conn.prepare_cached(
        "INSERT INTO message_facets \
         (company_id, connection_id, direction, message_type, status, messages) \
         VALUES (?1, ?2, ?3, ?4, ?5, 1)",
    )
    .and_then(|mut statement| statement.insert(params_from_iter(&values)))
    .map(FacetId)
    .map_err(commit_error)
}

/// Counts one message less with this combination.
pub(crate) fn remove(conn: &Connection, facet: FacetId) -> Result<(), CommitError> {
    count(conn, facet, -1)
}

fn count(conn: &Connection, facet: FacetId, change: i64) -> Result<(), CommitError> {
    conn.prepare_cached("UPDATE message_facets SET messages = messages + ?2 WHERE id = ?1")
        .and_then(|mut statement| statement.execute([facet.0, change]))
        .map_err(commit_error)?;
    Ok(())
}

/// The combinations of a company that pass a filter.
#[derive(Debug)]
pub(crate) struct Passing {
    /// The ids of the combinations that pass, ascending.
    pub(crate) facets: Vec<FacetId>,
    /// The number of messages with these combinations.
    pub(crate) total: u64,
    /// The number of all messages of the company.
    pub(crate) of_company: u64,
    /// Whether every message of the company passes.
    pub(crate) all: bool,
}

/// The combinations that pass a filter; contact and time are compared elsewhere.
pub(crate) fn passing(
    conn: &Connection,
    company: CompanyId,
    filter: &MessageFilter,
) -> ReadResult<Passing> {
    let mut statement = conn.prepare_cached(
        "SELECT id, messages, connection_id, direction, message_type, status \
         FROM message_facets WHERE company_id = ?1 ORDER BY id",
    )?;
    let mut rows = statement.query([Cell::from(company)])?;
    let mut passing = Passing { facets: Vec::new(), total: 0, of_company: 0, all: true };
    while let Some(row) = rows.next()? {
        let mut columns = Columns::new(row);
        let id = FacetId(columns.get()?);
        let messages: u64 = columns.get()?;
        let connection = columns.get()?;
        let direction = columns.get()?;
        let message_type = columns.get()?;
        let status = columns.get()?;
        let passes = filter.connection.is_none_or(|wanted| wanted == connection)
            && filter.direction.is_none_or(|wanted| wanted == direction)
            && filter.message_type.is_none_or(|wanted| wanted == message_type)
            && filter.status.is_none_or(|wanted| wanted == status);
        if messages == 0 {
            continue;
        }
        passing.of_company += messages;
        if passes {
            passing.facets.push(id);
            passing.total += messages;
        } else {
            passing.all = false;
        }
    }
    Ok(passing)
}
