//! Rate limits shared through the database.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::access::{Limiter, RateCheck, RateDecision};
use recado_core::store::StoreError;

use crate::columns::Columns;
use crate::param::params;
use crate::pool::Pool;
use crate::session::rows;

/// A [`Limiter`] whose state all processes on one database share. It is made by
/// [`PostgresStore::limiter`](crate::PostgresStore::limiter). The state is not durable: after a
/// crash of the server every limit starts again with its full allowance.
#[derive(Clone)]
pub struct PostgresLimiter {
    pool: Pool,
}

impl fmt::Debug for PostgresLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresLimiter").finish_non_exhaustive()
    }
}

impl PostgresLimiter {
    pub(crate) const fn new(pool: Pool) -> Self {
        Self { pool }
    }
}

#[async_trait]
impl Limiter for PostgresLimiter {
    async fn check(
        &self,
        checks: &[RateCheck],
        now: Timestamp,
    ) -> Result<RateDecision, StoreError> {
        let mut checks: Vec<(String, _)> =
            checks.iter().map(|check| (check.key.to_string(), check.allowance)).collect();
        checks.sort_by(|(a, _), (b, _)| a.cmp(b));
        let intervals: Vec<i64> = checks.iter().map(|(_, gcra)| gcra.interval_micros()).collect();
        let bursts: Vec<i64> = checks.iter().map(|(_, gcra)| gcra.burst_micros()).collect();
        let keys: Vec<String> = checks.into_iter().map(|(key, _)| key).collect();
        let sql = "SELECT recado_rate_check($1, $2, $3, $4)";
        let params = params![keys, intervals, bursts, now.millis() * 1000];
        let found = rows(&self.pool, sql, params).await?;
        let row = found.first().ok_or_else(|| StoreError::corrupt("no answer of the limiter"))?;
        match Columns::new(row).get()? {
            0 => Ok(RateDecision::Allowed),
            wait => Ok(RateDecision::Limited { retry_after: Duration::from_micros(wait) }),
        }
    }
}
