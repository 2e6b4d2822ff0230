//! Erasing the data of events about a contact (D26), and the sweep of old, finished rows.

use recado_core::deliveries::{Attempt, Delivery, DeliveryStatus, cancelled};
use recado_core::events::{Event, EventType, EventsAbout, Swept};
use recado_core::ids::{ContactId, MessageId};

use super::Harness;
use super::outbound_scene::{ALL, record};
use super::scene::{Scene, at, first};

async fn erase(scene: &Scene, contact: ContactId, limit: u32) -> (u32, bool) {
    let about = EventsAbout::contact(contact);
    let erased = scene.store.erase_events(scene.company, about, limit).await;
    let erased = erased.expect("the store works");
    (erased.events, erased.left)
}

/// For each event, whether it still has its data.
async fn whole(scene: &Scene, events: &[Event]) -> Vec<bool> {
    let mut whole = Vec::new();
    for event in events {
        let kept = scene.event_now(event.id).await.expect("an event stays");
        whole.push(kept.data.is_some());
        let mut expected = record(event);
        expected.data = kept.data.clone();
        assert_eq!(kept, expected, "nothing but the data is erased");
    }
    whole
}

/// The events of a contact lose their data; all other events keep it.
pub async fn the_data_of_a_contacts_events_is_erased(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (gone, stays) = (ContactId::new(scene.uuid()), ContactId::new(scene.uuid()));
    let events = [
        scene.reported_of(gone, 0),
        scene.reported_of(stays, 1),
        scene.reported(EventType::MessageSent, 2),
        scene.reported_of(gone, 3),
    ];
    let key = scene.queue();
    let finished = [
        scene.delivered(key, &events[0]),
        cancelled(&scene.fresh(key, &events[3])),
        scene.fresh(key, &events[1]),
    ];
    scene.tell(&events, &finished).await;
    let other = scene.another_company().await;
    assert_eq!(erase(&other, gone, ALL).await, (0, false), "nothing of another company");
    assert_eq!(erase(&scene, ContactId::new(scene.uuid()), ALL).await, (0, false));
    assert_eq!(whole(&scene, &events).await, [true; 4]);
    assert_eq!(erase(&scene, gone, ALL).await, (2, false));
    assert_eq!(whole(&scene, &events).await, [false, true, true, false]);
    let journal = scene.journal(Default::default(), ALL).await;
    assert_eq!(journal.len(), 4, "the events are still in the journal");
    assert_eq!((&journal[0].1.data, &journal[3].1.data), (&None, &None));
    assert_eq!(erase(&scene, gone, ALL).await, (0, false), "once is enough");
    assert_eq!(scene.delivery_now(finished[0].id).await, Some(first(finished[0].clone())));
}

/// With the data of an event goes what the receivers of its deliveries answered (R195); that they
/// were called stays.
pub async fn what_receivers_answered_is_erased_with_the_event(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (gone, stays) = (ContactId::new(scene.uuid()), ContactId::new(scene.uuid()));
    let events = [scene.reported_of(gone, 0), scene.reported_of(stays, 1)];
    let attempt = |number, response: Option<&str>| Attempt {
        attempt: number,
        started_at: 5,
        duration_ms: 7,
        status_code: response.map(|_| 500),
        error: response.is_none().then(|| "timed out".to_owned()),
        response: response.map(str::to_owned),
    };
    let log = vec![attempt(1, Some("\"Ana\", \\ {1}")), attempt(2, None), attempt(3, Some(""))];
    let tried = |event| Delivery { log: log.clone(), ..scene.delivered(scene.queue(), event) };
    let (told, other) = (tried(&events[0]), tried(&events[1]));
    let log = vec![attempt(1, None)];
    let unanswered = Delivery { log, ..scene.delivered(scene.queue(), &events[0]) };
    scene.tell(&events, &[told.clone(), other.clone(), unanswered.clone()]).await;
    assert_eq!(erase(&scene, gone, ALL).await, (1, false));
    let bare = told.log.iter().cloned().map(Attempt::without_answer).collect();
    let expected = Delivery { log: bare, ..told.clone() };
    let now = scene.delivery_now(told.id).await.expect("a delivery stays");
    assert_eq!((now.value(), now.version().number()), (&expected, 2));
    for same in [other, unanswered] {
        assert_eq!(scene.delivery_now(same.id).await, Some(first(same)));
    }
}

