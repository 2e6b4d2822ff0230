//! The delivery worker with a store that fails: nothing is lost, nothing is counted twice (D52).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use proptest::test_runner::{RngAlgorithm, TestRng};
use recado_core::Recado;
use recado_core::deliveries::{DeliveryFilter, DeliveryRequest, DeliveryStatus, Shard};
use recado_core::page::PageRequest;
use recado_core::store::{ChangeKind, ChangeSet, Commit, RecordsExt, Row};
use recado_testkit::{FaultyStore, Kit, MemoryStore, SeededIds, StoreFailure, StoreOp};
use tokio::sync::oneshot;

use super::create_phone;
use super::delivery_worker_order::quiet;
use super::outbound::{OTHER_URL, Outbound, URL};

const FAILURES: [StoreFailure; 4] = [
    StoreFailure::Unavailable,
    StoreFailure::UnknownBefore,
    StoreFailure::UnknownAfter,
    StoreFailure::Contended,
];

/// A core on the data of another one, through a store that can fail.
async fn faulty(outbound: &Outbound) -> (Recado, FaultyStore) {
    let store = FaultyStore::new(Arc::new(outbound.model.clone()));
    let app = Kit::builder()
        .store(Arc::new(store.clone()))
        .ids(SeededIds::new(9))
        .clock(outbound.kit.clock.clone())
        .transport(outbound.kit.transport.clone())
        .start()
        .await;
    (app, store)
}

async fn five() -> Outbound {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    for n in 0..5 {
        create_phone(&outbound.kit, &format!("+553499123000{n}")).await;
    }
    outbound
}

async fn assert_delivered_once_each(outbound: &Outbound, when: &str) {
    for delivery in outbound.all().await {
        let state = (delivery.status, delivery.attempts);
        assert_eq!(state, (DeliveryStatus::Delivered, 1), "{when}");
        let log = outbound.detail(delivery.id).await.attempt_log;
        assert_eq!(log.len(), 1, "{when}");
    }
}

#[tokio::test]
async fn whichever_commit_fails_once_each_delivery_is_sent_and_recorded_once() {
    for failure in FAILURES {
        for n in 0..8 {
            let when = format!("{failure:?} of commit {n}");
            let outbound = five().await;
            let (app, store) = faulty(&outbound).await;
            store.fail_nth(StoreOp::Commit, n, failure);
            app.deliveries().drain().await;
            store.heal();
            app.deliveries().drain().await;
            assert_delivered_once_each(&outbound, &when).await;
            assert_eq!(outbound.receiver(URL).arrived(), 5, "{when}: nothing is sent twice");
        }
    }
}

#[tokio::test]
async fn whichever_read_fails_once_each_delivery_is_sent_and_recorded_once() {
    for n in 0..20 {
        let outbound = five().await;
        let (app, store) = faulty(&outbound).await;
        store.fail_nth(StoreOp::Read, n, StoreFailure::Unavailable);
        app.deliveries().drain().await;
        store.heal();
        app.deliveries().drain().await;
        assert_delivered_once_each(&outbound, &format!("read {n}")).await;
        assert_eq!(outbound.receiver(URL).arrived(), 5, "read {n}");
    }
}

#[tokio::test]
async fn while_a_read_fails_nothing_is_lost() {
    for name in ["pending_queues", "read_queue", "rows of Worker", "rows of Shard", "row of Worker"]
    {
        let outbound = five().await;
        let (app, store) = faulty(&outbound).await;
        store.fail_read(name);
        app.deliveries().drain().await;
        assert_eq!(outbound.receiver(URL).arrived(), 0, "{name}");
        store.heal();
        app.deliveries().drain().await;
        assert_delivered_once_each(&outbound, name).await;
    }
}

