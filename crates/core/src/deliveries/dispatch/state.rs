//! All queues of one process: who may start an attempt, and what is to be recorded (D52–D55). Plain
//! data; nothing here waits or calls.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::DispatchLimits;
use super::queue::{Queue, Room, Weight};
use crate::Timestamp;
use crate::deliveries::{
    Delivery, DueDelivery, Lane, LanePage, LaneRead, Pending, ShardNumber, Touch, shard_of,
};
use crate::store::Stored;
use crate::webhooks::Webhook;

/// The most outcomes that are recorded by one commit.
const RECORDED_AT_ONCE: usize = 256;
/// With this many outcomes still to be recorded, nothing more is started.
const MAX_UNRECORDED: usize = 2_048;
/// The most deliveries that wait in one queue, and the fewest that may however many queues there are.
const WINDOW: (usize, usize) = (4, 256);
/// How long an idle queue is remembered.
const FORGET_AFTER: Duration = Duration::from_secs(60);

/// An attempt to make.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) lane: Lane,
    pub(super) due: DueDelivery,
    pub(super) webhook: Arc<Webhook>,
}

/// How an attempt changes its delivery.
#[derive(Debug)]
pub(super) struct Settled {
    pub(super) lane: Lane,
    pub(super) before: Stored<Delivery>,
    pub(super) after: Delivery,
    bytes: usize,
}

/// What to do next.
#[derive(Debug)]
pub(super) enum Action {
    /// Read the head of a queue.
    Read(LaneRead),
    /// Make an attempt.
    Try(Box<Trial>),
    /// Record outcomes, in one commit.
    Record(Vec<Settled>),
    /// Give up what is pending for a webhook that is gone.
    Cancel(Lane),
}

/// How a commit of outcomes ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recorded {
    /// It is stored.
    Done,
    /// One of the deliveries was written by somebody else meanwhile.
    Conflict,
    /// The store gave up on a race: nothing is known of the deliveries.
    Contended,
    /// The store failed; to be tried again.
    Failed,
}

/// The queues of one process.
#[derive(Debug)]
pub(super) struct Dispatch {
    limits: DispatchLimits,
    queues: HashMap<Lane, Queue>,
    /// Queues that may have something to read.
    unread: BTreeSet<Lane>,
    /// Queues that may start something, in turn.
    round: VecDeque<Lane>,
    /// Queues of the round that wait until fewer attempts are waiting for nothing, in turn.
    silent: VecDeque<Lane>,
    owned: BTreeSet<ShardNumber>,
    leaving: BTreeSet<ShardNumber>,
    weight: Weight,
    in_flight: usize,
    /// Those of queues whose receivers do not answer.
    silent_in_flight: usize,
    outcomes: VecDeque<Settled>,
    /// Batches of outcomes that could not be recorded together, or not yet.
    batches: VecDeque<Vec<Settled>>,
    recording: usize,
    pause_until: Option<Timestamp>,
    /// Not after the earliest time at which a delivery that failed is due again.
    due_hint: Option<Timestamp>,
    cancels: Vec<Lane>,
    cancelling: BTreeSet<Lane>,
}

impl Dispatch {
    pub(super) fn new(limits: DispatchLimits) -> Self {
        Self {
            limits,
            queues: HashMap::new(),
            unread: BTreeSet::new(),
            round: VecDeque::new(),
            silent: VecDeque::new(),
            owned: BTreeSet::new(),
            leaving: BTreeSet::new(),
            weight: Weight::default(),
            in_flight: 0,
            silent_in_flight: 0,
            outcomes: VecDeque::new(),
            batches: VecDeque::new(),
            recording: 0,
            pause_until: None,
            due_hint: None,
            cancels: Vec::new(),
            cancelling: BTreeSet::new(),
        }
    }

    /// Whether a queue is this process's to serve.
    fn serves(&self, lane: Lane) -> bool {
        let shard = shard_of(lane.webhook);
        self.owned.contains(&shard) && !self.leaving.contains(&shard)
    }

    /// The shards that are held from now on, and those of them that are to be handed back.
    pub(super) fn hold(&mut self, owned: BTreeSet<ShardNumber>, leaving: BTreeSet<ShardNumber>) {
        (self.owned, self.leaving) = (owned, leaving);
        let lanes: Vec<Lane> = self.queues.keys().copied().collect();
        for lane in lanes {
            if !self.serves(lane)
                && let Some(queue) = self.queues.get_mut(&lane)
            {
                queue.let_go(&mut self.weight);
            }
        }
    }

