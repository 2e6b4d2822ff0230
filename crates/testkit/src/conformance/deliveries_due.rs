//! The queues of webhooks, and promise 10: the positions of deliveries.

use std::collections::{BTreeMap, BTreeSet};

use recado_core::Timestamp;
use recado_core::deliveries::{
    Delivery, DeliverySeq, DeliveryStatus, PendingDeliveries, PendingQueue, QueueKey, QueuePage,
    QueueRead, ShardNumber, cancelled, redelivered,
};
use recado_core::events::{EventType, EventsAbout};
use recado_core::ids::{ContactId, DeliveryId, WebhookId};
use recado_core::store::ChangeSet;
use recado_core::webhooks::{Webhook, WebhookState};

use super::Harness;
use super::outbound_scene::{ALL, ids_of, whole};
use super::scene::{Scene, applied, at, first};

/// A part of the queues of these shards.
async fn part(
    scene: &Scene,
    shards: &BTreeSet<ShardNumber>,
    after: Option<QueueKey>,
    limit: u32,
) -> Vec<PendingQueue> {
    scene.store.pending_queues(shards, after, limit).await.expect("the store works")
}

/// All queues of these shards, read in parts of `limit`, by company and webhook.
async fn pending_in(
    scene: &Scene,
    shards: &BTreeSet<ShardNumber>,
    limit: u32,
) -> Vec<PendingQueue> {
    let mut seen: Vec<PendingQueue> = Vec::new();
    loop {
        let next = part(scene, shards, seen.last().map(|last| last.key), limit).await;
        assert!(next.len() <= limit as usize);
        if next.is_empty() {
            break;
        }
        seen.extend(next);
    }
    seen.sort_by_key(|pending| pending.key);
    seen
}

/// All queues, by company and webhook.
async fn pending(scene: &Scene) -> Vec<PendingQueue> {
    pending_in(scene, &scene.shards().await.all().collect(), ALL).await
}

/// A queue is listed while a delivery in it is pending. Its time is the earliest of its deliveries.
pub async fn queues_with_something_pending_are_named(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    assert_eq!(pending(&scene).await, []);
    let other = scene.another_company().await;
    let event = scene.reported(EventType::ContactCreated, 0);
    let (fresh, again, finished, theirs) =
        (scene.queue(), scene.queue(), scene.queue(), other.queue());
    scene.add(scene.tried(fresh, -5)).await;
    scene.add(scene.fresh_at(fresh, 50)).await;
    for due in [30, 10, 20] {
        scene.add(scene.tried(again, due)).await;
    }
    scene.add(scene.delivered(finished, &event)).await;
    scene.add(cancelled(&scene.tried(finished, 1))).await;
    other.add(other.tried(theirs, 7)).await;
    let mut expected = vec![
        PendingQueue { key: fresh, queued_at: Timestamp::MIN },
        PendingQueue { key: again, queued_at: at(10) },
        PendingQueue { key: theirs, queued_at: at(7) },
    ];
    expected.sort_by_key(|pending| pending.key);
    assert_eq!(pending(&scene).await, expected, "over all companies");
}

/// The earliest time of a queue changes with its deliveries.
pub async fn a_queue_follows_what_happens_to_its_deliveries(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let key = scene.queue();
    let new = scene.fresh_at(key, 0);
    scene.add(new.clone()).await;
    let queued = async || {
        let queues = pending(&scene).await;
        assert!(queues.len() <= 1 && queues.iter().all(|queue| queue.key == key));
        queues.first().map(|queue| queue.queued_at)
    };
    let becomes = async |next: &Delivery| {
        let stored = scene.delivery_now(new.id).await.expect("it is there");
        scene.apply(stored.update(next.clone())).await;
    };
    assert_eq!(queued().await, Some(Timestamp::MIN));
    let tried = Delivery { attempts: 1, tries: 1, due_at: Some(at(30)), ..new.clone() };
    becomes(&tried).await;
    assert_eq!(queued().await, Some(at(30)));
    becomes(&Delivery { attempts: 2, due_at: Some(at(20)), ..tried.clone() }).await;
    assert_eq!(queued().await, Some(at(20)));
    let finished = cancelled(&tried);
    becomes(&finished).await;
    assert_eq!(queued().await, None);
    becomes(&redelivered(&finished, at(40))).await;
    assert_eq!(queued().await, Some(at(40)), "a fresh series is not a first attempt");
    // A delivery that was cancelled before its first attempt and then redelivered is as fresh as
    // before.
    becomes(&redelivered(&cancelled(&new), at(50))).await;
    assert_eq!(queued().await, Some(Timestamp::MIN));
}