/// Of a contact's events, those lose their data that hold what one message said before its sender
/// deleted it (X3); those of other messages, of its status and of the deletion keep it.
pub async fn the_data_of_a_deleted_messages_events_is_erased(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = ContactId::new(scene.uuid());
    let (gone, stays) = (MessageId::new(scene.uuid()), MessageId::new(scene.uuid()));
    let about = |event_type, message: MessageId, deleted: &str, n| {
        let data = format!(
            r#"{{"content":"Oi","message_id":"{message}","deleted_by_sender_at":{deleted}}}"#
        );
        Event { event_type, data, ..scene.reported_of(contact, n) }
    };
    let events = [
        about(EventType::MessageReceived, gone, "null", 0),
        about(EventType::MessageUpdated, gone, "null", 1),
        about(EventType::MessageSent, gone, "null", 2),
        about(EventType::MessageUpdated, gone, "\"2025-11-13T02:13:20.000Z\"", 3),
        about(EventType::MessageStatusUpdated, gone, "null", 4),
        about(EventType::MessageReceived, stays, "null", 5),
        scene.reported_of(contact, 6),
    ];
    let waiting = scene.fresh(scene.queue(), &events[1]);
    scene.tell(&events, std::slice::from_ref(&waiting)).await;
    let erase = async || {
        let about = EventsAbout { contact, message: Some(gone) };
        let erased = scene.store.erase_events(scene.company, about, ALL).await;
        let erased = erased.expect("the store works");
        (erased.events, erased.left)
    };
    assert_eq!(erase().await, (2, true), "a pending delivery needs one");
    scene.apply(first(waiting.clone()).update(cancelled(&waiting))).await;
    assert_eq!(erase().await, (1, false));
    assert_eq!(whole(&scene, &events).await, [false, false, false, true, true, true, true]);
}

/// While a delivery of an event is pending, the event keeps its data.
pub async fn what_a_pending_delivery_carries_is_not_erased(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = ContactId::new(scene.uuid());
    let events = [scene.reported_of(contact, 0), scene.reported_of(contact, 1)];
    let (one, two) = (scene.queue(), scene.queue());
    let waiting = Delivery { attempts: 1, ..scene.fresh(two, &events[0]) };
    scene.tell(&events, &[scene.delivered(one, &events[0]), waiting.clone()]).await;
    assert_eq!(erase(&scene, contact, ALL).await, (1, true));
    assert_eq!(whole(&scene, &events).await, [true, false]);
    assert_eq!(erase(&scene, contact, ALL).await, (0, true));
    scene.apply(first(waiting.clone()).update(cancelled(&waiting))).await;
    assert_eq!(erase(&scene, contact, ALL).await, (1, false));
    assert_eq!(whole(&scene, &events).await, [false, false]);
}

/// Each step has a limit, and answers whether events are left.
pub async fn data_is_erased_in_bounded_steps(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = ContactId::new(scene.uuid());
    let events: Vec<Event> = (0..7).map(|n| scene.reported_of(contact, n)).collect();
    // An event with a pending delivery does not prevent the erasure of later ones.
    scene.tell(&events, &[scene.fresh(scene.queue(), &events[0])]).await;
    assert_eq!(erase(&scene, contact, 2).await, (2, true));
    assert_eq!(erase(&scene, contact, 2).await, (2, true));
    assert_eq!(erase(&scene, contact, 2).await, (2, true));
    assert_eq!(erase(&scene, contact, 2).await, (0, true));
    let whole = whole(&scene, &events).await;
    assert_eq!(whole, [true, false, false, false, false, false, false]);
}

async fn sweep(scene: &Scene, before: i64, limit: u32) -> u32 {
    scene.store.sweep_outbox(Swept::Before(at(before)), limit).await.expect("the store works")
}

/// Sweeps until nothing is left to delete, and answers how many rows were deleted.
async fn sweep_all(scene: &Scene, before: i64, limit: u32) -> u32 {
    let mut all = 0;
    for _ in 0..100 {
        let gone = sweep(scene, before, limit).await;
        assert!(gone <= 2 * limit, "a step is bounded");
        if gone == 0 {
            return all;
        }
        all += gone;
    }
    panic!("the sweep never ends");
}

