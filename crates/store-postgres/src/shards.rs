//! Which process dispatches which webhooks.

use async_trait::async_trait;
use recado_core::deliveries::{Shard, ShardReads};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::session::select;

#[async_trait]
impl ShardReads for PostgresStore {
    async fn shards(&self) -> Result<Vec<Stored<Shard>>, StoreError> {
        select(&self.pool, "ORDER BY number", Vec::new()).await
    }
}
