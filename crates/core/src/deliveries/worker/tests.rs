//! The state with a model of the store, with tasks that end in any order.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use proptest::prelude::*;
use uuid::Uuid;

use super::DeliveryLimits;
use super::state::{AttemptChange, AttemptEnd, NextAttempt, RecordResult, Task, WorkerState};
use crate::Timestamp;
use crate::deliveries::{
    AttemptOutcome, Delivery, DeliverySeq, DeliveryStatus, DueDelivery, PendingQueue, QueueKey,
    QueuePage, QueueRead, RetryWaits, ShardNumber, Shards, Touch, after_attempt,
};
use crate::events::EventType;
use crate::ids::{CompanyId, ContactId, DeliveryId, EventId, WebhookId};
use crate::store::{Stored, Version};
use crate::transport::{OutboundResponse, TransportError};
use crate::webhooks::{SigningSecret, SigningSecrets, Topics, Webhook, WebhookState, WebhookUrl};

mod state;

const START: Timestamp = Timestamp::from_millis(1_763_000_000_000);
const COMPANY: CompanyId = CompanyId::new(Uuid::from_u128(1));
const LIMITS: DeliveryLimits =
    DeliveryLimits { per_webhook: 3, in_all: 7, held: 16, held_bytes: 1_000 };

/// A small random generator that shrinks with its seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        usize::try_from(self.0 >> 33).unwrap_or(0) % n.max(1)
    }
}

type Answer = Result<OutboundResponse, TransportError>;

const TIMED_OUT: Answer = Err(TransportError::TimedOut { after_sending: true });

fn answered(status: u16) -> Answer {
    Ok(OutboundResponse::new(status, Vec::new()))
}

fn key(n: u128) -> QueueKey {
    QueueKey { company: COMPANY, webhook: WebhookId::new(Uuid::from_u128(n)) }
}

struct World {
    now: Timestamp,
    rows: BTreeMap<DeliverySeq, (Stored<Delivery>, ContactId)>,
    states: HashMap<QueueKey, WebhookState>,
    state: WorkerState,
    under_way: Vec<Task>,
    /// Reads under way, with the state of the store at their begin.
    reads: Vec<(QueueRead, QueuePage, Timestamp)>,
    in_flight: HashMap<DeliveryId, QueueKey>,
    first_tried: HashMap<(QueueKey, ContactId), Vec<DeliverySeq>>,
    sent: HashMap<DeliveryId, u32>,
}

impl World {
    fn new() -> Self {
        let mut state = WorkerState::new(LIMITS);
        state.hold(Shards::USUAL.all().collect(), Default::default());
        Self {
            now: START,
            rows: BTreeMap::new(),
            states: HashMap::new(),
            state,
            under_way: Vec::new(),
            reads: Vec::new(),
            in_flight: HashMap::new(),
            first_tried: HashMap::new(),
            sent: HashMap::new(),
        }
    }

    fn webhook(&self, key: QueueKey) -> Webhook {
        Webhook {
            id: key.webhook,
            company: COMPANY,
            url: WebhookUrl::parse("https://example.com/hook").expect("a URL"),
            topics: Topics::All,
            state: self.states.get(&key).copied().unwrap_or(WebhookState::Active),
            standard_headers: false,
            secrets: SigningSecrets::new(SigningSecret::from_random([1; 32])),
            created_at: START,
            updated_at: START,
        }
    }

    fn insert(&mut self, key: QueueKey, contact: u128) {
        let seq = DeliverySeq(self.rows.len() as u64 + 1);
        let id = DeliveryId::new(Uuid::from_u128(u128::from(seq.0)));
        let event = EventId::new(Uuid::from_u128(u128::from(seq.0)));
        let made =
            Delivery::new(id, COMPANY, key.webhook, event, EventType::ContactCreated, self.now);
        let contact = ContactId::new(Uuid::from_u128(contact));
        self.rows.insert(seq, (Stored::new(made, Version::FIRST), contact));
    }