/// Parts of the queues of some shards are these queues, each of them once, and no others (R67).
pub async fn queues_of_shards_come_in_parts(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let mut companies = vec![scene.another_company().await, scene.another_company().await];
    companies.push(scene);
    let mut expected = BTreeMap::new();
    for (n, company) in companies.iter().enumerate() {
        for m in 0..5 {
            // Random ids, so that the order of ids is not the order of creation.
            let webhook =
                WebhookId::new(uuid::Builder::from_random_bytes(company.random()).into_uuid());
            let key = QueueKey { company: company.company, webhook };
            let due = (n * 5 + m) as i64;
            for later in 0..3 {
                company.add(company.tried(key, due + later)).await;
            }
            expected.insert(key, at(due));
        }
    }
    let expected: Vec<PendingQueue> =
        expected.into_iter().map(|(key, queued_at)| PendingQueue { key, queued_at }).collect();
    let scene = &companies[0];
    let every = scene.shards().await;
    let all: BTreeSet<ShardNumber> = every.all().collect();
    let some: BTreeSet<ShardNumber> =
        expected.iter().step_by(2).map(|pending| every.of_webhook(pending.key.webhook)).collect();
    for shards in [&all, &some, &BTreeSet::new()] {
        let theirs =
            |pending: &&PendingQueue| shards.contains(&every.of_webhook(pending.key.webhook));
        let theirs: Vec<PendingQueue> = expected.iter().filter(theirs).copied().collect();
        for limit in [1, 2, 4, 15, ALL] {
            assert_eq!(pending_in(scene, shards, limit).await, theirs, "in parts of {limit}");
        }
    }
    // Nothing need be pending any more in the last queue of a part.
    let begin = part(scene, &all, None, 4).await;
    let last = begin.last().expect("four queues").key;
    for company in companies.iter().filter(|company| company.company == last.company) {
        for due in company.read_queue(whole(last)).await.again {
            company.apply(due.delivery.update(cancelled(&due.delivery))).await;
        }
    }
    let others = part(scene, &all, Some(last), ALL).await;
    assert_eq!(begin.len() + others.len(), expected.len());
    assert!(others.iter().all(|other| begin.iter().all(|known| known.key != other.key)));
}

/// Promise 10 within one change set: the order is that of the set, not that of ids or times.
pub async fn deliveries_that_were_never_tried_come_in_the_order_of_their_sets(
    harness: &dyn Harness,
) {
    let scene = Scene::of(harness).await;
    let key = scene.queue();
    let mut deliveries: Vec<Delivery> = (0..60).map(|n| scene.fresh_at(key, n)).collect();
    // Neither the order of ids nor its reverse.
    deliveries.sort_by_key(|delivery| (delivery.created_at.millis() * 7) % 60);
    for part in deliveries.chunks(25) {
        scene.add_all(part.iter().cloned()).await;
    }
    let page = scene.read_queue(whole(key)).await;
    let expected: Vec<DeliveryId> = deliveries.iter().map(|delivery| delivery.id).collect();
    assert_eq!(ids_of(&page.fresh), expected);
    assert_eq!(page.again, []);
    let places: Vec<DeliverySeq> = page.fresh.iter().map(|due| due.seq).collect();
    assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(places[0] > DeliverySeq(0), "places are from 1");
    // Read in parts, each after the previous one.
    let mut seen = Vec::new();
    let mut after = DeliverySeq(0);
    loop {
        let part = scene.read_queue(QueueRead { after, fresh: 7, ..whole(key) }).await.fresh;
        let Some(last) = part.last() else { break };
        assert!(part.len() <= 7);
        after = last.seq;
        seen.extend(ids_of(&part));
    }
    assert_eq!(seen, expected);
}

