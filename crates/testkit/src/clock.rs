//! A clock that only tests move.

use std::future::poll_fn;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use async_trait::async_trait;
use recado_core::deliveries::Timer;
use recado_core::{Clock, Timestamp};

#[derive(Debug)]
struct Shown {
    now: AtomicI64,
    /// The elapsed time. Setting the clock back does not reduce it.
    passed: AtomicI64,
    sleepers: Mutex<Vec<Waker>>,
}

/// A clock for tests. Clones show and move the same time. A task that [sleeps](Timer::sleep) by
/// this clock wakes when the clock has advanced far enough. Setting the clock back neither wakes
/// nor delays it.
#[derive(Clone, Debug)]
pub struct TestClock(Arc<Shown>);

impl TestClock {
    /// The time at which [`TestClock::default`] starts: 2026-11-20T12:00:00Z.
    pub const START: Timestamp = Timestamp::from_millis(1_795_176_000_000);

    /// A clock that shows `now`.
    pub fn at(now: Timestamp) -> Self {
        let now = AtomicI64::new(now.millis());
        let passed = AtomicI64::new(0);
        Self(Arc::new(Shown { now, passed, sleepers: Mutex::default() }))
    }

    /// Moves the clock to `now`, forwards or backwards.
    pub fn set(&self, now: Timestamp) {
        let before = self.0.now.swap(now.millis(), Ordering::SeqCst);
        self.0.passed.fetch_add((now.millis() - before).max(0), Ordering::SeqCst);
        self.wake();
    }

    /// Sets the clock back, as a correction of a wrong clock does. Elapsed time does not change.
    pub fn set_back(&self, by: Duration) {
        let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        self.0.now.fetch_sub(by, Ordering::SeqCst);
    }

    /// Moves the clock forwards.
    pub fn advance(&self, by: Duration) {
        let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        self.0.now.fetch_add(by, Ordering::SeqCst);
        self.0.passed.fetch_add(by, Ordering::SeqCst);
        self.wake();
    }

    fn wake(&self) {
        let sleepers = std::mem::take(&mut *self.sleepers());
        sleepers.into_iter().for_each(Waker::wake);
    }

    fn sleepers(&self) -> std::sync::MutexGuard<'_, Vec<Waker>> {
        self.0.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for TestClock {
    fn default() -> Self {
        Self::at(Self::START)
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.now.load(Ordering::SeqCst))
    }
}

#[async_trait]
impl Timer for TestClock {
    async fn sleep(&self, duration: Duration) {
        let duration = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        let passed = || self.0.passed.load(Ordering::SeqCst);
        let until = passed().saturating_add(duration);
        poll_fn(|context| {
            let mut sleepers = self.sleepers();
            if passed() >= until {
                return Poll::Ready(());
            }
            sleepers.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_clock_that_is_set_back_holds_no_sleeper_up() {
        let clock = TestClock::default();
        let sleeper = tokio::spawn({
            let clock = clock.clone();
            async move { clock.sleep(Duration::from_secs(2)).await }
        });
        tokio::task::yield_now().await;
        clock.advance(Duration::from_secs(1));
        clock.set_back(Duration::from_secs(3_600));
        tokio::task::yield_now().await;
        assert!(!sleeper.is_finished());
        clock.advance(Duration::from_secs(1));
        sleeper.await.expect("it wakes");
        assert_eq!(clock.now(), Timestamp::from_millis(TestClock::START.millis() - 3_598_000));
    }
}
