//! Companies, keys, members and installation secrets.

use async_trait::async_trait;
use recado_core::access::{AccessReads, ApiKey, Company, KeyHash};
use recado_core::store::StoreError;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::param::params;
use crate::session::rows;
use crate::table::columns_of;

#[async_trait]
impl AccessReads for PostgresStore {
    async fn key_by_hash(&self, hash: &KeyHash) -> Result<Option<(ApiKey, Company)>, StoreError> {
        static SQL: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
            format!(
                "SELECT {}, {} FROM api_keys k JOIN companies c ON c.id = k.company_id \
                 WHERE k.hash = $1",
                columns_of::<ApiKey>("k"),
                columns_of::<Company>("c"),
            )
        });
        let found = rows(&self.pool, SQL.as_str(), params![hash.as_bytes().to_vec()]).await?;
        let Some(row) = found.first() else { return Ok(None) };
        let mut columns = Columns::new(row);
        Ok(Some((columns.record()?, columns.record()?)))
    }
}
