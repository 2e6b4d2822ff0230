//! Combining simultaneous calls. While one call for a key is under way, further calls for the key
//! wait, and the next one handles all of them together. A gateway that sends each event in a call
//! of its own, many at a time, then causes about as much work as one that sends batches. A single
//! call does not wait. While a crowd waits, two calls are under way: the database works on one
//! batch, and this process on the other.
//!
//! The combined work begins after all its calls have arrived, so it reads nothing that is older
//! than any of them.
//!
//! Calls that cannot be handled together are handled one by one.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_channel::oneshot;

use super::EventResult;
use crate::connections::Connection;
use crate::gateway::Incoming;
use crate::ids::{CompanyId, ConnectionId};
use crate::store::Stored;

/// The signal to a waiting call.
#[derive(Debug)]
pub(super) enum Signal<A> {
    /// Its work was done; this is the answer.
    Taken(A),
    /// It leads now: it takes the waiting calls, its own first.
    Lead,
}

/// A call that waits.
pub(super) struct Waiting<Q, A> {
    pub(super) question: Q,
    reply: oneshot::Sender<Signal<A>>,
}

impl<Q, A> Waiting<Q, A> {
    /// Sends the answer to the call, unless it was dropped meanwhile.
    pub(super) fn taken(self, answer: A) {
        let _ = self.reply.send(Signal::Taken(answer));
    }
}

/// How many waiting calls are a crowd, for which a second call decides.
const CROWD: usize = 16;

/// The calls of a key.
struct Queue<Q, A> {
    /// How many of them decide for all.
    leaders: usize,
    waiting: VecDeque<Waiting<Q, A>>,
}

impl<Q, A> Queue<Q, A> {
    /// How many calls should decide.
    fn wanted(&self) -> usize {
        if self.waiting.len() < CROWD { 1 } else { 2 }
    }

    /// Lets the first call that still waits decide. Whether there was one.
    fn pass_on(&mut self) -> bool {
        while let Some(next) = self.waiting.pop_front() {
            if next.reply.send(Signal::Lead).is_ok() {
                return true;
            }
        }
        false
    }
}

type Queues<K, Q, A> = HashMap<K, Queue<Q, A>>;

/// The calls that wait, by key. A key has an entry while a call decides for all (R50).
pub(crate) struct Gather<K, Q, A>(Mutex<Queues<K, Q, A>>);

impl<K, Q, A> Default for Gather<K, Q, A> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K, Q, A> fmt::Debug for Gather<K, Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gather")
    }
}

/// How a call begins.
pub(super) enum Entered<'a, K: Copy + Eq + Hash, Q, A> {
    /// No other call is under way: this call leads.
    Leads(Leader<'a, K, Q, A>),
    /// Another call leads: wait for the signal.
    Waits(Waiter<'a, K, Q, A>),
}

impl<K: Copy + Eq + Hash, Q, A> Gather<K, Q, A> {
    fn queues(&self) -> MutexGuard<'_, Queues<K, Q, A>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Becomes the leader, or queues the question for the next leader.
    pub(super) fn enter(&self, key: K, question: impl FnOnce() -> Q) -> Entered<'_, K, Q, A> {
        let mut queues = self.queues();
        match queues.get_mut(&key) {
            None => {
                queues.insert(key, Queue { leaders: 1, waiting: VecDeque::new() });
                Entered::Leads(Leader { gather: self, key })
            }
            Some(queue) => {
                let (reply, signal) = oneshot::channel();
                queue.waiting.push_back(Waiting { question: question(), reply });
                if queue.leaders < queue.wanted() && queue.pass_on() {
                    queue.leaders += 1;
                }
                Entered::Waits(Waiter { gather: self, key, signal })
            }
        }
    }

    /// The leader, after the signal to lead.
    pub(super) const fn lead(&self, key: K) -> Leader<'_, K, Q, A> {
        Leader { gather: self, key }
    }
}

/// A waiting call. If it is dropped after a signal to lead, the next call gets the signal.
pub(super) struct Waiter<'a, K: Copy + Eq + Hash, Q, A> {
    gather: &'a Gather<K, Q, A>,
    key: K,
    signal: oneshot::Receiver<Signal<A>>,
}

impl<K: Copy + Eq + Hash, Q, A> Waiter<'_, K, Q, A> {
    /// The signal; `None` when the leader was dropped half-way.
    pub(super) async fn signal(&mut self) -> Option<Signal<A>> {
        (&mut self.signal).await.ok()
    }
}

impl<K: Copy + Eq + Hash, Q, A> Drop for Waiter<'_, K, Q, A> {
    fn drop(&mut self) {
        self.signal.close();
        if let Ok(Some(Signal::Lead)) = self.signal.try_recv() {
            drop(self.gather.lead(self.key));
        }
    }
}

/// The right to take the waiting calls. When it is dropped, at the end or by cancellation, the next
/// call gets it.
pub(super) struct Leader<'a, K: Copy + Eq + Hash, Q, A> {
    gather: &'a Gather<K, Q, A>,
    key: K,
}

impl<K: Copy + Eq + Hash, Q, A> Leader<'_, K, Q, A> {
    /// Takes waiting calls in order, as long as `fits` returns true.
    pub(super) fn take(&self, mut fits: impl FnMut(&Q) -> bool) -> Vec<Waiting<Q, A>> {
        let mut queues = self.gather.queues();
        let mut taken = Vec::new();
        let Some(Queue { waiting, .. }) = queues.get_mut(&self.key) else { return taken };
        while waiting.front().is_some_and(|first| fits(&first.question)) {
            taken.extend(waiting.pop_front());
        }
        taken
    }
}

