//! Working on due jobs.

use std::convert::Infallible;
use std::time::Duration;

use super::{Job, JobKind};
use crate::access::{drop_job, remove_company_job};
use crate::campaigns::take_list_job;
use crate::connections::{check_connection_job, pull_missed_job};
use crate::contacts::finish_purge;
use crate::error::{Error, NotFound};
use crate::events::erase_events_job;
use crate::groups::sync_groups_job;
use crate::ids::{CompanyId, JobId};
use crate::inbox::learn_names_job;
use crate::messages::{LeftOfMessage, announce_late_job, erase_message_job, fetch_media_job};
use crate::organizations::enrich;
use crate::sending::find_sent_job;
use crate::store::{ChangeSet, Decided, StoreError, Stored};
use crate::uploads::free_uploads_job;
use crate::{Recado, Timestamp};

/// The length of the first lease: longer than the work done under it, and short enough that a
/// restart after a crash does not wait long.
const LEASE: Duration = Duration::from_secs(8);

/// The shortest time until a job that is being worked on is done again: many requests at once must
/// not cause as many runs.
const AGAIN: Duration = Duration::from_secs(1);

/// How long a job of a company waits that is held alone.
const HELD: Duration = Duration::from_secs(5);

/// The use cases on background work. Made by [`Recado::jobs`].
#[derive(Clone, Copy, Debug)]
pub struct Jobs<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Background work.
    pub fn jobs(&self) -> Jobs<'_> {
        Jobs { app: self }
    }
}

impl Jobs<'_> {
    /// Works on one due job, if there is any, and returns whether there was. Call it from a loop,
    /// from as many tasks and processes as you like.
    ///
    /// A job is worked on by one caller at a time; after a crash it is taken up again once its
    /// lease has lapsed. During a hold the jobs that call somebody stand still (D75), and all of
    /// them while the installation is closed (D76).
    ///
    /// # Errors
    ///
    /// When the store fails; the job is taken up again later.
    pub async fn run_one(&self) -> Result<bool, StoreError> {
        let halted = self.app.halts().current().await?;
        if halted.is_closed() {
            return Ok(false);
        }
        let except = if halted.is_quiet() { JobKind::CALLING } else { &[] };
        let now = self.app.now();
        let claims = self.app.database().claims();
        let claimed = claims.claim_jobs(now, now.plus(LEASE), 1, except).await?;
        let Some(job) = claimed.into_iter().next() else { return Ok(false) };
        if halted.is_held_for(job.company) && JobKind::CALLING.contains(&job.kind.name()) {
            // Its company alone is held, which does not last.
            let due_at = now.plus(HELD);
            let later = Job { due_at, leased_until: None, ..job.value().clone() };
            self.app.close_job(ChangeSet::new().with(job.update(later))).await?;
            return Ok(true);
        }
        if !matches!(job.kind, JobKind::RemoveCompany { .. })
            && self.app.company(job.company).await?.is_none()
        {
            drop_job(self.app, &job).await?;
            return Ok(true);
        }
        match &job.kind {
            JobKind::RemoveCompany { company } => {
                remove_company_job(self.app, &job, *company).await?;
            }
            JobKind::Enrich { organization } => enrich(self.app, &job, *organization).await?,
            JobKind::Purge { .. } => match finish_purge::<NotFound>(self.app, &job).await {
                Ok(_) | Err(Error::Rejected(_) | Error::Denied(_) | Error::Busy) => {}
                Err(Error::Store(error)) => return Err(error),
            },
            JobKind::SyncGroups { connection } | JobKind::SyncGroupsOnce { connection } => {
                sync_groups_job(self.app, &job, *connection).await?;
            }
            JobKind::EraseEvents { contact } => erase_events_job(self.app, &job, *contact).await?,
            JobKind::FetchMedia { message } => fetch_media_job(self.app, &job, *message).await?,
            JobKind::CheckConnection { connection }
            | JobKind::CheckConnectionOnce { connection } => {
                check_connection_job(self.app, &job, *connection).await?;
            }
            JobKind::PullMissed { connection, since }
            | JobKind::PullMissedOnce { connection, since } => {
                pull_missed_job(self.app, &job, *connection, *since).await?;
            }
            JobKind::FindSent { message } => find_sent_job(self.app, &job, *message).await?,
            JobKind::AnnounceLate { message } => {
                announce_late_job(self.app, &job, *message).await?;
            }
            JobKind::EraseMessage { message, document, upload, kept } => {
                let left = LeftOfMessage { document: *document, upload: *upload, kept: *kept };
                erase_message_job(self.app, &job, *message, left).await?;
            }
            JobKind::FreeUploads { uploads, .. } => {
                free_uploads_job(self.app, &job, uploads).await?;
            }
            JobKind::TakeList { .. } => take_list_job(self.app, &job).await?,
            JobKind::LearnNames { message } => learn_names_job(self.app, &job, *message).await?,
        }
        Ok(true)
    }
}

