//! Checks whether gateways reach their channel: often while they do not, seldom while they do, and
//! at once after a sign of a failure.

use std::time::Duration;

use super::{Capability, Connection, ConnectionStatus, Connections};
use crate::error::{Error, NotFound};
use crate::gateway::GatewayStatus;
use crate::ids::{CompanyId, ConnectionId};
use crate::jobs::{Job, JobKind};
use crate::store::{ChangeSet, RecordsExt, StoreError, Stored};
use crate::{Recado, Timestamp};

/// How long after a check of a connected connection the next is due.
pub const CHECK_AGAIN: Duration = Duration::from_secs(5 * 60);
/// How long after a check of a disconnected one.
pub const CHECK_AGAIN_DISCONNECTED: Duration = Duration::from_secs(60);
/// The longest wait after a check without an answer.
pub const CHECK_AGAIN_UNANSWERED: Duration = Duration::from_secs(15 * 60);
/// How long a gateway may take to answer: many gateways that hang must not delay other work.
const PATIENCE: Duration = Duration::from_secs(5);
/// How much longer than the connection's timeout the lease of a check is.
const LEASE: Duration = Duration::from_secs(30);
/// The waits after a check of a doubtful or disconnected connection got no answer: a connection may
/// have been created before its gateway runs. After them only the regular checks follow.
const RETRY_WAITS: [Duration; 3] =
    [Duration::from_secs(5), Duration::from_secs(15), Duration::from_secs(45)];
/// How many they are.
const RETRIES: u32 = 3;

impl Connections<'_> {
    /// Asks a connection's gateway whether it reaches the channel and records the answer, unless
    /// another state was recorded during the request, which is newer. `None` if its state cannot be
    /// requested or it gave no answer: then the recorded state stays (R108).
    ///
    /// # Errors
    ///
    /// [`NotFound`].
    pub async fn check(
        &self,
        company: CompanyId,
        id: ConnectionId,
    ) -> Result<Option<GatewayStatus>, Error<NotFound>> {
        let connection = self.app.store().get::<Connection>((company, id)).await?;
        let connection = connection.ok_or(Error::Rejected(NotFound))?;
        let Some(reported) = self.ask(&connection).await else { return Ok(None) };
        self.set_answered_status(&connection, reported.status).await?;
        Ok(Some(reported))
    }

    async fn ask(&self, connection: &Connection) -> Option<GatewayStatus> {
        if !self.app.providers().can(connection, Capability::State) {
            return None;
        }
        let provider = self.app.provider(&connection.gateway)?;
        let mut connection = connection.clone();
        connection.settings = connection.settings.with_timeout_of_at_most(PATIENCE);
        provider.status(self.app.gateway_transport(), &connection).await.ok()
    }

    /// Queues a check of a connection soon, after a sign of a failure. Does nothing if the
    /// gateway's state cannot be requested.
    pub(crate) async fn check_soon(
        &self,
        company: CompanyId,
        id: ConnectionId,
    ) -> Result<bool, StoreError> {
        self.check_in(company, id, Duration::ZERO).await
    }

    /// The same after a while.
    pub(crate) async fn check_in(
        &self,
        company: CompanyId,
        id: ConnectionId,
        wait: Duration,
    ) -> Result<bool, StoreError> {
        let connection = self.app.store().get::<Connection>((company, id)).await?;
        let gateways = self.app.providers();
        if !connection.is_some_and(|found| gateways.can(&found, Capability::State)) {
            return Ok(false);
        }
        let kind = JobKind::CheckConnectionOnce { connection: id };
        self.app.queue_job(company, kind, self.app.now().plus(wait)).await
    }
}

/// The first regular check of a new connection: at once, unless the operator has reported its state
/// (R121).
pub(super) fn first_check(reported: bool, now: Timestamp) -> Timestamp {
    if reported { now.plus(CHECK_AGAIN_DISCONNECTED) } else { now }
}

/// Checks a connection and finishes the job.
///
/// # Errors
///
/// When the store fails; the job is taken up again later.
pub(crate) async fn check_connection_job(
    app: &Recado,
    job: &Stored<Job>,
    id: ConnectionId,
) -> Result<(), StoreError> {
    let Some(connection) = app.store().get::<Connection>((job.company, id)).await? else {
        return app.close_job(ChangeSet::new().with(job.delete())).await;
    };
    let lease = connection.settings.timeout() + LEASE;
    let Some(job) = app.hold_job(job, lease).await? else { return Ok(()) };
    let reported = match connection.is_active {
        true => app.connections().check(job.company, id).await,
        // An operator who deactivates a connection may have stopped its gateway (R126).
        false => Ok(None),
    };
    let reported = match reported {
        Ok(reported) => reported,
        Err(Error::Rejected(_) | Error::Denied(_) | Error::Busy) => None,
        Err(Error::Store(error)) => return Err(error),
    };
    let status = reported.as_ref().map_or(connection.status, |reported| reported.status);
    let change = match next(&job, reported.is_some(), status, app.now()) {
        Some(next) => job.update(next),
        None => job.delete(),
    };
    app.close_job(ChangeSet::new().with(change)).await
}