impl<K: Copy + Eq + Hash, Q, A> Drop for Leader<'_, K, Q, A> {
    fn drop(&mut self) {
        let mut queues = self.gather.queues();
        let Some(queue) = queues.get_mut(&self.key) else { return };
        if queue.leaders <= queue.wanted() && queue.pass_on() {
            return;
        }
        queue.leaders -= 1;
        if queue.leaders == 0 {
            queues.remove(&self.key);
        }
    }
}

/// The calls that bring events, by connection.
pub(crate) type Deciding = Gather<(CompanyId, ConnectionId), Vec<Incoming>, Vec<EventResult>>;

/// The look-ups under way, by connection.
pub(crate) type Lookups = Gather<ConnectionId, (), Option<Stored<Connection>>>;

#[cfg(test)]
mod tests {
    use super::*;

    type Sizes = Gather<u8, usize, ()>;

    const KEY: u8 = 1;

    /// Accepts calls until their sum reaches `room`.
    fn up_to(mut room: usize) -> impl FnMut(&usize) -> bool {
        move |size| {
            let fits = *size <= room;
            room -= if fits { *size } else { 0 };
            fits
        }
    }

    fn leads(gather: &Sizes) -> Leader<'_, u8, usize, ()> {
        match gather.enter(KEY, || 1) {
            Entered::Leads(leader) => leader,
            Entered::Waits(_) => panic!("somebody else leads"),
        }
    }

    fn waits(gather: &Sizes, size: usize) -> Waiter<'_, u8, usize, ()> {
        match gather.enter(KEY, || size) {
            Entered::Leads(_) => panic!("nobody leads"),
            Entered::Waits(waiter) => waiter,
        }
    }

    #[test]
    fn the_first_call_leads_and_those_that_come_meanwhile_are_taken_by_the_next() {
        let gather = Sizes::default();
        let leader = leads(&gather);
        let (mut one, mut two) = (waits(&gather, 1), waits(&gather, 1));
        drop(leader);
        assert!(matches!(one.signal.try_recv(), Ok(Some(Signal::Lead))));
        let leader = gather.lead(KEY);
        let taken = leader.take(up_to(10));
        assert_eq!(taken.len(), 1);
        taken.into_iter().for_each(|waiting| waiting.taken(()));
        assert!(matches!(two.signal.try_recv(), Ok(Some(Signal::Taken(_)))));
    }

    #[test]
    fn no_more_events_are_taken_than_there_is_room_for() {
        let gather = Sizes::default();
        let leader = leads(&gather);
        let _waiting = [waits(&gather, 3), waits(&gather, 3), waits(&gather, 1)];
        assert_eq!(leader.take(up_to(5)).len(), 1);
        assert_eq!(leader.take(up_to(4)).len(), 2);
    }

    #[test]
    fn a_leader_that_is_dropped_leaves_those_it_took_without_a_signal_and_the_others_a_leader() {
        let gather = Sizes::default();
        let leader = leads(&gather);
        let (mut taken, mut next) = (waits(&gather, 1), waits(&gather, 1));
        drop(leader.take(up_to(1)));
        drop(leader);
        assert!(taken.signal.try_recv().is_err());
        assert!(matches!(next.signal.try_recv(), Ok(Some(Signal::Lead))));
    }

    /// R50.
    #[test]
    fn a_second_call_leads_while_a_crowd_waits_and_no_longer() {
        let gather = Sizes::default();
        let first = leads(&gather);
        let mut waiting: Vec<_> = (1..CROWD).map(|_| waits(&gather, 1)).collect();
        assert!(matches!(waiting[0].signal.try_recv(), Ok(None)));
        waiting.push(waits(&gather, 1));
        assert!(matches!(waiting[0].signal.try_recv(), Ok(Some(Signal::Lead))));
        let second = gather.lead(KEY);
        assert_eq!(first.take(up_to(4)).len(), 4);
        // Too few are left for two: the second one passes the lead to nobody.
        drop(second);
        assert!(matches!(waiting[5].signal.try_recv(), Ok(None)));
        drop(first);
        assert!(matches!(waiting[5].signal.try_recv(), Ok(Some(Signal::Lead))));
        drop(gather.lead(KEY));
        assert!(matches!(waiting[6].signal.try_recv(), Ok(Some(Signal::Lead))));
    }

    #[test]
    fn calls_that_were_given_up_are_passed_over_and_the_last_one_clears_the_place() {
        let gather = Sizes::default();
        let leader = leads(&gather);
        drop(waits(&gather, 1));
        drop(leader);
        drop(leads(&gather));
        assert!(gather.queues().is_empty());
    }
    #[test]
    fn a_call_that_is_given_up_after_it_was_asked_to_lead_passes_the_lead_on() {
        let gather = Sizes::default();
        let leader = leads(&gather);
        let (waiter, mut next) = (waits(&gather, 1), waits(&gather, 1));
        drop(leader);
        drop(waiter);
        assert!(matches!(next.signal.try_recv(), Ok(Some(Signal::Lead))));
        drop(gather.lead(KEY));
        assert!(gather.queues().is_empty());
    }
}
