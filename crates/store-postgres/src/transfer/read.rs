//! Reading rows as they are.

use async_trait::async_trait;
use futures_util::TryStreamExt;
use recado_core::match_kind;
use recado_core::store::{Row, StoreError};
use recado_store_sql::transfer::{
    ExportFrontier, JournalEntry, Moved, Part, Places, Scope, TransferReader,
};
use tokio_postgres::Row as SqlRow;
use uuid::Uuid;

use super::session::Session;
use crate::columns::Columns;
use crate::error::failed;
use crate::table::columns_of;

/// The most rows that are handed on together.
const ROWS: usize = 2_000;
/// The most bytes, if it is more than one row.
const BYTES: usize = 4 * 1024 * 1024;

/// The condition of the rows of a scope.
fn within(part: Part, scope: Scope) -> (String, Vec<Uuid>) {
    match (scope, part.company_column()) {
        (Scope::Company(company), Some(column)) => {
            (format!("r.{column} = $1"), vec![company.uuid()])
        }
        _ => ("true".to_owned(), Vec::new()),
    }
}

/// What is read of a part.
fn query(part: Part, condition: &str) -> String {
    match part {
        Part::Rows(kind) => {
            let columns = match_kind!(kind, T => columns_of::<T>("r"));
            let (place, order) =
                if part.has_places() { (", r.seq", " ORDER BY r.seq") } else { ("", "") };
            format!("SELECT {columns}{place} FROM {} r WHERE {condition}{order}", part.table())
        }
        Part::ExportFrontiers => {
            format!("SELECT r.company_id, r.created_at FROM export_frontiers r WHERE {condition}")
        }
        Part::Events => format!(
            "SELECT r.place, r.company_id, r.id, r.event_type, r.contact_id, r.at, r.data \
             FROM events r WHERE {condition} ORDER BY r.place"
        ),
    }
}

fn moved(session: &Session, part: Part, row: &SqlRow) -> Result<Moved, StoreError> {
    let mut columns = Columns::new(row);
    Ok(match part {
        Part::Rows(kind) => {
            let stored = match_kind!(kind, T => {
                columns.stored_sealed::<T>(&session.sealer)?.map(Row::from)
            });
            let place = if part.has_places() { Some(columns.get()?) } else { None };
            let version = stored.version();
            Moved::Row { row: stored.into_value(), version, place }
        }
        Part::ExportFrontiers => {
            Moved::Frontier(ExportFrontier { company: columns.get()?, created_at: columns.get()? })
        }
        Part::Events => Moved::Event(JournalEntry {
            place: columns.get()?,
            company: columns.get()?,
            id: columns.get()?,
            event_type: columns.get()?,
            contact: columns.get()?,
            at: columns.get()?,
            data: columns.get()?,
        }),
    })
}

/// The highest place that a column ever gave; 0 before the first.
const HIGHEST: &str = "SELECT coalesce((SELECT last_value FROM pg_sequences \
     WHERE format('%I.%I', schemaname, sequencename)::regclass \
     = pg_get_serial_sequence($1, $2)::regclass), 0)";

#[async_trait]
impl TransferReader for Session {
    async fn count(&mut self, part: Part) -> Result<u64, StoreError> {
        let (condition, values) = within(part, self.scope);
        let query = format!("SELECT count(*) FROM {} r WHERE {condition}", part.table());
        let rows = self.client.query_raw(&query, values).await.map_err(failed)?;
        let rows: Vec<SqlRow> = rows.try_collect().await.map_err(failed)?;
        rows.first().map_or(Ok(0), |row| Columns::new(row).get())
    }

    async fn open(&mut self, part: Part) -> Result<(), StoreError> {
        let (condition, values) = within(part, self.scope);
        let query = query(part, &condition);
        let rows = self.client.query_raw(&query, values).await.map_err(failed)?;
        self.reading = Some((part, Box::pin(rows)));
        Ok(())
    }

    async fn next(&mut self) -> Result<Option<Vec<Moved>>, StoreError> {
        let Some((part, mut rows)) = self.reading.take() else { return Ok(None) };
        let (mut chunk, mut bytes) = (Vec::new(), 0);
        while let Some(row) = rows.try_next().await.map_err(failed)? {
            chunk.push(moved(self, part, &row)?);
            bytes += row.raw_size_bytes();
            if chunk.len() >= ROWS || bytes >= BYTES {
                self.reading = Some((part, rows));
                break;
            }
        }
        Ok(Some(chunk).filter(|chunk| !chunk.is_empty()))
    }

    async fn places(&mut self) -> Result<Places, StoreError> {
        let mut highest = [0, 0];
        for (highest, column) in
            highest.iter_mut().zip([["events", "place"], ["deliveries", "seq"]])
        {
            let row = self.client.query_one(HIGHEST, &[&column[0], &column[1]]).await;
            *highest = Columns::new(&row.map_err(failed)?).get()?;
        }
        let [events, deliveries] = highest;
        Ok(Places { events, deliveries })
    }
}