/// A delivery never changes its position.
pub async fn a_delivery_keeps_its_place(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let key = scene.queue();
    let (one, two) = (scene.tried(key, 5), scene.tried(key, 5));
    scene.add_all([one.clone(), two.clone()]).await;
    let before = scene.read_queue(whole(key)).await.again;
    assert_eq!(ids_of(&before), [one.id, two.id], "of one moment: by place");
    let again = Delivery { attempts: 2, ..one.clone() };
    scene.apply(first(one).update(again.clone())).await;
    let after = scene.read_queue(whole(key)).await.again;
    assert_eq!(after[0].seq, before[0].seq);
    assert_eq!(after[0].delivery.value(), &again);
    assert_eq!(after[0].delivery.version().number(), 2);
    assert_eq!(after[1], before[1]);
}

/// Deliveries for another attempt come in the order of their due times, those due now, up to the
/// limit.
pub async fn deliveries_that_are_due_again_come_by_time_then_place(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let key = scene.queue();
    let deliveries: Vec<Delivery> =
        [30, 10, 20, 10, 40].into_iter().map(|due| scene.tried(key, due)).collect();
    scene.add_all(deliveries.clone()).await;
    let fresh = scene.fresh_at(key, 5);
    scene.add(fresh.clone()).await;
    let id = |n: usize| deliveries[n].id;
    let read = |due: i64, again| QueueRead { due: at(due), again, ..whole(key) };
    let page = scene.read_queue(read(30, ALL)).await;
    assert_eq!(ids_of(&page.again), [id(1), id(3), id(2), id(0)]);
    assert_eq!(ids_of(&page.fresh), [fresh.id], "whatever its time");
    assert_eq!(ids_of(&scene.read_queue(read(29, ALL)).await.again), [id(1), id(3), id(2)]);
    assert_eq!(ids_of(&scene.read_queue(read(99, 2)).await.again), [id(1), id(3)]);
    assert_eq!(scene.read_queue(read(9, ALL)).await.again, []);
    let none = QueueRead { fresh: 0, again: 0, ..whole(key) };
    let page = scene.read_queue(none).await;
    assert_eq!((page.fresh, page.again), (vec![], vec![]));
    // The position after which fresh deliveries are read does not apply to the others.
    let after = scene.read_queue(whole(key)).await.fresh[0].seq;
    let page = scene.read_queue(QueueRead { after, ..whole(key) }).await;
    assert_eq!((page.fresh.len(), page.again.len()), (0, 5));
}

/// A delivery comes with what an attempt needs: contact and data of its event.
pub async fn a_queue_reports_what_its_deliveries_carry(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let key = scene.queue();
    let contact = ContactId::new(scene.uuid());
    let (of, nobody) = (scene.reported_of(contact, 1), scene.reported(EventType::MessageSent, 2));
    let deliveries = [scene.fresh(key, &of), scene.fresh(key, &nobody)];
    scene.tell(&[of.clone(), nobody.clone()], &deliveries).await;
    let page = scene.read_queue(whole(key)).await;
    let reported: Vec<_> =
        page.fresh.iter().map(|due| (due.contact, due.data.as_deref())).collect();
    let expected = [(Some(contact), Some(of.data.as_str())), (None, Some(nobody.data.as_str()))];
    assert_eq!(reported, expected);
    assert_eq!(page.fresh[0].delivery, first(deliveries[0].clone()));
    assert_eq!(page.webhook, None, "a queue need not have a webhook");
}

