//! A clock that stands still until it is moved.

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
    sleepers: Mutex<Vec<Waker>>,
}

/// A clock for tests. Clones show and move the same time, and those who [sleep](Timer::sleep) by it
/// wake when it is moved far enough.
#[derive(Clone, Debug)]
pub struct TestClock(Arc<Shown>);

impl TestClock {
    /// Where [`TestClock::default`] begins: 2026-11-20T12:00:00Z.
    pub const START: Timestamp = Timestamp::from_millis(1_795_176_000_000);

    /// A clock that shows `now`.
    pub fn at(now: Timestamp) -> Self {
        let now = AtomicI64::new(now.millis());
        Self(Arc::new(Shown { now, sleepers: Mutex::default() }))
    }

    /// Moves the clock to `now`, forth or back.
    pub fn set(&self, now: Timestamp) {
        self.0.now.store(now.millis(), Ordering::SeqCst);
        self.wake();
    }

    /// Moves the clock on.
    pub fn advance(&self, by: Duration) {
        let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        self.0.now.fetch_add(by, Ordering::SeqCst);
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
        let until = self.now().plus(duration);
        poll_fn(|context| {
            let mut sleepers = self.sleepers();
            if self.now() >= until {
                return Poll::Ready(());
            }
            sleepers.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}
