//! All queues of one process: which may start an attempt, and what has to be recorded (D52–D55).
//! Plain data; nothing here waits or calls.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::DeliveryLimits;
use super::queue::{Queue, Room};
use crate::Timestamp;
use crate::deliveries::{
    Delivery, DueDelivery, PendingQueue, QueueKey, QueuePage, QueueRead, ShardNumber, Shards, Touch,
};
use crate::ids::CompanyId;
use crate::store::Stored;
use crate::webhooks::Webhook;

/// The most outcomes that are recorded by one commit (R72).
const RECORDED_AT_ONCE: usize = 256;
/// With this many unrecorded outcomes, no more attempts are started.
const MAX_UNRECORDED: usize = 2_048;
/// The least and the most deliveries that may wait in one queue, depending on the number of queues.
const WINDOW: (usize, usize) = (4, 256);
/// How long an idle queue is kept in memory.
const FORGET_AFTER: Duration = Duration::from_secs(60);

/// An attempt to make.
#[derive(Debug)]
pub(super) struct NextAttempt {
    pub(super) key: QueueKey,
    pub(super) due: DueDelivery,
    pub(super) webhook: Arc<Webhook>,
}

/// How an attempt ended.
#[derive(Debug)]
pub(super) struct AttemptEnd {
    /// The delivery after it.
    pub(super) after: Delivery,
    /// Whether there was no answer in time.
    pub(super) silent: bool,
    /// Whether the request may have reached the receiver.
    pub(super) arrived: bool,
}

/// How an attempt changes its delivery.
#[derive(Debug)]
pub(super) struct AttemptChange {
    pub(super) key: QueueKey,
    pub(super) before: Stored<Delivery>,
    pub(super) after: Delivery,
    pub(super) arrived: bool,
    bytes: usize,
}

/// What to do next.
#[derive(Debug)]
pub(super) enum Task {
    /// Read the head of a queue.
    Read(QueueRead),
    /// Make an attempt.
    Attempt(Box<NextAttempt>),
    /// Record outcomes, in one commit.
    Record(Vec<AttemptChange>),
    /// Cancel the pending deliveries of a deleted webhook.
    Cancel(QueueKey),
}

/// The result of a commit of outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordResult {
    /// It is stored.
    Done,
    /// One of the deliveries was written by another process or caller meanwhile.
    Conflict,
    /// The database aborted the commit because of contention: nothing is known of the deliveries.
    Contended,
    /// The store failed; to be tried again.
    Failed,
}

/// The queues of one process.
#[derive(Debug)]
pub(super) struct WorkerState {
    limits: DeliveryLimits,
    queues: HashMap<QueueKey, Queue>,
    /// Queues that may have something to read.
    unread: BTreeSet<QueueKey>,
    /// Queues that may start attempts, in turn.
    round: VecDeque<QueueKey>,
    /// Queues of the round that wait until fewer attempts to silent receivers are in flight, in
    /// turn.
    silent: VecDeque<QueueKey>,
    /// How many there are.
    shards: Shards,
    owned: BTreeSet<ShardNumber>,
    leaving: BTreeSet<ShardNumber>,
    /// Companies whose receivers are not called (D76).
    quiet: BTreeSet<CompanyId>,
    /// The bytes of the deliveries in memory, over all queues.
    held_bytes: usize,
    in_flight: usize,
    /// Those of queues whose receivers do not answer.
    silent_in_flight: usize,
    outcomes: VecDeque<AttemptChange>,
    /// Batches of outcomes that could not be recorded together, or not yet.
    batches: VecDeque<Vec<AttemptChange>>,
    recording: usize,
    pause_until: Option<Timestamp>,
    /// Not after the earliest time at which a delivery that failed is due again.
    due_hint: Option<Timestamp>,
    cancels: Vec<QueueKey>,
    cancelling: BTreeSet<QueueKey>,
}

