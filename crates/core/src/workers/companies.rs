//! The companies that a process looks after in its regular sweeps.

use crate::access::Company;
use crate::ids::{CompanyId, WorkerId};
use crate::store::{Listing, Record, RecordsExt, RowKind, StoreError};
use crate::workers::Worker;
use crate::{Recado, Timestamp};

/// The processes that shards may be assigned to at `now`.
pub(crate) fn delivering(workers: &[Worker], now: Timestamp) -> Vec<WorkerId> {
    let keeps = |worker: &&Worker| worker.runs_deliveries && worker.keeps_shards(now);
    workers.iter().filter(keeps).map(|worker| worker.id).collect()
}

impl Recado {
    /// The companies with rows of a kind that this process looks after, by id: those of its shards
    /// (R456). Without the ones that are being deleted, and those of whom nothing may be written
    /// now. Where no process runs a delivery worker, whoever asks looks after all of them.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(crate) async fn companies_looked_after(
        &self,
        kind: RowKind,
    ) -> Result<Vec<CompanyId>, StoreError> {
        let companies = self.store().rows(Listing::CompaniesWith { kind }).await?;
        if companies.is_empty() {
            return Ok(Vec::new());
        }
        let workers = self.store().all::<Worker>(()).await?;
        let shards = self.store().shards().await?;
        let own = shards.shares(self.own_lease().id(), &delivering(&workers, self.now()));
        let halted = self.halts().current().await?;
        let is_own = |company: &&Company| {
            own.contains(&shards.of_company(company.id))
                && company.is_there()
                && !halted.is_closed_for(company.id)
        };
        let companies = companies.iter().filter_map(|row| Company::of(row.value()));
        Ok(companies.filter(is_own).map(|company| company.id).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use uuid::Uuid;

    use super::*;
    use crate::workers::SHARD_LEASE;

    const NOW: Timestamp = Timestamp::from_millis(1_763_000_000_000);

    fn worker(n: u128, runs_deliveries: bool, since_renewal: Duration) -> Worker {
        let leased_until = NOW.minus(since_renewal).plus(crate::workers::LEASE);
        Worker { id: WorkerId::new(Uuid::from_u128(n)), leased_until, runs_deliveries }
    }

    /// R67, R98, R456.
    #[test]
    fn shards_fall_to_processes_that_deliver_and_have_renewed_their_lease() {
        let workers = [
            worker(1, true, Duration::ZERO),
            worker(2, false, Duration::ZERO),
            worker(3, true, SHARD_LEASE),
            worker(4, true, SHARD_LEASE - Duration::from_millis(1)),
        ];
        assert_eq!(delivering(&workers, NOW), [workers[0].id, workers[3].id]);
    }
}
