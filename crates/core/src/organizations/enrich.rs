//! Reading organizations' data from the registry (D22).

use std::time::Duration;

use super::{RegistryAnswer, lookup_request, read_answer};
use crate::ids::OrganizationId;
use crate::jobs::Job;
use crate::organizations::Organization;
use crate::store::{ChangeSet, RecordsExt, StoreError, Stored};
use crate::{Recado, Timestamp};

/// The waits after a failure of the registry: these, then the last one is repeated without end
/// (D22).
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
/// How long a job waits until it looks again whether a registry is configured (R172).
const NO_REGISTRY_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// How long to wait after the registry failed for the `attempts`-th time, counted from 1 (D22).
pub fn retry_wait(attempts: u32) -> Duration {
    let index = attempts.saturating_sub(1).min(RETRY_WAITS.len() as u32 - 1);
    RETRY_WAITS[index as usize]
}

/// Requests an organization's data from the registry, stores it and finishes the job. Where no
/// registry is configured, nothing is requested, and the job waits (R172).
///
/// # Errors
///
/// When the store fails; the job is taken up again later.
pub(crate) async fn enrich(
    app: &Recado,
    job: &Stored<Job>,
    id: OrganizationId,
) -> Result<(), StoreError> {
    let store = app.store();
    let Some(organization) = store.get::<Organization>((job.company, id)).await? else {
        return app.close_job(ChangeSet::new().with(job.delete())).await;
    };
    let Some(registry) = &app.settings().registry_url else {
        return app.close_job(ChangeSet::new().with(job.update(waiting(job, app.now())))).await;
    };
    let request = lookup_request(registry, &organization.cnpj).with_timeout(LOOKUP_TIMEOUT);
    let answer = read_answer(&app.transport().send(request).await);
    let now = app.now();
    let changes = match answer {
        RegistryAnswer::Found(entry) => ChangeSet::new()
            .with(organization.update(organization.enriched(&entry, now)))
            .with(job.delete()),
        RegistryAnswer::Unknown => ChangeSet::new().with(job.delete()),
        RegistryAnswer::TryLater => ChangeSet::new().with(job.update(postponed(job, now))),
    };
    app.close_job(changes).await
}

/// The job after one more failure: due again after the wait of D22.
fn postponed(job: &Job, now: Timestamp) -> Job {
    let attempts = job.attempts.saturating_add(1);
    let due_at = now.plus(retry_wait(attempts));
    Job { attempts, due_at, leased_until: None, ..job.clone() }
}

/// The job where no registry is configured: not failed, and due again a day later (R172).
fn waiting(job: &Job, now: Timestamp) -> Job {
    Job { due_at: now.plus(NO_REGISTRY_WAIT), leased_until: None, ..job.clone() }
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
