//! Filling one table by `COPY`.

use std::pin::Pin;

use recado_core::match_kind;
use recado_core::store::StoreError;
use recado_store_sql::Layout;
use recado_store_sql::transfer::{Fill, Part};
use tokio_postgres::binary_copy::BinaryCopyInWriter;

use super::session::Session;
use super::tables::filled;
use crate::error::failed;
use crate::param::Param;
use crate::table::named;

/// A `COPY` that is under way.
pub(super) struct Copying(Pin<Box<BinaryCopyInWriter>>);

impl Copying {
    /// Begins. Rows of tables that were emptied in this transaction are written in the form that
    /// no vacuum has to change.
    pub(super) async fn begin(
        session: &Session,
        table: &str,
        columns: &str,
        fill: Fill,
    ) -> Result<Self, StoreError> {
        let types = session
            .client
            .prepare(&format!("SELECT {columns} FROM {table} LIMIT 0"))
            .await
            .map_err(failed)?;
        let types: Vec<_> = types.columns().iter().map(|column| column.type_().clone()).collect();
        let was_emptied = fill == Fill::Anew && filled(session.scope).contains(&table);
        let freeze = if was_emptied { ", FREEZE" } else { "" };
        let copy = format!("COPY {table} ({columns}) FROM STDIN (FORMAT binary{freeze})");
        let sink = session.client.copy_in(&copy).await.map_err(failed)?;
        Ok(Self(Box::pin(BinaryCopyInWriter::new(sink, &types))))
    }

    /// Writes a row.
    pub(super) async fn row(&mut self, values: &[Param]) -> Result<(), StoreError> {
        self.0.as_mut().write_raw(values).await.map_err(failed)
    }

    /// Waits until all rows are taken.
    pub(super) async fn end(mut self) -> Result<(), StoreError> {
        self.0.as_mut().finish().await.map_err(failed)?;
        Ok(())
    }
}

/// The columns of a part in the order in which its rows are written.
pub(super) fn columns(part: Part) -> String {
    let columns: Vec<&str> = match part {
        Part::Rows(kind) => {
            let table = match_kind!(kind, T => T::TABLE);
            let columns = table.columns.iter().map(|column| named(table.name, column));
            let version = table.versioned.then_some("version");
            let place = part.has_places().then_some("seq");
            let facet = (part.table() == "contacts").then_some("facet");
            columns
                .chain(table.derived.iter().copied())
                .chain(facet)
                .chain(version)
                .chain(place)
                .collect()
        }
        Part::ExportFrontiers => vec!["company_id", "created_at"],
        Part::Events => {
            vec!["place", "company_id", "id", "event_type", "contact_id", "at", "data"]
        }
    };
    columns.join(", ")
}
