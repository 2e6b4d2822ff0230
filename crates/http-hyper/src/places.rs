//! The places that a server has for connections: how many, how many for one address, and which
//! idle connection makes room for another (R178, R179).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use recado_core::access::ClientNet;
use tokio::sync::Notify;

use crate::metrics;

/// The places of one listener.
#[derive(Debug)]
pub(crate) struct Places {
    /// How many there are.
    most: usize,
    /// How many of them one address may have.
    share: usize,
    state: Mutex<State>,
    /// Told when whoever waits for a place should look again.
    changed: Notify,
}

/// Every idle time has a number, which grows with time: the lowest is the longest.
#[derive(Debug, Default)]
struct State {
    last_number: u64,
    open: usize,
    idle: BTreeMap<u64, Idle>,
    /// Idle ones that were asked to go and are still open.
    leaving: HashMap<u64, Option<ClientNet>>,
    addresses: HashMap<ClientNet, Address>,
    /// Whether somebody waits for a place.
    awaited: bool,
}

#[derive(Debug)]
struct Idle {
    client: Option<ClientNet>,
    go: Arc<Notify>,
}

/// The connections of one address.
#[derive(Debug, Default)]
struct Address {
    open: usize,
    idle: BTreeSet<u64>,
    leaving: usize,
}

/// What there is for a new connection.
#[derive(Debug)]
enum Offer {
    Place(Place),
    /// One goes soon, or has to be waited for.
    Later,
    /// Its address has its share, and all of them are in use.
    Refused,
}

/// The place of one connection, free again when it is dropped. At first the connection is idle.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    client: Option<ClientNet>,
    go: Arc<Notify>,
    /// The number of its idle time; 0 while a request is under way.
    since: AtomicU64,
}

impl Places {
    /// So many places, of which one address may have `share`; at least one of each.
    pub(crate) fn new(most: usize, share: usize) -> Arc<Self> {
        let (most, share) = (most.max(1), share.max(1));
        Arc::new(Self { most, share, state: Mutex::default(), changed: Notify::new() })
    }

    /// A place for a connection from this address; without one, for a connection that counts for no
    /// address. If all are taken, the connection that is idle for the longest goes, and while none
    /// is idle, this waits (R178). `None` if the address has its share, and none of it is idle
    /// (R179). To be called by one task at a time.
    pub(crate) async fn enter(self: &Arc<Self>, client: Option<ClientNet>) -> Option<Place> {
        loop {
            match self.offer(client) {
                Offer::Place(place) => return Some(place),
                Offer::Refused => {
                    metrics::connection_shed("refused");
                    return None;
                }
                Offer::Later => self.changed.notified().await,
            }
        }
    }

    /// Asks the connection that is idle for the longest to go, for lack of descriptors, and waits
    /// until it has gone; if none is idle or it does not go, for so long.
    pub(crate) async fn make_room(&self, at_most: Duration) {
        if self.sends_one_away() {
            let _ = tokio::time::timeout(at_most, self.changed.notified()).await;
        } else {
            tokio::time::sleep(at_most).await;
        }
    }

    fn sends_one_away(&self) -> bool {
        let mut state = self.state();
        let Some(number) = state.longest_idle() else { return false };
        state.send_away(number, "descriptors");
        state.awaited = true;
        true
    }

    fn offer(self: &Arc<Self>, client: Option<ClientNet>) -> Offer {
        let mut state = self.state();
        let address = client.and_then(|client| state.addresses.get(&client));
        if let Some(address) = address.filter(|address| address.open >= self.share) {
            match (address.leaving, address.idle.first().copied()) {
                (0, None) => return Offer::Refused,
                (0, Some(number)) => state.send_away(number, "share"),
                _ => {}
            }
            state.awaited = true;
            return Offer::Later;
        }
        if state.open >= self.most {
            let first = state.longest_idle().filter(|_| state.leaving.is_empty());
            if let Some(number) = first {
                state.send_away(number, "room");
            }
            state.awaited = true;
            return Offer::Later;
        }
        state.open += 1;
        if let Some(client) = client {
            state.addresses.entry(client).or_default().open += 1;
        }
        let go = Arc::new(Notify::new());
        let since = AtomicU64::new(state.begin_idle(client, go.clone()));
        drop(state);
        metrics::connections(1.0);
        Offer::Place(Place { places: self.clone(), client, go, since })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets whoever waits for a place look again.
    fn tell(&self, mut state: MutexGuard<'_, State>) {
        let awaited = std::mem::take(&mut state.awaited);
        drop(state);
        if awaited {
            self.changed.notify_one();
        }
    }
}

impl State {
    fn longest_idle(&self) -> Option<u64> {
        self.idle.first_key_value().map(|(number, _)| *number)
    }

