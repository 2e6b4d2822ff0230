//! The limit on the memory that large bodies of unverified callers take together (R106), and who
//! gives way when it is used up (R183).

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use recado_core::access::ClientNet;
use recado_core::ids::ConnectionId;
use tokio::sync::Notify;

use crate::body::BodyError;
use crate::fair_shares::{BodySender, FairShares};

/// Bytes of one unit.
const UNIT: usize = 1024;
/// How many clients of each connection are known, the last ones.
const MOST_KNOWN: usize = 16;

/// A bound on bytes that are held at once. Clones share it.
///
/// Shares grow in steps, so the whole budget may be held by bodies that wait for more. To prevent
/// this deadlock, one body at a time may exceed the budget: it does not wait any more, and when it
/// is finished the next one may. So there is always progress, and the budget is exceeded by at most
/// one body.
///
/// When it is used up, bodies that are still arriving are cut off for others: those of senders who
/// have never sent a signed body, for those of senders who have; and of either kind those of
/// whoever holds more than the other would (R183). Their memory is free a moment after they are
/// told.
#[derive(Clone, Debug)]
pub(crate) struct MemoryBudget(Arc<Budget>);

#[derive(Debug)]
struct Budget {
    units: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How many units are held.
    held: usize,
    /// The body that exceeds the budget.
    beyond: Option<u64>,
    /// The last number of a body, or of a place in the queue.
    last_number: u64,
    bodies: HashMap<u64, Held>,
    /// Bodies that wait, in the order in which they came, and how many units each wants in all.
    waiting: BTreeMap<u64, (u64, usize)>,
    /// Of bodies that arrive: from senders that are not known, and from those that are.
    strangers: FairShares,
    known: FairShares,
    /// From where signed bodies came, of each connection.
    clients: HashMap<ConnectionId, VecDeque<ClientNet>>,
}

/// What a body holds.
#[derive(Debug)]
struct Held {
    sender: BodySender,
    is_known: bool,
    units: usize,
    /// Whether it has not arrived whole, and so may be cut off.
    arrives: bool,
    /// Its place in the queue, while it waits.
    place: Option<u64>,
    signal: Arc<Signal>,
}

/// What a body is told.
#[derive(Debug, Default)]
struct Signal {
    changed: Notify,
    is_cut: AtomicBool,
}

/// A part of a budget, returned when it is dropped. It begins empty.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Arc<Budget>,
    sender: BodySender,
    held: Option<(u64, Arc<Signal>)>,
}

/// The body has to give way to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut;

impl MemoryBudget {
    /// How much of each body needs no share.
    pub(crate) const FREE: usize = 64 * 1024;

    /// A budget of so many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        let units = bytes.div_ceil(UNIT).max(1);
        Self(Arc::new(Budget { units, state: Mutex::default() }))
    }

    /// An empty share for a body.
    pub(crate) fn share(&self, sender: BodySender) -> Share {
        Share { budget: self.0.clone(), sender, held: None }
    }

    /// A signed body came from this sender: from now on its bodies are preferred to those of others
    /// (R183).
    pub(crate) fn knows(&self, sender: BodySender) {
        let mut state = self.0.state();
        let clients = state.clients.entry(sender.connection).or_default();
        if clients.back() != Some(&sender.client) {
            clients.retain(|client| *client != sender.client);
            if clients.len() >= MOST_KNOWN {
                clients.pop_front();
            }
            clients.push_back(sender.client);
        }
    }
}

impl Budget {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// A body that holds nothing yet.
    fn begin(&mut self, sender: BodySender) -> (u64, Arc<Signal>) {
        self.last_number += 1;
        let clients = self.clients.get(&sender.connection);
        let is_known = clients.is_some_and(|clients| clients.contains(&sender.client));
        let signal = Arc::<Signal>::default();
        let own = signal.clone();
        let held = Held { sender, is_known, units: 0, arrives: true, place: None, signal: own };
        self.bodies.insert(self.last_number, held);
        (self.last_number, signal)
    }

    /// Gives a body so many units in all if they are there or others give way. Otherwise the number
    /// of its place in the queue.
    fn ask(&mut self, body: u64, wanted: usize, most: usize) -> Result<(), u64> {
        let Some(more) = self.lacks(body, wanted) else { return Ok(()) };
        if self.waiting.is_empty() && self.held + more <= most {
            self.set(body, wanted);
            return Ok(());
        }
        if self.beyond.is_none() {
            self.beyond = Some(body);
            return Ok(());
        }
        if wanted <= most {
            while self.held + more > most {
                let Some(other) = self.gives_way(body, more) else { break };
                self.cut(other);
            }
            if self.held + more <= most {
                self.set(body, wanted);
                // Whoever gave way may have held more than was needed.
                self.serve(most);
                return Ok(());
            }
        }
        self.last_number += 1;
        let place = self.last_number;
        self.waiting.insert(place, (body, wanted));
        if let Some(body) = self.bodies.get_mut(&body) {
            body.place = Some(place);
        }
        self.serve(most);
        if self.waiting.contains_key(&place) { Err(place) } else { Ok(()) }
    }

