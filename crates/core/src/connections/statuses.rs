//! Keeping and showing how the status of a connection changed (R428).

use super::handle::Connections;
use super::{Connection, STATUS_SHOWN, StatusHistory, StatusSince};
use crate::Timestamp;
use crate::error::{Error, NotFound};
use crate::ids::{CompanyId, ConnectionId};
use crate::store::{ChangeSet, RecordsExt, StoreError, Stored};

/// R428. Adds what the change of a connection's status adds to its history.
pub(super) fn add_status_change(
    changes: ChangeSet,
    (before, after): (&Connection, &Connection),
    history: Option<&Stored<StatusHistory>>,
    now: Timestamp,
) -> ChangeSet {
    if before.status == after.status {
        return changes;
    }
    let began = StatusSince { at: now, status: after.status };
    match history {
        Some(stored) => changes.with(stored.update(stored.value().clone().and(began))),
        None => changes.insert(StatusHistory::begun(before).and(began)),
    }
}

impl Connections<'_> {
    /// The statuses that a connection had over the last day, the oldest first: the first began at
    /// the start of the day, or later where the time before is not known.
    ///
    /// # Errors
    ///
    /// [`NotFound`].
    pub async fn statuses(
        &self,
        company: CompanyId,
        id: ConnectionId,
    ) -> Result<Vec<StatusSince>, Error<NotFound>> {
        let history = match self.status_history(company, id).await? {
            Some(kept) => kept.into_value(),
            None => match self.app.store().get::<Connection>((company, id)).await? {
                Some(connection) => StatusHistory::begun(&connection),
                None => return Err(Error::Rejected(NotFound)),
            },
        };
        Ok(history.since(self.app.now().minus(STATUS_SHOWN)))
    }

    pub(super) async fn status_history(
        &self,
        company: CompanyId,
        id: ConnectionId,
    ) -> Result<Option<Stored<StatusHistory>>, StoreError> {
        self.app.store().get::<StatusHistory>((company, id)).await
    }
}
