//! Gathering what arrives at once: while one call is at it, the calls that come meanwhile for the
//! same place wait, and the next one takes all of them together. A gateway that sends each event in
//! a call of its own, many at a time, then costs about what one that sends batches does. A call that
//! comes alone waits for nobody.
//!
//! What is taken together begins after every call that is answered by it has come: whoever reads for
//! several reads nothing that is older than their calls.
//!
//! Nothing here decides: what cannot be done together is left to its calls one by one.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_channel::oneshot;

/// What a waiting call is told.
#[derive(Debug)]
pub(super) enum Signal<A> {
    /// What it asked for was done; this is its answer.
    Taken(A),
    /// It is its turn to take what waits, its own question first.
    Lead,
}

/// A call that waits.
pub(super) struct Waiting<Q, A> {
    pub(super) question: Q,
    tell: oneshot::Sender<Signal<A>>,
}

impl<Q, A> Waiting<Q, A> {
    /// Hands the answer to the call. A call that nobody waits for any more is let go.
    pub(super) fn taken(self, answer: A) {
        let _ = self.tell.send(Signal::Taken(answer));
    }
}

type Places<P, Q, A> = HashMap<P, VecDeque<Waiting<Q, A>>>;

/// The calls that wait, by place. A place has an entry while somebody leads.
pub(crate) struct Gather<P, Q, A>(Mutex<Places<P, Q, A>>);

impl<P, Q, A> Default for Gather<P, Q, A> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<P, Q, A> fmt::Debug for Gather<P, Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gather")
    }
}

/// How a call begins.
pub(super) enum Entered<'a, P: Copy + Eq + Hash, Q, A> {
    /// Nobody is at it: this call leads.
    Leads(Turn<'a, P, Q, A>),
    /// Somebody is: wait for the signal.
    Waits(Told<'a, P, Q, A>),
}

impl<P: Copy + Eq + Hash, Q, A> Gather<P, Q, A> {
    fn places(&self) -> MutexGuard<'_, Places<P, Q, A>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leads, or leaves the question to whoever leads next.
    pub(super) fn enter(&self, place: P, question: impl FnOnce() -> Q) -> Entered<'_, P, Q, A> {
        let mut places = self.places();
        match places.get_mut(&place) {
            None => {
                places.insert(place, VecDeque::new());
                Entered::Leads(Turn { gather: self, place })
            }
            Some(queue) => {
                let (tell, told) = oneshot::channel();
                queue.push_back(Waiting { question: question(), tell });
                Entered::Waits(Told { gather: self, place, told })
            }
        }
    }

    /// The turn of a call that was told to lead.
    pub(super) const fn lead(&self, place: P) -> Turn<'_, P, Q, A> {
        Turn { gather: self, place }
    }
}

/// Where a waiting call hears what is next for it. Given up, it passes on the lead that it was told
/// of and did not take.
pub(super) struct Told<'a, P: Copy + Eq + Hash, Q, A> {
    gather: &'a Gather<P, Q, A>,
    place: P,
    told: oneshot::Receiver<Signal<A>>,
}

impl<P: Copy + Eq + Hash, Q, A> Told<'_, P, Q, A> {
    /// What the call is told; `None` when its leader was dropped half-way.
    pub(super) async fn signal(&mut self) -> Option<Signal<A>> {
        (&mut self.told).await.ok()
    }
}

impl<P: Copy + Eq + Hash, Q, A> Drop for Told<'_, P, Q, A> {
    fn drop(&mut self) {
        self.told.close();
        if let Ok(Some(Signal::Lead)) = self.told.try_recv() {
            drop(self.gather.lead(self.place));
        }
    }
}

/// The right to take what waits. Passed on when it is dropped, by an end or by a cancellation.
pub(super) struct Turn<'a, P: Copy + Eq + Hash, Q, A> {
    gather: &'a Gather<P, Q, A>,
    place: P,
}

