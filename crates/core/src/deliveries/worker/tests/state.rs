//! The state alone: shards that are left, outcomes that are not recorded, and what is read when.

use std::collections::BTreeSet;

use super::*;
use crate::deliveries::Shards;

fn all() -> BTreeSet<ShardNumber> {
    Shards::USUAL.all().collect()
}

impl World {
    fn with(limits: DeliveryLimits) -> Self {
        let mut world = Self::new();
        world.state = WorkerState::new(limits);
        world.state.hold(all(), BTreeSet::new());
        world
    }

    /// Gives up the shard of a queue, once it is quiet.
    fn leave(&mut self, key: QueueKey) -> BTreeSet<ShardNumber> {
        let leaving = BTreeSet::from([Shards::USUAL.of_webhook(key.webhook)]);
        self.state.hold(all(), leaving.clone());
        leaving
    }

    /// Records everything that is unrecorded.
    fn record(&mut self) {
        while let Some(batch) = self.next_record() {
            for change in &batch {
                let row = self.rows.values_mut().find(|(row, _)| row.id == change.after.id);
                let (row, _) = row.expect("stored");
                *row = Stored::new(change.after.clone(), row.version().next());
            }
            self.state.recorded(batch, RecordResult::Done, self.now);
        }
    }

    fn wait(&mut self, wait: Duration) {
        self.now = self.now.plus(wait);
    }

    /// How many deliveries the next read of a queue asks for.
    fn asks_for(&mut self, key: QueueKey) -> u32 {
        self.state.notified([(key, Touch::Queue)]);
        self.start();
        let read = self.reads.iter().find(|(read, ..)| read.key == key);
        read.expect("a read").0.fresh
    }

    fn cancels(&mut self) -> usize {
        let tasks = self.state.tasks(self.now, true);
        let count = tasks.iter().filter(|task| matches!(task, Task::Cancel(_))).count();
        for task in tasks {
            if let Task::Read(read) = task {
                let page = self.page(&read);
                self.state.read_ended(&read, Some(page), self.now, self.now);
            }
        }
        count
    }
}

/// D52a.
#[test]
fn a_shard_that_is_left_is_quiet_once_its_last_outcome_is_recorded() {
    let mut world = World::filled(2);
    let left = world.leave(key(1));
    assert_eq!(world.state.held(), &all());
    for _ in 0..2 {
        assert!(world.state.quiet().is_empty());
        assert!(world.answer_one(answered(204)));
    }
    assert!(world.state.quiet().is_empty());
    world.record();
    assert_eq!(world.state.quiet(), left);
}

/// D52a.
#[test]
fn in_a_shard_that_is_left_nothing_is_read_or_begun() {
    let mut world = World::filled(9);
    world.fill(key(2), 1);
    let before = world.in_flight.len();
    world.leave(key(1));
    assert!(world.answer_one(answered(204)));
    world.state.notified([(key(1), Touch::Queue)]);
    world.poll();
    world.state.tick(world.now);
    world.start();
    assert!(world.reads.iter().all(|(read, ..)| read.key == key(2)));
    assert_eq!(world.in_flight.len(), before - 1);
}

/// D52a.
#[test]
fn a_read_that_ends_after_its_shard_was_left_brings_nothing() {
    let mut world = World::new();
    world.insert(key(1), 1);
    world.state.notified([(key(1), Touch::Queue)]);
    world.start();
    let left = world.leave(key(1));
    world.answer_reads();
    world.start();
    assert!(world.in_flight.is_empty());
    assert_eq!(world.state.quiet(), left);
    world.state.hold(all(), BTreeSet::new());
    world.poll();
    world.read_and_start();
    assert_eq!(world.in_flight.len(), 1, "it is read again once the shard is held again");
}

/// D52a.
#[test]
fn a_deleted_webhook_of_a_shard_that_was_left_is_for_another_process_to_cancel() {
    let mut world = World::new();
    world.states.insert(key(1), WebhookState::Deleted);
    world.insert(key(1), 1);
    world.state.notified([(key(1), Touch::Queue)]);
    world.start();
    world.leave(key(1));
    world.answer_reads();
    assert_eq!(world.cancels(), 0);
}

