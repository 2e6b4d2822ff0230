//! Connections that wait for their next request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::time::Instant;

use crate::exchange::Live;
use crate::target::Origin;

/// How long an unused connection is kept.
const IDLE: Duration = Duration::from_secs(60);
/// How often unused connections are looked through.
const SWEEP: Duration = Duration::from_secs(15);
/// How many unused connections are kept for one host.
const IDLE_PER_HOST: usize = 64;
/// How many unused connections are kept in all; beyond that the one unused for longest goes.
const IDLE_IN_ALL: usize = 512;

struct Idle {
    live: Live,
    since: Instant,
}

#[derive(Default)]
struct Shelf {
    /// Of each host, the longest unused first.
    hosts: HashMap<Origin, Vec<Idle>>,
    count: usize,
    sweeping: bool,
}

/// The unused connections of a client.
#[derive(Default)]
pub(crate) struct Pool(Mutex<Shelf>);

impl Pool {
    /// The connection to a host that was used last, if it still stands.
    pub(crate) fn take(&self, origin: &Origin) -> Option<Live> {
        loop {
            let mut idle = {
                let mut shelf = self.shelf();
                let idle = shelf.hosts.get_mut(origin)?.pop()?;
                shelf.count -= 1;
                idle
            };
            if idle.since.elapsed() < IDLE && idle.live.is_usable() {
                return Some(idle.live);
            }
        }
    }

    /// Keeps a connection for the next request to its host.
    pub(crate) fn put(self: &Arc<Self>, origin: Origin, mut live: Live) {
        if !live.is_usable() {
            return;
        }
        let mut shelf = self.shelf();
        // Dropped only after the lock.
        let mut surplus = None;
        if shelf.count >= IDLE_IN_ALL {
            surplus = shelf.remove_oldest();
        }
        let idle = shelf.hosts.entry(origin).or_default();
        if idle.len() >= IDLE_PER_HOST {
            drop(shelf);
            return;
        }
        idle.push(Idle { live, since: Instant::now() });
        shelf.count += 1;
        let sweep = !std::mem::replace(&mut shelf.sweeping, true);
        drop(shelf);
        drop(surplus);
        if sweep {
            tokio::spawn(sweep_while_needed(Sweeping(Arc::downgrade(self))));
        }
    }

    /// Drops what has been unused for too long or was closed by its peer; whether anything is left.
    fn sweep(&self) -> bool {
        let mut dropped = Vec::new();
        let mut shelf = self.shelf();
        shelf.hosts.retain(|_, idle| {
            dropped.extend(
                idle.extract_if(.., |idle| idle.since.elapsed() >= IDLE || !idle.live.is_usable()),
            );
            !idle.is_empty()
        });
        shelf.count -= dropped.len();
        let any_left = shelf.count > 0;
        if !any_left {
            shelf.sweeping = false;
        }
        any_left
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    fn remove_oldest(&mut self) -> Option<Idle> {
        let oldest = self.hosts.values_mut().filter(|idle| !idle.is_empty());
        let oldest = oldest.min_by_key(|idle| idle[0].since)?;
        let removed = oldest.remove(0);
        self.count -= 1;
        Some(removed)
    }
}

/// The task that sweeps, for as long as it lives: it may end with its runtime.
struct Sweeping(Weak<Pool>);

impl Drop for Sweeping {
    fn drop(&mut self) {
        if let Some(pool) = self.0.upgrade() {
            pool.shelf().sweeping = false;
        }
    }
}

async fn sweep_while_needed(sweeping: Sweeping) {
    loop {
        tokio::time::sleep(SWEEP).await;
        let Some(pool) = sweeping.0.upgrade() else { return };
        if !pool.sweep() {
            return;
        }
    }
}
