//! Requests missed messages from gateways: after a connection is connected again, and at a long
//! interval, as gateways keep undelivered webhooks in memory only.

use std::time::Duration;

use super::Connections;
use crate::connections::Connection;
use crate::error::{Error, NotFound};
use crate::gateway::{Missed, ProviderError};
use crate::ids::{CompanyId, ConnectionId};
use crate::inbox::InboxError;
use crate::jobs::{Job, JobKind};
use crate::store::{ChangeSet, RecordsExt, StoreError, Stored};
use crate::{Recado, Timestamp};

/// How long after one pull the next is due.
pub const PULL_AGAIN: Duration = Duration::from_secs(15 * 60);
/// How far a request overlaps the one before: clocks differ, and gateways store late.
const OVERLAP: Duration = Duration::from_secs(10 * 60);
/// How far back a request goes at most.
const REACH: Duration = Duration::from_secs(3 * 24 * 60 * 60);
/// The lease of one pull.
const LEASE: Duration = Duration::from_secs(5 * 60);
/// The waits after failures of the pull that follows a connect; after them only the regular one
/// follows.
const RETRY_WAITS: [Duration; 3] =
    [Duration::from_secs(15), Duration::from_secs(60), Duration::from_secs(5 * 60)];

impl Connections<'_> {
    /// Extends a pull after an outage to everything that the regular pull has not covered yet.
    pub(super) async fn reach_back(
        &self,
        company: CompanyId,
        once: &mut JobKind,
    ) -> Result<(), StoreError> {
        if let JobKind::PullMissedOnce { connection, since } = *once {
            let regular = JobKind::PullMissed { connection, since };
            if let Some(regular) = self.app.store().job_like(company, &regular).await? {
                reaching_back(once, &regular);
            }
        }
        Ok(())
    }

    /// Requests a connection's events since `since` from its gateway and processes them like those
    /// of a webhook; known ones change nothing. Returns the time from which on there are more, if
    /// the gateway did not report everything at once; an inner `None` is the end. The outer `None`
    /// means that the gateway gave no answer (R109).
    ///
    /// # Errors
    ///
    /// [`NotFound`].
    pub async fn pull_missed(
        &self,
        company: CompanyId,
        id: ConnectionId,
        since: Timestamp,
    ) -> Result<Option<Option<Timestamp>>, Error<NotFound>> {
        let connection = self.app.store().get::<Connection>((company, id)).await?;
        let connection = connection.ok_or(Error::Rejected(NotFound))?;
        let now = self.app.now();
        let from = reach(since, now);
        let reported = match self.app.provider(&connection.gateway) {
            Some(provider) => {
                provider.missed(self.app.gateway_transport(), &connection, from, now).await
            }
            None => Err(ProviderError::Unsupported),
        };
        match reported {
            Ok(Missed { events, more_from }) => {
                let inbox = self.app.inbox();
                let taken = inbox.receive(company, id, inbox.asked_for(events)).await;
                taken.map_err(|error| match error {
                    Error::Rejected(InboxError::ContactStateUnavailable) => {
                        Error::Store(StoreError::Unavailable(None))
                    }
                    error => error.map(|_| NotFound),
                })?;
                // A page that ends where it began would be requested again without end.
                let least = from.plus(Duration::from_secs(1));
                Ok(Some(more_from.map(|more| more.max(least))))
            }
            Err(ProviderError::Unsupported) => Ok(Some(None)),
            Err(ProviderError::Failed(_)) => Ok(None),
        }
    }
}

/// The begin of the requested time for events since `since`.
fn reach(since: Timestamp, now: Timestamp) -> Timestamp {
    since.max(now.minus(REACH))
}

/// Pulls the missed messages of an active connection, and finishes the job.
///
/// # Errors
///
/// When the store fails; the job is taken up again later.
pub(crate) async fn pull_missed_job(
    app: &Recado,
    job: &Stored<Job>,
    id: ConnectionId,
    since: Timestamp,
) -> Result<(), StoreError> {
    let Some(connection) = app.store().get::<Connection>((job.company, id)).await? else {
        return app.close_job(ChangeSet::new().with(job.delete())).await;
    };
    let Some(job) = app.hold_job(job, LEASE).await? else { return Ok(()) };
    let began = app.now();
    let pulled = if connection.is_usable() {
        match app.connections().pull_missed(job.company, id, since).await {
            Ok(Some(None)) => PullProgress::Everything,
            Ok(Some(Some(more))) => PullProgress::Until(more),
            Ok(None) | Err(Error::Rejected(_) | Error::Denied(_) | Error::Busy) => {
                PullProgress::Nothing
            }
            Err(Error::Store(error)) => return Err(error),
        }
    } else {
        PullProgress::Nothing
    };
    let change = match next(&job, pulled, began, app.now()) {
        Some(next) => job.update(next),
        None => job.delete(),
    };
    app.close_job(ChangeSet::new().with(change)).await
}

/// The progress of a pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PullProgress {
    /// None.
    Nothing,
    /// There is more from here on.
    Until(Timestamp),
    /// Everything was read.
    Everything,
}

