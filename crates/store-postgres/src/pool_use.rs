//! What an operator watches of the database: the use of the pool, and the size.

use recado_core::store::StoreError;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::param::params;
use crate::session::rows;

/// How much of the pool is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolUse {
    /// The most connections that the pool opens.
    pub max: u64,
    /// How many are open and not in use.
    pub idle: u64,
    /// How many are in use, or being opened.
    pub in_use: u64,
    /// How many calls wait for one.
    pub waiting: u64,
}

impl PostgresStore {
    /// How much of the pool is used now.
    pub fn pool_use(&self) -> PoolUse {
        let status = self.pool.status();
        let idle = status.available.min(status.size);
        PoolUse {
            max: status.max_size as u64,
            idle: idle as u64,
            in_use: (status.size - idle) as u64,
            waiting: status.waiting as u64,
        }
    }

    /// How many bytes the database has on the server's disk.
    ///
    /// # Errors
    ///
    /// When the database cannot be reached, or does not tell.
    pub async fn size(&self) -> Result<u64, StoreError> {
        let sql = "SELECT pg_database_size(current_database())";
        let found = rows(&self.pool, sql, params![]).await?;
        found.first().map_or(Ok(0), |row| Columns::new(row).get())
    }
}
