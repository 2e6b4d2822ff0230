//! The halts as this process last read them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::Halted;
use crate::Timestamp;

/// The halts as this process last read them (R251).
#[derive(Debug, Default)]
pub(crate) struct KnownHalts(Mutex<Option<(Arc<Halted>, Timestamp)>>);

impl KnownHalts {
    /// What is known, however old it is; `None` before the first read.
    pub(crate) fn last(&self) -> Option<Arc<Halted>> {
        self.lock().as_ref().map(|(halted, _)| Arc::clone(halted))
    }

    /// What is known, if it was read less than `max_age` ago.
    pub(super) fn recent(&self, now: Timestamp, max_age: Duration) -> Option<Arc<Halted>> {
        let known = self.lock();
        let (halted, read) = known.as_ref()?;
        let is_recent = *read <= now && now < read.plus(max_age);
        is_recent.then(|| Arc::clone(halted))
    }

    /// Keeps what was read after `now`.
    pub(super) fn remember(&self, halted: Halted, now: Timestamp) -> Arc<Halted> {
        let halted = Arc::new(halted);
        *self.lock() = Some((Arc::clone(&halted), now));
        halted
    }

    /// What is known is outdated: the next caller reads. What [`KnownHalts::last`] answers stays.
    pub(crate) fn outdate(&self) {
        if let Some((_, read)) = &mut *self.lock() {
            *read = Timestamp::MIN;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(Arc<Halted>, Timestamp)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGE: Duration = Duration::from_secs(2);

    /// R251.
    #[test]
    fn what_was_read_is_good_for_its_time_and_no_longer() {
        let at = Timestamp::from_millis;
        let known = KnownHalts::default();
        assert_eq!((known.last(), known.recent(at(0), AGE)), (None, None));
        known.remember(Halted::default(), at(10_000));
        assert!(known.recent(at(10_000), AGE).is_some());
        assert!(known.recent(at(11_999), AGE).is_some());
        assert!(known.recent(at(12_000), AGE).is_none());
        assert!(known.recent(at(9_999), AGE).is_none(), "the clock was set back");
        known.outdate();
        assert!(known.recent(at(10_000), AGE).is_none());
        assert!(known.last().is_some());
    }
}