/// After the data of an event was erased, its deliveries come without data.
pub async fn a_queue_reports_that_data_was_erased(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let key = scene.queue();
    let contact = ContactId::new(scene.uuid());
    let event = scene.reported_of(contact, 1);
    let finished = scene.delivered(key, &event);
    scene.tell(std::slice::from_ref(&event), std::slice::from_ref(&finished)).await;
    let erased = scene
        .store
        .erase_events(scene.company, EventsAbout::contact(contact), ALL)
        .await
        .expect("works");
    assert_eq!((erased.events, erased.left), (1, false));
    scene.apply(first(finished.clone()).update(redelivered(&finished, at(9)))).await;
    let again = scene.read_queue(whole(key)).await.again;
    assert_eq!((again[0].contact, &again[0].data), (Some(contact), &None));
}

/// A queue comes with its webhook, whatever the webhook's state is.
pub async fn a_queue_comes_with_its_webhook(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    for state in WebhookState::ALL {
        let webhook = Webhook { state: *state, ..scene.webhook() };
        scene.add(webhook.clone()).await;
        let key = QueueKey { company: scene.company, webhook: webhook.id };
        let page = scene.read_queue(whole(key)).await;
        let expected = QueuePage { webhook: Some(first(webhook)), ..QueuePage::default() };
        assert_eq!(page, expected, "a queue may be empty");
    }
    let webhook = scene.webhook();
    scene.add(webhook.clone()).await;
    let other = scene.another_company().await;
    let theirs = QueueKey { company: other.company, webhook: webhook.id };
    scene.add(scene.fresh_at(QueueKey { company: scene.company, webhook: webhook.id }, 0)).await;
    assert_eq!(scene.read_queue(whole(theirs)).await, QueuePage::default());
}

/// These deliveries are cancelled when the webhook is deleted.
pub async fn pending_deliveries_of_a_webhook_are_reported(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (key, other) = (scene.queue(), scene.another_company().await);
    let event = scene.reported(EventType::ContactCreated, 0);
    let pending = [scene.fresh_at(key, 0), scene.tried(key, 99_999), scene.tried(key, -9)];
    scene.add_all(pending.clone()).await;
    scene.add(scene.delivered(key, &event)).await;
    scene.add(cancelled(&scene.tried(key, 0))).await;
    scene.add(scene.fresh_at(scene.queue(), 0)).await;
    other.add(other.fresh_at(QueueKey { company: other.company, ..key }, 0)).await;
    let read = async |limit| {
        let read = scene
            .store
            .pending_deliveries(scene.company, PendingDeliveries::Of(key.webhook), limit)
            .await;
        read.expect("the store works")
    };
    let mut all = read(ALL).await;
    all.sort_by_key(|delivery| delivery.id);
    let mut expected: Vec<_> = pending.into_iter().map(first).collect();
    expected.sort_by_key(|delivery| delivery.id);
    assert_eq!(all, expected);
    assert_eq!(read(2).await.len(), 2);
    assert_eq!(read(0).await, []);
}

/// When the contact is deleted, some of these deliveries are cancelled.
pub async fn pending_deliveries_about_a_contact_are_reported(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, other) = (ContactId::new(scene.uuid()), ContactId::new(scene.uuid()));
    let (one, two) = (scene.queue(), scene.queue());
    let events = [
        scene.reported_of(contact, 0),
        scene.reported_of(contact, 1),
        scene.reported_of(contact, 2),
        scene.reported_of(other, 3),
        scene.reported(EventType::MessageSent, 4),
    ];
    let again = Delivery { attempts: 3, tries: 1, ..scene.fresh(two, &events[1]) };
    let mut pending =
        vec![scene.fresh(one, &events[0]), scene.fresh(two, &events[0]), again.clone()];
    let others = [
        scene.delivered(one, &events[1]),
        scene.delivered(one, &events[2]),
        cancelled(&scene.fresh(two, &events[2])),
        scene.fresh(one, &events[3]),
        scene.fresh(one, &events[4]),
    ];
    scene.tell(&events, &[pending.as_slice(), &others].concat()).await;
    let other = scene.another_company().await;
    let theirs = other.reported_of(contact, 0);
    other.tell(std::slice::from_ref(&theirs), &[other.fresh(other.queue(), &theirs)]).await;
    pending.sort_by_key(|delivery| delivery.id);
    let expected: Vec<_> = pending.iter().cloned().map(first).collect();
    let read = async |after, limit| {
        let about = PendingDeliveries::About { contact, after };
        let read = scene.store.pending_deliveries(scene.company, about, limit);
        read.await.expect("the store works")
    };
    assert_eq!(read(None, ALL).await, expected);
    assert_eq!(read(None, 2).await, expected[..2]);
    assert_eq!(read(Some(pending[0].id), ALL).await, expected[1..]);
    assert_eq!(read(Some(pending[1].id), 1).await, expected[2..]);
    assert_eq!(read(Some(pending[2].id), ALL).await, []);
    assert_eq!(read(None, 0).await, []);
    scene.apply(first(again.clone()).update(cancelled(&again))).await;
    let left: Vec<_> = expected.into_iter().filter(|delivery| delivery.id != again.id).collect();
    assert_eq!(read(None, ALL).await, left);
}