/// The job after a pull that began at `began`; `None` when it is done.
fn next(job: &Job, pulled: PullProgress, began: Timestamp, now: Timestamp) -> Option<Job> {
    let mut next = Job { attempts: 0, leased_until: None, ..job.clone() };
    match pulled {
        PullProgress::Until(more) => {
            next.due_at = now;
            set_since(&mut next.kind, more);
        }
        PullProgress::Everything => {
            if matches!(job.kind, JobKind::PullMissedOnce { .. }) {
                return None;
            }
            next.due_at = now.plus(PULL_AGAIN);
            set_since(&mut next.kind, began.minus(OVERLAP));
        }
        PullProgress::Nothing => {
            let regular = matches!(job.kind, JobKind::PullMissed { .. });
            let wait =
                if regular { PULL_AGAIN } else { *RETRY_WAITS.get(job.attempts as usize)? };
            next.attempts = job.attempts.saturating_add(1);
            next.due_at = now.plus(wait);
        }
    }
    Some(next)
}

fn set_since(kind: &mut JobKind, to: Timestamp) {
    if let JobKind::PullMissed { since, .. } | JobKind::PullMissedOnce { since, .. } = kind {
        *since = to;
    }
}

/// The pull after an outage, beginning where the regular one would: a change of the connection
/// while it was off does not mean that anything was pulled.
fn reaching_back(once: &mut JobKind, regular: &Job) {
    let JobKind::PullMissed { since: known, .. } = regular.kind else { return };
    if let JobKind::PullMissedOnce { since, .. } = once {
        *since = known.min(*since);
    }
}

/// The pull that follows when a connection that was off since `off` is connected again.
pub(super) fn after_outage(connection: ConnectionId, off: Timestamp) -> JobKind {
    JobKind::PullMissedOnce { connection, since: off.minus(OVERLAP) }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::ids::JobId;

    const NOW: Timestamp = Timestamp::from_millis(1_763_000_000_000);
    const CONNECTION: ConnectionId = ConnectionId::new(Uuid::from_u128(3));

    fn job(kind: JobKind) -> Job {
        let id = JobId::new(Uuid::from_u128(1));
        Job::due_now(id, CompanyId::new(Uuid::from_u128(2)), kind, NOW)
    }

    fn regular() -> Job {
        job(JobKind::PullMissed { connection: CONNECTION, since: NOW })
    }

    fn since(job: &Job) -> Timestamp {
        match job.kind {
            JobKind::PullMissed { since, .. } | JobKind::PullMissedOnce { since, .. } => since,
            _ => panic!("another kind"),
        }
    }

    #[test]
    fn a_regular_pull_comes_back_and_asks_for_a_little_of_what_it_knows() {
        let later = NOW.plus(Duration::from_secs(7));
        let next = next(&regular(), PullProgress::Everything, NOW, later).expect("it never ends");
        assert_eq!(next.due_at, later.plus(PULL_AGAIN));
        assert_eq!(since(&next), NOW.minus(OVERLAP));
    }

    #[test]
    fn a_pull_without_an_answer_asks_for_the_same_again() {
        let next = next(&regular(), PullProgress::Nothing, NOW, NOW).expect("it never ends");
        assert_eq!((next.due_at, since(&next)), (NOW.plus(PULL_AGAIN), NOW));
    }

    #[test]
    fn what_is_left_over_is_asked_for_at_once() {
        let more = NOW.plus(Duration::from_secs(1));
        let next = next(&regular(), PullProgress::Until(more), NOW, NOW).expect("it goes on");
        assert_eq!((next.due_at, since(&next)), (NOW, more));
    }

    #[test]
    fn the_pull_after_an_outage_is_over_once_it_came_to_the_end() {
        let once = job(after_outage(CONNECTION, NOW));
        assert_eq!(since(&once), NOW.minus(OVERLAP));
        assert_eq!(next(&once, PullProgress::Everything, NOW, NOW), None);
        let mut tried = once;
        let mut waits = Vec::new();
        while let Some(later) = next(&tried, PullProgress::Nothing, NOW, NOW) {
            waits.push(later.due_at.since(NOW).as_secs());
            tried = later;
        }
        assert_eq!(waits, [15, 60, 300]);
    }

    #[test]
    fn the_pull_after_an_outage_asks_for_all_that_the_regular_one_does_not_know() {
        for (known, expected) in [(-1, -1), (1, 0)] {
            let at = |hours: i64| Timestamp::from_millis(NOW.millis() + hours * 3_600_000);
            let mut once = JobKind::PullMissedOnce { connection: CONNECTION, since: NOW };
            let regular = JobKind::PullMissed { connection: CONNECTION, since: at(known) };
            reaching_back(&mut once, &job(regular));
            assert_eq!(since(&job(once)), at(expected));
        }
    }

    /// R109.
    #[test]
    fn nobody_asks_for_more_than_three_days() {
        assert_eq!(reach(NOW, NOW), NOW);
        assert_eq!(reach(Timestamp::MIN, NOW), NOW.minus(REACH));
    }
}