    fn due(&self, seq: DeliverySeq) -> DueDelivery {
        let (delivery, contact) = self.rows[&seq].clone();
        DueDelivery { seq, delivery, contact: Some(contact), data: Some("{\"a\":1}".to_owned()) }
    }

    fn page(&self, read: &QueueRead) -> QueuePage {
        let of_queue = |delivery: &Delivery| delivery.webhook == read.key.webhook;
        let fresh = self.rows.iter().filter(|(seq, (delivery, _))| {
            **seq > read.after && of_queue(delivery) && delivery.is_fresh()
        });
        let mut again: Vec<(Timestamp, DeliverySeq)> = self
            .rows
            .iter()
            .filter(|(_, (delivery, _))| of_queue(delivery) && delivery.attempts > 0)
            .filter_map(|(seq, (delivery, _))| Some((delivery.queued_at()?, *seq)))
            .filter(|(at, _)| *at <= read.due)
            .collect();
        again.sort_unstable();
        QueuePage {
            webhook: Some(Stored::new(self.webhook(read.key), Version::FIRST)),
            fresh: fresh.take(read.fresh as usize).map(|(seq, _)| self.due(*seq)).collect(),
            again: again.into_iter().take(read.again as usize).map(|(_, s)| self.due(s)).collect(),
        }
    }

    fn poll(&mut self) {
        let mut lowest: BTreeMap<QueueKey, Timestamp> = BTreeMap::new();
        for (delivery, _) in self.rows.values() {
            if let Some(at) = delivery.queued_at() {
                let key = QueueKey { company: COMPANY, webhook: delivery.webhook };
                let known = lowest.entry(key).or_insert(at);
                *known = (*known).min(at);
            }
        }
        let pending: Vec<PendingQueue> =
            lowest.into_iter().map(|(key, queued_at)| PendingQueue { key, queued_at }).collect();
        self.state.found(&pending, self.now);
    }

    fn start(&mut self) {
        for task in self.state.tasks(self.now, true) {
            match task {
                Task::Read(read) => {
                    let page = self.page(&read);
                    self.reads.push((read, page, self.now));
                }
                Task::Attempt(attempt) => self.begin(attempt),
                Task::Cancel(key) => {
                    let state = self.states.get(&key);
                    assert_eq!(state, Some(&WebhookState::Deleted), "given up for nothing");
                }
                Task::Record(batch) => self.under_way.push(Task::Record(batch)),
            }
        }
        assert!(self.in_flight.len() <= LIMITS.in_all, "more in flight than in all");
        for key in self.in_flight.values() {
            let count = self.in_flight.values().filter(|other| *other == key).count();
            assert!(count <= LIMITS.per_webhook, "more in flight than a webhook may have");
        }
    }

    fn begin(&mut self, attempt: Box<NextAttempt>) {
        let delivery = attempt.due.delivery.value();
        let stored = &self.rows[&attempt.due.seq].0;
        assert_eq!(attempt.due.delivery, *stored, "an attempt goes by what is stored");
        assert_eq!(stored.status, DeliveryStatus::Pending);
        let twice = self.in_flight.insert(delivery.id, attempt.key);
        assert!(twice.is_none(), "one delivery is in flight twice");
        if delivery.is_fresh() {
            let contact = attempt.due.contact.expect("a contact");
            for task in &self.under_way {
                if let Task::Attempt(other) = task {
                    let same = other.key == attempt.key && other.due.contact == attempt.due.contact;
                    assert!(!(same && other.due.delivery.is_fresh()), "two first attempts at once");
                }
            }
            self.first_tried.entry((attempt.key, contact)).or_default().push(attempt.due.seq);
        }
        self.under_way.push(Task::Attempt(attempt));
    }

