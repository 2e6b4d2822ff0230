//! Webhooks, deliveries, events and shards are read back as they were stored.

use recado_core::Timestamp;
use recado_core::deliveries::{Attempt, Delivery, DeliveryStatus, MAX_LOG, Shard};
use recado_core::events::{Event, EventType};
use recado_core::ids::WorkerId;
use recado_core::store::{Change, RecordsExt, Row, UniqueKey};
use recado_core::webhooks::{
    EventRoute, RotatedSecret, Routes, SigningSecret, SigningSecrets, Topics, Webhook,
    WebhookState, WebhookUrl,
};
use recado_core::workers::Worker;
use serde_json::json;

use super::Harness;
use super::channel_rows::AWKWARD;
use super::outbound_scene::record;
use super::scene::{Scene, assert_stale, assert_taken, at, first};

fn topics() -> Vec<Topics> {
    let read = |value| Topics::read(&value).expect("acceptable");
    vec![
        Topics::All,
        read(json!(["message.sent"])),
        read(json!(["contact.created", "message.received", "contact.opted_out"])),
    ]
}

fn secret(text: &str) -> SigningSecret {
    SigningSecret::parse(text).expect("acceptable")
}

/// All fields of a webhook are read back, including its secrets.
pub async fn every_field_of_a_webhook_is_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    for state in WebhookState::ALL {
        for topics in topics() {
            let url = "http://[2606:4700::1111]:8080/a'b;--?x=%00&y=$1+?2";
            let previous = RotatedSecret { secret: secret("0123456789abcdef"), until: at(9) };
            let webhook = Webhook {
                url: WebhookUrl::parse(url).expect("a URL"),
                topics,
                state: *state,
                standard_headers: true,
                secrets: SigningSecrets {
                    current: secret("with spaces and ~!\"'\\%_{}"),
                    previous: Some(previous),
                },
                created_at: Timestamp::MIN,
                updated_at: Timestamp::MAX,
                ..scene.webhook()
            };
            scene.add(webhook.clone()).await;
            let stored =
                scene.store.get::<Webhook>((scene.company, webhook.id)).await.expect("works");
            assert_eq!(stored, Some(first(webhook.clone())));
            let plain = Webhook { id: webhook.id, ..scene.webhook() };
            scene.apply(first(webhook).update(plain.clone())).await;
            let stored =
                scene.store.get::<Webhook>((scene.company, plain.id)).await.expect("works");
            let stored = stored.expect("it is there");
            assert_eq!((stored.value(), stored.version().number()), (&plain, 2));
        }
    }
}

/// All fields of routes are read back.
pub async fn every_field_of_routes_is_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    assert_eq!(scene.store.get::<Routes>(scene.company).await.expect("works"), None);
    let none = Routes { company: scene.company, fires: false, routes: Vec::new() };
    scene.add(none.clone()).await;
    let stored = scene.store.get::<Routes>(scene.company).await.expect("works");
    assert_eq!(stored, Some(first(none.clone())));
    let route = |topics| EventRoute { webhook: scene.webhook().id, topics };
    let many = topics().into_iter().cycle().take(500).map(route).collect();
    let many = Routes { fires: true, routes: many, ..none.clone() };
    scene.apply(first(none).update(many.clone())).await;
    let stored = scene.store.get::<Routes>(scene.company).await.expect("works").expect("there");
    assert_eq!((stored.value(), stored.version().number()), (&many, 2));
    let other = scene.another_company().await;
    assert_eq!(other.store.get::<Routes>(other.company).await.expect("works"), None);
}

fn attempt(n: usize) -> Attempt {
    let text = AWKWARD[n % AWKWARD.len()].to_owned();
    let failed = n.is_multiple_of(2);
    Attempt {
        attempt: n as u32 + 1,
        started_at: at(n as i64).millis(),
        duration_ms: u32::MAX - n as u32,
        status_code: (!failed).then_some(599),
        error: failed.then(|| text.clone()),
        response: (!failed).then_some(text),
    }
}

