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
    /// A queue that has just read these.
    fn with(fresh: Vec<DueDelivery>) -> Self {
        let mut held = Self::default();
        held.read(START, fresh);
        held
    }

    /// Takes what is tried next. Returns its sequence number.
    fn take(&mut self) -> Option<u64> {
        self.take_at(START)
    }

    fn take_at(&mut self, now: Timestamp) -> Option<u64> {
        self.queue.take(now).map(|(due, _)| due.seq.0)
    }

    fn read_next(&mut self, now: Timestamp) -> Option<QueueRead> {
        self.queue.read(KEY, LIGHT, now)
    }

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

fn id(seq: u64) -> DeliveryId {
    due(seq, START, "{}").delivery.id
}

fn many(seqs: std::ops::RangeInclusive<u64>) -> Vec<DueDelivery> {
    seqs.map(|seq| due(seq, START, "{}")).collect()
}

/// A delivery of an event about a contact.
fn about(seq: u64, contact: u128) -> DueDelivery {
    DueDelivery { contact: Some(ContactId::new(Uuid::from_u128(contact))), ..due(seq, START, "{}") }
}

/// A delivery that was tried before.
fn tried_before(seq: u64) -> DueDelivery {
    let mut due = due(seq, START, "{}");
    let mut delivery = due.delivery.value().clone();
    delivery.attempts = 1;
    due.delivery = Stored::new(delivery, Version::FIRST);
    due
}

#[test]
fn a_queue_is_idle_while_nothing_is_new_being_read_or_held() {
    let mut held = Held::default();
    assert!(held.queue.is_idle());
    held.queue.touched(Touch::Queue);
    assert!(!held.queue.is_idle(), "something is new");
    let read = held.read_next(START).expect("a read");
    assert!(!held.queue.is_idle(), "it is being read");
    held.end(&read, START, page(WebhookState::Active, many(1..=1)));
    assert!(!held.queue.is_idle(), "a delivery waits");
    assert_eq!(held.take(), Some(1));
    held.queue.tried(None, true, false);
    assert!(!held.queue.is_idle(), "its outcome is not recorded");
    held.queue.recorded(id(1), None);
    assert!(held.queue.is_idle());
}

#[test]
fn a_queue_of_which_only_a_part_was_read_is_not_idle() {
    let mut held = Held::with(many(1..=4));
    for seq in 1..=4 {
        assert_eq!(held.take(), Some(seq));
        held.queue.tried(None, true, false);
        held.queue.recorded(id(seq), None);
    }
    assert!(!held.queue.is_idle());
}

#[test]
fn a_queue_with_a_delivery_to_try_again_is_not_forgotten() {
    let mut held = Held::with(many(1..=1));
    held.take();
    held.queue.tried(None, true, false);
    held.queue.recorded(id(1), Some(after(30_000)));
    assert!(held.queue.is_idle());
    assert!(!held.queue.is_forgettable(after(1)));
}

/// D52a.
#[test]
fn a_queue_is_quiet_while_nothing_is_in_flight_or_unrecorded() {
    let mut held = Held::with(many(1..=2));
    assert!(held.queue.is_quiet(), "what only waits is no trouble");
    held.take();
    assert!(!held.queue.is_quiet(), "one is in flight");
    held.queue.tried(None, true, false);
    assert!(!held.queue.is_quiet(), "its outcome is not recorded");
    held.queue.recorded(id(1), None);
    assert!(held.queue.is_quiet());
}

/// D52a.
#[test]
fn what_waits_is_let_go_with_its_bytes_and_what_is_in_flight_is_not() {
    let mut held = Held::with(vec![due(1, START, "one"), due(2, START, "and two")]);
    assert_eq!(held.take(), Some(1));
    held.queue.let_go(&mut held.bytes);
    assert_eq!(held.bytes, "one".len());
    assert_eq!(held.take(), None);
    assert!(!held.queue.is_quiet());
    held.queue.tried(None, true, false);
    held.queue.recorded(id(1), None);
    assert!(held.queue.is_idle());
}

/// D52a.
#[test]
fn a_queue_that_was_let_go_is_read_again_from_its_start_once_it_has_something_new() {
    let mut held = Held::with(vec![due(7, START.minus(GRACE), "{}")]);
    held.queue.touched(Touch::Queue);
    held.queue.let_go(&mut held.bytes);
    assert_eq!(held.read_next(START), None);
    assert_eq!(held.read(START, Vec::new()).after, DeliverySeq(0));
}

/// R68.
#[test]
fn a_read_that_failed_is_made_again_with_the_next_poll() {
    let mut held = Held::default();
    held.queue.touched(Touch::Queue);
    assert!(held.read_next(START).is_some());
    assert_eq!(held.read_next(START), None, "one read at a time");
    held.queue.read_failed();
    assert_eq!(held.read_next(START), None);
    assert!(!held.queue.is_idle(), "what was to be read is still unknown");
    held.queue.retry();
    assert!(held.read_next(START).is_some());
}

#[test]
fn a_webhook_that_was_written_during_a_read_that_failed_is_taken_from_the_next_one() {
    let mut held = Held::default();
    held.queue.touched(Touch::Queue);
    assert!(held.read_next(START).is_some());
    held.queue.touched(Touch::Webhook);
    held.queue.read_failed();
    held.queue.retry();
    let read = held.read_next(START).expect("a read");
    held.end(&read, START, page(WebhookState::Active, many(1..=1)));
    assert_eq!(held.take(), Some(1));
}