    /// How many units a body has to wait for, if any.
    fn lacks(&self, body: u64, wanted: usize) -> Option<usize> {
        let held = self.bodies.get(&body)?.units;
        (wanted > held && self.beyond != Some(body)).then(|| wanted - held)
    }

    /// The next body that gives way to this one (R183).
    fn gives_way(&self, body: u64, more: usize) -> Option<u64> {
        let body = self.bodies.get(&body)?;
        if body.is_known {
            let known = || self.known.heavier_than(body.sender, more);
            return self.strangers.heaviest().or_else(known);
        }
        self.strangers.heavier_than(body.sender, more)
    }

    /// Sets how much a body holds.
    fn set(&mut self, number: u64, units: usize) {
        let Some(body) = self.bodies.get_mut(&number) else { return };
        let before = std::mem::replace(&mut body.units, units);
        let (sender, arrives, is_known) = (body.sender, body.arrives, body.is_known);
        self.held = self.held - before + units;
        if arrives {
            self.shares(is_known).change(sender, number, before, units);
        }
    }

    fn shares(&mut self, is_known: bool) -> &mut FairShares {
        if is_known { &mut self.known } else { &mut self.strangers }
    }

    /// Takes everything from a body and tells it.
    fn cut(&mut self, number: u64) {
        let Some(body) = self.bodies.get(&number) else { return };
        body.signal.is_cut.store(true, Ordering::Release);
        body.signal.changed.notify_one();
        self.give_back(number);
    }

    /// Takes everything from a body.
    fn give_back(&mut self, number: u64) {
        self.set(number, 0);
        let place = self.bodies.remove(&number).and_then(|body| body.place);
        if let Some(place) = place {
            self.waiting.remove(&place);
        }
        if self.beyond == Some(number) {
            self.beyond = None;
        }
    }

    /// From now on a body is not cut off any more.
    fn arrived(&mut self, number: u64) {
        if let Some(body) = self.bodies.get_mut(&number)
            && std::mem::replace(&mut body.arrives, false)
        {
            let (sender, is_known, units) = (body.sender, body.is_known, body.units);
            self.shares(is_known).change(sender, number, units, 0);
        }
    }

    /// Gives those who wait what is there, in the order in which they came.
    fn serve(&mut self, most: usize) {
        while let Some((place, (number, wanted))) = self.waiting.pop_first() {
            if let Some(more) = self.lacks(number, wanted) {
                if self.held + more <= most {
                    self.set(number, wanted);
                } else if self.beyond.is_none() {
                    self.beyond = Some(number);
                } else {
                    self.waiting.insert(place, (number, wanted));
                    return;
                }
            }
            if let Some(body) = self.bodies.get_mut(&number) {
                body.place = None;
                body.signal.changed.notify_one();
            }
        }
    }
}

impl Share {
    /// Lets the share grow to so many bytes. Waits until there is room, in the order of the calls.
    /// If the future is dropped, the share does not shrink.
    ///
    /// # Errors
    ///
    /// The body has to give way.
    pub(crate) async fn grow(&mut self, bytes: usize) -> Result<(), Cut> {
        let (budget, wanted) = (&self.budget, bytes.div_ceil(UNIT));
        let (number, signal) = self.held.get_or_insert_with(|| budget.state().begin(self.sender));
        if signal.is_cut.load(Ordering::Acquire) {
            return Err(Cut);
        }
        let asked = budget.state().ask(*number, wanted, budget.units);
        let Err(place) = asked else { return Ok(()) };
        let waiting = InQueue { budget, place };
        loop {
            signal.changed.notified().await;
            if signal.is_cut.load(Ordering::Acquire) {
                return Err(Cut);
            }
            if waiting.is_over() {
                return Ok(());
            }
        }
    }

    /// Ends when the body has to give way.
    pub(crate) async fn cut(&self) -> Cut {
        let Some((_, signal)) = &self.held else { return pending().await };
        while !signal.is_cut.load(Ordering::Acquire) {
            signal.changed.notified().await;
        }
        Cut
    }

    /// The body has arrived whole: from now on it gives way to nobody.
    ///
    /// # Errors
    ///
    /// It had to give way before.
    pub(crate) fn arrived(&self) -> Result<(), Cut> {
        let Some((number, signal)) = &self.held else { return Ok(()) };
        let mut state = self.budget.state();
        if signal.is_cut.load(Ordering::Acquire) {
            return Err(Cut);
        }
        state.arrived(*number);
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if let Some((number, _)) = &self.held {
            let mut state = self.budget.state();
            state.give_back(*number);
            state.serve(self.budget.units);
        }
    }
}

/// A place in the queue, left when it is dropped.
struct InQueue<'a> {
    budget: &'a Budget,
    place: u64,
}

impl InQueue<'_> {
    fn is_over(&self) -> bool {
        !self.budget.state().waiting.contains_key(&self.place)
    }
}

impl Drop for InQueue<'_> {
    fn drop(&mut self) {
        let mut state = self.budget.state();
        if state.waiting.remove(&self.place).is_some() {
            // Whoever is next may need less.
            state.serve(self.budget.units);
        }
    }
}

impl From<Cut> for BodyError {
    fn from(_: Cut) -> Self {
        Self::NoRoom
    }
}

#[cfg(test)]
mod tests;