    /// Ends one random task. Returns whether there was any.
    fn end_one(&mut self, chance: &mut Chance) -> bool {
        let count = self.under_way.len() + self.reads.len();
        if count == 0 {
            return false;
        }
        let at = chance.below(count);
        if at < self.reads.len() {
            let (read, page, began) = self.reads.swap_remove(at);
            let page = (chance.below(10) > 0).then_some(page);
            self.state.read_ended(&read, page, began, self.now);
            return true;
        }
        match self.under_way.swap_remove(at - self.reads.len()) {
            Task::Attempt(attempt) => self.end_attempt(*attempt, chance),
            Task::Record(batch) => self.end_record(batch, chance),
            Task::Cancel(_) | Task::Read(_) => {}
        }
        true
    }

    fn end_attempt(&mut self, attempt: NextAttempt, chance: &mut Chance) {
        let answer = match chance.below(4) {
            0 => TIMED_OUT,
            1 => answered(500),
            _ => answered(204),
        };
        self.answer_attempt(attempt, answer);
    }

    fn answer_attempt(&mut self, attempt: NextAttempt, answer: Answer) {
        let id = attempt.due.delivery.id;
        self.in_flight.remove(&id);
        *self.sent.entry(id).or_default() += 1;
        let outcome = AttemptOutcome { started_at: self.now, ended_at: self.now, answer };
        let silent = outcome.answer.is_err();
        let after = after_attempt(&attempt.due.delivery, &outcome, &RetryWaits::default());
        let arrived = outcome.may_have_arrived();
        self.state.tried(attempt, AttemptEnd { after, silent, arrived });
    }

    /// Answers an attempt in flight. Returns whether there was any.
    fn answer_one(&mut self, answer: Answer) -> bool {
        let at = self.under_way.iter().position(|task| matches!(task, Task::Attempt(_)));
        let Some(Task::Attempt(attempt)) = at.map(|at| self.under_way.swap_remove(at)) else {
            return false;
        };
        self.answer_attempt(*attempt, answer);
        true
    }

    /// Answers every read that is under way.
    fn answer_reads(&mut self) {
        while let Some((read, page, began)) = self.reads.pop() {
            self.state.read_ended(&read, Some(page), began, self.now);
        }
    }

    /// The next commit of outcomes.
    fn next_record(&mut self) -> Option<Vec<AttemptChange>> {
        let tasks = self.state.tasks(self.now, false);
        tasks.into_iter().find_map(|task| match task {
            Task::Record(batch) => Some(batch),
            Task::Read(_) | Task::Attempt(_) | Task::Cancel(_) => None,
        })
    }

    /// Runs all reads, and starts the tasks that follow.
    fn read_and_start(&mut self) {
        self.start();
        self.answer_reads();
        self.start();
    }

    /// Starts deliveries of as many contacts to a webhook, up to the limits.
    fn fill(&mut self, key: QueueKey, deliveries: u128) {
        (1..=deliveries).for_each(|contact| self.insert(key, contact));
        self.state.notified([(key, Touch::Queue)]);
        self.read_and_start();
    }

    fn filled(deliveries: u128) -> Self {
        let mut world = Self::new();
        world.fill(key(1), deliveries);
        world
    }

    fn end_record(&mut self, batch: Vec<AttemptChange>, chance: &mut Chance) {
        if chance.below(8) == 0 {
            self.state.recorded(batch, RecordResult::Failed, self.now);
            return;
        }
        for change in &batch {
            let row = self.rows.values_mut().find(|(row, _)| row.id == change.after.id);
            let (row, _) = row.expect("stored");
            assert_eq!(row.version(), change.before.version(), "an outcome was recorded twice");
            *row = Stored::new(change.after.clone(), row.version().next());
        }
        self.state.recorded(batch, RecordResult::Done, self.now);
    }

