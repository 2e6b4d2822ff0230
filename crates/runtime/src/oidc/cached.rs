//! A document of the provider, which is read by one call at a time (R435).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use recado_core::accounts::ProviderFailure;
use recado_core::{Clock, Timestamp};

/// For how long the description and the keys of the provider count.
pub(super) const FRESH: Duration = Duration::from_secs(60 * 60);
/// For how long a failure counts: a provider that is down is not asked by every sign-in.
pub(super) const FAILED: Duration = Duration::from_secs(5);

/// What was read last, and what the last attempt came to.
struct Last<T> {
    read: Option<(Timestamp, Arc<T>)>,
    failed: Option<(Timestamp, ProviderFailure)>,
}

/// A document that is read when it is needed.
pub(super) struct Cached<T> {
    last: Mutex<Last<T>>,
    /// Held by the call that reads.
    reading: tokio::sync::Mutex<()>,
}

impl<T> Default for Cached<T> {
    fn default() -> Self {
        let last = Last { read: None, failed: None };
        Self { last: Mutex::new(last), reading: tokio::sync::Mutex::default() }
    }
}

impl<T> Cached<T> {
    fn last(&self) -> MutexGuard<'_, Last<T>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was read, unless it is too old.
    pub(super) fn fresh(&self, now: Timestamp) -> Option<Arc<T>> {
        let (read_at, document) = self.last().read.clone()?;
        (now < read_at.plus(FRESH)).then_some(document)
    }

    /// What is known without reading: a document that is not this old one, or the failure of a
    /// moment ago.
    fn known(
        &self,
        old: Option<&Arc<T>>,
        now: Timestamp,
    ) -> Option<Result<Arc<T>, ProviderFailure>> {
        let is_new = |document: &Arc<T>| old.is_none_or(|old| !Arc::ptr_eq(old, document));
        if let Some(document) = self.fresh(now).filter(is_new) {
            return Some(Ok(document));
        }
        let (failed_at, failure) = self.last().failed.clone()?;
        (now < failed_at.plus(FAILED)).then_some(Err(failure))
    }

    /// R435. The document, other than this old one. One call at a time reads it, if it may; those
    /// that wait meanwhile get what that one got.
    pub(super) async fn other_than(
        &self,
        old: Option<&Arc<T>>,
        clock: &dyn Clock,
        may_read: impl FnOnce() -> Result<(), ProviderFailure>,
        read: impl Future<Output = Result<T, ProviderFailure>>,
    ) -> Result<Arc<T>, ProviderFailure> {
        if let Some(known) = self.known(old, clock.now()) {
            return known;
        }
        let _reading = self.reading.lock().await;
        if let Some(known) = self.known(old, clock.now()) {
            return known;
        }
        may_read()?;
        let outcome = read.await.map(Arc::new);
        let (now, mut last) = (clock.now(), self.last());
        match &outcome {
            Ok(document) => {
                last.read = Some((now, document.clone()));
                last.failed = None;
            }
            Err(failure) => last.failed = Some((now, failure.clone())),
        }
        outcome
    }
}
