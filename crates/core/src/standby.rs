//! A standby of the database, and how far it is behind (R462).

use std::fmt;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use crate::clock::Timestamp;
use crate::store::{Reads, StoreError};

/// How often the standby is asked how far it is, at most.
const ASKED_AGAIN: Duration = Duration::from_secs(1);
/// How long it may take to answer before it is asked again.
const UNANSWERED: Duration = Duration::from_secs(30);

/// A copy of the database that follows it with some delay, such as a hot standby of Postgres.
#[async_trait]
pub trait Replica: Reads {
    /// Up to when it shows the database: everything that was committed before is seen by reads that
    /// begin after the answer. `None` where it cannot tell, or follows no database (any more).
    ///
    /// # Errors
    ///
    /// When it cannot be reached.
    async fn shows_until(&self) -> Result<Option<Timestamp>, StoreError>;
}

/// A standby for listings, and how far it may be behind.
#[derive(Clone)]
pub struct Standby {
    /// The copy.
    pub replica: Arc<dyn Replica>,
    /// Listings are read from the database itself while the copy is further behind than this.
    pub max_staleness: Duration,
}

impl fmt::Debug for Standby {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let max = &self.max_staleness;
        f.debug_struct("Standby").field("max_staleness", max).finish_non_exhaustive()
    }
}

/// What is known of a standby.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StandbyFigures {
    /// Up to when it showed the database when it was asked last; `None` while it cannot be used.
    pub shows_until: Option<Timestamp>,
    /// How many reads of listings it has answered.
    pub reads: u64,
    /// How many reads of listings it has failed to answer; the database answered them.
    pub failures: u64,
}

/// How far the standby was when it was asked last.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    until: Option<Timestamp>,
    asked_at: Option<Timestamp>,
    is_answered: bool,
}

impl Progress {
    /// Of what time the state is that a listing may be read from; `None` for none.
    fn state(self, now: Timestamp, max_staleness: Duration) -> Option<Timestamp> {
        self.until.filter(|until| now.since(*until) <= max_staleness)
    }

    /// Whether to ask again.
    fn is_due(self, now: Timestamp) -> bool {
        let wait = if self.is_answered { ASKED_AGAIN } else { UNANSWERED };
        self.asked_at.is_none_or(|at| now.since(at) >= wait)
    }
}

/// The standby of an installation, if it has one, and how far it is.
#[derive(Debug, Default)]
pub(crate) struct KnownStandby {
    standby: Option<Standby>,
    progress: Mutex<Progress>,
    reads: AtomicU64,
    failures: AtomicU64,
}

impl KnownStandby {
    pub(crate) fn new(standby: Option<Standby>) -> Self {
        Self { standby, ..Self::default() }
    }

    pub(crate) fn standby(&self) -> Option<Standby> {
        self.standby.clone()
    }

    /// What is known of it; `None` without one.
    pub(crate) fn figures(&self) -> Option<StandbyFigures> {
        self.standby.as_ref()?;
        Some(StandbyFigures {
            shows_until: self.progress().until,
            reads: self.reads.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
        })
    }

    /// The copy, if it is near enough to the database, and of what time the state is that it shows.
    pub(crate) fn near(&self, now: Timestamp) -> Option<(&dyn Replica, Timestamp)> {
        let standby = self.standby.as_ref()?;
        let state = self.progress().state(now, standby.max_staleness)?;
        Some((&*standby.replica, state))
    }

    /// The copy has answered a read of a listing, or has failed to: then it is not read until it
    /// has said anew how far it is.
    pub(crate) fn answered(&self, is_answered: bool) {
        if is_answered {
            self.reads.fetch_add(1, Ordering::Relaxed);
        } else {
            self.failures.fetch_add(1, Ordering::Relaxed);
            self.progress().until = None;
        }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether to ask how far it is; whoever is told so has to do it.
    pub(crate) fn begin_asking(&self, now: Timestamp) -> bool {
        let mut progress = self.progress();
        let is_due = progress.is_due(now);
        if is_due {
            *progress = Progress { asked_at: Some(now), is_answered: false, ..*progress };
        }
        is_due
    }

    /// It has said how far it is.
    pub(crate) fn told(&self, until: Option<Timestamp>) {
        let mut progress = self.progress();
        *progress = Progress { until, is_answered: true, ..*progress };
    }
}

/// Of what time the oldest state is that listings of a handle have shown.
#[derive(Clone, Debug)]
pub(crate) struct ListingsAsOf(Arc<AtomicI64>);

impl Default for ListingsAsOf {
    fn default() -> Self {
        Self(Arc::new(AtomicI64::new(i64::MAX)))
    }
}

impl ListingsAsOf {
    pub(crate) fn shown(&self, state: Timestamp) {
        self.0.fetch_min(state.millis(), Ordering::Relaxed);
    }

    pub(crate) fn oldest(&self) -> Option<Timestamp> {
        let oldest = self.0.load(Ordering::Relaxed);
        (oldest != i64::MAX).then(|| Timestamp::from_millis(oldest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);
    const MAX: Duration = Duration::from_secs(10);

    /// R462.
    #[test]
    fn a_standby_is_read_while_it_is_no_further_behind_than_allowed() {
        let of = |until| Progress { until, ..Progress::default() }.state(NOW, MAX);
        let near = NOW.minus(MAX);
        assert_eq!(of(Some(near)), Some(near));
        assert_eq!(of(Some(near.minus(Duration::from_millis(1)))), None);
        assert_eq!(of(None), None);
        let ahead = NOW.plus(MAX);
        assert_eq!(of(Some(ahead)), Some(ahead), "its clock is ahead");
    }

    /// R462.
    #[test]
    fn a_standby_is_asked_once_a_second_and_not_while_it_owes_an_answer() {
        let known = KnownStandby::default();
        assert!(known.begin_asking(NOW));
        assert!(!known.begin_asking(NOW.plus(ASKED_AGAIN)));
        known.told(Some(NOW));
        assert!(!known.begin_asking(NOW.plus(ASKED_AGAIN / 2)));
        assert!(known.begin_asking(NOW.plus(ASKED_AGAIN)));
        assert!(known.begin_asking(NOW.plus(ASKED_AGAIN).plus(UNANSWERED)), "it never answered");
        assert_eq!(known.progress().until, Some(NOW), "it is as far, at least");
    }

    /// R462.
    #[test]
    fn of_several_listings_the_oldest_state_is_told() {
        let as_of = ListingsAsOf::default();
        assert_eq!(as_of.oldest(), None);
        for state in [NOW, NOW.minus(MAX), NOW.plus(MAX)] {
            as_of.clone().shown(state);
        }
        assert_eq!(as_of.oldest(), Some(NOW.minus(MAX)));
    }
}
