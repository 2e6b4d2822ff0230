//! How much memory the large bodies of callers that nobody knows yet may take together.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of one permit.
const UNIT: usize = 1024;

/// A bound on bytes that are held at once. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    free: Arc<Semaphore>,
    units: u32,
}

/// A part of a budget, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Share(#[expect(dead_code, reason = "held for its drop")] OwnedSemaphorePermit);

impl Budget {
    /// How much of each body needs no share.
    pub(crate) const FREE: usize = 64 * 1024;

    /// A budget of so many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        let units = u32::try_from(bytes.div_ceil(UNIT).min(Semaphore::MAX_PERMITS));
        let units = units.unwrap_or(u32::MAX).max(1);
        Self { free: Arc::new(Semaphore::new(units as usize)), units }
    }

    /// A share of so many bytes, or of all there are; whoever asked before is served before.
    pub(crate) async fn take(&self, bytes: usize) -> Share {
        let wanted = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX).min(self.units);
        let permit = self.free.clone().acquire_many_owned(wanted).await;
        Share(permit.expect("a budget is never closed"))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn a_share_waits_for_others_to_be_given_back() {
        let budget = Budget::new(4 * UNIT);
        let first = budget.take(3 * UNIT).now_or_never().expect("there is room");
        assert!(budget.take(2 * UNIT).now_or_never().is_none());
        let small = budget.take(1).now_or_never().expect("there is room");
        drop(first);
        assert!(budget.take(3 * UNIT).now_or_never().is_some());
        drop(small);
    }

    #[test]
    fn nobody_waits_for_more_than_there_is() {
        let budget = Budget::new(4 * UNIT);
        assert!(budget.take(usize::MAX).now_or_never().is_some());
        assert!(Budget::new(0).take(1).now_or_never().is_some());
    }
}