/// R57.
#[test]
fn what_a_deleted_webhook_is_owed_is_cancelled_once_at_a_time() {
    let mut world = World::new();
    world.states.insert(key(1), WebhookState::Deleted);
    world.insert(key(1), 1);
    world.state.notified([(key(1), Touch::Queue)]);
    assert_eq!(world.cancels(), 0);
    assert!(!world.state.is_idle(world.now), "there is something to cancel");
    assert_eq!(world.cancels(), 1);
    world.state.notified([(key(1), Touch::Queue)]);
    assert_eq!((world.cancels(), world.cancels()), (0, 0), "it is being cancelled");
    world.state.cancelled(key(1));
    world.state.notified([(key(1), Touch::Queue)]);
    assert_eq!((world.cancels(), world.cancels()), (0, 1), "something was left");
}

#[test]
fn a_worker_is_idle_once_every_outcome_is_recorded() {
    let mut world = World::new();
    assert!(world.state.is_idle(world.now));
    world.fill(key(1), 1);
    assert!(!world.state.is_idle(world.now), "an attempt is in flight");
    assert!(world.answer_one(answered(204)));
    assert!(!world.state.is_idle(world.now), "its outcome is not recorded");
    let batch = world.next_record().expect("a commit");
    assert!(!world.state.is_idle(world.now), "its outcome is being recorded");
    world.state.recorded(batch, RecordResult::Done, world.now);
    assert!(world.state.is_idle(world.now));
}

/// R72.
#[test]
fn after_a_commit_failed_the_worker_wakes_up_a_quarter_second_later() {
    let mut world = World::filled(1);
    assert!(world.answer_one(answered(204)));
    let batch = world.next_record().expect("a commit");
    world.state.recorded(batch, RecordResult::Failed, world.now);
    assert_eq!(world.state.next_due(), Some(world.now.plus(Duration::from_millis(250))));
    assert!(world.next_record().is_none());
    world.state.tick(world.now);
    assert_eq!(world.state.next_due(), None);
    assert!(world.next_record().is_some(), "a tick ends the pause");
}

/// R72.
#[test]
fn outcomes_that_cannot_be_recorded_together_are_recorded_by_halves() {
    for how in [RecordResult::Conflict, RecordResult::Contended] {
        let mut world = World::filled(3);
        world.fill(key(2), 1);
        while world.answer_one(answered(204)) {}
        let batch = world.next_record().expect("a commit");
        assert_eq!(batch.len(), 4);
        world.state.recorded(batch, how, world.now);
        for count in [2, 2] {
            let half = world.next_record().expect("a half");
            assert_eq!(half.len(), count, "{how:?}");
            world.state.recorded(half, RecordResult::Done, world.now);
        }
        assert!(world.next_record().is_none());
    }
}

/// R72.
#[test]
fn an_outcome_that_could_not_be_recorded_for_contention_is_recorded_later() {
    let mut world = World::filled(1);
    assert!(world.answer_one(answered(204)));
    let batch = world.next_record().expect("a commit");
    world.state.recorded(batch, RecordResult::Contended, world.now);
    assert!(world.next_record().is_none());
    world.wait(Duration::from_millis(250));
    assert_eq!(world.next_record().expect("a commit").len(), 1);
}

/// R72.
#[test]
fn one_commit_records_at_most_256_outcomes() {
    let limits = DeliveryLimits { per_webhook: 300, in_all: 600, held: 600, held_bytes: 100_000 };
    let mut world = World::with(limits);
    for n in 1..=2 {
        (0..150).for_each(|contact| world.insert(key(n), contact));
        world.state.notified([(key(n), Touch::Queue)]);
    }
    let mut begun = Vec::new();
    for _ in 0..4 {
        for task in world.state.tasks(world.now, true) {
            match task {
                Task::Read(read) => world.reads.push((read, world.page(&read), world.now)),
                Task::Attempt(attempt) => begun.push(*attempt),
                Task::Record(_) | Task::Cancel(_) => {}
            }
        }
        world.answer_reads();
    }
    assert_eq!(begun.len(), 300);
    begun.into_iter().for_each(|attempt| world.answer_attempt(attempt, answered(204)));
    for count in [256, 44] {
        let batch = world.next_record().expect("a commit");
        assert_eq!(batch.len(), count);
        assert!(batch.is_sorted_by_key(|change| change.after.id), "two commits could deadlock");
        world.state.recorded(batch, RecordResult::Done, world.now);
    }
}

/// R68.
#[test]
fn the_more_queues_there_are_the_fewer_deliveries_of_each_wait() {
    for (queues, window) in [(1, 16), (2, 8), (3, 5), (8, 4)] {
        let mut world = World::new();
        for n in 1..=queues {
            world.state.notified([(key(n), Touch::Queue)]);
        }
        assert_eq!(world.asks_for(key(1)), window, "{queues}");
    }
}

