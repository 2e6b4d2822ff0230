//! Reading rows as they are.

use async_trait::async_trait;
use recado_core::match_kind;
use recado_core::store::StoreError;
use recado_store_sql::Layout;
use recado_store_sql::transfer::{Moved, Part, Places, Scope, TransferReader, is_full};
use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, Row as SqlRow, params_from_iter};
use tokio::sync::mpsc;

use super::session::{CHUNKS, Session};
use crate::cell::{Cell, Columns};
use crate::database::Connection;
use crate::error::ReadResult;

#[async_trait]
impl TransferReader for Session {
    async fn count(&mut self, part: Part) -> Result<u64, StoreError> {
        let scope = self.scope;
        self.call(move |conn| {
            let (condition, values) = within(part, scope);
            let query = format!("SELECT count(*) FROM {} WHERE {condition}", part.table());
            conn.query_row(&query, params_from_iter(values), |row| Columns::new(row).get())
        })
        .await
    }

    async fn open(&mut self, part: Part) -> Result<(), StoreError> {
        let (scope, (sender, chunks)) = (self.scope, mpsc::channel(CHUNKS));
        self.start(move |conn| {
            if let Err(error) = read(conn, part, scope, &sender) {
                let _ = sender.blocking_send(Err(error));
            }
            Ok(())
        })
        .await?;
        self.chunks = Some(chunks);
        Ok(())
    }

    async fn next(&mut self) -> Result<Option<Vec<Moved>>, StoreError> {
        let Some(chunks) = &mut self.chunks else { return Ok(None) };
        chunks.recv().await.transpose().map_err(crate::error::store_error)
    }

    async fn places(&mut self) -> Result<Places, StoreError> {
        self.call(|conn| {
            Ok(Places {
                events: highest(conn, "events")?,
                deliveries: highest(conn, "deliveries")?,
            })
        })
        .await
    }
}

/// The highest place of a table that was ever given.
fn highest(conn: &Connection, table: &str) -> ReadResult<u64> {
    let query = "SELECT seq FROM sqlite_sequence WHERE name = ?1";
    let found = conn.query_row(query, [table], |row| Columns::new(row).get()).optional()?;
    Ok(found.unwrap_or(0))
}

/// The condition of the rows of a scope.
fn within(part: Part, scope: Scope) -> (String, Vec<Cell<'static>>) {
    match (scope, part.company_column()) {
        (Scope::Company(company), Some(column)) => (format!("{column} = ?1"), vec![company.into()]),
        _ => ("true".to_owned(), Vec::new()),
    }
}

/// What is read of a part.
fn query(part: Part, condition: &str) -> String {
    match part {
        Part::Rows(kind) => {
            let columns = match_kind!(kind, T => T::TABLE.read_columns().collect::<Vec<_>>());
            let columns = columns.join(", ");
            let (place, order) =
                if part.has_places() { (", seq", " ORDER BY seq") } else { ("", "") };
            format!("SELECT {columns}{place} FROM {} WHERE {condition}{order}", part.table())
        }
        Part::ExportFrontiers => {
            format!("SELECT company_id, created_at FROM export_frontiers WHERE {condition}")
        }
        Part::Events => format!(
            "SELECT seq, company_id, id, event_type, contact_id, at, data FROM events \
             WHERE {condition} ORDER BY seq"
        ),
    }
}

/// Reads a part, and hands its rows on until nobody takes them any more.
fn read(
    conn: &Connection,
    part: Part,
    scope: Scope,
    chunks: &mpsc::Sender<ReadResult<Vec<Moved>>>,
) -> ReadResult<()> {
    let (condition, values) = within(part, scope);
    let mut statement = conn.prepare(&query(part, &condition))?;
    let columns = statement.column_count();
    let mut rows = statement.query(params_from_iter(values))?;
    let (mut chunk, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        chunk.push(Moved::read(part, &mut Columns::new(row), conn.sealer())?);
        bytes += size(row, columns)?;
        if is_full(chunk.len(), bytes) {
            bytes = 0;
            if chunks.blocking_send(Ok(std::mem::take(&mut chunk))).is_err() {
                return Ok(());
            }
        }
    }
    if !chunk.is_empty() {
        let _ = chunks.blocking_send(Ok(chunk));
    }
    Ok(())
}

fn size(row: &SqlRow<'_>, columns: usize) -> ReadResult<usize> {
    (0..columns).try_fold(0, |size, column| {
        Ok(size
            + match row.get_ref(column)? {
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
                _ => 8,
            })
    })
}
