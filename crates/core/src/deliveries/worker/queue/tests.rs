use uuid::Uuid;

use super::*;
use crate::deliveries::Delivery;
use crate::events::EventType;
use crate::ids::{CompanyId, EventId, WebhookId};
use crate::store::{Stored, Version};
use crate::webhooks::{SigningSecret, SigningSecrets, Topics, WebhookUrl};

const START: Timestamp = Timestamp::from_millis(1_763_000_000_000);
const COMPANY: CompanyId = CompanyId::new(Uuid::from_u128(1));
const KEY: QueueKey = QueueKey { company: COMPANY, webhook: WebhookId::new(Uuid::from_u128(2)) };
const LIGHT: Room = Room { window: 4, is_heavy: false };

fn after(millis: u64) -> Timestamp {
    START.plus(Duration::from_millis(millis))
}

/// A delivery that was never tried, of an event at `at`.
fn due(seq: u64, at: Timestamp, data: &str) -> DueDelivery {
    let id = DeliveryId::new(Uuid::from_u128(u128::from(seq)));
    let event = EventId::new(Uuid::from_u128(u128::from(seq)));
    let made = Delivery::new(id, COMPANY, KEY.webhook, event, EventType::ContactCreated, at);
    DueDelivery {
        seq: DeliverySeq(seq),
        delivery: Stored::new(made, Version::FIRST),
        contact: None,
        data: Some(data.to_owned()),
    }
}

fn page(state: WebhookState, fresh: Vec<DueDelivery>) -> QueuePage {
    let webhook = Webhook {
        id: KEY.webhook,
        company: COMPANY,
        url: WebhookUrl::parse("https://example.com/hook").expect("a URL"),
        topics: Topics::All,
        state,
        standard_headers: false,
        secrets: SigningSecrets::new(SigningSecret::from_random([1; 32])),
        created_at: START,
        updated_at: START,
    };
    QueuePage { webhook: Some(Stored::new(webhook, Version::FIRST)), fresh, again: Vec::new() }
}

/// A queue and the bytes it holds.
#[derive(Default)]
struct Held {
    queue: Queue,
    bytes: usize,
}

impl Held {
    /// Announces new deliveries, and answers the read that follows with `fresh` at once.
    fn read(&mut self, now: Timestamp, fresh: Vec<DueDelivery>) -> QueueRead {
        self.queue.touched(Touch::Queue);
        let read = self.queue.read(KEY, LIGHT, now).expect("a read");
        self.end(&read, now, page(WebhookState::Active, fresh));
        read
    }

    fn end(&mut self, read: &QueueRead, now: Timestamp, page: QueuePage) -> bool {
        self.queue.read_ended(read, page, (now, now), &mut self.bytes)
    }
}

/// R68.
#[test]
fn what_waits_keeps_new_deliveries_from_being_read_only_while_memory_is_full() {
    let mut held = Held::default();
    held.read(START, vec![due(1, START, "{}")]);
    held.queue.touched(Touch::Queue);
    let full = Room { window: 4, is_heavy: true };
    assert_eq!(held.queue.read(KEY, full, START), None);
    // Three more fit beside the one that is held, which may be answered again.
    let read = held.queue.read(KEY, LIGHT, START).expect("a read");
    assert_eq!(read.fresh, 4);
}

/// R68.
#[test]
fn the_larger_the_last_deliveries_were_the_fewer_are_read_at_once() {
    let mut held = Held::default();
    let large = "x".repeat(READ_BYTES / 8);
    held.read(START, vec![due(1, START, &large), due(2, START, &large)]);
    held.queue.touched(Touch::Queue);
    let read = held.queue.read(KEY, Room { window: 256, is_heavy: false }, START);
    assert_eq!(read.expect("a read").fresh, 8 + 2);
    assert_eq!(held.bytes, 2 * large.len());
}

#[test]
fn a_queue_is_read_from_its_start_every_five_seconds_or_when_the_clock_was_set_back() {
    for (now, from_start) in [(after(1_000), false), (after(4_999), false), (after(5_000), true)] {
        let mut held = Held::default();
        held.read(START, vec![due(7, START.minus(GRACE), "{}")]);
        let read = held.read(now, Vec::new());
        assert_eq!(read.after, DeliverySeq(if from_start { 0 } else { 7 }), "{now:?}");
    }
    let mut held = Held::default();
    held.read(START, vec![due(7, START.minus(GRACE), "{}")]);
    let back = START.minus(Duration::from_millis(1));
    assert_eq!(held.read(back, Vec::new()).after, DeliverySeq(0));
}

#[test]
fn a_position_that_was_seen_is_passed_by_after_the_grace() {
    let mut held = Held::default();
    // An earlier sequence number may still appear.
    held.read(START, vec![due(7, START, "{}")]);
    assert_eq!(held.read(after(10), Vec::new()).after, DeliverySeq(0));
    assert_eq!(held.read(after(1_010), Vec::new()).after, DeliverySeq(0));
    assert_eq!(held.read(after(1_020), Vec::new()).after, DeliverySeq(7));
}

/// R71.
#[test]
fn the_webhook_is_read_again_while_something_waits_for_it_and_not_otherwise() {
    let mut held = Held::default();
    held.read(START, Vec::new());
    assert_eq!(held.queue.read(KEY, LIGHT, after(2_000)), None);
    held.read(after(2_000), vec![due(1, START, "{}")]);
    assert_eq!(held.queue.read(KEY, LIGHT, after(2_000)), None);
    let read = held.queue.read(KEY, LIGHT, after(3_000)).expect("a read");
    assert_eq!((read.fresh, read.again), (0, 0));
}

/// R71.
#[test]
fn nothing_goes_by_a_webhook_that_was_read_too_long_ago_by_a_clock_set_back_either() {
    for (now, goes) in [
        (START, true),
        (after(999), true),
        (after(1_000), false),
        (START.minus(FRESHNESS), true),
        (START.minus(FRESHNESS + Duration::from_millis(1)), false),
    ] {
        let mut held = Held::default();
        held.read(START, vec![due(1, START, "{}")]);
        assert_eq!(held.queue.take(now).is_some(), goes, "{now:?}");
    }
}

#[test]
fn a_read_that_brought_all_it_asked_for_is_followed_by_another() {
    let mut held = Held::default();
    held.read(START, (1..=4).map(|seq| due(seq, START, "{}")).collect());
    while held.queue.take(START).is_some() {}
    assert!(held.queue.read(KEY, LIGHT, START).is_some_and(|read| read.fresh > 0));
    let mut held = Held::default();
    held.read(START, (1..=3).map(|seq| due(seq, START, "{}")).collect());
    while held.queue.take(START).is_some() {}
    assert_eq!(held.queue.read(KEY, LIGHT, START), None);
}

/// R57.
#[test]
fn a_deleted_webhook_is_reported_where_something_waits_for_it() {
    for (fresh, reported) in [(Vec::new(), false), (vec![due(1, START, "{}")], true)] {
        let mut held = Held::default();
        held.queue.touched(Touch::Webhook);
        let read = held.queue.read(KEY, LIGHT, START).expect("a read");
        assert_eq!(held.end(&read, START, page(WebhookState::Deleted, fresh)), reported);
    }
}

#[test]
fn an_idle_queue_is_forgotten_unless_it_stands_in_the_round() {
    let mut held = Held::default();
    held.read(START, Vec::new());
    assert!(!held.queue.is_forgettable(START));
    assert!(held.queue.is_forgettable(after(1)));
    held.queue.in_round = true;
    assert!(!held.queue.is_forgettable(after(1)));
}
