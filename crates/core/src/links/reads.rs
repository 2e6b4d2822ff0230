//! Reads of tracked links.

use async_trait::async_trait;

use super::{Link, LinkCode};
use crate::store::{StoreError, Stored};

/// Reads of links.
#[async_trait]
pub trait LinkReads: Send + Sync {
    /// The link of a code, whatever its company: the code is the credential.
    async fn link_by_code(&self, code: &LinkCode) -> Result<Option<Stored<Link>>, StoreError>;
}
