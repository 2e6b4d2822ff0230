//! Which worker dispatches which share of the webhooks.

use async_trait::async_trait;
use recado_core::deliveries::{Shard, ShardNumber, ShardReads};
use recado_core::ids::WorkerId;
use recado_core::store::{StoreError, Stored};
use rusqlite::types::FromSqlError;

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::error::ReadResult;
use crate::table::{self, Table, statements};

impl Table for Shard {
    statements!("shards", ["number"], ["owner"]);

    fn values(&self) -> Vec<Cell<'_>> {
        vec![number(self.number), self.owner.into()]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        let number: u8 = columns.number()?;
        let number = ShardNumber::new(number)
            .ok_or_else(|| FromSqlError::OutOfRange(number.into()))
            .map_err(rusqlite::Error::from)?;
        Ok(Self { number, owner: columns.opt_id(WorkerId::new)? })
    }
}

/// The number as it stands in the key.
pub(crate) fn number(number: ShardNumber) -> Cell<'static> {
    Cell::Int(number.number().into())
}

#[async_trait]
impl ShardReads for SqliteStore {
    async fn shards(&self) -> Result<Vec<Stored<Shard>>, StoreError> {
        self.read(|conn| table::list(conn, "true ORDER BY number", &[])).await
    }
}