    fn pending(&self) -> usize {
        self.rows.values().filter(|(row, _)| row.status == DeliveryStatus::Pending).count()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// In any order of results, and with any failures of reads and commits: no delivery is tried
    /// twice at once or with an outdated row, the limits hold, a contact's first attempts keep
    /// their order, and in the end every delivery is finished and every attempt recorded (R68).
    #[test]
    fn everything_is_finished_in_order_and_within_bounds(seed in any::<u64>(), deliveries in 1_usize..80, queues in 1_u128..5, contacts in 1_usize..6) {
        let (mut world, mut chance) = (World::new(), Chance(seed));
        let mut left = deliveries;
        for step in 0..20_000 {
            if left > 0 && chance.below(3) == 0 {
                let key = key(1 + chance.below(queues as usize) as u128);
                world.insert(key, chance.below(contacts) as u128);
                left -= 1;
                if chance.below(4) > 0 {
                    world.state.notified([(key, Touch::Queue)]);
                }
            }
            world.start();
            if !world.end_one(&mut chance) || step % 64 == 0 {
                world.now = world.now.plus(Duration::from_secs(chance.below(120) as u64 + 1));
                world.state.tick(world.now);
                world.poll();
            }
            if left == 0 && world.pending() == 0 && world.state.is_idle(Timestamp::MAX) {
                break;
            }
        }
        prop_assert_eq!(world.pending(), 0, "something was left");
        for (row, _) in world.rows.values() {
            prop_assert_eq!(world.sent[&row.id], row.attempts, "an attempt was not recorded");
        }
        for tried in world.first_tried.values() {
            prop_assert!(tried.is_sorted(), "first attempts out of order: {tried:?}");
        }
    }
}

#[test]
fn a_receiver_that_never_answers_leaves_room_for_the_others() {
    let mut world = World::filled(20);
    assert_eq!(world.in_flight.len(), LIMITS.per_webhook);
    world.fill(key(2), 1);
    assert!(world.in_flight.values().any(|in_flight| *in_flight == key(2)));
}

#[test]
fn several_receivers_that_never_answer_leave_room_for_the_others() {
    let mut world = World::new();
    for number in 1..=5 {
        world.fill(key(number), 20);
        assert!(world.in_flight.values().any(|in_flight| *in_flight == key(number)), "{number}");
    }
}

#[test]
fn what_waits_for_an_inactive_webhook_is_not_tried_until_somebody_rings() {
    let mut world = World::new();
    world.states.insert(key(1), WebhookState::Inactive);
    world.insert(key(1), 1);
    world.poll();
    world.read_and_start();
    world.now = world.now.plus(Duration::from_secs(1));
    world.poll();
    world.read_and_start();
    assert!(world.in_flight.is_empty());
    world.states.insert(key(1), WebhookState::Active);
    world.state.notified([(key(1), Touch::Queue)]);
    world.read_and_start();
    assert_eq!(world.in_flight.len(), 1);
}

/// R71.
#[test]
fn a_webhook_that_was_written_is_read_again_before_anything_goes_to_it() {
    let mut world = World::new();
    (0..10).for_each(|contact| world.insert(key(1), contact));
    world.state.notified([(key(1), Touch::Queue)]);
    world.start();
    // Written during a read, which still returns its earlier state.
    world.states.insert(key(1), WebhookState::Inactive);
    world.state.notified([(key(1), Touch::Webhook)]);
    world.answer_reads();
    world.start();
    assert!(world.in_flight.is_empty(), "an attempt went by what the webhook was");
    world.answer_reads();
    world.start();
    assert!(world.in_flight.is_empty());
}

#[test]
fn a_store_that_is_slow_to_answer_delays_attempts_and_does_not_prevent_them() {
    let mut world = World::new();
    world.insert(key(1), 1);
    world.state.notified([(key(1), Touch::Queue)]);
    world.start();
    world.now = world.now.plus(Duration::from_secs(5));
    world.answer_reads();
    world.start();
    assert_eq!(world.in_flight.len(), 1);
}

/// R68.
#[test]
fn receivers_that_let_attempts_wait_share_a_quarter_and_each_gets_its_turn() {
    let mut world = World::new();
    for number in 1..=4 {
        (0..10).for_each(|contact| world.insert(key(number), contact));
        world.state.notified([(key(number), Touch::Queue)]);
    }
    world.read_and_start();
    let mut tried: HashMap<QueueKey, usize> = HashMap::new();
    for _ in 0..40 {
        world.answer_one(TIMED_OUT);
        let before: HashSet<DeliveryId> = world.in_flight.keys().copied().collect();
        world.start();
        for (id, key) in &world.in_flight {
            if !before.contains(id) {
                *tried.entry(*key).or_default() += 1;
            }
        }
        world.answer_reads();
    }
    let most = LIMITS.in_all / 4;
    assert!(world.in_flight.len() <= most.max(1), "{} wait for nothing", world.in_flight.len());
    assert_eq!(tried.len(), 4, "one of them had no turn: {tried:?}");
}

#[test]
fn without_a_lease_nothing_is_begun() {
    let mut world = World::new();
    world.insert(key(1), 1);
    world.poll();
    world.start();
    world.answer_reads();
    let begun = world.state.tasks(world.now, false);
    assert!(!begun.iter().any(|task| matches!(task, Task::Attempt(_))));
    let begun = world.state.tasks(world.now, true);
    assert!(begun.iter().any(|task| matches!(task, Task::Attempt(_))));
}

/// R72.
#[test]
fn outcomes_are_recorded_by_one_commit_at_a_time_and_a_quarter_second_after_a_failure() {
    let mut world = World::filled(2);
    assert!(world.answer_one(answered(204)));
    let first = world.next_record().expect("a commit");
    assert!(world.answer_one(answered(204)));
    assert!(world.next_record().is_none());
    world.state.recorded(first, RecordResult::Failed, world.now);
    for (wait, is_recorded) in [(0, false), (249, false), (1, true)] {
        world.now = world.now.plus(Duration::from_millis(wait));
        assert_eq!(world.next_record().is_some(), is_recorded);
    }
}

/// D52a.
#[test]
fn what_another_commit_wrote_is_read_again() {
    for (how, reads) in [(RecordResult::Conflict, 1), (RecordResult::Done, 0)] {
        let mut world = World::filled(1);
        assert!(world.answer_one(answered(204)));
        let batch = world.next_record().expect("a commit");
        world.state.recorded(batch, how, world.now);
        world.start();
        assert_eq!(world.reads.len(), reads, "{how:?}");
    }
}

/// D53.
#[test]
fn what_failed_is_due_again_at_its_time() {
    let mut world = World::filled(1);
    assert!(world.answer_one(answered(500)));
    let batch = world.next_record().expect("a commit");
    let due = batch[0].after.due_at.expect("it is tried again");
    world.state.recorded(batch, RecordResult::Done, world.now);
    assert_eq!(world.state.next_due(), Some(due));
    assert!(world.state.is_idle(world.now));
    assert!(!world.state.is_idle(due));
}

#[test]
fn a_queue_is_read_once_something_in_it_is_due() {
    let mut world = World::new();
    let pending = [PendingQueue { key: key(1), queued_at: world.now.plus(Duration::from_secs(1)) }];
    for reads in [0, 1] {
        world.state.found(&pending, world.now);
        world.start();
        assert_eq!(world.reads.len(), reads);
        world.now = pending[0].queued_at;
    }
}

/// R72.
#[test]
fn while_nothing_can_be_recorded_no_more_than_a_few_thousand_attempts_are_made() {
    let mut world = World::new();
    (0..2_400).for_each(|contact| world.insert(key(1), contact));
    world.now = world.now.plus(Duration::from_secs(2));
    world.poll();
    world.read_and_start();
    while world.answer_one(answered(204)) {
        world.read_and_start();
    }
    assert!((2_048..2_400).contains(&world.sent.len()), "{}", world.sent.len());
}
