//! Places for files, counted for each company and in all, so that one company does not hold all of
//! them (R425).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use recado_core::ids::CompanyId;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// How long a file waits for a place.
const WAIT: Duration = Duration::from_secs(5);

/// The places of this process for files that are received, or sent. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Places(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    of_company: usize,
    in_all: usize,
    taken: Mutex<HashMap<CompanyId, usize>>,
    freed: Notify,
}

/// One place. It is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    places: Places,
    company: CompanyId,
}

impl Places {
    /// So many places for each company, and so many in all; at least one.
    pub(crate) fn new(of_company: usize, in_all: usize) -> Self {
        Self(Arc::new(Shared {
            of_company: of_company.max(1),
            in_all: in_all.max(1),
            taken: Mutex::default(),
            freed: Notify::new(),
        }))
    }

    /// R425. A place for a file of the company; `None` if there is none within 5 seconds.
    pub(crate) async fn enter(&self, company: CompanyId) -> Option<Place> {
        let end = Instant::now() + WAIT;
        loop {
            // Before the look, so that a place that becomes free meanwhile is not missed.
            let freed = self.0.freed.notified();
            let mut freed = std::pin::pin!(freed);
            freed.as_mut().enable();
            if let Some(place) = self.take(company) {
                return Some(place);
            }
            timeout_at(end, freed).await.ok()?;
        }
    }

    fn take(&self, company: CompanyId) -> Option<Place> {
        let mut taken = self.taken();
        let own = taken.get(&company).copied().unwrap_or_default();
        if own >= self.0.of_company || taken.values().sum::<usize>() >= self.0.in_all {
            return None;
        }
        taken.insert(company, own + 1);
        Some(Place { places: self.clone(), company })
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<CompanyId, usize>> {
        self.0.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        if let Some(own) = taken.get_mut(&self.company) {
            *own -= 1;
        }
        taken.retain(|_, own| *own > 0);
        drop(taken);
        self.places.0.freed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn company(n: usize) -> CompanyId {
        CompanyId::parse(&format!("00000000-0000-0000-0000-{n:012}")).expect("an id")
    }

    /// R425.
    #[tokio::test(start_paused = true)]
    async fn a_company_has_its_places_and_leaves_the_others_theirs() {
        let places = Places::new(2, 3);
        let one = places.enter(company(1)).await.expect("the first");
        let _other = places.enter(company(1)).await.expect("the second");
        let asked = Instant::now();
        assert!(places.enter(company(1)).await.is_none(), "it has two");
        assert_eq!(asked.elapsed(), WAIT);
        let _theirs = places.enter(company(2)).await.expect("theirs");
        assert!(places.enter(company(2)).await.is_none(), "all are taken");
        drop(one);
        assert!(places.enter(company(2)).await.is_some());
    }

    /// R425.
    #[tokio::test(start_paused = true)]
    async fn who_waits_gets_the_place_that_becomes_free() {
        let places = Places::new(1, 8);
        let held = places.enter(company(1)).await.expect("it is free");
        let leaves = async {
            tokio::time::sleep(WAIT / 2).await;
            drop(held);
        };
        let (later, ()) = tokio::join!(places.enter(company(1)), leaves);
        assert!(later.is_some());
        drop(later);
        assert!(places.taken().is_empty(), "nothing is kept of who has left");
    }
}