/// D74: the event of a redelivery is looked up before it is sent.
#[tokio::test]
async fn a_redelivery_whose_event_cannot_be_read_is_made_later() {
    let outbound = five().await;
    outbound.drain().await;
    let id = outbound.all().await[0].id;
    let company = outbound.kit.company.id;
    outbound.kit.app.deliveries().redeliver(company, id).await.unwrap();
    outbound.advance(11);
    let (app, store) = faulty(&outbound).await;
    store.fail_read("event");
    // A worker that tried it again at once would never end.
    tokio::time::timeout(Duration::from_secs(60), app.deliveries().drain()).await.unwrap();
    assert_eq!(outbound.receiver(URL).arrived(), 5);
    store.heal();
    outbound.advance(5);
    app.deliveries().drain().await;
    assert_eq!(outbound.receiver(URL).arrived(), 6);
    let again = outbound.detail(id).await;
    assert_eq!((again.delivery.status, again.delivery.attempts), (DeliveryStatus::Delivered, 2));
}

/// R72.
#[tokio::test]
async fn while_nothing_can_be_recorded_attempts_are_not_counted() {
    let outbound = five().await;
    let (app, store) = faulty(&outbound).await;
    outbound.receiver(URL).hold();
    let draining = tokio::spawn({
        let app = app.clone();
        async move { app.deliveries().drain().await }
    });
    outbound.receiver(URL).has_got(5).await;
    store.plan(|op| (op == StoreOp::Commit).then_some(StoreFailure::Unavailable));
    outbound.receiver(URL).open();
    draining.await.unwrap();
    assert_eq!(outbound.count(DeliveryStatus::Pending).await, 5);
    store.heal();
    // It still owns its shards; the next process may have to wait for its lease.
    outbound.advance(11);
    outbound.drain().await;
    assert_delivered_once_each(&outbound, "after the store came back").await;
}

#[tokio::test]
async fn an_event_whose_commit_may_have_happened_is_looked_for() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    let (app, store) = faulty(&outbound).await;
    store.fail_nth(StoreOp::Commit, 0, StoreFailure::UnknownAfter);
    let new = recado_testkit::kit::body(serde_json::json!({ "phone": "+5534991230001" }));
    assert!(app.contacts().create(&outbound.kit.caller, &new).await.is_err());
    app.deliveries().drain().await;
    assert_delivered_once_each(&outbound, "the commit had happened").await;
    assert_eq!(outbound.all().await.len(), 1);
}

/// Stops a worker that holds all shards. `trouble` is met by each of its writes of shards from then
/// on. Returns how many of them it made until it ended.
async fn tries_to_release<T>(trouble: T) -> usize
where
    T: Fn(&MemoryStore) -> Option<StoreFailure> + Send + 'static,
{
    // Without this end, a worker that never gives up would keep the test from failing.
    const ENOUGH: usize = 50;
    let outbound = five().await;
    let (app, store) = faulty(&outbound).await;
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn({
        let clock = outbound.kit.clock.clone();
        async move {
            let stopped = async {
                let _ = stopped.await;
            };
            app.deliveries().run(&clock, stopped).await;
        }
    });
    quiet().await;
    let tries = Arc::new(AtomicUsize::new(0));
    let (counted, model) = (tries.clone(), outbound.model.clone());
    store.plan_commits(move |changes| {
        let is_shard =
            |kind: &ChangeKind| matches!(kind, ChangeKind::Update { row: Row::Shard(_), .. });
        let writes = changes.changes.iter().any(|change| is_shard(change.kind()));
        let is_met = writes && counted.fetch_add(1, Ordering::Relaxed) < ENOUGH;
        if is_met { trouble(&model) } else { None }
    });
    stop.send(()).unwrap();
    running.await.unwrap();
    tries.load(Ordering::Relaxed)
}

/// D52a: the others take the shards when its lease has ended.
#[tokio::test]
async fn a_worker_that_cannot_release_its_shards_ends_after_eight_tries() {
    assert_eq!(tries_to_release(|_| Some(StoreFailure::Unavailable)).await, 8);
}

