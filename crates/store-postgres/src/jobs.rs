//! Durable background jobs.

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::halts::HaltSubject;
use recado_core::ids::CompanyId;
use recado_core::jobs::{Job, JobKind, JobReads};
use recado_core::store::{Claims, StoreError, Stored};

use crate::PostgresStore;
use crate::param::params;
use crate::session::{all_stored, rows, select};
use crate::table::columns_of;

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
        except: &[&'static str],
    ) -> Result<Vec<Stored<Job>>, StoreError> {
        // A closure waits for this statement, as for a commit.
        let sql = format!(
            "WITH closed AS MATERIALIZED (SELECT subject FROM halts WHERE kind = 'writing' \
             FOR KEY SHARE), \
             due AS MATERIALIZED (SELECT company_id, id FROM jobs \
             WHERE due_at <= $1 AND (leased_until IS NULL OR leased_until <= $1) \
             AND kind <> ALL ($4::text[]) AND NOT EXISTS (SELECT FROM closed \
             WHERE closed.subject IN (jobs.company_id, $5::uuid)) \
             ORDER BY due_at, id LIMIT $3 FOR UPDATE SKIP LOCKED), \
             claimed AS (UPDATE jobs SET leased_until = $2, version = version + 1 FROM due \
             WHERE jobs.company_id = due.company_id AND jobs.id = due.id RETURNING jobs.*) \
             SELECT {} FROM claimed ORDER BY due_at, id",
            columns_of::<Job>("claimed")
        );
        let everything = HaltSubject::Writing.whose();
        let (now, until, limit) = (now.millis(), leased_until.millis(), i64::from(limit));
        let params = params![now, until, limit, except.to_vec(), everything];
        all_stored(&rows(&self.pool, sql, params).await?)
    }
}
