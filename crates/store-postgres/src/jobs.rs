//! Durable background jobs.

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::ids::{CompanyId, JobId};
use recado_core::jobs::{Job, JobKind, JobReads};
use recado_core::store::{Claims, StoreError, Stored};

use crate::PostgresStore;
use crate::session::{all_stored, rows, select};
use crate::table::{Columns, Param, Table, columns_of, params, table_sql, unreadable};

impl Table for Job {
    const NAME: &'static str = "jobs";
    const KEY: usize = 2;
    const COLUMNS: &'static [&'static str] = &[
        "company_id",
        "id",
        "kind",
        "subject",
        "data",
        "attempts",
        "due_at",
        "leased_until",
        "created_at",
    ];
    table_sql!(Job);

    fn bind(self) -> Vec<Param> {
        params![
            self.company.uuid(),
            self.id.uuid(),
            self.kind.name(),
            self.kind.subject(),
            serde_json::to_value(&self.kind).expect("a job's kind is words, ids and lists of ids"),
            i64::from(self.attempts),
            self.due_at.millis(),
            self.leased_until.map(Timestamp::millis),
            self.created_at.millis(),
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        let company = columns.id(CompanyId::new)?;
        let id = columns.id(JobId::new)?;
        // Kind and subject are there for the unique key; the data holds them too.
        columns.skip(2);
        let data: serde_json::Value = columns.get()?;
        Ok(Self {
            id,
            company,
            kind: serde_json::from_value(data).map_err(|_| unreadable::<JobKind>())?,
            attempts: columns.number()?,
            due_at: columns.time()?,
            leased_until: columns.time_or_null()?,
            created_at: columns.time()?,
        })
    }
}

#[async_trait]
impl JobReads for PostgresStore {
    async fn job_like(
        &self,
        company: CompanyId,
        kind: &JobKind,
    ) -> Result<Option<Stored<Job>>, StoreError> {
        let condition = "WHERE company_id = $1 AND kind = $2 AND subject = $3";
        let params = params![company.uuid(), kind.name(), kind.subject()];
        Ok(select(&self.pool, condition, params).await?.into_iter().next())
    }
}

#[async_trait]
impl Claims for PostgresStore {
    async fn claim_jobs(
        &self,
        now: Timestamp,
        leased_until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Stored<Job>>, StoreError> {
        let sql = format!(
            "WITH due AS MATERIALIZED (SELECT company_id, id FROM jobs \
             WHERE due_at <= $1 AND (leased_until IS NULL OR leased_until <= $1) \
             ORDER BY due_at, id LIMIT $3 FOR UPDATE SKIP LOCKED), \
             claimed AS (UPDATE jobs SET leased_until = $2, version = version + 1 FROM due \
             WHERE jobs.company_id = due.company_id AND jobs.id = due.id RETURNING jobs.*) \
             SELECT {} FROM claimed ORDER BY due_at, id",
            columns_of::<Job>("claimed")
        );
        let params = params![now.millis(), leased_until.millis(), i64::from(limit)];
        all_stored(&rows(&self.pool, sql, params).await?)
    }
}
