//! Messages: their rows, how they are written, and the reads of single messages.

use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::ids::{CompanyId, ConnectionId, MessageId, WorkerId};
use recado_core::messages::{
    Message, MessageFilter, MessageReads, MessageRecord, ProviderMessageId, Referred,
};
use recado_core::page::{Page, PageRequest};
use recado_core::store::{CommitError, Conflict, RowKey, StoreError, Stored, Version};
use rusqlite::{OptionalExtension, params_from_iter};

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::database::Connection;
use crate::error::ReadResult;
use crate::messages_facets::{self, FacetId};
use crate::table::{self, Table, insert_error, read_sealed, sealed_values, update_changed};
use crate::writer::read_error;
use crate::{message_refs, message_texts, messages_listing};

static INSERT: LazyLock<String> =
    LazyLock::new(|| Message::statements().restore_with(&["facet_id"]));

/// Inserts a message and counts it. A trigger of the table counts deleted messages.
pub(crate) fn insert(conn: &Connection, message: &Message) -> Result<(), CommitError> {
    insert_at(conn, message, Version::FIRST)
}

/// The same, with a version.
pub(crate) fn insert_at(
    conn: &Connection,
    message: &Message,
    version: Version,
) -> Result<(), CommitError> {
    let facet = messages_facets::add(conn, message)?;
    let mut values = sealed_values(message, conn.sealer());
    values.extend([Cell::from(version.number()), Cell::Int(facet.0)]);
    let seq = conn
        .prepare_cached(&INSERT)
        .and_then(|mut statement| statement.insert(params_from_iter(values)))
        .map_err(|error| insert_error(conn, message, error))?;
    message_texts::insert(conn, message, seq)
}

static SELECT_WITH_PLACE: LazyLock<String> = LazyLock::new(|| {
    let columns = Message::statements().qualified("m");
    format!(
        "SELECT {columns}, m.seq, m.facet_id FROM messages AS m \
         WHERE m.company_id = ?1 AND m.id = ?2"
    )
});

/// Replaces a message, and moves it to another combination when its own has changed.
pub(crate) fn update(
    conn: &Connection,
    message: &Message,
    read_at: Version,
) -> Result<(), CommitError> {
    let (company, id) = (message.company, message.id);
    let key: [Cell<'_>; 2] = [company.into(), id.into()];
    let found: Option<(Stored<Message>, i64, FacetId)> = conn
        .prepare_cached(&SELECT_WITH_PLACE)
        .and_then(|mut statement| {
            let read = |row: &rusqlite::Row<'_>| {
                let mut columns = Columns::new(row);
                let stored = columns.stored_sealed(conn.sealer())?;
                Ok((stored, columns.get()?, FacetId(columns.get()?)))
            };
            statement.query_row(params_from_iter(&key), read).optional()
        })
        .map_err(read_error)?;
    let Some((old, seq, facet)) = found.filter(|(old, ..)| old.version() == read_at) else {
        return Err(Conflict::Stale(RowKey::Message { company, id }).into());
    };
    let mut derived = Vec::new();
    if messages_facets::differ(&old, message) {
        messages_facets::remove(conn, facet)?;
        derived.push(("facet_id", Cell::Int(messages_facets::add(conn, message)?.0)));
    }
    message_texts::update(conn, old.value(), message, seq)?;
    update_changed(conn, seq, (old.value(), message), derived)
}

// The index skips the messages of running processes without reading them.
static ABANDONED: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {} FROM messages AS m INDEXED BY messages_in_flight \
         LEFT JOIN workers AS w ON w.id = m.sender_id \
         WHERE m.status = 'pending' AND m.sender_id IS NOT NULL \
         AND (w.id IS NULL OR w.leased_until <= ?1) LIMIT ?2",
        Message::statements().qualified("m")
    )
});

