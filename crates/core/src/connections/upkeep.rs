//! The regular jobs of every connection: which there are, and the check that none is missing.

use std::time::Duration;

use super::check::CHECK_AGAIN;
use super::missed::PULL_AGAIN;
use super::{Capability, Connection, Connections};
use crate::Timestamp;
use crate::gateway::Providers;
use crate::ids::{CompanyId, ConnectionId, JobId};
use crate::jobs::{Job, JobKind};
use crate::store::{ChangeSet, RecordsExt, RowKind, StoreError};

/// The jobs that repeat for a connection as long as it exists, as they are created with it.
pub(super) fn regular_jobs(
    connection: &Connection,
    gateways: &Providers,
    now: Timestamp,
) -> Vec<JobKind> {
    let id = connection.id;
    let jobs = [
        (Capability::Groups, JobKind::SyncGroups { connection: id }),
        (Capability::State, JobKind::CheckConnection { connection: id }),
        (Capability::History, JobKind::PullMissed { connection: id, since: now }),
    ];
    let wanted = jobs.into_iter().filter(|(what, _)| gateways.can(connection, *what));
    wanted.map(|(_, kind)| kind).collect()
}

/// When such a job is done for the first time. `look` is the time of the first check of the state.
pub(super) fn first_due(kind: &JobKind, look: Timestamp, now: Timestamp) -> Timestamp {
    match kind {
        JobKind::CheckConnection { .. } => look,
        JobKind::PullMissed { .. } => now.plus(PULL_AGAIN),
        _ => now,
    }
}

/// The delay before a missing job is first done, so that those of many connections do not all run
/// at once.
fn spread(connection: ConnectionId) -> Duration {
    let millis = connection.uuid().as_u128() % CHECK_AGAIN.as_millis();
    Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}

impl Connections<'_> {
    /// Makes the regular jobs that connections lack: those of connections that were created by a
    /// version without such a job, or that a backup was restored without; of the companies that
    /// this process looks after (R456). Returns how many it has made. Call it at the start and from
    /// time to time; several processes make one job each only (R144).
    ///
    /// # Errors
    ///
    /// When the store fails; jobs that were made stay.
    pub async fn ensure_jobs(&self) -> Result<usize, StoreError> {
        let store = self.app.store();
        let mut made = 0;
        for company in self.app.companies_looked_after(RowKind::Connection).await? {
            for connection in store.all_stored::<Connection>(company).await? {
                // Everything since its creation may have been missed.
                let gateways = self.app.providers();
                for kind in regular_jobs(&connection, gateways, connection.created_at) {
                    made += usize::from(self.ensure_job(company, &connection, kind).await?);
                }
            }
        }
        Ok(made)
    }

    async fn ensure_job(
        &self,
        company: CompanyId,
        connection: &Connection,
        kind: JobKind,
    ) -> Result<bool, StoreError> {
        let store = self.app.store();
        if store.job_like(company, &kind).await?.is_some() {
            return Ok(false);
        }
        let now = self.app.now();
        let due_at = now.plus(spread(connection.id));
        let job = Job::due_now(JobId::new(self.app.uuid(now)), company, kind, now);
        // In conflict, another process has created it, or the connection was deleted.
        self.app.commit_once(ChangeSet::new().insert(Job { due_at, ..job })).await
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    proptest! {
        #[test]
        fn what_many_connections_missed_is_made_up_for_evenly_between_two_checks(
            made_at in any::<u64>(),
            low in prop::collection::vec(any::<u64>(), 200),
        ) {
            // Ids of one moment differ in their lower half alone.
            let mut quarters = [0_u32; 4];
            for low in low {
                let id = Uuid::from_u64_pair(made_at, low);
                let wait = spread(ConnectionId::new(id));
                prop_assert!(wait < CHECK_AGAIN);
                quarters[(wait.as_millis() * 4 / CHECK_AGAIN.as_millis()) as usize] += 1;
            }
            // A quarter has 50 on average; fewer than 10 happen once in 10^12 draws.
            prop_assert!(quarters.iter().all(|connections| *connections >= 10), "{quarters:?}");
        }
    }
}