#[test]
fn a_queue_that_was_idle_for_a_minute_leaves_its_room_to_the_others() {
    for (millis, window) in [(60_000, 8), (60_001, 16)] {
        let mut world = World::filled(1);
        assert!(world.answer_one(answered(204)));
        world.record();
        world.start();
        world.wait(Duration::from_millis(millis));
        world.state.tick(world.now);
        assert_eq!(world.asks_for(key(2)), window, "{millis}");
    }
}

/// R68.
#[test]
fn while_the_memory_is_full_deliveries_are_read_one_by_one() {
    // Each delivery has seven bytes.
    for (held_bytes, asked) in [(14, 1), (15, 8)] {
        let mut world = World::with(DeliveryLimits { held_bytes, ..LIMITS });
        world.fill(key(1), 2);
        assert_eq!(world.asks_for(key(2)), asked, "{held_bytes}");
    }
}

/// R68.
#[test]
fn what_was_recorded_takes_no_memory_any_more() {
    let mut world = World::with(DeliveryLimits { held_bytes: 14, ..LIMITS });
    world.fill(key(1), 2);
    assert!(world.answer_one(answered(204)));
    let batch = world.next_record().expect("a commit");
    assert_eq!(world.asks_for(key(2)), 1, "what is not recorded yet does");
    world.state.recorded(batch, RecordResult::Done, world.now);
    world.answer_reads();
    assert_eq!(world.asks_for(key(2)), 8);
}

/// D53.
#[test]
fn each_queue_is_read_when_its_own_next_attempt_is_due() {
    let mut world = World::new();
    for (number, wait) in [(1, 0), (2, 10)] {
        world.wait(Duration::from_secs(wait));
        world.fill(key(number), 1);
        assert!(world.answer_one(answered(500)));
        world.record();
        world.read_and_start();
        world.answer_reads();
    }
    for (seconds, queue) in [(20, key(1)), (10, key(2))] {
        let due = world.now.plus(Duration::from_secs(seconds));
        assert_eq!(world.state.next_due(), Some(due));
        world.now = due.minus(Duration::from_millis(1));
        world.start();
        assert!(world.reads.is_empty());
        world.now = due;
        world.start();
        let read: Vec<QueueKey> = world.reads.iter().map(|(read, ..)| read.key).collect();
        assert_eq!(read, [queue]);
        world.answer_reads();
        world.start();
        assert!(world.answer_one(answered(204)));
        world.record();
        world.read_and_start();
        world.answer_reads();
    }
    assert_eq!(world.state.next_due(), None);
}

/// R68.
#[test]
fn a_queue_with_its_share_in_flight_leaves_the_rest_to_the_others() {
    let limits = DeliveryLimits { per_webhook: 9, in_all: 18, held: 60, ..LIMITS };
    let mut world = World::with(limits);
    let mut in_flight = 0;
    for attempt in 0..2 {
        for (number, deliveries) in [(1, 6 + attempt), (2, attempt), (3, attempt)] {
            (0..deliveries).for_each(|contact| world.insert(key(number), 10 + contact));
            world.state.notified([(key(number), Touch::Queue)]);
        }
        for _ in 0..2 {
            for task in world.state.tasks(world.now, true) {
                match task {
                    Task::Read(read) => world.reads.push((read, world.page(&read), world.now)),
                    Task::Attempt(begun) if begun.key == key(1) => in_flight += 1,
                    Task::Attempt(_) | Task::Record(_) | Task::Cancel(_) => {}
                }
            }
            world.answer_reads();
        }
        // A third of all.
        assert_eq!(in_flight, 6, "{attempt}");
    }
}

/// R68.
#[test]
fn receivers_that_did_not_answer_have_a_quarter_of_all_attempts_between_them() {
    let mut world = World::new();
    for number in 1..=3 {
        world.fill(key(number), 10);
    }
    while world.answer_one(TIMED_OUT) {}
    world.start();
    assert_eq!(world.in_flight.len(), LIMITS.in_all / 4);
}

/// R68.
#[test]
fn silent_receivers_that_wait_take_no_share_from_one_that_answers() {
    let mut world = World::new();
    for number in 1..=5 {
        world.fill(key(number), 10);
    }
    while world.answer_one(TIMED_OUT) {}
    world.start();
    for (deliveries, in_flight) in [(1, 1), (2, 2)] {
        world.fill(key(9), deliveries);
        let own = world.in_flight.values().filter(|of| **of == key(9)).count();
        assert_eq!(own, in_flight);
    }
}
