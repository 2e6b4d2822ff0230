//! The jobs that read groups from gateways: after every connect, and every hour (D64).

use std::time::Duration;

use super::GroupsError;
use crate::connections::Connection;
use crate::error::Error;
use crate::ids::ConnectionId;
use crate::jobs::{Job, JobKind};
use crate::store::{ChangeSet, RecordsExt, StoreError, Stored};
use crate::{Recado, Timestamp};

/// The interval between two regular syncs.
pub const SWEEP: Duration = Duration::from_secs(60 * 60);
/// How much longer than the connection's timeout the lease of one sync is.
const LEASE: Duration = Duration::from_secs(60);
/// The waits after failures of the sync that follows a connect; after the last one, the regular
/// sync remains.
const RETRY_WAITS: [Duration; 3] =
    [Duration::from_secs(15), Duration::from_secs(60), Duration::from_secs(5 * 60)];

/// Reads the groups of a connection that is in use, and finishes the job (R47).
///
/// # Errors
///
/// When the store fails; the job is taken up again later.
pub(crate) async fn sync_groups_job(
    app: &Recado,
    job: &Stored<Job>,
    id: ConnectionId,
) -> Result<(), StoreError> {
    let Some(connection) = app.store().get::<Connection>((job.company, id)).await? else {
        return app.close_job(ChangeSet::new().with(job.delete())).await;
    };
    if !connection.is_usable() {
        return finish_job(app, job, true).await;
    }
    let lease = connection.settings.timeout() + LEASE;
    let Some(job) = app.hold_job(job, lease).await? else { return Ok(()) };
    let done = match app.groups().sync(job.company, id).await {
        Ok(_) | Err(Error::Rejected(GroupsError::Invalid(_) | GroupsError::NotFound)) => true,
        Err(Error::Rejected(GroupsError::Provider(_)) | Error::Denied(_) | Error::Busy) => false,
        Err(Error::Store(error)) => return Err(error),
    };
    finish_job(app, &job, done).await
}

async fn finish_job(app: &Recado, job: &Stored<Job>, done: bool) -> Result<(), StoreError> {
    let change = match next(job, done, app.now()) {
        Some(next) => job.update(next),
        None => job.delete(),
    };
    app.close_job(ChangeSet::new().with(change)).await
}

/// The job after a run; `None` when it is finished.
fn next(job: &Job, done: bool, now: Timestamp) -> Option<Job> {
    let attempts = if done { 0 } else { job.attempts.saturating_add(1) };
    let wait = match &job.kind {
        JobKind::SyncGroups { .. } => SWEEP,
        _ if done => return None,
        _ => *RETRY_WAITS.get(job.attempts as usize)?,
    };
    Some(Job { attempts, due_at: now.plus(wait), leased_until: None, ..job.clone() })
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::ids::{CompanyId, JobId};

    const NOW: Timestamp = Timestamp::from_millis(1_763_000_000_000);

    fn job(kind: fn(ConnectionId) -> JobKind) -> Job {
        let id = JobId::new(Uuid::from_u128(1));
        let company = CompanyId::new(Uuid::from_u128(2));
        let mut job = Job::due_now(id, company, kind(ConnectionId::new(Uuid::from_u128(3))), NOW);
        job.leased_until = Some(NOW.plus(LEASE));
        job
    }

    #[test]
    fn the_sweep_comes_back_in_an_hour_whether_it_failed_or_not() {
        let sweep = job(|connection| JobKind::SyncGroups { connection });
        for done in [true, false] {
            let next = next(&sweep, done, NOW).expect("a sweep never ends");
            assert_eq!(next.due_at, NOW.plus(Duration::from_secs(3600)));
            assert_eq!(next.leased_until, None);
        }
    }

    #[test]
    fn the_reading_after_a_connect_is_over_once_it_succeeded() {
        let once = job(|connection| JobKind::SyncGroupsOnce { connection });
        assert_eq!(next(&once, true, NOW), None);
    }

    #[test]
    fn the_reading_after_a_connect_is_tried_again_thrice() {
        let mut once = job(|connection| JobKind::SyncGroupsOnce { connection });
        let mut waits = Vec::new();
        while let Some(later) = next(&once, false, NOW) {
            waits.push(later.due_at.since(NOW).as_secs());
            once = later;
        }
        assert_eq!(waits, [15, 60, 300]);
    }
}