/// Old finished deliveries are deleted with their events; younger ones stay (R70).
pub async fn finished_deliveries_and_their_events_are_swept(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let key = scene.queue();
    let events: Vec<Event> =
        (0..6).map(|n| scene.reported(EventType::MessageSent, n * 10)).collect();
    let deliveries: Vec<Delivery> = events
        .iter()
        .enumerate()
        .map(|(n, event)| match n % 2 {
            0 => scene.delivered(key, event),
            _ => cancelled(&scene.fresh(key, event)),
        })
        .collect();
    scene.tell(&events, &deliveries).await;
    assert_eq!(sweep_all(&scene, 0, ALL).await, 0);
    // The time limit itself is not before the limit.
    assert_eq!(sweep_all(&scene, 30, ALL).await, 6);
    for (n, (event, delivery)) in events.iter().zip(&deliveries).enumerate() {
        assert_eq!(scene.event_now(event.id).await.is_some(), n >= 3, "event {n}");
        assert_eq!(scene.delivery_now(delivery.id).await.is_some(), n >= 3, "delivery {n}");
    }
    let left: Vec<_> = events[3..].iter().map(|event| event.id).collect();
    assert_eq!(scene.journal_ids().await, left);
}

/// The sweep includes all companies, and events that no webhook subscribed to.
pub async fn the_sweep_goes_over_all_companies(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    for company in [&scene, &other] {
        let events = [
            company.reported(EventType::MessageSent, 0),
            company.reported(EventType::MessageSent, 1),
        ];
        company.tell(&events, &[company.delivered(company.queue(), &events[0])]).await;
    }
    assert_eq!(sweep_all(&scene, 100, ALL).await, 6);
    assert_eq!(scene.journal_ids().await, []);
    assert_eq!(other.journal_ids().await, []);
}

/// A pending delivery stays, however old it is, and so does its event. An event stays if another
/// delivery refers to it.
pub async fn what_is_pending_is_never_swept(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let event = scene.reported(EventType::MessageSent, 0);
    let (finished, fresh) =
        (scene.delivered(scene.queue(), &event), scene.fresh(scene.queue(), &event));
    let again = Delivery { attempts: 4, tries: 4, ..scene.fresh(scene.queue(), &event) };
    scene
        .tell(std::slice::from_ref(&event), &[finished.clone(), fresh.clone(), again.clone()])
        .await;
    assert_eq!(sweep_all(&scene, 1_000_000, ALL).await, 1);
    assert_eq!(scene.delivery_now(finished.id).await, None);
    assert_eq!(scene.delivery_now(fresh.id).await, Some(first(fresh.clone())));
    assert_eq!(scene.delivery_now(again.id).await, Some(first(again.clone())));
    assert_eq!(scene.event_now(event.id).await, Some(record(&event)));
    scene.apply(first(fresh.clone()).update(cancelled(&fresh))).await;
    assert_eq!(sweep_all(&scene, 1_000_000, ALL).await, 1);
    assert_eq!(scene.event_now(event.id).await, Some(record(&event)));
    scene.apply(first(again.clone()).update(cancelled(&again))).await;
    assert_eq!(sweep_all(&scene, 1_000_000, ALL).await, 2);
    assert_eq!(scene.event_now(event.id).await, None);
}

/// An event is not deleted before the last delivery of it; both have the same time.
pub async fn an_event_stays_as_long_as_a_delivery_names_it(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let event = scene.reported(EventType::MessageSent, 0);
    let (one, other) =
        (scene.delivered(scene.queue(), &event), scene.delivered(scene.queue(), &event));
    scene.tell(std::slice::from_ref(&event), &[one.clone(), other.clone()]).await;
    assert_eq!(sweep(&scene, 1, 1).await, 1);
    assert_eq!(scene.event_now(event.id).await, Some(record(&event)));
    assert_eq!(sweep(&scene, 1, 1).await, 2);
    assert_eq!(scene.event_now(event.id).await, None);
}

/// Each step has a limit, and the steps come to an end.
pub async fn the_sweep_goes_in_bounded_steps(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let key = scene.queue();
    let events: Vec<Event> = (0..20).map(|n| scene.reported(EventType::MessageSent, n)).collect();
    let mut deliveries: Vec<Delivery> =
        events.iter().map(|event| scene.delivered(key, event)).collect();
    // Rows that stay do not prevent the deletion of others.
    for n in [0, 1, 2, 3, 9] {
        deliveries[n] = scene.fresh(key, &events[n]);
    }
    scene.tell(&events, &deliveries).await;
    let first_step = sweep(&scene, 1_000, 3).await;
    assert!((1..=6).contains(&first_step), "{first_step} rows went in one step of 3");
    assert_eq!(first_step + sweep_all(&scene, 1_000, 3).await, 30);
    assert_eq!(scene.journal_ids().await.len(), 5);
    for delivery in deliveries {
        let is_pending = delivery.status == DeliveryStatus::Pending;
        assert_eq!(scene.delivery_now(delivery.id).await.is_some(), is_pending);
    }
}
