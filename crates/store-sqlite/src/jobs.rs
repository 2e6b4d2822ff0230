//! Background jobs and their leases.

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::ids::{CompanyId, JobId};
use recado_core::jobs::{Job, JobKind, JobReads};
use recado_core::store::{Claims, CommitError, StoreError, Stored};
use rusqlite::Connection;

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::error::ReadResult;
use crate::table::{self, Table, statements};
use crate::writer::{Transaction, expect_no_conflict, read_error};

impl Table for Job {
    statements!(
        "jobs",
        ["company_id", "id"],
        ["kind", "subject", "data", "attempts", "due_at", "leased_until", "created_at"]
    );

    fn values(&self) -> Vec<Cell<'_>> {
        let data = serde_json::to_string(&self.kind).expect("a job's kind is plain data");
        vec![
            self.company.into(),
            self.id.into(),
            self.kind.name().into(),
            self.kind.subject().into(),
            Cell::Owned(data),
            self.attempts.into(),
            self.due_at.into(),
            self.leased_until.into(),
            self.created_at.into(),
        ]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        let (company, id) = (columns.id(CompanyId::new)?, columns.id(JobId::new)?);
        columns.skip();
        columns.skip();
        Ok(Self {
            company,
            id,
            kind: columns.json()?,
            attempts: columns.number()?,
            due_at: columns.time()?,
            leased_until: columns.opt_time()?,
            created_at: columns.time()?,
        })
    }
}

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
        let key = || recado_core::store::Row::from(leased.clone()).key();
        table::update(tx.conn, &leased, job.version(), key)?;
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
        self.read(move |conn| {
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
        // Most of the time nothing is due: then nothing has to be written either.
        let due = self.read(move |conn| Ok(!claimable(conn, now, 1)?.is_empty())).await?;
        if !due || limit == 0 {
            return Ok(Vec::new());
        }
        self.write(move |tx| claim(tx, now, leased_until, limit)).await.map_err(expect_no_conflict)
    }
}