    fn begin_idle(&mut self, client: Option<ClientNet>, go: Arc<Notify>) -> u64 {
        self.last_number += 1;
        let number = self.last_number;
        self.idle.insert(number, Idle { client, go });
        if let Some(address) = client.and_then(|client| self.addresses.get_mut(&client)) {
            address.idle.insert(number);
        }
        number
    }

    /// Ends an idle time. Returns whether its connection had been asked to go.
    fn end_idle(&mut self, number: u64, client: Option<ClientNet>) -> bool {
        let was_leaving = self.idle.remove(&number).is_none();
        if was_leaving {
            self.leaving.remove(&number);
        }
        if let Some(address) = client.and_then(|client| self.addresses.get_mut(&client)) {
            match was_leaving {
                true => address.leaving -= 1,
                false => drop(address.idle.remove(&number)),
            }
        }
        was_leaving
    }

    fn send_away(&mut self, number: u64, reason: &'static str) {
        let Some(Idle { client, go }) = self.idle.remove(&number) else { return };
        self.leaving.insert(number, client);
        if let Some(address) = client.and_then(|client| self.addresses.get_mut(&client)) {
            address.idle.remove(&number);
            address.leaving += 1;
        }
        metrics::connection_shed(reason);
        go.notify_one();
    }
}

impl Place {
    /// A request was read: from now on the connection stays open until it is answered.
    pub(crate) fn busy(&self) {
        let mut state = self.places.state();
        let since = self.since.swap(0, Ordering::Relaxed);
        if since != 0 && state.end_idle(since, self.client) {
            // It stays for this answer; another one has to go.
            self.places.tell(state);
        }
    }

    /// The answer is written: from now on it is idle, and may be asked to go.
    pub(crate) fn idle(&self) {
        let mut state = self.places.state();
        if self.since.load(Ordering::Relaxed) == 0 {
            let since = state.begin_idle(self.client, self.go.clone());
            self.since.store(since, Ordering::Relaxed);
            self.places.tell(state);
        }
    }

