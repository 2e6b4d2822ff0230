//! Erasing the data of a deleted contact from events (D26), once no delivery needs it any more.

use std::time::Duration;

use super::{Erased, EventsAbout};
use crate::ids::ContactId;
use crate::jobs::Job;
use crate::store::{Change, ChangeSet, StoreError, Stored};
use crate::{Recado, Timestamp};

/// How many events are erased in one step.
const AT_ONCE: u32 = 500;
/// The most commits of one step that cancel deliveries.
const WITHDRAWALS: u32 = 1_000;
/// The first wait for deliveries that are pending; it doubles.
const WAIT: Duration = Duration::from_secs(30);
/// The longest wait.
const MAX_WAIT: Duration = Duration::from_secs(10 * 60);

/// Cancels the deliveries that are not handed out any more (D74) and erases the data that no
/// pending delivery needs; the job stays until nothing is left (R64).
pub(crate) async fn erase_events_job(
    app: &Recado,
    job: &Stored<Job>,
    contact: ContactId,
) -> Result<(), StoreError> {
    app.deliveries().withdraw(job.company, contact, WITHDRAWALS).await?;
    let about = EventsAbout::contact(contact);
    let erased = app.database().outbox().erase_events(job.company, about, AT_ONCE).await?;
    let change = after_erasure(job, erased, !erased.left, app.now());
    app.close_job(ChangeSet::new().with(change)).await
}

/// What becomes of a job that erases, after one step: it ends if it is done, goes on at once if it
/// has erased something, and else waits, each time for longer (R64).
pub(crate) fn after_erasure(
    job: &Stored<Job>,
    erased: Erased,
    is_done: bool,
    now: Timestamp,
) -> Change {
    if is_done {
        return job.delete();
    }
    let (attempts, due_at) = if erased.events > 0 {
        (job.attempts, now)
    } else {
        let wait = WAIT.saturating_mul(2_u32.saturating_pow(job.attempts)).min(MAX_WAIT);
        (job.attempts.saturating_add(1), now.plus(wait))
    };
    job.update(Job { attempts, leased_until: None, due_at, ..job.value().clone() })
}
