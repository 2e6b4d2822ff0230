//! How far a store is with sealing what is not sealed with the current key.

use std::sync::Mutex;
use std::time::Duration;

use recado_core::Timestamp;

/// When a store looks again after it has found that all is sealed: another process, with older
/// keys, may write meanwhile.
const LOOK_AGAIN: Duration = Duration::from_secs(10 * 60);

/// How far a store is with sealing again (R218). Share it between the clones of a store.
#[derive(Debug, Default)]
pub struct SealingProgress(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Until when nothing is to be done.
    rest_until: Option<Timestamp>,
    /// How many were sealed since the last time that nothing was left.
    sealed: u64,
}

impl SealingProgress {
    /// Whether to look for what is not sealed with the current key.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.state().rest_until.is_none_or(|until| until <= now)
    }

    /// Notes what a round found that was not sealed with the current key, and what it sealed of
    /// that. When nothing is left, answers how many were sealed until now, if there were any.
    pub fn ended(&self, now: Timestamp, found: usize, sealed: usize) -> Option<u64> {
        let mut state = self.state();
        state.sealed += sealed as u64;
        // What cannot be sealed now is not tried, and logged, over and over.
        if sealed == 0 {
            state.rest_until = Some(now.plus(LOOK_AGAIN));
        }
        let all = if found == 0 { std::mem::take(&mut state.sealed) } else { 0 };
        (all > 0).then_some(all)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R218.
    #[test]
    fn after_all_is_sealed_a_store_looks_again_later() {
        let (progress, now) = (SealingProgress::default(), Timestamp::from_millis(0));
        assert!(progress.is_due(now));
        assert_eq!(progress.ended(now, 2, 2), None);
        assert_eq!(progress.ended(now, 2, 1), None);
        assert!(progress.is_due(now), "some are left");
        assert_eq!(progress.ended(now, 0, 0), Some(3));
        assert!(!progress.is_due(now));
        assert!(progress.is_due(now.plus(LOOK_AGAIN)));
        assert_eq!(progress.ended(now, 0, 0), None);
    }

    /// R218.
    #[test]
    fn what_cannot_be_sealed_is_tried_again_later() {
        let (progress, now) = (SealingProgress::default(), Timestamp::from_millis(0));
        assert_eq!(progress.ended(now, 1, 0), None);
        assert!(!progress.is_due(now));
        assert!(progress.is_due(now.plus(LOOK_AGAIN)));
    }
}
