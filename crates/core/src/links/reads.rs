//! Reads of tracked links.

use async_trait::async_trait;

use super::{Link, LinkCodeHash};
use crate::store::{StoreError, Stored};

/// Reads of links.
#[async_trait]
pub trait LinkReads: Send + Sync {
    /// The link whose code has this hash, whatever its company: the code is the credential (R222).
    async fn link_by_code(&self, code: &LinkCodeHash) -> Result<Option<Stored<Link>>, StoreError>;
}
