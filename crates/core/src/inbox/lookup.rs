//! Finding the connection of a webhook. Simultaneous calls share one read, which begins after all
//! of them arrived, so that a changed secret applies to the very next call.

use super::Inbox;
use super::gather::{Entered, Signal};
use crate::connections::Connection;
use crate::ids::ConnectionId;
use crate::store::{StoreError, Stored};

impl Inbox<'_> {
    /// A connection of any company.
    pub(crate) async fn look_up(
        &self,
        id: ConnectionId,
    ) -> Result<Option<Stored<Connection>>, StoreError> {
        let lookups = self.app.lookups();
        let leader = match lookups.enter(id, || ()) {
            Entered::Leads(leader) => leader,
            Entered::Waits(mut waiter) => match waiter.signal().await {
                Some(Signal::Taken(found)) => return Ok(found),
                Some(Signal::Lead) => lookups.lead(id),
                None => return self.connection_of_any(id).await,
            },
        };
        let others = leader.take(|()| true);
        // After a failure the others are dropped, and each of them reads on its own.
        let found = self.connection_of_any(id).await?;
        for other in others {
            other.taken(found.clone());
        }
        Ok(found)
    }

    /// A connection, unless its company was deleted (R208).
    async fn connection_of_any(
        &self,
        id: ConnectionId,
    ) -> Result<Option<Stored<Connection>>, StoreError> {
        let found = self.app.store().connection_anywhere(id).await?;
        let Some(connection) = found else { return Ok(None) };
        Ok(self.app.company(connection.company).await?.map(|_| connection))
    }
}