/// Promise 10 across commits: if two commits write the same row, the deliveries of the later one
/// have the greater positions.
pub async fn places_follow_the_order_of_commits_on_one_row(harness: &dyn Harness) {
    const TIMES: usize = 20;
    let scene = Scene::of(harness).await;
    let second = match harness.second().await {
        Some(second) => scene.through(second),
        None => scene.through(scene.store.clone()),
    };
    let (contact, key) = (scene.contact(), scene.queue());
    scene.add(contact.clone()).await;
    let mut writers = Vec::new();
    for writer in 0..4 {
        let scene = if writer % 2 == 0 { &scene } else { &second };
        let (scene, id) = (scene.through(scene.store.clone()), contact.id);
        writers.push(tokio::spawn(async move {
            for _ in 0..TIMES {
                loop {
                    let stored = scene.stored(id).await;
                    // The time of the event shows the version that this commit makes.
                    let event = scene.reported_of(id, stored.version().next().number() as i64);
                    let changes = ChangeSet::new()
                        .with(stored.update(stored.value().clone()))
                        .insert(scene.fresh(key, &event))
                        .emit(event);
                    if applied(scene.store.commit(changes).await) {
                        break;
                    }
                }
            }
        }));
    }
    for writer in writers {
        writer.await.expect("no panic");
    }
    let written: Vec<Timestamp> = (2..2 + 4 * TIMES as i64).map(at).collect();
    let fresh = scene.read_queue(whole(key)).await.fresh;
    let delivered: Vec<Timestamp> = fresh.iter().map(|due| due.delivery.created_at).collect();
    assert_eq!(delivered, written);
    let journal = scene.journal(Default::default(), ALL).await;
    let reported: Vec<Timestamp> = journal.iter().map(|(_, event)| event.at).collect();
    assert_eq!(reported, written);
}

/// A reader that continues after known positions while others write has read every delivery in the
/// end.
pub async fn places_are_never_given_twice(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (one, two) = (scene.queue(), scene.queue());
    let mut writers = Vec::new();
    for _ in 0..6 {
        let scene = scene.through(scene.store.clone());
        writers.push(tokio::spawn(async move {
            for n in 0..10 {
                let rows = [scene.fresh_at(one, n), scene.fresh_at(two, n), scene.fresh_at(one, n)];
                scene.add_all(rows).await;
            }
        }));
    }
    for writer in writers {
        writer.await.expect("no panic");
    }
    let mut places = BTreeSet::new();
    for (key, count) in [(one, 120), (two, 60)] {
        let fresh = scene.read_queue(whole(key)).await.fresh;
        assert_eq!(fresh.len(), count);
        assert!(fresh.iter().all(|due| places.insert(due.seq)));
        let status = |due: &recado_core::deliveries::DueDelivery| due.delivery.status;
        assert!(fresh.iter().all(|due| status(due) == DeliveryStatus::Pending));
    }
}