/// All fields of a delivery are read back, and each status can follow each other one.
pub async fn every_field_of_a_delivery_is_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let key = scene.queue();
    for (n, event_type) in EventType::ALL.iter().enumerate() {
        let event = scene.reported(*event_type, n as i64);
        let new = scene.fresh(key, &event);
        scene.add(new.clone()).await;
        let mut stored = scene.delivery_now(new.id).await.expect("it is there");
        assert_eq!(stored, first(new.clone()));
        for (m, status) in DeliveryStatus::ALL.iter().cycle().take(4).enumerate() {
            let is_pending = *status == DeliveryStatus::Pending;
            let next = Delivery {
                status: *status,
                attempts: if m == 0 { u32::MAX } else { m as u32 },
                tries: m as u32,
                due_at: is_pending.then_some(Timestamp::MAX),
                delivered_at: (!is_pending).then_some(Timestamp::MIN),
                log: (0..m * MAX_LOG / 3).map(attempt).collect(),
                ..new.clone()
            };
            scene.apply(stored.update(next.clone())).await;
            assert_stale(scene.try_apply(stored.update(new.clone())).await);
            let version = stored.version().next();
            stored = scene.delivery_now(new.id).await.expect("it is there");
            assert_eq!((stored.value(), stored.version()), (&next, version));
        }
    }
    let early = Delivery { created_at: Timestamp::MIN, due_at: None, ..scene.fresh_at(key, 0) };
    scene.add(early.clone()).await;
    assert_eq!(scene.delivery_now(early.id).await, Some(first(early)));
}

/// All fields of an event are read back.
pub async fn every_field_of_an_event_is_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = scene.contact();
    let mut events = Vec::new();
    for (n, text) in AWKWARD.iter().enumerate() {
        let event_type = EventType::ALL[n % EventType::ALL.len()];
        events.push(Event {
            contact: n.is_multiple_of(2).then_some(contact.id),
            data: json!({ "z": text, "a": [1.50, null], "big": u64::MAX }).to_string(),
            ..scene.reported(event_type, n as i64)
        });
    }
    // The data is kept as text, byte for byte: the order of names, spaces and digits must not
    // change.
    events.push(Event {
        data: "{\"b\" : 1.0,\n\"a\":1e2 }".to_owned(),
        ..scene.reported(EventType::MessageSent, 1)
    });
    scene.tell(&events, &[]).await;
    for event in &events {
        assert_eq!(scene.event_now(event.id).await, Some(record(event)));
    }
}

/// With the process that a shard is assigned to, and without one.
pub async fn every_field_of_a_shard_is_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let last = scene.shards().await.count() - 1;
    let numbers = [last, 0, 7];
    for number in numbers {
        scene.add(scene.shard(number)).await;
    }
    let shards = scene.store.all_stored::<Shard>(()).await.expect("works");
    let read: Vec<u16> = shards.iter().map(|shard| shard.number.number()).collect();
    assert_eq!(read, [0, 7, last], "by number");
    assert!(shards.iter().all(|shard| *shard == first(scene.shard(shard.number.number()))));
    let owned = Shard { owner: Some(WorkerId::new(scene.uuid())), ..scene.shard(7) };
    scene.apply(shards[1].update(owned)).await;
    assert_stale(scene.try_apply(shards[1].update(scene.shard(7))).await);
    let stored = &scene.store.all_stored::<Shard>(()).await.expect("works")[1];
    assert_eq!((stored.value(), stored.version().number()), (&owned, 2));
    scene.apply(stored.update(scene.shard(7))).await;
    assert_eq!(scene.store.all_stored::<Shard>(()).await.expect("works")[1].owner, None);
}

/// The answer says which processes dispatch.
pub async fn workers_are_listed_by_id_with_whether_they_dispatch(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    assert_eq!(scene.store.all::<Worker>(()).await.expect("works"), []);
    let mut workers: Vec<Worker> = (0..6_u8)
        .map(|n| Worker { runs_deliveries: n.is_multiple_of(2), ..scene.worker(i64::from(n) - 3) })
        .collect();
    for worker in workers.iter().rev() {
        scene.add(*worker).await;
    }
    assert_eq!(scene.store.all::<Worker>(()).await.expect("works"), workers, "alive or not");
    let changed = Worker { runs_deliveries: true, ..workers[1] };
    scene.apply(first(workers[1]).update(changed)).await;
    workers[1] = changed;
    scene.apply(first(workers[0]).delete()).await;
    assert_eq!(scene.store.all::<Worker>(()).await.expect("works"), workers[1..]);
    let read = scene.store.get::<Worker>(changed.id).await.expect("works").expect("there");
    assert_eq!((*read.value(), read.version().number()), (changed, 2));
}