    /// The shards to be handed back in which nothing is in flight or unrecorded.
    pub(super) fn quiet(&self) -> BTreeSet<ShardNumber> {
        let mut quiet = self.leaving.clone();
        for (lane, queue) in &self.queues {
            if !queue.is_quiet() {
                quiet.remove(&shard_of(lane.webhook));
            }
        }
        quiet
    }

    /// The shards of this process.
    pub(super) fn held(&self) -> &BTreeSet<ShardNumber> {
        &self.owned
    }

    /// Whether nothing is under way and nothing is known to be due at `now`.
    pub(super) fn is_idle(&self, now: Timestamp) -> bool {
        self.in_flight == 0
            && self.recording == 0
            && self.outcomes.is_empty()
            && self.batches.is_empty()
            && self.cancels.is_empty()
            && self
                .queues
                .values()
                .all(|queue| queue.is_idle() && queue.next_due().is_none_or(|due| due > now))
    }

    /// When something is due next, as far as it is known.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.due_hint.into_iter().chain(self.pause_until).min()
    }

    /// What a look at the store found.
    pub(super) fn found(&mut self, pending: &[Pending], now: Timestamp) {
        for found in pending {
            if found.queued_at <= now && self.serves(found.lane) {
                self.queues.entry(found.lane).or_default().found(now);
                self.unread.insert(found.lane);
            }
        }
    }

    /// These queues have something new, or their webhook was written.
    pub(super) fn rung(&mut self, lanes: impl IntoIterator<Item = (Lane, Touch)>) {
        for (lane, touch) in lanes {
            if self.serves(lane) {
                self.queues.entry(lane).or_default().touched(touch);
                self.unread.insert(lane);
            }
        }
    }

    /// Time has passed: queues whose webhook has to be looked at, or that failed to be read, are.
    pub(super) fn tick(&mut self, now: Timestamp) {
        self.pause_until = None;
        let before = now.minus(FORGET_AFTER);
        self.queues.retain(|_, queue| !queue.is_forgettable(before));
        self.queues.values_mut().for_each(Queue::retry);
        self.unread.extend(self.queues.keys());
    }

    /// A read that began at `began` has ended `now`; `None` when it failed.
    pub(super) fn read_ended(
        &mut self,
        read: &LaneRead,
        page: Option<LanePage>,
        began: Timestamp,
        now: Timestamp,
    ) {
        let lane = read.lane;
        let serves = self.serves(lane);
        let Some(queue) = self.queues.get_mut(&lane) else { return };
        match page {
            None => queue.read_failed(),
            Some(page) => {
                let is_gone = queue.read_ended(read, page, (began, now), &mut self.weight);
                if is_gone && serves && self.cancelling.insert(lane) {
                    self.cancels.push(lane);
                }
                self.unread.insert(lane);
            }
        }
        if !serves {
            queue.let_go(&mut self.weight);
        }
        self.enter(lane);
    }

    /// Puts a queue into the round of those that may start something.
    fn enter(&mut self, lane: Lane) {
        if let Some(queue) = self.queues.get_mut(&lane)
            && !queue.in_round
        {
            queue.in_round = true;
            self.round.push_back(lane);
        }
    }

    /// What was pending for a webhook that is gone was given up, or some of it.
    pub(super) fn cancelled(&mut self, lane: Lane) {
        self.cancelling.remove(&lane);
    }

    /// An attempt has ended as `after`; `silent` if there was no answer in time.
    pub(super) fn tried(&mut self, trial: Trial, after: Delivery, silent: bool) {
        let Trial { lane, due, .. } = trial;
        self.in_flight -= 1;
        if let Some(queue) = self.queues.get_mut(&lane) {
            self.silent_in_flight -= queue.silent_in_flight();
            queue.tried(due.contact, due.delivery.is_fresh(), silent);
            self.silent_in_flight += queue.silent_in_flight();
        }
        let bytes = due.data.as_ref().map_or(0, String::len);
        self.outcomes.push_back(Settled { lane, before: due.delivery, after, bytes });
        self.enter(lane);
    }

    /// A commit of outcomes has ended.
    pub(super) fn recorded(&mut self, mut batch: Vec<Settled>, how: Recorded, now: Timestamp) {
        self.recording -= 1;
        match how {
            Recorded::Failed => {
                self.batches.push_front(batch);
                self.pause_until = Some(now.plus(Duration::from_millis(250)));
            }
            Recorded::Contended if batch.len() == 1 => {
                self.batches.push_back(batch);
                self.pause_until = Some(now.plus(Duration::from_millis(250)));
            }
            Recorded::Conflict | Recorded::Contended if batch.len() > 1 => {
                let half = batch.split_off(batch.len() / 2);
                self.batches.extend([batch, half]);
            }
            Recorded::Done | Recorded::Conflict | Recorded::Contended => {
                let is_done = how == Recorded::Done;
                for settled in batch {
                    self.weight.deliveries -= 1;
                    self.weight.bytes -= settled.bytes;
                    let Some(queue) = self.queues.get_mut(&settled.lane) else { continue };
                    let due_at = settled.after.due_at.filter(|_| is_done);
                    queue.recorded(settled.before.id, due_at);
                    self.due_hint = self.due_hint.into_iter().chain(due_at).min();
                    // What somebody else made of it has to be read.
                    queue.stale |= !is_done;
                    self.unread.insert(settled.lane);
                }
            }
        }
    }

    /// What to do now. `alive` tells whether the lease of this process lasts: without it nothing is
    /// begun.
    pub(super) fn actions(&mut self, now: Timestamp, alive: bool) -> Vec<Action> {
        let mut actions: Vec<Action> = self.cancels.drain(..).map(Action::Cancel).collect();
        if alive {
            self.start(now, &mut actions);
        }
        self.read(now, &mut actions);
        self.record(now, &mut actions);
        actions
    }

    fn start(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        let unrecorded: usize =
            self.outcomes.len() + self.batches.iter().map(Vec::len).sum::<usize>();
        if unrecorded >= MAX_UNRECORDED {
            return;
        }
        if self.silent_in_flight < self.limits.in_all / 4 {
            self.round.append(&mut self.silent);
        }
        let mut turns = self.round.len();
        while self.in_flight < self.limits.in_all && turns > 0 {
            turns -= 1;
            let Some(lane) = self.round.pop_front() else { break };
            let cap =
                (self.limits.in_all / (self.round.len() + 1)).clamp(1, self.limits.per_webhook);
            let serves = self.serves(lane);
            let Some(queue) = self.queues.get_mut(&lane) else { continue };
            queue.in_round = false;
            if !serves || queue.in_flight() >= cap {
                continue;
            }
            // One half of what may be in flight is for queues that have nothing in flight: so
            // however many receivers keep their attempts waiting, whoever answers goes on.
            let is_crowded = self.in_flight >= self.limits.in_all / 2;
            if is_crowded && queue.in_flight() > 0 {
                continue;
            }
            // And receivers that let attempts wait for nothing share one quarter.
            if queue.is_silent() && self.silent_in_flight >= self.limits.in_all / 4 {
                queue.in_round = true;
                self.silent.push_back(lane);
                continue;
            }
            let before = queue.silent_in_flight();
            let Some((due, webhook)) = queue.take(now) else {
                self.unread.insert(lane);
                continue;
            };
            self.in_flight += 1;
            self.silent_in_flight += queue.silent_in_flight() - before;
            self.unread.insert(lane);
            actions.push(Action::Try(Box::new(Trial { lane, due, webhook })));
            self.enter(lane);
            turns += 1;
        }
    }

    fn read(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        if self.due_hint.is_some_and(|due| due <= now) {
            let is_due = |queue: &Queue| queue.next_due().is_some_and(|due| due <= now);
            let due = self.queues.iter().filter(|(_, queue)| is_due(queue));
            self.unread.extend(due.map(|(lane, _)| *lane));
            let later = self.queues.values().filter_map(Queue::next_due);
            self.due_hint = later.filter(|due| *due > now).min();
        }
        let busy = self.queues.len().max(1);
        let window = (self.limits.held / busy).clamp(WINDOW.0, WINDOW.1);
        let room = Room { window, is_heavy: self.weight.bytes >= self.limits.held_bytes };
        for lane in std::mem::take(&mut self.unread) {
            if self.serves(lane)
                && let Some(queue) = self.queues.get_mut(&lane)
                && let Some(read) = queue.read(lane, room, now)
            {
                actions.push(Action::Read(read));
            }
        }
    }

    fn record(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        if self.recording > 0 || self.pause_until.is_some_and(|until| now < until) {
            return;
        }
        self.pause_until = None;
        let mut batch = match self.batches.pop_front() {
            Some(batch) => batch,
            None => {
                let count = self.outcomes.len().min(RECORDED_AT_ONCE);
                self.outcomes.drain(..count).collect()
            }
        };
        if !batch.is_empty() {
            // In the order of their keys, so that two commits cannot wait for each other.
            batch.sort_unstable_by_key(|settled| (settled.after.company, settled.after.id));
            self.recording += 1;
            actions.push(Action::Record(batch));
        }
    }
}
