//! Background jobs and their leases.

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::halts::HaltSubject;
use recado_core::ids::CompanyId;
use recado_core::jobs::{Job, JobKind, JobReads};
use recado_core::store::{Claims, CommitError, StoreError, Stored};

use crate::SqliteStore;
use crate::batch::Transaction;
use crate::cell::Cell;
use crate::database::Connection;
use crate::error::ReadResult;
use crate::table::{self};
use crate::writer::{expect_no_conflict, read_error};

/// Jobs that may be claimed, oldest `due_at` first.
fn claimable(
    conn: &Connection,
    now: Timestamp,
    limit: u32,
    except: &[&'static str],
) -> ReadResult<Vec<Stored<Job>>> {
    let open = "due_at <= ?1 AND (leased_until IS NULL OR leased_until <= ?1) AND NOT EXISTS \
                (SELECT 1 FROM halts WHERE halts.kind = ?3 AND halts.subject IN (?4, company_id))";
    let except = match except {
        [] => String::new(),
        except => format!("AND kind NOT IN ('{}') ", except.join("', '")),
    };
    let condition = format!("{open} {except}ORDER BY due_at, id LIMIT ?2");
    let writing = HaltSubject::Writing;
    let values: [Cell<'_>; 4] =
        [now.into(), limit.into(), writing.kind().as_str().into(), writing.whose().into()];
    table::list(conn, &condition, &values)
}

fn claim(
    tx: &mut Transaction<'_>,
    now: Timestamp,
    leased_until: Timestamp,
    limit: u32,
    except: &[&'static str],
) -> Result<Vec<Stored<Job>>, CommitError> {
    let jobs = claimable(tx.conn, now, limit, except).map_err(read_error)?;
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
        except: &[&'static str],
    ) -> Result<Vec<Stored<Job>>, StoreError> {
        let except = except.to_vec();
        let excepted = except.clone();
        // Usually no job is due; then no write transaction is needed.
        let due =
            self.read(move |conn| Ok(!claimable(conn, now, 1, &excepted)?.is_empty())).await?;
        if !due || limit == 0 {
            return Ok(Vec::new());
        }
        self.write(move |tx| claim(tx, now, leased_until, limit, &except))
            .await
            .map_err(expect_no_conflict)
    }
}
