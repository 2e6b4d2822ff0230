//! Companies, keys, members and installation secrets.

use std::collections::HashMap;
use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::access::{AccessReads, ApiKey, Company, KeyHash};
use recado_core::store::StoreError;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::param::params;
use crate::pool::Pool;
use crate::session::rows;
use crate::shared_calls::SharedCall;
use crate::table::columns_of;

/// The keys with the hashes `$1`. Each is looked up separately, by its index.
static BY_HASH: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, {} FROM unnest($1::bytea[]) AS wanted (hash) \
         JOIN api_keys k ON k.hash = ANY(ARRAY[wanted.hash]) \
         JOIN companies c ON c.id = ANY(ARRAY[k.company_id])",
        columns_of::<ApiKey>("k"),
        columns_of::<Company>("c"),
    )
});

/// The look-up of a presented key.
pub(crate) struct KeyLookup(KeyHash);

impl SharedCall for KeyLookup {
    type Answer = Option<(ApiKey, Company)>;

    async fn answer_all(pool: &Pool, calls: Vec<Self>) -> Result<Vec<Self::Answer>, StoreError> {
        let mut wanted: Vec<Vec<u8>> =
            calls.iter().map(|call| call.0.as_bytes().to_vec()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let found = rows(pool, BY_HASH.as_str(), params![wanted]).await?;
        let mut known = HashMap::with_capacity(found.len());
        for row in &found {
            let mut columns = Columns::new(row);
            let (key, company): (ApiKey, Company) = (columns.record()?, columns.record()?);
            known.insert(key.hash.as_bytes().to_vec(), (key, company));
        }
        Ok(calls.iter().map(|call| known.get(call.0.as_bytes().as_slice()).cloned()).collect())
    }
}

#[async_trait]
impl AccessReads for PostgresStore {
    async fn key_by_hash(&self, hash: &KeyHash) -> Result<Option<(ApiKey, Company)>, StoreError> {
        self.key_lookups.make(&self.pool, KeyLookup(*hash)).await
    }
}
