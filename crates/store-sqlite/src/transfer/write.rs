//! Writing rows as they are.

use async_trait::async_trait;
use recado_core::match_row;
use recado_core::store::{CommitError, Row, StoreError, Version};
use recado_store_sql::transfer::{
    Fill, JournalEntry, Moved, Part, Places, Scope, TransferReader, TransferWriter, filled_tables,
};
use rusqlite::{params, params_from_iter};

use super::indexes::{self, DroppedIndexes};
use super::session::{Session, Started};
use crate::cell::Cell;
use crate::contacts_search::Pending;
use crate::database::Connection;
use crate::error::{ReadResult, commit_error};
use crate::table::{Table, sealed_values};
use crate::{contacts, messages};

/// A database that is being filled.
pub(super) struct Filling {
    session: Session,
    fill: Fill,
    /// The last write, which may be under way.
    writing: Option<Started<Result<(), CommitError>>>,
    dropped: Option<DroppedIndexes>,
}

impl Filling {
    /// Begins the transaction.
    pub(super) async fn begin(session: Session, fill: Fill) -> Result<Self, StoreError> {
        let scope = session.scope;
        let dropped = session
            .call(move |conn| {
                conn.execute_batch("BEGIN IMMEDIATE")?;
                if fill == Fill::Beside {
                    return Ok(None);
                }
                clear(conn, scope)?;
                indexes::drop_all(conn).map(Some)
            })
            .await?;
        Ok(Self { session, fill, writing: None, dropped })
    }

    /// Waits for the last write.
    async fn end_write(&mut self) -> Result<(), StoreError> {
        let Some(writing) = self.writing.take() else { return Ok(()) };
        writing.finish().await?.map_err(refused)
    }
}

/// Deletes what a database without companies may hold of what is moved.
fn clear(conn: &Connection, scope: Scope) -> ReadResult<()> {
    for table in filled_tables(scope).into_iter().rev() {
        conn.execute(&format!("DELETE FROM {table}"), [])?;
    }
    conn.execute_batch(
        "DELETE FROM contact_sets; DELETE FROM contact_set_facets;
         DELETE FROM contact_facets; DELETE FROM contact_totals; DELETE FROM message_facets;
         DELETE FROM recipient_counts; DELETE FROM campaign_sums; DELETE FROM message_texts;
         INSERT INTO contact_search (contact_search) VALUES ('delete-all');",
    )
}

/// The error of a row that cannot be written.
fn refused(error: CommitError) -> StoreError {
    match error {
        CommitError::Store(error) => error,
        CommitError::Conflict(conflict) => {
            StoreError::corrupt(format!("a row cannot be written: {conflict:?}"))
        }
    }
}

fn write(conn: &Connection, fill: Fill, rows: &[Moved]) -> Result<(), CommitError> {
    let mut search = Pending::default();
    for moved in rows {
        match moved {
            Moved::Row { row: Row::Contact(contact), version, .. } => {
                contacts::insert_at(conn, &mut search, contact, *version)?;
            }
            Moved::Row { row: Row::Message(message), version, .. } => {
                messages::insert_at(conn, message, *version)?;
            }
            Moved::Row { row: Row::Delivery(delivery), version, place } => {
                // Beside other companies, the place may be taken. The order is what counts.
                let place = place.filter(|_| fill == Fill::Anew);
                insert_placed(conn, delivery, *version, place).map_err(commit_error)?;
            }
            Moved::Row { row, version, .. } => {
                match_row!(row, record => insert(conn, record, *version)).map_err(commit_error)?;
            }
            Moved::Frontier(frontier) => {
                let query = "INSERT INTO export_frontiers (company_id, created_at) VALUES (?1, ?2)";
                let values = [Cell::from(frontier.company), frontier.created_at.into()];
                execute(conn, query, &values).map_err(commit_error)?;
            }
            Moved::Event(event) => insert_event(conn, event).map_err(commit_error)?,
        }
    }
    search.write(conn).map_err(commit_error)
}

fn execute(conn: &Connection, statement: &str, values: &[Cell<'_>]) -> ReadResult<()> {
    conn.prepare_cached(statement)?.execute(params_from_iter(values))?;
    Ok(())
}

fn restored<'a, T: Table>(conn: &Connection, row: &'a T, version: Version) -> Vec<Cell<'a>> {
    let mut values = sealed_values(row, conn.sealer());
    if T::statements().has_version() {
        values.push(version.number().into());
    }
    values
}

fn insert<T: Table>(conn: &Connection, row: &T, version: Version) -> ReadResult<()> {
    execute(conn, &T::statements().restore, &restored(conn, row, version))
}

/// As `insert`, at a place or, if that is `None`, at the next one.
fn insert_placed<T: Table>(
    conn: &Connection,
    row: &T,
    version: Version,
    place: Option<u64>,
) -> ReadResult<()> {
    let mut values = restored(conn, row, version);
    values.push(place.into());
    execute(conn, &T::statements().restore_with(&["seq"]), &values)
}

fn insert_event(conn: &Connection, event: &JournalEntry) -> ReadResult<()> {
    let values: [Cell<'_>; 7] = [
        event.place.into(),
        event.company.into(),
        event.id.into(),
        event.event_type.as_str().into(),
        event.contact.into(),
        event.at.into(),
        event.data.as_ref().into(),
    ];
    let statement = "INSERT INTO events (seq, company_id, id, event_type, contact_id, at, data) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    execute(conn, statement, &values)
}

/// Makes later places of a table higher than `place`.
fn raise(conn: &Connection, table: &str, place: u64) -> ReadResult<()> {
    let place = i64::try_from(place).unwrap_or(i64::MAX);
    let update = "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1";
    if conn.execute(update, params![table, place])? == 0 {
        let insert = "INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)";
        conn.execute(insert, params![table, place])?;
    }
    Ok(())
}

#[async_trait]
impl TransferWriter for Filling {
    async fn written(&mut self) -> Result<&mut dyn TransferReader, StoreError> {
        self.end_write().await?;
        Ok(&mut self.session)
    }

    // While the thread writes these rows, the caller reads the next ones.
    async fn write(&mut self, _: Part, rows: Vec<Moved>) -> Result<(), StoreError> {
        self.end_write().await?;
        let fill = self.fill;
        self.writing = Some(self.session.start(move |conn| Ok(write(conn, fill, &rows))).await?);
        Ok(())
    }

    async fn finish(&mut self, places: Places) -> Result<(), StoreError> {
        self.end_write().await?;
        let dropped = self.dropped.take();
        self.session
            .call(move |conn| {
                raise(conn, "events", places.events)?;
                raise(conn, "deliveries", places.deliveries)?;
                match dropped {
                    Some(dropped) => dropped.make_again(conn),
                    None => Ok(()),
                }
            })
            .await
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        let committed = self.session.call(|conn| {
            conn.execute_batch("COMMIT")?;
            // The log is as large as the database. Where another process reads, a later checkpoint
            // makes it small.
            let _ = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
            Ok(())
        });
        committed.await.map_err(StoreError::outcome_unknown)
    }
}