#[test]
fn one_attempt_of_four_is_for_a_delivery_that_was_tried_before_while_there_are_both() {
    let mut held = Held::default();
    held.queue.touched(Touch::Queue);
    let read = held.read_next(START).expect("a read");
    let again = (11..=13).map(tried_before).collect();
    held.end(&read, START, QueuePage { again, ..page(WebhookState::Active, many(1..=5)) });
    let order: Vec<u64> = std::iter::from_fn(|| held.take()).collect();
    assert_eq!(order, [1, 2, 3, 11, 4, 5, 12, 13]);
}

/// R69.
#[test]
fn of_one_contact_a_second_first_attempt_begins_only_after_the_first_has_ended() {
    let mut held = Held::with(vec![about(1, 7), about(2, 7), about(3, 8)]);
    assert_eq!((held.take(), held.take(), held.take()), (Some(1), Some(3), None));
    assert_eq!(held.queue.in_flight(), 2);
    held.queue.tried(about(3, 8).contact, true, false);
    assert_eq!(held.take(), None, "the other contact's");
    held.queue.tried(about(1, 7).contact, true, false);
    assert_eq!((held.take(), held.queue.in_flight()), (Some(2), 1));
}

#[test]
fn an_attempt_at_what_was_tried_before_neither_waits_for_its_contact_nor_frees_it() {
    let again = DueDelivery { contact: about(9, 7).contact, ..tried_before(9) };
    let mut held = Held::default();
    held.queue.touched(Touch::Queue);
    let read = held.read_next(START).expect("a read");
    let fresh = vec![about(1, 7), about(2, 7)];
    held.end(&read, START, QueuePage { again: vec![again], ..page(WebhookState::Active, fresh) });
    assert_eq!((held.take(), held.take(), held.take()), (Some(1), Some(9), None));
    held.queue.tried(about(9, 7).contact, false, false);
    assert_eq!(held.take(), None);
}

#[test]
fn what_is_left_is_read_once_half_of_the_room_is_free() {
    let mut held = Held::with(many(1..=4));
    held.take();
    assert_eq!(held.read_next(START), None);
    held.take();
    let read = held.read_next(START).expect("a read");
    // Two more, beside the four that are held.
    assert_eq!(read.fresh, 2 + 4);
}

/// R68.
#[test]
fn a_queue_whose_room_is_full_is_not_read_whatever_is_new() {
    let mut held = Held::with(many(1..=4));
    held.queue.touched(Touch::Queue);
    assert_eq!(held.read_next(START), None);
    held.take();
    assert!(held.read_next(START).is_some());
}

/// D53.
#[test]
fn a_queue_is_read_at_the_earliest_time_at_which_a_delivery_is_tried_again() {
    let mut held = Held::with(many(1..=2));
    for (seq, at) in [(1, 40_000), (2, 30_000)] {
        held.take();
        held.queue.tried(None, true, false);
        held.queue.recorded(id(seq), Some(after(at)));
    }
    assert_eq!(held.queue.next_due(), Some(after(30_000)));
    assert_eq!(held.read_next(after(29_999)), None);
    let read = held.read_next(after(30_000)).expect("a read");
    assert_eq!((read.due, read.again), (after(30_000), 64));
    assert_eq!(held.queue.next_due(), None, "the read answers for all that is due");
}

/// D52.
#[test]
fn what_was_recorded_during_a_read_is_not_taken_from_its_answer() {
    let mut held = Held::with(many(1..=1));
    held.take();
    held.queue.tried(None, true, false);
    held.queue.touched(Touch::Queue);
    let read = held.read_next(START).expect("a read");
    held.queue.recorded(id(1), None);
    held.end(&read, START, page(WebhookState::Active, many(1..=2)));
    assert_eq!((held.take(), held.take()), (Some(2), None));
}

#[test]
fn the_deliveries_of_an_inactive_webhook_are_looked_for_every_five_seconds() {
    let mut held = Held::default();
    held.queue.found(START);
    let read = held.read_next(START).expect("nothing is known of the webhook yet");
    held.end(&read, START, page(WebhookState::Inactive, many(1..=1)));
    for (now, is_read) in [(after(4_999), false), (after(5_000), true)] {
        held.queue.found(now);
        assert_eq!(held.read_next(now).is_some(), is_read, "{now:?}");
    }
}

#[test]
fn what_a_poll_finds_is_looked_for_from_the_start_unless_something_is_held() {
    for (is_held, after) in [(true, 7), (false, 0)] {
        let mut held = Held::with(vec![due(7, START.minus(GRACE), "{}")]);
        held.take();
        held.queue.tried(None, true, false);
        if !is_held {
            held.queue.recorded(id(7), None);
        }
        held.queue.found(START);
        assert_eq!(held.read_next(START).expect("a read").after, DeliverySeq(after));
    }
}

/// R71.
#[test]
fn a_look_at_the_webhook_alone_passes_no_position_by() {
    let mut held = Held::with(many(7..=7));
    for now in [after(1_000), after(2_000)] {
        let look = held.read_next(now).expect("a read");
        assert_eq!(look.fresh, 0);
        held.end(&look, now, page(WebhookState::Active, Vec::new()));
    }
    assert_eq!(held.read(after(2_100), Vec::new()).after, DeliverySeq(0));
}

#[test]
fn a_read_that_was_cut_off_passes_a_position_by_only_if_it_reached_it() {
    // As many as are asked for, with one that is held already.
    for (seen, brought, after_it) in [(4_u64, 2..=5, 4), (10, 1..=4, 0)] {
        let mut held = Held::with(many(seen..=seen));
        held.read(after(10), Vec::new());
        let brought = brought.map(|seq| due(seq, after(1_000), "{}")).collect();
        let read = held.read(after(1_010), brought);
        assert_eq!(read.fresh, 4);
        while held.take_at(after(1_010)).is_some() {}
        assert_eq!(held.read(after(1_020), Vec::new()).after, DeliverySeq(after_it), "{seen}");
    }
}
