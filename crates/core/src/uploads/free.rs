//! Removing what was sent to a deleted contact (4.5, R351).

use std::time::Duration;

use crate::Recado;
use crate::ids::UploadId;
use crate::jobs::Job;
use crate::store::{ChangeSet, StoreError, Stored};

/// How many uploads a deletion frees at once; more are found by the sweep.
pub(super) const MAX_NAMED: u32 = 1000;
/// How long the job is held.
const LEASE: Duration = Duration::from_secs(120);
/// When it is tried again after a failure.
const RETRY: Duration = Duration::from_secs(5);

/// Removes the files that were sent to a deleted contact, unless other messages or the retention
/// keep them (R351).
///
/// # Errors
///
/// When the store fails; the job is taken up again later.
pub(crate) async fn free_uploads_job(
    app: &Recado,
    job: &Stored<Job>,
    uploads: &[UploadId],
) -> Result<(), StoreError> {
    let Some(job) = app.hold_job(job, LEASE).await? else { return Ok(()) };
    let change = match app.uploads().free(job.company, uploads).await? {
        true => job.delete(),
        false => {
            let (due_at, attempts) = (app.now().plus(RETRY), job.attempts.saturating_add(1));
            job.update(Job { due_at, attempts, leased_until: None, ..job.value().clone() })
        }
    };
    app.close_job(ChangeSet::new().with(change)).await
}