    /// Ends when the connection is asked to go.
    pub(crate) async fn asked_to_go(&self) {
        self.go.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.places.state();
        let since = self.since.swap(0, Ordering::Relaxed);
        if since != 0 {
            state.end_idle(since, self.client);
        }
        state.open -= 1;
        if let Some(client) = self.client
            && let Some(address) = state.addresses.get_mut(&client)
        {
            address.open -= 1;
            if address.open == 0 {
                state.addresses.remove(&client);
            }
        }
        self.places.tell(state);
        metrics::connections(-1.0);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn address(n: u8) -> Option<ClientNet> {
        Some(ClientNet::of([203, 0, 113, n].into()))
    }

    /// A place that is free at once.
    fn enters(places: &Arc<Places>, client: Option<ClientNet>) -> Option<Place> {
        places.enter(client).now_or_never().expect("it does not wait")
    }

    fn is_asked(place: &Place) -> bool {
        place.asked_to_go().now_or_never().is_some()
    }

    /// R178.
    #[test]
    fn who_is_idle_for_the_longest_goes_first_and_nobody_before_a_place_is_wanted() {
        let places = Places::new(3, 3);
        let [first, second, third] = [1, 2, 3].map(|n| enters(&places, address(n)).expect("free"));
        first.busy();
        first.idle();
        assert!([&first, &second, &third].iter().all(|place| !is_asked(place)));
        let mut entering = Box::pin(places.enter(address(4)));
        assert!((&mut entering).now_or_never().is_none());
        assert!(is_asked(&second) && !is_asked(&third) && !is_asked(&first));
        // One is on its way out, so nobody else is asked.
        assert!((&mut entering).now_or_never().is_none());
        assert!(!is_asked(&third) && !is_asked(&first));
        drop(second);
        let fourth = entering.now_or_never().expect("there is room").expect("no share is full");
        let mut entering = Box::pin(places.enter(address(5)));
        assert!((&mut entering).now_or_never().is_none());
        assert!(is_asked(&third) && !is_asked(&first) && !is_asked(&fourth));
    }

    /// R178.
    #[test]
    fn a_request_in_flight_keeps_its_place_and_the_next_idle_one_goes() {
        let places = Places::new(2, 2);
        let [first, second] = [1, 2].map(|n| enters(&places, address(n)).expect("free"));
        first.busy();
        let mut entering = Box::pin(places.enter(address(3)));
        assert!((&mut entering).now_or_never().is_none());
        assert!(is_asked(&second) && !is_asked(&first));
        // Its request came before it had gone.
        second.busy();
        assert!((&mut entering).now_or_never().is_none());
        assert!(!is_asked(&first), "all are busy: it waits");
        first.idle();
        assert!((&mut entering).now_or_never().is_none());
        assert!(is_asked(&first));
        drop(first);
        assert!(entering.now_or_never().is_some());
    }

    /// R179.
    #[test]
    fn an_address_beyond_its_share_loses_its_own_idle_ones_and_then_is_refused() {
        let places = Places::new(8, 2);
        let other = enters(&places, address(1)).expect("free");
        let [first, second] = [2, 2].map(|n| enters(&places, address(n)).expect("free"));
        first.busy();
        let mut entering = Box::pin(places.enter(address(2)));
        assert!((&mut entering).now_or_never().is_none());
        assert!(is_asked(&second) && !is_asked(&other), "not the longest idle of all");
        drop(second);
        let second = entering.now_or_never().expect("there is room").expect("within its share");
        second.busy();
        assert!(enters(&places, address(2)).is_none(), "refused");
        assert!(enters(&places, address(3)).is_some());
        drop(first);
        assert!(enters(&places, address(2)).is_some());
    }

    /// R179.
    #[test]
    fn who_counts_for_no_address_has_no_share() {
        let places = Places::new(4, 1);
        let taken = [(); 4].map(|()| enters(&places, None).expect("free"));
        taken.iter().for_each(Place::busy);
        assert!(places.enter(None).now_or_never().is_none(), "it waits, as all are taken");
    }

    /// R178.
    #[tokio::test(start_paused = true)]
    async fn for_lack_of_descriptors_one_idle_connection_after_the_other_goes() {
        let places = Places::new(8, 8);
        let [first, second, third] = [1, 1, 1].map(|n| enters(&places, address(n)).expect("free"));
        second.busy();
        let pause = Duration::from_millis(50);
        let began = tokio::time::Instant::now();
        let gone = async {
            first.asked_to_go().await;
            drop(first);
        };
        tokio::join!(places.make_room(pause), gone);
        assert_eq!(began.elapsed(), Duration::ZERO, "it waits no longer than needed");
        assert!(!is_asked(&third));
        places.make_room(pause).await;
        assert!(is_asked(&third) && !is_asked(&second));
        places.make_room(pause).await;
        assert_eq!(began.elapsed(), 2 * pause);
    }

    #[test]
    fn when_all_have_gone_nothing_is_left() {
        let places = Places::new(2, 1);
        let first = enters(&places, address(1)).expect("free");
        let second = enters(&places, address(2)).expect("free");
        second.busy();
        assert!(places.enter(address(1)).now_or_never().is_none());
        drop((first, second));
        let state = places.state();
        assert_eq!((state.open, state.idle.len(), state.leaving.len()), (0, 0, 0));
        assert!(state.addresses.is_empty());
    }
}