impl<P: Copy + Eq + Hash, Q, A> Turn<'_, P, Q, A> {
    /// Takes waiting calls, the first ones first, as long as `fits` says yes.
    pub(super) fn take(&self, mut fits: impl FnMut(&Q) -> bool) -> Vec<Waiting<Q, A>> {
        let mut places = self.gather.places();
        let mut taken = Vec::new();
        let Some(queue) = places.get_mut(&self.place) else { return taken };
        while queue.front().is_some_and(|waiting| fits(&waiting.question)) {
            taken.extend(queue.pop_front());
        }
        taken
    }
}

impl<P: Copy + Eq + Hash, Q, A> Drop for Turn<'_, P, Q, A> {
    fn drop(&mut self) {
        let mut places = self.gather.places();
        let Some(queue) = places.get_mut(&self.place) else { return };
        while let Some(next) = queue.pop_front() {
            if next.tell.send(Signal::Lead).is_ok() {
                return;
            }
        }
        places.remove(&self.place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Sizes = Gather<u8, usize, ()>;

    const PLACE: u8 = 1;

    /// Takes calls of at most so much together.
    fn up_to(mut room: usize) -> impl FnMut(&usize) -> bool {
        move |size| {
            let fits = *size <= room;
            room -= if fits { *size } else { 0 };
            fits
        }
    }

    fn leads(gather: &Sizes) -> Turn<'_, u8, usize, ()> {
        match gather.enter(PLACE, || 1) {
            Entered::Leads(turn) => turn,
            Entered::Waits(_) => panic!("somebody else leads"),
        }
    }

    fn waits(gather: &Sizes, size: usize) -> Told<'_, u8, usize, ()> {
        match gather.enter(PLACE, || size) {
            Entered::Leads(_) => panic!("nobody leads"),
            Entered::Waits(told) => told,
        }
    }

    #[test]
    fn the_first_call_leads_and_those_that_come_meanwhile_are_taken_by_the_next() {
        let gather = Sizes::default();
        let turn = leads(&gather);
        let (mut one, mut two) = (waits(&gather, 1), waits(&gather, 1));
        drop(turn);
        assert!(matches!(one.told.try_recv(), Ok(Some(Signal::Lead))));
        let turn = gather.lead(PLACE);
        let taken = turn.take(up_to(10));
        assert_eq!(taken.len(), 1);
        taken.into_iter().for_each(|waiting| waiting.taken(()));
        assert!(matches!(two.told.try_recv(), Ok(Some(Signal::Taken(_)))));
    }

    #[test]
    fn no_more_events_are_taken_than_there_is_room_for() {
        let gather = Sizes::default();
        let turn = leads(&gather);
        let _waiting = [waits(&gather, 3), waits(&gather, 3), waits(&gather, 1)];
        assert_eq!(turn.take(up_to(5)).len(), 1);
        assert_eq!(turn.take(up_to(4)).len(), 2);
    }

    #[test]
    fn a_leader_that_is_dropped_leaves_those_it_took_without_a_signal_and_the_others_a_leader() {
        let gather = Sizes::default();
        let turn = leads(&gather);
        let (mut taken, mut next) = (waits(&gather, 1), waits(&gather, 1));
        drop(turn.take(up_to(1)));
        drop(turn);
        assert!(taken.told.try_recv().is_err());
        assert!(matches!(next.told.try_recv(), Ok(Some(Signal::Lead))));
    }

    #[test]
    fn calls_that_were_given_up_are_passed_over_and_the_last_one_clears_the_place() {
        let gather = Sizes::default();
        let turn = leads(&gather);
        drop(waits(&gather, 1));
        drop(turn);
        drop(leads(&gather));
        assert!(gather.places().is_empty());
    }
    #[test]
    fn a_call_that_is_given_up_after_it_was_told_to_lead_passes_the_lead_on() {
        let gather = Sizes::default();
        let turn = leads(&gather);
        let (told, mut next) = (waits(&gather, 1), waits(&gather, 1));
        drop(turn);
        drop(told);
        assert!(matches!(next.told.try_recv(), Ok(Some(Signal::Lead))));
        drop(gather.lead(PLACE));
        assert!(gather.places().is_empty());
    }
}
