//! Reading rows as they are.

use async_trait::async_trait;
use futures_util::TryStreamExt;
use recado_core::match_kind;
use recado_core::store::StoreError;
use recado_store_sql::transfer::{
    ChangedCell, Moved, Part, Places, Scope, TransferReader, is_full,
};
use tokio_postgres::Row as SqlRow;
use uuid::Uuid;

use super::repeat::rows_of;
use super::session::Session;
use crate::columns::Columns;
use crate::error::failed;
use crate::table::columns_of;

/// The condition of the rows of a scope.
fn within(part: Part, scope: Scope) -> (String, Vec<Uuid>) {
    match (scope, part.company_column()) {
        (Scope::Company(company), Some(column)) => {
            (format!("r.{column} = $1"), vec![company.uuid()])
        }
        _ => ("true".to_owned(), Vec::new()),
    }
}

/// What is read of a part, of its rows `r` in `from`.
pub(super) fn query(part: Part, from: &str, condition: &str) -> String {
    match part {
        Part::Rows(kind) => {
            let columns = match_kind!(kind, T => columns_of::<T>("r"));
            let (place, order) =
                if part.has_places() { (", r.seq", " ORDER BY r.seq") } else { ("", "") };
            format!("SELECT {columns}{place} FROM {from} WHERE {condition}{order}")
        }
        Part::ExportFrontiers => {
            format!("SELECT r.company_id, r.created_at FROM {from} WHERE {condition}")
        }
        Part::Events => format!(
            "SELECT r.place, r.company_id, r.id, r.event_type, r.contact_id, r.at, r.data \
             FROM {from} WHERE {condition} ORDER BY r.place"
        ),
    }
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
        let query = query(part, &format!("{} r", part.table()), &condition);
        let rows = self.client.query_raw(&query, values).await.map_err(failed)?;
        self.reading = Some((part, Box::pin(rows)));
        Ok(())
    }

    async fn next(&mut self) -> Result<Option<Vec<Moved>>, StoreError> {
        let Some((part, mut rows)) = self.reading.take() else { return Ok(None) };
        let (mut chunk, mut bytes) = (Vec::new(), 0);
        while let Some(row) = rows.try_next().await.map_err(failed)? {
            chunk.push(Moved::read(part, &mut Columns::new(&row), &self.sealer)?);
            bytes += row.raw_size_bytes();
            if is_full(chunk.len(), bytes) {
                self.reading = Some((part, rows));
                break;
            }
        }
        Ok(Some(chunk).filter(|chunk| !chunk.is_empty()))
    }

    async fn rows_of(
        &mut self,
        part: Part,
        keys: &[Vec<ChangedCell>],
    ) -> Result<Vec<Moved>, StoreError> {
        rows_of(self, part, keys).await
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
