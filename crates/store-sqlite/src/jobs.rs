//! Background jobs and their leases.

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::ids::CompanyId;
use recado_core::jobs::{Job, JobKind, JobReads};
use recado_core::store::{Claims, CommitError, StoreError, Stored};

use crate::SqliteStore;
use crate::batch::Transaction;
use crate::database::Connection;
use crate::error::ReadResult;
use crate::table::{self};
use crate::writer::{expect_no_conflict, read_error};

/// Jobs that may be claimed, oldest `due_at` first.
fn claimable(conn: &Connection, now: Timestamp, limit: u32) -> ReadResult<Vec<Stored<Job>>> {
    let condition = "due_at <= ?1 AND (leased_until IS NULL OR leased_until <= ?1) \
                     ORDER BY due_at, id LIMIT ?2";
    table::list(conn, condition, &[now.into(), limit.into()])
}

fn claim(
    tx: &mut Transaction<'_>,
    now: Timestamp,
    leased_until: Timestamp,
    limit: u32,
) -> Result<Vec<Stored<Job>>, CommitError> {
    let jobs = claimable(tx.conn, now, limit).map_err(read_error)?;
    let mut claimed = Vec::with_capacity(jobs.len());
    for job in jobs {
        let leased = Job { leased_until: Some(leased_until), ..job.value().clone() };
        table::update(tx.conn, &leased, job.version())?;
        claimed.push(Stored::new(leased, job.version().next()));
    }
    Ok(claimed)
}

#[async_trait]
impl JobReads for SqliteStore {
    async fn job_like(
        &self,
        company: CompanyId,
        kind: &JobKind,
    ) -> Result<Option<Stored<Job>>, StoreError> {
        let (name, subject) = (kind.name(), kind.subject());
        let condition = "company_id = ?1 AND kind = ?2 AND subject = ?3";
        self.read_of(company, move |conn| {
            table::find(conn, condition, &[company.into(), name.into(), subject.into()])
        })
        .await
    }
}

#[async_trait]
impl Claims for SqliteStore {
    async fn claim_jobs(
        &self,
        now: Timestamp,
        leased_until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Stored<Job>>, StoreError> {
        // Usually no job is due; then no write transaction is needed.
        let due = self.read(move |conn| Ok(!claimable(conn, now, 1)?.is_empty())).await?;
        if !due || limit == 0 {
            return Ok(Vec::new());
        }
        self.write(move |tx| claim(tx, now, leased_until, limit)).await.map_err(expect_no_conflict)
    }
}
