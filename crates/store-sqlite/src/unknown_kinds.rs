//! Kinds of events that the adapter of a connection does not recognize.

use std::sync::LazyLock;

use recado_core::gateway::{MAX_UNKNOWN_KINDS, UnknownKind};
use recado_core::ids::{CompanyId, ConnectionId};
use recado_core::store::Stored;
use rusqlite::Connection;

use crate::error::ReadResult;
use crate::table::{self};

/// A condition for [`table::list`]. A connection has few of these rows, so SQLite sorts them.
static OF_CONNECTION: LazyLock<String> = LazyLock::new(|| {
    format!(
        "company_id = ?1 AND connection_id = ?2 ORDER BY last_at DESC, kind \
         LIMIT {MAX_UNKNOWN_KINDS}"
    )
});

/// The rows of a connection, newest first.
pub(crate) fn of_connection(
    conn: &Connection,
    company: CompanyId,
    connection: ConnectionId,
) -> ReadResult<Vec<Stored<UnknownKind>>> {
    table::list(conn, &OF_CONNECTION, &[company.into(), connection.into()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;
    use crate::table::Table;

    #[test]
    fn the_kinds_of_a_connection_are_found_by_it() {
        let query = format!("{} WHERE {}", UnknownKind::statements().select, *OF_CONNECTION);
        let steps = plans::steps(&plans::database(), &query);
        let found = "SEARCH unknown_kinds USING INDEX sqlite_autoindex_unknown_kinds_1 \
                     (company_id=? AND connection_id=?)";
        assert_eq!(steps.first().map(String::as_str), Some(found), "{steps:?}");
    }
}