impl WorkerState {
    pub(super) fn new(limits: DeliveryLimits) -> Self {
        Self {
            limits,
            queues: HashMap::new(),
            unread: BTreeSet::new(),
            round: VecDeque::new(),
            silent: VecDeque::new(),
            shards: Shards::USUAL,
            owned: BTreeSet::new(),
            leaving: BTreeSet::new(),
            quiet: BTreeSet::new(),
            held_bytes: 0,
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

    /// Whether this process serves a queue.
    fn serves(&self, key: QueueKey) -> bool {
        let shard = self.shards.of_webhook(key.webhook);
        self.owned.contains(&shard)
            && !self.leaving.contains(&shard)
            && !self.quiet.contains(&key.company)
    }

    /// Sets the companies whose receivers are not called. What is pending for one that is not among
    /// them any more is found by the next poll.
    pub(super) fn quieten(&mut self, companies: BTreeSet<CompanyId>) {
        if self.quiet != companies {
            self.quiet = companies;
            self.let_go();
        }
    }

    /// Sets how many shards there are.
    pub(super) fn set_shards(&mut self, shards: Shards) {
        self.shards = shards;
    }

    /// Sets the shards that are held from now on, and those of them that have to be released.
    pub(super) fn hold(&mut self, owned: BTreeSet<ShardNumber>, leaving: BTreeSet<ShardNumber>) {
        (self.owned, self.leaving) = (owned, leaving);
        self.let_go();
    }

    /// Drops what waits in queues that are not served.
    fn let_go(&mut self) {
        let queues: Vec<QueueKey> = self.queues.keys().copied().collect();
        for key in queues {
            if !self.serves(key)
                && let Some(queue) = self.queues.get_mut(&key)
            {
                queue.let_go(&mut self.held_bytes);
            }
        }
    }

    /// The shards to be released in which nothing is in flight or unrecorded.
    pub(super) fn quiet(&self) -> BTreeSet<ShardNumber> {
        let mut quiet = self.leaving.clone();
        for (key, queue) in &self.queues {
            if !queue.is_quiet() {
                quiet.remove(&self.shards.of_webhook(key.webhook));
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

    /// Processes the result of a poll of the store.
    pub(super) fn found(&mut self, pending: &[PendingQueue], now: Timestamp) {
        for found in pending {
            if found.queued_at <= now && self.serves(found.key) {
                self.queues.entry(found.key).or_default().found(now);
                self.unread.insert(found.key);
            }
        }
    }

    /// These queues have something new, or their webhook was written.
    pub(super) fn notified(&mut self, queues: impl IntoIterator<Item = (QueueKey, Touch)>) {
        for (key, touch) in queues {
            if self.serves(key) {
                self.queues.entry(key).or_default().touched(touch);
                self.unread.insert(key);
            }
        }
    }

    /// Time has passed: marks the queues whose webhook has to be read again, or whose last read
    /// failed.
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
        read: &QueueRead,
        page: Option<QueuePage>,
        began: Timestamp,
        now: Timestamp,
    ) {
        let key = read.key;
        let serves = self.serves(key);
        let Some(queue) = self.queues.get_mut(&key) else { return };
        match page {
            None => queue.read_failed(),
            Some(page) => {
                let is_gone = queue.read_ended(read, page, (began, now), &mut self.held_bytes);
                if is_gone && serves && self.cancelling.insert(key) {
                    self.cancels.push(key);
                }
                self.unread.insert(key);
            }
        }
        if !serves {
            queue.let_go(&mut self.held_bytes);
        }
        self.enter(key);
    }

    /// Adds a queue to the round of those that may start attempts.
    fn enter(&mut self, key: QueueKey) {
        if let Some(queue) = self.queues.get_mut(&key)
            && !queue.in_round
        {
            queue.in_round = true;
            self.round.push_back(key);
        }
    }

    /// All or some pending deliveries of a deleted webhook were cancelled.
    pub(super) fn cancelled(&mut self, key: QueueKey) {
        self.cancelling.remove(&key);
    }

    /// An attempt has ended.
    pub(super) fn tried(&mut self, attempt: NextAttempt, end: AttemptEnd) {
        let NextAttempt { key, due, .. } = attempt;
        let AttemptEnd { after, silent, arrived } = end;
        self.in_flight -= 1;
        if let Some(queue) = self.queues.get_mut(&key) {
            self.silent_in_flight -= queue.silent_in_flight();
            queue.tried(due.contact, due.delivery.is_fresh(), silent);
            self.silent_in_flight += queue.silent_in_flight();
        }
        let bytes = due.data.as_ref().map_or(0, String::len);
        self.outcomes.push_back(AttemptChange { key, before: due.delivery, after, arrived, bytes });
        self.enter(key);
    }

    /// A commit of outcomes has ended.
    pub(super) fn recorded(
        &mut self,
        mut batch: Vec<AttemptChange>,
        how: RecordResult,
        now: Timestamp,
    ) {
        self.recording -= 1;
        match how {
            RecordResult::Failed => {
                self.batches.push_front(batch);
                self.pause_until = Some(now.plus(Duration::from_millis(250)));
            }
            RecordResult::Contended if batch.len() == 1 => {
                self.batches.push_back(batch);
                self.pause_until = Some(now.plus(Duration::from_millis(250)));
            }
            RecordResult::Conflict | RecordResult::Contended if batch.len() > 1 => {
                let half = batch.split_off(batch.len() / 2);
                self.batches.extend([batch, half]);
            }
            RecordResult::Done | RecordResult::Conflict | RecordResult::Contended => {
                let is_done = how == RecordResult::Done;
                for change in batch {
                    self.held_bytes -= change.bytes;
                    let Some(queue) = self.queues.get_mut(&change.key) else { continue };
                    let due_at = change.after.due_at.filter(|_| is_done);
                    queue.recorded(change.before.id, due_at);
                    self.due_hint = self.due_hint.into_iter().chain(due_at).min();
                    // The values of the other commit have to be read.
                    queue.stale |= !is_done;
                    self.unread.insert(change.key);
                }
            }
        }
    }

    /// The tasks to start now. `alive` is whether the lease of this process lasts: without it no
    /// attempt begins.
    pub(super) fn tasks(&mut self, now: Timestamp, alive: bool) -> Vec<Task> {
        let mut tasks: Vec<Task> = self.cancels.drain(..).map(Task::Cancel).collect();
        if alive {
            self.start(now, &mut tasks);
        }
        self.read(now, &mut tasks);
        self.record(now, &mut tasks);
        tasks
    }

    fn start(&mut self, now: Timestamp, tasks: &mut Vec<Task>) {
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
            let Some(key) = self.round.pop_front() else { break };
            let cap =
                (self.limits.in_all / (self.round.len() + 1)).clamp(1, self.limits.per_webhook);
            let serves = self.serves(key);
            let Some(queue) = self.queues.get_mut(&key) else { continue };
            queue.in_round = false;
            if !serves || queue.in_flight() >= cap {
                continue;
            }
            // Half of the attempts in flight are reserved for queues without any: so receivers that
            // answer are served, however many others do not answer.
            let is_crowded = self.in_flight >= self.limits.in_all / 2;
            if is_crowded && queue.in_flight() > 0 {
                continue;
            }
            // And receivers that do not answer share one quarter.
            if queue.is_silent() && self.silent_in_flight >= self.limits.in_all / 4 {
                queue.in_round = true;
                self.silent.push_back(key);
                continue;
            }
            let before = queue.silent_in_flight();
            let Some((due, webhook)) = queue.take(now) else {
                self.unread.insert(key);
                continue;
            };
            self.in_flight += 1;
            self.silent_in_flight += queue.silent_in_flight() - before;
            self.unread.insert(key);
            tasks.push(Task::Attempt(Box::new(NextAttempt { key, due, webhook })));
            self.enter(key);
            turns += 1;
        }
    }

    fn read(&mut self, now: Timestamp, tasks: &mut Vec<Task>) {
        if self.due_hint.is_some_and(|due| due <= now) {
            let is_due = |queue: &Queue| queue.next_due().is_some_and(|due| due <= now);
            let due = self.queues.iter().filter(|(_, queue)| is_due(queue));
            self.unread.extend(due.map(|(key, _)| *key));
            let later = self.queues.values().filter_map(Queue::next_due);
            self.due_hint = later.filter(|due| *due > now).min();
        }
        let busy = self.queues.len().max(1);
        let window = (self.limits.held / busy).clamp(WINDOW.0, WINDOW.1);
        let room = Room { window, is_heavy: self.held_bytes >= self.limits.held_bytes };
        for key in std::mem::take(&mut self.unread) {
            if self.serves(key)
                && let Some(queue) = self.queues.get_mut(&key)
                && let Some(read) = queue.read(key, room, now)
            {
                tasks.push(Task::Read(read));
            }
        }
    }

    fn record(&mut self, now: Timestamp, tasks: &mut Vec<Task>) {
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
            // In the order of their keys, so that two commits cannot deadlock.
            batch.sort_unstable_by_key(|change| (change.after.company, change.after.id));
            self.recording += 1;
            tasks.push(Task::Record(batch));
        }
    }
}
