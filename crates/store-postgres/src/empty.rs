//! Whether a database is one that nothing was migrated into.

use recado_core::store::StoreError;

use crate::PostgresStore;
use crate::session::rows;

const TABLES: &str = "SELECT count(*) FROM pg_catalog.pg_tables \
                      WHERE schemaname = ANY (pg_catalog.current_schemas(false))";

impl PostgresStore {
    /// Whether the schema of this database has no table at all.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached.
    pub async fn is_empty(&self) -> Result<bool, StoreError> {
        let found = rows(&self.pool, TABLES.to_owned(), Vec::new()).await?;
        Ok(found.first().is_none_or(|row| row.get::<_, i64>(0) == 0))
    }
}
