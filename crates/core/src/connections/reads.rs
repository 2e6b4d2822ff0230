//! Reads of connections.

use async_trait::async_trait;

use super::Connection;
use crate::gateway::{KeptEvents, KeptQuery};
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

    /// The events of a company that were not understood and are kept (X9), of one connection or of
    /// all, in the order of the query: by `received_at`, then `id`, up or down alike. The total
    /// counts all that its connection and kind select; total and page are of one state.
    async fn unknown_events(
        &self,
        company: CompanyId,
        query: &KeptQuery,
    ) -> Result<KeptEvents, StoreError>;
}
