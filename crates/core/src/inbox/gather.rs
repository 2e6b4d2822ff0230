//! Gathering what arrives at once: while one call decides and commits, the calls that come meanwhile
//! for the same connection wait, and the next one takes all of them in one batch. A gateway that
//! sends each event in a call of its own, many at a time, then costs about what one that sends
//! batches does. A call that comes alone waits for nobody.
//!
//! Nothing here decides: a batch that cannot be committed as one is left to its calls one by one.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_channel::oneshot;

use super::EventResult;
use crate::gateway::Incoming;
use crate::ids::{CompanyId, ConnectionId};

type Place = (CompanyId, ConnectionId);

/// What a waiting call is told.
#[derive(Debug)]
pub(super) enum Signal {
    /// Its events were taken; these are their results.
    Taken(Vec<EventResult>),
    /// It is its turn to take what waits, its own events first.
    Lead,
}

/// A call that waits.
pub(super) struct Waiting {
    pub(super) events: Vec<Incoming>,
    tell: oneshot::Sender<Signal>,
}

impl Waiting {
    /// Hands the results to the call. A call that nobody waits for any more is let go.
    pub(super) fn taken(self, results: Vec<EventResult>) {
        let _ = self.tell.send(Signal::Taken(results));
    }
}

/// The calls that wait, by connection. A connection has an entry while somebody leads.
#[derive(Default)]
pub(crate) struct Gather(Mutex<HashMap<Place, VecDeque<Waiting>>>);

impl fmt::Debug for Gather {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gather")
    }
}

/// How a call begins.
pub(super) enum Entered<'a> {
    /// Nobody is at it: this call leads.
    Leads(Turn<'a>),
    /// Somebody is: wait for the signal.
    Waits(Told<'a>),
}

impl Gather {
    fn places(&self) -> MutexGuard<'_, HashMap<Place, VecDeque<Waiting>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leads, or leaves a copy of the events to whoever leads.
    pub(super) fn enter(
        &self,
        company: CompanyId,
        connection: ConnectionId,
        events: &[Incoming],
    ) -> Entered<'_> {
        let place = (company, connection);
        let mut places = self.places();
        match places.get_mut(&place) {
            None => {
                places.insert(place, VecDeque::new());
                Entered::Leads(Turn { gather: self, place })
            }
            Some(queue) => {
                let (tell, told) = oneshot::channel();
                queue.push_back(Waiting { events: events.to_vec(), tell });
                Entered::Waits(Told { gather: self, place, told })
            }
        }
    }

    /// The turn of a call that was told to lead.
    pub(super) const fn lead(&self, company: CompanyId, connection: ConnectionId) -> Turn<'_> {
        Turn { gather: self, place: (company, connection) }
    }
}

/// Where a waiting call hears what is next for it. Given up, it passes on the lead that it was told
/// of and did not take.
pub(super) struct Told<'a> {
    gather: &'a Gather,
    place: Place,
    told: oneshot::Receiver<Signal>,
}

impl Told<'_> {
    /// What the call is told; `None` when its leader was dropped half-way.
    pub(super) async fn signal(&mut self) -> Option<Signal> {
        (&mut self.told).await.ok()
    }
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        self.told.close();
        if let Ok(Some(Signal::Lead)) = self.told.try_recv() {
            let (company, connection) = self.place;
            drop(self.gather.lead(company, connection));
        }
    }
}

/// The right to take what waits. Passed on when it is dropped, by an end or by a cancellation.
pub(super) struct Turn<'a> {
    gather: &'a Gather,
    place: Place,
}

impl Turn<'_> {
    /// Takes waiting calls of at most `room` events together.
    pub(super) fn take(&self, mut room: usize) -> Vec<Waiting> {
        let mut places = self.gather.places();
        let mut taken = Vec::new();
        let Some(queue) = places.get_mut(&self.place) else { return taken };
        while queue.front().is_some_and(|waiting| waiting.events.len() <= room) {
            let Some(waiting) = queue.pop_front() else { break };
            room -= waiting.events.len();
            taken.push(waiting);
        }
        taken
    }
}

impl Drop for Turn<'_> {
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
    use uuid::Uuid;

    use super::*;

    const COMPANY: CompanyId = CompanyId::new(Uuid::from_u128(1));
    const CONNECTION: ConnectionId = ConnectionId::new(Uuid::from_u128(2));

    fn events(count: usize) -> Vec<Incoming> {
        (0..count).map(|n| Err(n.to_string())).collect()
    }

    fn leads(gather: &Gather) -> Turn<'_> {
        match gather.enter(COMPANY, CONNECTION, &events(1)) {
            Entered::Leads(turn) => turn,
            Entered::Waits(_) => panic!("somebody else leads"),
        }
    }

    fn waits(gather: &Gather, count: usize) -> Told<'_> {
        match gather.enter(COMPANY, CONNECTION, &events(count)) {
            Entered::Leads(_) => panic!("nobody leads"),
            Entered::Waits(told) => told,
        }
    }

    #[test]
    fn the_first_call_leads_and_those_that_come_meanwhile_are_taken_by_the_next() {
        let gather = Gather::default();
        let turn = leads(&gather);
        let (mut one, mut two) = (waits(&gather, 1), waits(&gather, 1));
        drop(turn);
        assert!(matches!(one.told.try_recv(), Ok(Some(Signal::Lead))));
        let turn = gather.lead(COMPANY, CONNECTION);
        let taken = turn.take(10);
        assert_eq!(taken.len(), 1);
        taken.into_iter().for_each(|waiting| waiting.taken(Vec::new()));
        assert!(matches!(two.told.try_recv(), Ok(Some(Signal::Taken(_)))));
    }

    #[test]
    fn no_more_events_are_taken_than_there_is_room_for() {
        let gather = Gather::default();
        let turn = leads(&gather);
        let _waiting = [waits(&gather, 3), waits(&gather, 3), waits(&gather, 1)];
        assert_eq!(turn.take(5).len(), 1);
        assert_eq!(turn.take(4).len(), 2);
    }

    #[test]
    fn a_leader_that_is_dropped_leaves_those_it_took_without_a_signal_and_the_others_a_leader() {
        let gather = Gather::default();
        let turn = leads(&gather);
        let (mut taken, mut next) = (waits(&gather, 1), waits(&gather, 1));
        drop(turn.take(1));
        drop(turn);
        assert!(taken.told.try_recv().is_err());
        assert!(matches!(next.told.try_recv(), Ok(Some(Signal::Lead))));
    }

    #[test]
    fn calls_that_were_given_up_are_passed_over_and_the_last_one_clears_the_place() {
        let gather = Gather::default();
        let turn = leads(&gather);
        drop(waits(&gather, 1));
        drop(turn);
        drop(leads(&gather));
        assert!(gather.places().is_empty());
    }
    #[test]
    fn a_call_that_is_given_up_after_it_was_told_to_lead_passes_the_lead_on() {
        let gather = Gather::default();
        let turn = leads(&gather);
        let (told, mut next) = (waits(&gather, 1), waits(&gather, 1));
        drop(turn);
        drop(told);
        assert!(matches!(next.told.try_recv(), Ok(Some(Signal::Lead))));
        drop(gather.lead(COMPANY, CONNECTION));
        assert!(gather.places().is_empty());
    }
}
