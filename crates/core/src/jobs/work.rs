//! Working on due jobs.

use std::time::Duration;

use super::JobKind;
use crate::Recado;
use crate::contacts::settle_purge;
use crate::error::{Error, NotFound};
use crate::events::erase_events_job;
use crate::groups::sync_groups_job;
use crate::messages::fetch_media_job;
use crate::organizations::enrich;
use crate::store::{ChangeSet, CommitError, StoreError};

/// How long a claim holds: longer than everything that is done under it, short enough that a
/// restart after a crash is not kept waiting.
const LEASE: Duration = Duration::from_secs(8);

/// The use cases on background work. Made by [`Recado::jobs`].
#[derive(Clone, Copy, Debug)]
pub struct Jobs<'a> {
    pub(crate) app: &'a Recado,
}

impl Jobs<'_> {
    /// Works on one due job, if there is any, and tells whether there was. Call it from a loop,
    /// from as many tasks and processes as you like.
    ///
    /// A job is worked on by one caller at a time; after a crash it is taken up again once its
    /// lease has lapsed.
    ///
    /// # Errors
    ///
    /// When the store fails; the job is taken up again later.
    pub async fn run_one(&self) -> Result<bool, StoreError> {
        let now = self.app.now();
        let claimed = self.app.store().claim_jobs(now, now.plus(LEASE), 1).await?;
        let Some(job) = claimed.into_iter().next() else { return Ok(false) };
        match &job.kind {
            JobKind::Enrich { organization } => enrich(self.app, &job, *organization).await?,
            JobKind::Purge { .. } => match settle_purge::<NotFound>(self.app, &job).await {
                Ok(_) | Err(Error::Rejected(_) | Error::Denied(_) | Error::Busy) => {}
                Err(Error::Store(error)) => return Err(error),
            },
            JobKind::SyncGroups { connection } | JobKind::SyncGroupsOnce { connection } => {
                sync_groups_job(self.app, &job, *connection).await?;
            }
            JobKind::EraseEvents { contact } => erase_events_job(self.app, &job, *contact).await?,
            JobKind::FetchMedia { message } => fetch_media_job(self.app, &job, *message).await?,
        }
        Ok(true)
    }
}

impl Recado {
    /// Commits the outcome of a job. A conflict means that the lease was lost or the record
    /// changed: whoever holds the job now settles it.
    pub(crate) async fn close_job(&self, changes: ChangeSet) -> Result<(), StoreError> {
        match self.commit(changes).await {
            Ok(()) | Err(CommitError::Conflict(_)) => Ok(()),
            Err(CommitError::Store(error)) => Err(error),
        }
    }
}