fn abandoned(conn: &Connection, now: Timestamp, limit: u32) -> ReadResult<Vec<Stored<Message>>> {
    let values: [Cell<'_>; 2] = [now.into(), limit.into()];
    let mut statement = conn.prepare_cached(&ABANDONED)?;
    statement.query_map(params_from_iter(values), read_sealed(conn))?.collect()
}

// The messages are read first, from the index alone. Most of them belong to connections that do not
// count, so few contacts are read.
const LEFT_SENT: &str = "SELECT count(*) FROM messages AS m INDEXED BY messages_left_sent \
     CROSS JOIN connections AS n ON n.company_id = m.company_id AND n.id = m.connection_id \
     CROSS JOIN contacts AS c ON c.company_id = m.company_id AND c.id = m.contact_id \
     WHERE m.status = 'sent' AND m.direction = 'outbound' AND m.is_history = 0 \
     AND m.created_at BETWEEN ?1 AND ?2 \
     AND n.kind = 'qr' AND n.is_active = 1 AND n.status = 'connected' AND c.is_group = 0";

pub(crate) fn left_sent(conn: &Connection, from: Timestamp, to: Timestamp) -> ReadResult<u64> {
    let values: [Cell<'_>; 2] = [from.into(), to.into()];
    conn.prepare_cached(LEFT_SENT)?
        .query_row(params_from_iter(values), |row| Columns::new(row).get())
}

#[async_trait]
impl MessageReads for SqliteStore {
    async fn messages(
        &self,
        company: CompanyId,
        ids: &[MessageId],
    ) -> Result<Vec<Stored<Message>>, StoreError> {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids.dedup();
        self.read_of(company, move |conn| {
            ids.iter()
                .filter_map(|id| table::get(conn, &[company.into(), (*id).into()]).transpose())
                .collect()
        })
        .await
    }

    async fn referred(
        &self,
        company: CompanyId,
        connection: ConnectionId,
        ids: &[ProviderMessageId],
    ) -> Result<Vec<Referred>, StoreError> {
        let ids = ids.to_vec();
        self.read_of(company, move |conn| message_refs::referred(conn, company, connection, ids))
            .await
    }

    async fn message_page(
        &self,
        company: CompanyId,
        filter: &MessageFilter,
        page: PageRequest,
    ) -> Result<Page<MessageRecord>, StoreError> {
        let filter = filter.clone();
        self.read_of(company, move |conn| messages_listing::page(conn, company, &filter, page))
            .await
    }

    async fn abandoned_messages(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Stored<Message>>, StoreError> {
        self.read(move |conn| abandoned(conn, now, limit)).await
    }

    async fn messages_in_flight(
        &self,
        sender: WorkerId,
        limit: u32,
    ) -> Result<Vec<Stored<Message>>, StoreError> {
        let condition = "status = 'pending' AND sender_id = ?1 LIMIT ?2";
        self.read(move |conn| table::list(conn, condition, &[sender.into(), limit.into()])).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;

    #[test]
    fn messages_of_dead_processes_are_found_without_reading_those_of_living_ones() {
        let steps = plans::steps(&plans::database(), &ABANDONED);
        let [first, second] = steps.as_slice() else { panic!("{steps:?}") };
        assert_eq!(first, "SEARCH m USING INDEX messages_in_flight (sender_id>?)");
        assert!(second.starts_with("SEARCH w USING PRIMARY KEY (id=?)"), "{second}");
    }

    #[test]
    fn messages_that_are_left_sent_are_found_by_their_time() {
        let found = [
            "SEARCH m USING INDEX messages_left_sent (created_at>? AND created_at<?)",
            "SEARCH n USING PRIMARY KEY (company_id=? AND id=?)",
            "SEARCH c USING INDEX sqlite_autoindex_contacts_1 (company_id=? AND id=?)",
        ];
        assert_eq!(plans::steps(&plans::database(), LEFT_SENT), found);
    }

    /// The condition of the index implies the columns that it does not hold, so the table is never
    /// read.
    #[test]
    fn messages_that_are_left_sent_are_counted_without_reading_them() {
        let conn = plans::database();
        let query = "SELECT rootpage FROM sqlite_schema WHERE name = 'messages'";
        let table: i64 = conn.query_row(query, [], |row| row.get(0)).unwrap();
        let mut program = conn.prepare(&format!("EXPLAIN {LEFT_SENT}")).unwrap();
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(1)?, row.get(2)?, row.get(3)?));
        let program: Vec<(String, i64, i64)> =
            program.query_map([0, 0], read).unwrap().map(Result::unwrap).collect();
        let cursor = program.iter().find(|(code, _, p2)| code == "OpenRead" && *p2 == table);
        let (_, cursor, _) = cursor.expect("the table is opened");
        let reads = program.iter().filter(|(code, p1, _)| code == "Column" && p1 == cursor);
        assert_eq!(reads.count(), 0, "{program:?}");
    }
}
