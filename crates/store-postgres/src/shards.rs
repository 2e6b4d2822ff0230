//! Which process dispatches which webhooks.

use async_trait::async_trait;
use recado_core::deliveries::{Shard, ShardNumber, ShardReads};
use recado_core::ids::WorkerId;
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::session::select;
use crate::table::{Columns, Param, Table, params, table_sql, unreadable};

impl Table for Shard {
    const NAME: &'static str = "shards";
    const KEY: usize = 1;
    const COLUMNS: &'static [&'static str] = &["number", "owner"];
    table_sql!(Shard);

    fn bind(self) -> Vec<Param> {
        params![i64::from(self.number.number()), self.owner.map(WorkerId::uuid)]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        let number = ShardNumber::new(columns.number()?).ok_or_else(unreadable::<ShardNumber>)?;
        Ok(Self { number, owner: columns.id_or_null(WorkerId::new)? })
    }
}

#[async_trait]
impl ShardReads for PostgresStore {
    async fn shards(&self) -> Result<Vec<Stored<Shard>>, StoreError> {
        select(&self.pool, "ORDER BY number", Vec::new()).await
    }
}