/// Promise 2.
pub async fn a_taken_identity_of_an_outbound_row_names_its_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let rows: Vec<(Row, UniqueKey)> = vec![
        (scene.webhook().into(), UniqueKey::Id),
        (scene.routes(&[]).into(), UniqueKey::Routes),
        (scene.fresh_at(scene.queue(), 0).into(), UniqueKey::Id),
        (scene.shard(3).into(), UniqueKey::Shard),
    ];
    for (row, key) in rows {
        scene.add(row.clone()).await;
        assert_taken(scene.try_add(row).await, key);
    }
}

/// Promise 4, for every row that has a version.
pub async fn every_outbound_row_can_be_relied_on(harness: &dyn Harness) {
    use recado_core::store::{ChangeSet, Conflict, Precondition, Version};
    let scene = Scene::of(harness).await;
    let rows: Vec<Row> = vec![
        scene.webhook().into(),
        scene.routes(&[]).into(),
        scene.fresh_at(scene.queue(), 0).into(),
        scene.shard(3).into(),
    ];
    scene.add_all(rows.clone()).await;
    for row in rows {
        let relying = |read_at| {
            let precondition = Precondition::Unchanged { key: row.key(), read_at };
            ChangeSet::new().insert(scene.list()).require(precondition)
        };
        scene.store.commit(relying(Version::FIRST)).await.expect("it is as it was read");
        let found = super::scene::conflict(scene.store.commit(relying(Version::new(2))).await);
        assert_eq!(found, Conflict::Stale(row.key()));
    }
}

/// Promise 5.
pub async fn a_webhook_needs_its_company(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let mut nowhere = scene.through(scene.store.clone());
    nowhere.company = recado_core::ids::CompanyId::new(scene.uuid());
    nowhere.refuses(Change::insert(nowhere.webhook())).await;
    nowhere.refuses(Change::insert(nowhere.routes(&[]))).await;
}

/// Promise 8.
pub async fn an_outbound_row_of_another_company_is_missing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (webhook, event) = (scene.webhook(), scene.reported(EventType::MessageSent, 0));
    let delivery = scene.fresh(scene.queue(), &event);
    scene.add(webhook.clone()).await;
    scene.tell(std::slice::from_ref(&event), std::slice::from_ref(&delivery)).await;
    let store = &other.store;
    assert_eq!(store.get::<Webhook>((other.company, webhook.id)).await.expect("works"), None);
    assert_eq!(store.webhooks(other.company).await.expect("works"), []);
    assert_eq!(other.delivery_now(delivery.id).await, None);
    assert_eq!(other.event_now(event.id).await, None);
    assert_eq!(other.journal_ids().await, []);
    let mut theirs = delivery.clone();
    theirs.company = other.company;
    assert_stale(other.try_apply(first(theirs.clone()).update(theirs)).await);
}

/// The webhooks of the company that are not deleted, oldest first.
pub async fn webhooks_are_listed_by_creation_then_id_but_for_deleted_ones(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let mut webhooks = Vec::new();
    for (n, millis) in [5, 3, 3, -2, 5, 0].into_iter().enumerate() {
        let state = WebhookState::ALL[n % 2];
        webhooks.push(Webhook { created_at: at(millis), state, ..scene.webhook() });
    }
    scene.add_all(webhooks.iter().rev().cloned()).await;
    let gone = Webhook { state: WebhookState::Deleted, ..webhooks[2].clone() };
    scene.apply(first(webhooks[2].clone()).update(gone.clone())).await;
    webhooks.remove(2);
    webhooks.sort_by_key(|webhook| (webhook.created_at, webhook.id));
    let listed = scene.store.webhooks(scene.company).await.expect("works");
    assert_eq!(listed, webhooks.into_iter().map(first).collect::<Vec<_>>());
    let read = scene.store.get::<Webhook>((scene.company, gone.id)).await.expect("works");
    assert_eq!(read.map(|read| read.into_value()), Some(gone), "its deliveries need it");
}
