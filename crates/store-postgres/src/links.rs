//! Tracked links and their clicks.

use async_trait::async_trait;
use recado_core::links::{Link, LinkCodeHash, LinkReads};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::param::params;
use crate::session::select;

#[async_trait]
impl LinkReads for PostgresStore {
    async fn link_by_code(&self, code: &LinkCodeHash) -> Result<Option<Stored<Link>>, StoreError> {
        let found = select(&self.pool, "WHERE code_hash = $1", params![code.to_text()]).await?;
        Ok(found.into_iter().next())
    }
}
