//! Companies, API keys, members and the installation's secrets.

use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::access::{AccessReads, ApiKey, Company, KeyHash};
use recado_core::store::StoreError;

use crate::SqliteStore;
use crate::cell::Cell;
use crate::table::{self};

static KEY_BY_HASH: LazyLock<String> =
    LazyLock::new(|| table::with_company::<ApiKey>("row.hash = ?1"));

#[async_trait]
impl AccessReads for SqliteStore {
    async fn key_by_hash(&self, hash: &KeyHash) -> Result<Option<(ApiKey, Company)>, StoreError> {
        let hash = *hash;
        self.read_first(move |conn| {
            table::find_with_company(conn, &KEY_BY_HASH, Cell::Bytes(hash.as_bytes()))
        })
        .await
    }
}
