//! Unused connections that are kept for further requests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::time::Instant;

use crate::exchange::Live;
use crate::target::Origin;

/// The limits of a pool.
struct PoolLimits {
    /// How long an unused connection is kept. Many servers close theirs after five seconds; a
    /// request that meets the closing has an unknown outcome (D53).
    idle: Duration,
    /// How many unused connections are kept for one host.
    per_host: usize,
    /// How many unused connections are kept in all; beyond that the one unused for longest is
    /// closed.
    in_all: usize,
}

impl Default for PoolLimits {
    fn default() -> Self {
        Self { idle: Duration::from_secs(4), per_host: 64, in_all: 512 }
    }
}

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
pub(crate) struct Pool {
    limits: PoolLimits,
    shelf: Mutex<Shelf>,
}

impl Pool {
    /// The connection to a host that was used last, if it is still open and was not unused for
    /// longer than `max_idle`. If it was unused for longer, it stays for callers with a larger
    /// `max_idle`.
    pub(crate) fn take(&self, origin: &Origin, max_idle: Option<Duration>) -> Option<Live> {
        loop {
            let mut idle = {
                let mut shelf = self.shelf();
                let of_host = shelf.hosts.get_mut(origin)?;
                let newest = of_host.last()?;
                if max_idle.is_some_and(|longest| newest.since.elapsed() > longest) {
                    return None;
                }
                let idle = of_host.pop()?;
                shelf.count -= 1;
                idle
            };
            if idle.since.elapsed() < self.limits.idle && idle.live.is_usable() {
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
        if shelf.hosts.get(&origin).is_some_and(|idle| idle.len() >= self.limits.per_host) {
            drop(shelf);
            return;
        }
        // Dropped only after the lock.
        let is_full = shelf.count >= self.limits.in_all;
        let surplus = is_full.then(|| shelf.remove_oldest());
        let idle = Idle { live, since: Instant::now() };
        shelf.hosts.entry(origin).or_default().push(idle);
        shelf.count += 1;
        let sweep = !std::mem::replace(&mut shelf.sweeping, true);
        drop(shelf);
        drop(surplus);
        if sweep {
            tokio::spawn(sweep_while_needed(Sweeping(Arc::downgrade(self))));
        }
    }

    /// Closes connections that were unused for too long or that the peer has closed; returns when
    /// the next of the others will have been unused for too long, `None` when none is left.
    fn sweep(&self) -> Option<Instant> {
        let mut dropped = Vec::new();
        let mut shelf = self.shelf();
        shelf.hosts.retain(|_, idle| {
            dropped.extend(idle.extract_if(.., |idle| {
                idle.since.elapsed() >= self.limits.idle || !idle.live.is_usable()
            }));
            !idle.is_empty()
        });
        shelf.count -= dropped.len();
        let oldest = shelf.hosts.values().flatten().map(|idle| idle.since).min();
        if oldest.is_none() {
            shelf.sweeping = false;
        }
        oldest.map(|since| since + self.limits.idle)
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Marks that the sweeping task runs, until it is dropped: the task may end with its runtime.
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
        let next = {
            let Some(pool) = sweeping.0.upgrade() else { return };
            pool.sweep()
        };
        let Some(next) = next else { return };
        tokio::time::sleep_until(next).await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::stream::Stream;
    use crate::target::OutboundTarget;

    fn pool(per_host: usize, in_all: usize) -> Arc<Pool> {
        let limits = PoolLimits { per_host, in_all, ..PoolLimits::default() };
        Arc::new(Pool { limits, shelf: Mutex::default() })
    }

    fn origin(host: &str) -> Origin {
        OutboundTarget::parse(&format!("http://{host}/")).expect("a URL").origin()
    }

    /// A connection, and its other end.
    async fn live() -> (Live, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (ours, theirs) = tokio::join!(TcpStream::connect(address), listener.accept());
        let stream = Stream::plain(ours.expect("connected"));
        (Live::begin(stream).await.expect("begun"), theirs.expect("accepted").0)
    }

    /// Keeps a connection for each host; returns their other ends.
    async fn keep(pool: &Arc<Pool>, hosts: &[&str]) -> Vec<TcpStream> {
        let mut made = Vec::new();
        for _ in hosts {
            made.push(live().await);
        }
        // Nothing is waited for once a connection is kept: a paused clock would go on meanwhile.
        let kept = hosts.iter().zip(made).map(|(host, (live, peer))| {
            pool.put(origin(host), live);
            peer
        });
        kept.collect()
    }

    /// How many connections to a host are left.
    fn left(pool: &Pool, host: &str) -> usize {
        std::iter::from_fn(|| pool.take(&origin(host), None)).count()
    }

    #[tokio::test]
    async fn one_host_keeps_no_more_than_its_share() {
        let pool = pool(2, 10);
        let _peers = keep(&pool, &["a", "a", "a", "b"]).await;
        assert_eq!((left(&pool, "a"), left(&pool, "b"), left(&pool, "c")), (2, 1, 0));
    }

    #[tokio::test]
    async fn of_all_the_one_unused_for_longest_makes_room() {
        let pool = pool(2, 3);
        let _peers = keep(&pool, &["a", "b", "a", "c", "d"]).await;
        assert_eq!(pool.shelf().count, 3);
        let kept = ["a", "b", "c", "d"].map(|host| left(&pool, host));
        assert_eq!(kept, [1, 0, 1, 1]);
        assert_eq!(pool.shelf().count, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn an_old_connection_is_not_used_and_not_kept() {
        let pool = pool(2, 10);
        let _peers = keep(&pool, &["a", "b"]).await;
        pool.shelf().hosts.values_mut().flatten().for_each(|idle| idle.since = Instant::now());
        tokio::time::advance(pool.limits.idle - Duration::from_millis(1)).await;
        assert_eq!(left(&pool, "a"), 1);
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(pool.sweep(), None);
        assert_eq!(pool.shelf().count, 0);
        assert_eq!(left(&pool, "b"), 0);
    }

    /// D53.
    #[tokio::test(start_paused = true)]
    async fn a_connection_is_closed_after_four_seconds_without_a_request() {
        let pool = pool(2, 10);
        let (live, mut peer) = live().await;
        let kept = Instant::now();
        pool.put(origin("a"), live);
        let mut byte = [0];
        assert_eq!(peer.read(&mut byte).await.expect("an end"), 0);
        let open = kept.elapsed();
        assert!((4000..4100).contains(&open.as_millis()), "{open:?}");
    }

    /// D53.
    #[tokio::test]
    async fn a_connection_that_was_closed_is_seen_before_the_runtime_has_heard_of_it() {
        for _ in 0..50 {
            let pool = pool(2, 10);
            let (live, peer) = live().await;
            pool.put(origin("a"), live);
            // Nothing is awaited between the two, so the runtime has polled no socket meanwhile.
            drop(peer);
            assert_eq!(left(&pool, "a"), 0);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_is_too_old_for_one_caller_is_left_to_others() {
        let pool = pool(2, 10);
        let _peers = keep(&pool, &["a"]).await;
        pool.shelf().hosts.values_mut().flatten().for_each(|idle| idle.since = Instant::now());
        let within = |secs| pool.take(&origin("a"), Some(Duration::from_secs(secs)));
        tokio::time::advance(Duration::from_secs(3)).await;
        assert!(within(2).is_none());
        assert_eq!(pool.shelf().count, 1);
        assert!(within(3).is_some());
        assert_eq!(pool.shelf().count, 0);
    }

    #[tokio::test]
    async fn a_connection_that_its_peer_closed_is_swept() {
        let pool = pool(2, 10);
        drop(keep(&pool, &["a", "b"]).await);
        while pool.sweep().is_some() {
            tokio::task::yield_now().await;
        }
        assert!(pool.shelf().hosts.is_empty());
    }
}
