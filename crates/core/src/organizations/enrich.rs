//! Working on due jobs: asking the registry about organizations (D22), settling purges (D26).

use std::time::Duration;

use super::{RegistryAnswer, lookup_request, read_answer};
use crate::contacts::settle_purge;
use crate::error::{Error, NotFound};
use crate::ids::OrganizationId;
use crate::jobs::{Job, JobKind};
use crate::store::{ChangeSet, CommitError, StoreError, Stored};
use crate::{Recado, Timestamp};

/// The waits after a failure of the registry: these, then the last one over and over (D22).
pub const RETRY_WAITS: [Duration; 6] = [
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(2 * 60),
    Duration::from_secs(10 * 60),
    Duration::from_secs(60 * 60),
    Duration::from_secs(6 * 60 * 60),
];

/// How long the registry may take to answer.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a claim holds: longer than everything that is done under it, short enough that a
/// restart after a crash is not kept waiting.
const LEASE: Duration = Duration::from_secs(8);

/// How long to wait after the registry failed for the `attempts`-th time, counted from 1 (D22).
pub fn retry_wait(attempts: u32) -> Duration {
    let index = attempts.saturating_sub(1).min(RETRY_WAITS.len() as u32 - 1);
    RETRY_WAITS[index as usize]
}

/// The use cases on background work. Made by [`Recado::jobs`].
#[derive(Clone, Copy, Debug)]
pub struct Enrichments<'a> {
    pub(crate) app: &'a Recado,
}

impl Enrichments<'_> {
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
            JobKind::Enrich { organization } => self.enrich(&job, *organization).await?,
            JobKind::Purge { .. } => match settle_purge::<NotFound>(self.app, &job).await {
                Ok(_) | Err(Error::Rejected(_) | Error::Denied(_) | Error::Busy) => {}
                Err(Error::Store(error)) => return Err(error),
            },
        }
        Ok(true)
    }

    async fn enrich(&self, job: &Stored<Job>, id: OrganizationId) -> Result<(), StoreError> {
        let store = self.app.store();
        let Some(organization) = store.organization(job.company, id).await? else {
            return self.commit(ChangeSet::new().with(job.delete())).await;
        };
        let registry = &self.app.settings().registry_url;
        let request = lookup_request(registry, &organization.cnpj).with_timeout(LOOKUP_TIMEOUT);
        let answer = read_answer(&self.app.transport().send(request).await);
        let now = self.app.now();
        let changes = match answer {
            RegistryAnswer::Found(entry) => ChangeSet::new()
                .with(organization.update(organization.enriched(&entry, now)))
                .with(job.delete()),
            RegistryAnswer::Unknown => ChangeSet::new().with(job.delete()),
            RegistryAnswer::TryLater => ChangeSet::new().with(job.update(postponed(job, now))),
        };
        self.commit(changes).await
    }

    /// Commits an outcome. A conflict means that the lease was lost or the organization changed:
    /// whoever holds the job now settles it.
    async fn commit(&self, changes: ChangeSet) -> Result<(), StoreError> {
        match self.app.store().commit(changes).await {
            Ok(()) | Err(CommitError::Conflict(_)) => Ok(()),
            Err(CommitError::Store(error)) => Err(error),
        }
    }
}

/// The job after one more failure: due again after the wait of D22.
fn postponed(job: &Job, now: Timestamp) -> Job {
    let attempts = job.attempts.saturating_add(1);
    let due_at = now.plus(retry_wait(attempts));
    Job { attempts, due_at, leased_until: None, ..job.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_waits_grow_and_then_stay_at_six_hours() {
        let waits: Vec<u64> = (1..=8).map(|n| retry_wait(n).as_secs()).collect();
        assert_eq!(waits, [5, 30, 120, 600, 3600, 21_600, 21_600, 21_600]);
    }
}
