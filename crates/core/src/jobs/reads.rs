//! Reads of jobs.

use async_trait::async_trait;

use super::{Job, JobKind};
use crate::ids::CompanyId;
use crate::store::{StoreError, Stored};

/// Reads of jobs.
#[async_trait]
pub trait JobReads: Send + Sync {
    /// The job of this kind and subject, leased or not. Of `kind`, only the
    /// [name](JobKind::name) and the [subject](JobKind::subject) are compared.
    async fn job_like(
        &self,
        company: CompanyId,
        kind: &JobKind,
    ) -> Result<Option<Stored<Job>>, StoreError>;
}