/// The existing job, changed so that it is done at `due_at` or before; `None` if no change is
/// needed. If the job is leased, its lease ends within a second: the commit of its worker then
/// fails, and the job is done again.
fn sooner(there: &Job, due_at: Timestamp, now: Timestamp) -> Option<Job> {
    match there.leased_until.filter(|until| now < *until) {
        Some(until) => {
            let leased_until = Some(until.min(now.plus(AGAIN)));
            Some(Job { due_at, leased_until, attempts: 0, ..there.clone() })
        }
        None if there.due_at <= due_at => None,
        None => Some(Job { due_at, leased_until: None, attempts: 0, ..there.clone() }),
    }
}

impl Recado {
    /// Leases a claimed job for as long as its work may take; `None` when another process has
    /// claimed it.
    pub(crate) async fn hold_job(
        &self,
        job: &Stored<Job>,
        lease: Duration,
    ) -> Result<Option<Stored<Job>>, StoreError> {
        let held = Job { leased_until: Some(self.now().plus(lease)), ..job.value().clone() };
        let is_held = self.commit_once(ChangeSet::new().with(job.update(held.clone()))).await?;
        Ok(is_held.then(|| Stored::new(held, job.version().next())))
    }

    /// Queues a job for `due_at`. If a job of this kind and subject is queued already, it is moved
    /// to `due_at` if that is earlier. If it is being worked on, it is done once more, as it may
    /// have read its data too early. Returns whether something was stored.
    pub(crate) async fn queue_job(
        &self,
        company: CompanyId,
        kind: JobKind,
        due_at: Timestamp,
    ) -> Result<bool, StoreError> {
        let now = self.now();
        let id = JobId::new(self.uuid(now));
        let kind = &kind;
        let queued = self.decide::<_, Infallible, _>(|_| async move {
            let changes = match self.store().job_like(company, kind).await? {
                Some(waiting) => match sooner(&waiting, due_at, now) {
                    Some(sooner) => ChangeSet::new().with(waiting.update(sooner)),
                    None => return Ok(Decided::unchanged(false)),
                },
                None => {
                    let job = Job::due_now(id, company, kind.clone(), now);
                    ChangeSet::new().insert(Job { due_at, ..job })
                }
            };
            Ok(Decided::new(changes, true))
        });
        match queued.await {
            Ok(is_news) => Ok(is_news),
            Err(Error::Store(error)) => Err(error),
            // The commits conflict because others queue the same job: it is queued without this
            // one.
            Err(_) => Ok(false),
        }
    }

    /// Commits the outcome of a job. A conflict means that the lease was lost or the record
    /// changed: the worker that holds the job now finishes it.
    pub(crate) async fn close_job(&self, changes: ChangeSet) -> Result<(), StoreError> {
        self.commit_once(changes).await.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::ids::ConnectionId;

    const NOW: Timestamp = Timestamp::from_millis(1_763_000_000_000);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(NOW.millis() + seconds * 1_000)
    }

    fn job(due_at: i64, leased_until: Option<i64>) -> Job {
        let kind = JobKind::SyncGroupsOnce { connection: ConnectionId::new(Uuid::from_u128(3)) };
        let (id, company) = (JobId::new(Uuid::from_u128(1)), CompanyId::new(Uuid::from_u128(2)));
        let job = Job::due_now(id, company, kind, at(-900));
        Job { attempts: 2, due_at: at(due_at), leased_until: leased_until.map(at), ..job }
    }

    fn asked(there: &Job, due_at: i64) -> Option<(Timestamp, Option<Timestamp>, u32)> {
        let sooner = sooner(there, at(due_at), NOW)?;
        Some((sooner.due_at, sooner.leased_until, sooner.attempts))
    }

    #[test]
    fn a_job_that_waits_is_done_as_early_as_anybody_asked() {
        for lapsed in [None, Some(-1), Some(0)] {
            assert_eq!(asked(&job(3, lapsed), 3), None);
            assert_eq!(asked(&job(0, lapsed), 3), None);
            assert_eq!(asked(&job(300, lapsed), 3), Some((at(3), None, 0)));
        }
    }

    #[test]
    fn a_job_that_is_being_worked_on_is_done_once_more_and_not_only_when_its_lease_lapses() {
        assert_eq!(asked(&job(-1, Some(80)), 3), Some((at(3), Some(at(1)), 0)));
        assert_eq!(asked(&job(-1, Some(80)), 0), Some((at(0), Some(at(1)), 0)));
        // A further call with the same time changes nothing.
        let again = Job { due_at: at(0), ..job(0, Some(1)) };
        assert_eq!(asked(&again, 0), Some((at(0), Some(at(1)), 0)));
    }
}
