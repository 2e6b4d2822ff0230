//! Reads of groups.

use async_trait::async_trait;

use super::{ConnectionGroup, GroupCode};
use crate::ids::{CompanyId, ConnectionId};
use crate::store::{StoreError, Stored};

/// Reads of groups.
#[async_trait]
pub trait GroupReads: Send + Sync {
    /// The groups of a connection, by code (bytewise).
    async fn groups(
        &self,
        company: CompanyId,
        connection: ConnectionId,
    ) -> Result<Vec<Stored<ConnectionGroup>>, StoreError>;

    /// The rows of all connections for these groups, and for the groups of a community among these
    /// codes, by code, then connection id.
    async fn groups_by_code(
        &self,
        company: CompanyId,
        codes: &[GroupCode],
    ) -> Result<Vec<Stored<ConnectionGroup>>, StoreError>;
}
