//! Reads of connections.

use async_trait::async_trait;

use super::Connection;
use crate::gateway::UnknownKind;
use crate::ids::{CompanyId, ConnectionId};
use crate::store::{StoreError, Stored};

/// Reads of connections.
#[async_trait]
pub trait ConnectionReads: Send + Sync {
    /// A connection of any company: made for every call of a gateway.
    async fn connection_anywhere(
        &self,
        id: ConnectionId,
    ) -> Result<Option<Stored<Connection>>, StoreError>;

    /// The kinds of events that a connection received and its adapter did not recognize, newest
    /// `last_at` first, then by kind; at most
    /// [`MAX_UNKNOWN_KINDS`](crate::gateway::MAX_UNKNOWN_KINDS).
    async fn unknown_kinds(
        &self,
        company: CompanyId,
        connection: ConnectionId,
    ) -> Result<Vec<Stored<UnknownKind>>, StoreError>;
}
