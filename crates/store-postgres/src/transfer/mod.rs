//! Moving the database to another one, and filling it from another one.

mod copy;
mod follow;
mod pgoutput;
mod read;
mod repeat;
mod schema;
mod session;
mod snapshot;
mod tables;
mod write;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::ids::CompanyId;
use recado_core::store::StoreError;
use recado_store_sql::transfer::{
    Fill, FollowError, Followed, Scope, TransferReader, TransferWriter, Transferable,
};

use crate::PostgresStore;
use crate::columns::Columns;
use crate::param::params;
use crate::session::rows;
use session::Session;

/// The server, by the moment of its start, the database and the schema.
const IDENTITY: &str = "SELECT format('postgres:%s:%s:%s', \
     extract(epoch FROM pg_postmaster_start_time()), current_database(), current_schema())";

/// Messages that a process is sending, calls that one is answering, and jobs that one has taken.
const UNDER_WAY: &str = "WITH alive AS (SELECT id FROM workers WHERE leased_until > $2) SELECT \
     (SELECT count(*) FROM messages_in_flight WHERE sender_id IN (SELECT id FROM alive) \
     AND ($1::uuid IS NULL OR company_id = $1)) + \
     (SELECT count(*) FROM remembered_calls WHERE worker_id IN (SELECT id FROM alive) \
     AND ($1::uuid IS NULL OR company_id = $1)) + \
     (SELECT count(*) FROM jobs WHERE leased_until > $2 \
     AND ($1::uuid IS NULL OR company_id = $1))";

#[async_trait]
impl Transferable for PostgresStore {
    async fn held_companies(&self) -> Result<Vec<CompanyId>, StoreError> {
        let companies =
            rows(&self.pool, "SELECT id FROM companies ORDER BY id", Vec::new()).await?;
        companies.iter().map(|row| Columns::new(row).get()).collect()
    }

    async fn identity(&self) -> Result<String, StoreError> {
        let found = rows(&self.pool, IDENTITY, Vec::new()).await?;
        found.first().map_or(Ok(String::new()), |row| Columns::new(row).get())
    }

    async fn under_way(&self, scope: Scope, now: Timestamp) -> Result<u64, StoreError> {
        let company = scope.company().map(|company| company.uuid());
        let found = rows(&self.pool, UNDER_WAY, params![company, now.millis()]).await?;
        found.first().map_or(Ok(0), |row| Columns::new(row).get())
    }

    async fn transfer_out(
        &self,
        scope: Scope,
        is_closed: bool,
    ) -> Result<Box<dyn TransferReader>, StoreError> {
        let session = Session::open(&self.pool, scope).await?;
        session.begin_reading(is_closed).await?;
        Ok(Box::new(session))
    }

    async fn transfer_in(
        &self,
        scope: Scope,
        fill: Fill,
    ) -> Result<Box<dyn TransferWriter>, StoreError> {
        let session = Session::open(&self.pool, scope).await?;
        Ok(Box::new(write::Filling::begin(session, fill).await?))
    }

    fn can_repeat(&self) -> bool {
        true
    }

    async fn follow(&self, company: CompanyId) -> Result<Followed, FollowError> {
        follow::follow(&self.pool, company).await
    }
}
