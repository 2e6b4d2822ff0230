//! The limit on the memory that large bodies of unverified callers take together.

use std::future::pending;
use std::pin::pin;
use std::sync::Arc;

use futures_util::future::{Either, select};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of one permit.
const UNIT: usize = 1024;

/// A bound on bytes that are held at once. Clones share it.
///
/// Shares grow in steps, so the whole budget may be held by bodies that wait for more. To prevent
/// this deadlock, one body at a time may exceed the budget: it does not wait any more, and when it
/// is finished the next one may. So there is always progress, and the budget is exceeded by at most
/// one body.
#[derive(Clone, Debug)]
pub(crate) struct MemoryBudget {
    free: Arc<Semaphore>,
    units: usize,
    /// The permit to exceed the budget.
    beyond: Arc<Semaphore>,
}

/// A part of a budget, returned when it is dropped. It begins empty.
#[derive(Debug, Default)]
pub(crate) struct Share {
    within: Option<OwnedSemaphorePermit>,
    beyond: Option<OwnedSemaphorePermit>,
}

impl MemoryBudget {
    /// How much of each body needs no share.
    pub(crate) const FREE: usize = 64 * 1024;

    /// A budget of so many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        let units = bytes.div_ceil(UNIT).clamp(1, Semaphore::MAX_PERMITS);
        Self { free: Arc::new(Semaphore::new(units)), units, beyond: Arc::new(Semaphore::new(1)) }
    }

    /// Lets a share of this budget grow to so many bytes. Waits until there is room, in the order
    /// of the calls. If the future is dropped, the share stays as it was.
    pub(crate) async fn grow(&self, share: &mut Share, bytes: usize) {
        let held = share.within.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let wanted = bytes.div_ceil(UNIT).saturating_sub(held);
        if wanted == 0 || share.beyond.is_some() {
            return;
        }
        let within = async {
            match u32::try_from(wanted) {
                Ok(permits) if wanted <= self.units - held => {
                    self.free.clone().acquire_many_owned(permits).await
                }
                // The budget is never large enough.
                _ => pending().await,
            }
        };
        let beyond = self.beyond.clone().acquire_owned();
        match select(pin!(within), pin!(beyond)).await {
            Either::Left((permit, _)) => {
                let permit = permit.expect("a budget is never closed");
                match &mut share.within {
                    Some(within) => within.merge(permit),
                    none => *none = Some(permit),
                }
            }
            Either::Right((permit, _)) => {
                share.beyond = Some(permit.expect("a budget is never closed"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    /// Whether there is room at once.
    fn grows(budget: &MemoryBudget, share: &mut Share, units: usize) -> bool {
        budget.grow(share, units * UNIT).now_or_never().is_some()
    }

    /// A budget that one share exceeds already.
    fn budget(units: usize) -> (MemoryBudget, Share) {
        let budget = MemoryBudget::new(units * UNIT);
        let mut beyond = Share::default();
        assert!(grows(&budget, &mut beyond, units + 1) && beyond.beyond.is_some());
        (budget, beyond)
    }

    #[test]
    fn a_share_waits_for_others_to_be_given_back() {
        let (budget, _beyond) = budget(4);
        let [mut first, mut second, mut third] = <[Share; 3]>::default();
        assert!(grows(&budget, &mut first, 1) && grows(&budget, &mut first, 3));
        assert!(!grows(&budget, &mut second, 2));
        assert!(grows(&budget, &mut second, 1), "one is left");
        drop(first);
        assert!(grows(&budget, &mut second, 4), "to four, not by four");
        assert!(!grows(&budget, &mut third, 1));
    }

    #[test]
    fn one_at_a_time_goes_on_beyond_the_bound() {
        let budget = MemoryBudget::new(4 * UNIT);
        let [mut first, mut second, mut third] = <[Share; 3]>::default();
        assert!(grows(&budget, &mut first, 2) && grows(&budget, &mut second, 2));
        // Each holds a part and needs more.
        assert!(grows(&budget, &mut first, 3) && grows(&budget, &mut first, 1000));
        assert!(!grows(&budget, &mut second, 3) && !grows(&budget, &mut third, 1));
        drop(first);
        assert!(grows(&budget, &mut second, 5) && second.beyond.is_some());
        assert!(grows(&budget, &mut third, 2) && third.beyond.is_none());
    }

    #[test]
    fn whoever_gives_up_waiting_keeps_nobody_waiting() {
        let (budget, beyond) = budget(4);
        let [mut first, mut second] = <[Share; 2]>::default();
        assert!(grows(&budget, &mut first, 3));
        assert!(!grows(&budget, &mut second, 4) && !grows(&budget, &mut second, 9));
        assert!(second.within.is_none() && second.beyond.is_none());
        assert!(grows(&budget, &mut first, 4));
        drop(beyond);
        assert!(grows(&budget, &mut second, 9));
    }

    #[test]
    fn even_an_empty_budget_lets_somebody_in() {
        let budget = MemoryBudget::new(0);
        assert!(grows(&budget, &mut Share::default(), 1));
        assert!(grows(&budget, &mut Share::default(), usize::MAX / UNIT));
    }
}