/// D52a.
#[tokio::test]
async fn a_worker_whose_shards_others_write_at_every_try_ends_after_eight_tries() {
    let tries = tries_to_release(|model| {
        let shards = model.all_stored::<Shard>(()).now_or_never().unwrap().unwrap();
        let touch = |changes: ChangeSet, shard: &recado_core::store::Stored<Shard>| {
            changes.with(shard.update(*shard.value()))
        };
        let written = model.commit(shards.iter().fold(ChangeSet::new(), touch));
        written.now_or_never().unwrap().unwrap();
        None
    });
    assert_eq!(tries.await, 8);
}

/// Random numbers that are the same in every run.
struct Chance(TestRng);

impl Chance {
    fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self(TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
    }

    fn below(&mut self, n: u32) -> u32 {
        use proptest::prelude::Rng;
        self.0.next_u32() % n
    }
}

/// All of a company's deliveries, in pages.
async fn all(app: &Recado, outbound: &Outbound) -> Vec<recado_core::deliveries::DeliveryView> {
    let mut all = Vec::new();
    for page in 1.. {
        let page = PageRequest { page, limit: 100 };
        let request = DeliveryRequest { filter: DeliveryFilter::default(), page };
        let part = app.deliveries().list(outbound.kit.company.id, &request).await.unwrap().items;
        if part.is_empty() {
            break;
        }
        all.extend(part);
    }
    all
}

#[tokio::test]
async fn whatever_fails_every_event_is_delivered_or_given_up_after_five_attempts() {
    for seed in 0..12 {
        let outbound = Outbound::new().await;
        outbound.webhook(URL, &["*"]).await;
        outbound.webhook(OTHER_URL, &["*"]).await;
        let (app, store) = faulty(&outbound).await;
        let mut chance = Chance::new(seed);
        let mut failing = Chance::new(seed + 1_000);
        for round in 0..12 {
            for n in 0..chance.below(6) {
                create_phone(&outbound.kit, &format!("+553499{round:02}{n}{seed:04}")).await;
            }
            for url in [URL, OTHER_URL] {
                for _ in 0..chance.below(8) {
                    outbound.receiver(url).then_status(if chance.below(2) == 0 {
                        200
                    } else {
                        503
                    });
                }
            }
            let one_in = 2 + failing.below(8);
            let mut dice = Chance::new(seed * 100 + round);
            store
                .plan(move |_| (dice.below(one_in) == 0).then(|| FAILURES[dice.below(4) as usize]));
            app.deliveries().drain().await;
            store.heal();
            outbound.advance(u64::from(chance.below(200)));
        }
        // Everything that is left has failed at most a few times.
        for wait in [11, 30, 120, 600, 1_800] {
            outbound.advance(wait);
            app.deliveries().drain().await;
        }
        let events = outbound.model.events(outbound.kit.company.id).len();
        let deliveries = all(&app, &outbound).await;
        assert_eq!(deliveries.len(), 2 * events, "seed {seed}");
        let mut recorded = 0;
        for delivery in deliveries {
            assert_ne!(delivery.status, DeliveryStatus::Pending, "seed {seed}: {delivery:?}");
            let log = outbound.detail(delivery.id).await.attempt_log;
            let numbers: Vec<u32> = log.iter().map(|entry| entry.attempt).collect();
            assert_eq!(numbers, (1..=delivery.attempts).collect::<Vec<u32>>(), "seed {seed}");
            let (last, before) = log.split_last().unwrap();
            assert!(before.iter().all(|entry| entry.status_code == Some(503)), "seed {seed}");
            let delivered = delivery.status == DeliveryStatus::Delivered;
            assert_eq!(last.status_code == Some(200), delivered, "seed {seed}");
            assert!(delivered || delivery.attempts == 5, "seed {seed}: {delivery:?}");
            recorded += log.len();
        }
        let sent = outbound.kit.transport.requests().len();
        assert!(sent >= recorded, "seed {seed}: nothing is recorded that was not sent");
    }
}
