//! Rate limits shared through the database.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::access::{Gcra, Limiter, RateCheck, RateDecision};
use recado_core::store::StoreError;

use crate::columns::Columns;
use crate::error::failed;
use crate::param::params;
use crate::pool::Pool;
use crate::session::{Session, Statement, TransactionMode};
use crate::shared_calls::{SharedCall, SharedCalls};

/// A [`Limiter`] whose state all processes on one database share. It is made by
/// [`PostgresStore::limiter`](crate::PostgresStore::limiter). The state is not durable: after a
/// crash of the server every limit starts again with its full allowance.
#[derive(Clone)]
pub struct PostgresLimiter {
    pool: Pool,
    charges: SharedCalls<Charge>,
}

impl fmt::Debug for PostgresLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresLimiter").finish_non_exhaustive()
    }
}

impl PostgresLimiter {
    pub(crate) fn new(pool: Pool) -> Self {
        Self { pool, charges: SharedCalls::default() }
    }
}

/// A call to be charged. Its checks are in the order of their keys.
#[derive(Debug)]
pub(crate) struct Charge {
    checks: Vec<(String, Gcra)>,
    now: Timestamp,
}

/// Charges calls that have the same allowances, one after the other.
const CHARGE: &str = "SELECT * FROM recado_rate_checks($1, $2, $3, $4)";

impl SharedCall for Charge {
    type Answer = RateDecision;

    async fn answer_all(pool: &Pool, calls: Vec<Self>) -> Result<Vec<RateDecision>, StoreError> {
        // Two processes lock the rows of allowances in the same order.
        let mut order: Vec<usize> = (0..calls.len()).collect();
        order.sort_by(|one, other| {
            let checks = |at: &usize| calls.get(*at).map(|call| sorted(&call.checks));
            checks(one).cmp(&checks(other))
        });
        let groups = order.chunk_by(|one, other| {
            calls.get(*one).map(|call| &call.checks) == calls.get(*other).map(|call| &call.checks)
        });
        let groups: Vec<&[usize]> = groups.collect();
        let statements = groups.iter().map(|group| statement(&calls, group)).collect();
        let session = Session::take(pool).await?;
        // Each group is charged by itself, so that nobody waits for two rows.
        let outcome = session.run(TransactionMode::Nothing, statements).await?;
        let found = outcome.into_rows().map_err(|(_, error)| failed(error))?;
        let mut decisions = vec![RateDecision::Allowed; calls.len()];
        for (group, rows) in groups.into_iter().zip(found) {
            if rows.len() != group.len() {
                return Err(StoreError::corrupt("no answer of the limiter"));
            }
            for (at, row) in group.iter().zip(rows) {
                let wait = Columns::new(&row).get()?;
                if let (Some(decision), true) = (decisions.get_mut(*at), wait > 0) {
                    *decision = RateDecision::Limited { retry_after: Duration::from_micros(wait) };
                }
            }
        }
        Ok(decisions)
    }
}

/// What calls are ordered by.
fn sorted(checks: &[(String, Gcra)]) -> Vec<(&str, (i64, i64))> {
    let parts = |gcra: Gcra| (gcra.interval_micros(), gcra.burst_micros());
    checks.iter().map(|(key, gcra)| (key.as_str(), parts(*gcra))).collect()
}

fn statement(calls: &[Charge], group: &[usize]) -> Statement {
    let checks = group.first().and_then(|at| calls.get(*at)).map(|call| &*call.checks);
    let checks = checks.unwrap_or_default();
    let keys: Vec<String> = checks.iter().map(|(key, _)| key.clone()).collect();
    let intervals: Vec<i64> = checks.iter().map(|(_, gcra)| gcra.interval_micros()).collect();
    let bursts: Vec<i64> = checks.iter().map(|(_, gcra)| gcra.burst_micros()).collect();
    let times = group.iter().filter_map(|at| calls.get(*at));
    let times: Vec<i64> = times.map(|call| call.now.millis() * 1000).collect();
    Statement::new(CHARGE, params![keys, intervals, bursts, times])
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
        self.charges.make(&self.pool, Charge { checks, now }).await
    }
}
