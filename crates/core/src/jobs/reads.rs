//! Reads of jobs.

use async_trait::async_trait;

use super::{Job, JobKind};
use crate::ids::CompanyId;
use crate::store::{StoreError, Stored};

/// Reads of jobs.
#[async_trait]
pub trait JobReads: Send + Sync {
    /// The job of this kind and subject, whoever works on it. `kind` counts by its
    /// [name](JobKind::name) and [subject](JobKind::subject) alone.
    async fn job_like(
        &self,
        company: CompanyId,
        kind: &JobKind,
    ) -> Result<Option<Stored<Job>>, StoreError>;
}
