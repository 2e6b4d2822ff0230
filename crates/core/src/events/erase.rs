//! Erasing the data of a deleted contact from events (D26), once no delivery needs it any more.

use std::time::Duration;

use super::EventsAbout;
use crate::Recado;
use crate::ids::ContactId;
use crate::jobs::Job;
use crate::store::{ChangeSet, StoreError, Stored};

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
    let change = if !erased.left {
        job.delete()
    } else if erased.events > 0 {
        job.update(Job { leased_until: None, due_at: app.now(), ..job.value().clone() })
    } else {
        let wait = WAIT.saturating_mul(2_u32.saturating_pow(job.attempts)).min(MAX_WAIT);
        let attempts = job.attempts.saturating_add(1);
        let due_at = app.now().plus(wait);
        job.update(Job { attempts, leased_until: None, due_at, ..job.value().clone() })
    };
    app.close_job(ChangeSet::new().with(change)).await
}