/// The job after a check; `None` when it is done.
fn next(job: &Job, answered: bool, status: ConnectionStatus, now: Timestamp) -> Option<Job> {
    let wait = match (&job.kind, status) {
        (JobKind::CheckConnection { .. }, ConnectionStatus::Connected) => CHECK_AGAIN,
        (JobKind::CheckConnection { .. }, ConnectionStatus::Disconnected) => {
            CHECK_AGAIN_DISCONNECTED
        }
        _ if answered => return None,
        _ => *RETRY_WAITS.get(job.attempts as usize)?,
    };
    let regular = matches!(job.kind, JobKind::CheckConnection { .. });
    let wait = if regular && !answered { unanswered(wait, status, job.attempts) } else { wait };
    let attempts = if answered { 0 } else { job.attempts.saturating_add(1) };
    Some(Job { attempts, due_at: now.plus(wait), leased_until: None, ..job.clone() })
}

/// The wait after a regular check without an answer, after `attempts` of them in a row.
fn unanswered(wait: Duration, status: ConnectionStatus, attempts: u32) -> Duration {
    let index = usize::try_from(attempts).unwrap_or(usize::MAX);
    match (status, RETRY_WAITS.get(index)) {
        (ConnectionStatus::Connected, _) => longer(wait, attempts),
        (ConnectionStatus::Disconnected, Some(soon)) => *soon,
        (ConnectionStatus::Disconnected, None) => longer(wait, attempts.saturating_sub(RETRIES)),
    }
}

/// The wait after so many checks in a row without an answer: each twice as long as the one before.
fn longer(wait: Duration, attempts: u32) -> Duration {
    wait.saturating_mul(2_u32.saturating_pow(attempts)).min(CHECK_AGAIN_UNANSWERED)
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

    /// R108.
    #[test]
    fn a_connection_is_looked_at_every_five_minutes_and_every_minute_while_it_is_off() {
        let regular = job(JobKind::CheckConnection { connection: CONNECTION });
        for (status, seconds) in
            [(ConnectionStatus::Connected, 300), (ConnectionStatus::Disconnected, 60)]
        {
            let next = next(&regular, true, status, NOW).expect("it never ends");
            assert_eq!(next.due_at.since(NOW).as_secs(), seconds);
        }
    }

    /// R108.
    #[test]
    fn a_gateway_that_gives_no_answer_is_asked_less_and_less_until_it_does() {
        let mut regular = job(JobKind::CheckConnection { connection: CONNECTION });
        let mut waits = Vec::new();
        for _ in 0..9 {
            let later = next(&regular, false, ConnectionStatus::Disconnected, NOW);
            regular = later.expect("it never ends");
            waits.push(regular.due_at.since(NOW).as_secs());
        }
        assert_eq!(waits, [5, 15, 45, 60, 120, 240, 480, 900, 900]);
        let mut other = job(JobKind::CheckConnection { connection: CONNECTION });
        let mut waits = Vec::new();
        for _ in 0..3 {
            let later = next(&other, false, ConnectionStatus::Connected, NOW);
            other = later.expect("it never ends");
            waits.push(other.due_at.since(NOW).as_secs());
        }
        assert_eq!(waits, [300, 600, 900]);
        let answered = next(&regular, true, ConnectionStatus::Disconnected, NOW);
        assert_eq!(answered.map(|job| job.attempts), Some(0));
    }

    /// R108.
    #[test]
    fn a_doubtful_connection_is_looked_at_until_it_answers_at_most_four_times() {
        let mut once = job(JobKind::CheckConnectionOnce { connection: CONNECTION });
        assert_eq!(next(&once, true, ConnectionStatus::Connected, NOW), None);
        let mut waits = Vec::new();
        while let Some(later) = next(&once, false, ConnectionStatus::Connected, NOW) {
            waits.push(later.due_at.since(NOW).as_secs());
            once = later;
        }
        assert_eq!(waits, [5, 15, 45]);
    }

    /// R121.
    #[test]
    fn a_state_that_the_operator_reported_is_not_asked_for_at_once() {
        assert_eq!(first_check(false, NOW), NOW);
        assert!(first_check(true, NOW) > NOW);
    }
}
