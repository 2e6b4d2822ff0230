//! Which worker dispatches which share of the webhooks.

use async_trait::async_trait;
use recado_core::deliveries::{Shard, ShardReads};
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::table::{self};

#[async_trait]
impl ShardReads for SqliteStore {
    async fn shards(&self) -> Result<Vec<Stored<Shard>>, StoreError> {
        self.read(|conn| table::list(conn, "true ORDER BY number", &[])).await
    }
}
