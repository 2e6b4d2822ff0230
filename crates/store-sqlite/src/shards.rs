//! Which worker dispatches which share of the webhooks.

use async_trait::async_trait;
use recado_core::deliveries::{Shard, ShardNumber, ShardReads};
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::cell::Cell;
use crate::table::{self};

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
