//! Several processes on one database, each with its delivery worker (D52a, D55), by the test clock.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use recado_core::Recado;
use recado_core::deliveries::{DeliveryStatus, Shard, Shards};
use recado_core::store::RecordsExt;
use recado_testkit::transport::header;
use recado_testkit::{FaultyStore, Kit, SeededIds, StoreFailure, StoreOp};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::create_phone;
use super::delivery_worker_order::{quiet, texts};
use super::messaging::Messaging;
use super::outbound::{OTHER_URL, Outbound, URL};

/// A process whose dispatcher runs.
struct Process {
    app: Recado,
    stop: Option<oneshot::Sender<()>>,
    running: JoinHandle<()>,
}

impl Process {
    /// Another process on the same data.
    async fn start(outbound: &Outbound, seed: u64) -> Self {
        let store = Arc::new(outbound.model.another_process());
        let app = Kit::builder()
            .store(store)
            .ids(SeededIds::new(seed))
            .clock(outbound.kit.clock.clone())
            .transport(outbound.kit.transport.clone())
            .start()
            .await;
        Self::run(outbound, app)
    }

    fn run(outbound: &Outbound, app: Recado) -> Self {
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn({
            let (app, clock) = (app.clone(), outbound.kit.clock.clone());
            async move {
                let stopped = async {
                    let _ = stopped.await;
                };
                app.deliveries().run(&clock, stopped).await;
            }
        });
        Self { app, stop: Some(stop), running }
    }

    /// Dies at once.
    async fn die(self) {
        self.running.abort();
        assert!(self.running.await.is_err());
    }

    fn begin_to_stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// Stops gracefully, as a server does.
    async fn stop(mut self) {
        self.begin_to_stop();
        self.running.await.unwrap();
        self.app.workers().release().await.unwrap();
    }
}

/// Lets seconds pass one by one.
async fn pass(outbound: &Outbound, seconds: u64) {
    for _ in 0..seconds {
        outbound.kit.clock.advance(Duration::from_secs(1));
        quiet().await;
    }
}

async fn create_many(outbound: &Outbound, from: u32, count: u32) {
    for n in from..from + count {
        create_phone(&outbound.kit, &format!("+5534991{n:06}")).await;
    }
}

/// How often each delivery was sent, with its bodies.
fn sent(outbound: &Outbound) -> BTreeMap<String, Vec<Vec<u8>>> {
    let mut sent: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    for request in outbound.kit.transport.requests() {
        let id = header(&request, "x-service-delivery").unwrap().to_owned();
        sent.entry(id).or_default().push(request.body);
    }
    sent
}

/// Webhooks of which each process gets some.
async fn many_webhooks(outbound: &Outbound, count: usize) -> Vec<String> {
    let urls: Vec<String> = (0..count).map(|n| format!("https://r{n}.example/")).collect();
    for url in &urls {
        outbound.webhook(url, &["*"]).await;
    }
    urls
}

#[tokio::test]
async fn a_commit_wakes_the_dispatcher_of_its_process() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    let process = Process::run(&outbound, outbound.kit.app.clone());
    quiet().await;
    for n in 1..5 {
        create_many(&outbound, n, 1).await;
        // No time passes.
        outbound.receiver(URL).has_got(n as usize).await;
    }
    process.stop().await;
    assert_eq!(outbound.count(DeliveryStatus::Delivered).await, 4);
}

#[tokio::test]
async fn a_commit_wakes_the_dispatcher_of_another_process() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    let process = Process::start(&outbound, 5).await;
    quiet().await;
    for n in 1..5 {
        create_many(&outbound, n, 1).await;
        outbound.receiver(URL).has_got(n as usize).await;
    }
    process.stop().await;
}

#[tokio::test]
async fn what_nobody_rang_for_is_found_within_two_seconds() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    let process = Process::start(&outbound, 5).await;
    quiet().await;
    let deaf = FaultyStore::new(Arc::new(outbound.model.clone()));
    deaf.plan(|op| (op == StoreOp::Notify).then_some(StoreFailure::Unavailable));
    let builder = Kit::builder().store(Arc::new(deaf)).ids(SeededIds::new(6));
    let writer = builder.clock(outbound.kit.clock.clone()).start().await;
    let new = recado_testkit::kit::body(serde_json::json!({ "phone": "+5534991230001" }));
    writer.contacts().create(&outbound.kit.caller, &new).await.unwrap();
    quiet().await;
    assert_eq!(outbound.receiver(URL).arrived(), 0, "nobody was told");
    pass(&outbound, 2).await;
    assert_eq!(outbound.receiver(URL).arrived(), 1);
    process.stop().await;
}

#[tokio::test]
async fn a_retry_is_made_when_it_is_due_and_not_at_the_next_look() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    outbound.receiver(URL).otherwise_status(500);
    let process = Process::run(&outbound, outbound.kit.app.clone());
    create_many(&outbound, 1, 1).await;
    outbound.receiver(URL).has_got(1).await;
    quiet().await;
    for (attempts, wait) in [(2, 30), (3, 120), (4, 600), (5, 1_800)] {
        pass(&outbound, wait - 1).await;
        assert_eq!(outbound.receiver(URL).arrived(), attempts - 1);
        pass(&outbound, 1).await;
        assert_eq!(outbound.receiver(URL).arrived(), attempts);
    }
    process.stop().await;
    assert_eq!(outbound.only().await.status, DeliveryStatus::Failed);
}

/// R72.
#[tokio::test]
async fn what_a_dead_process_had_in_flight_is_sent_again_by_another_within_five_seconds() {
    let outbound = Outbound::new().await;
    let urls = many_webhooks(&outbound, 12).await;
    let (dies, lives) = (Process::start(&outbound, 5).await, Process::start(&outbound, 6).await);
    pass(&outbound, 5).await;
    for url in &urls {
        outbound.receiver(url).hold();
    }
    create_many(&outbound, 0, 3).await;
    quiet().await;
    assert_eq!(sent(&outbound).len(), 36, "all are in flight, in one process or the other");
    dies.die().await;
    for url in &urls {
        outbound.receiver(url).open();
    }
    quiet().await;
    let left = outbound.count(DeliveryStatus::Pending).await;
    assert!(left > 0 && left < 36, "{left} were the dead one's");
    pass(&outbound, 5).await;
    assert_eq!(outbound.count(DeliveryStatus::Delivered).await, 36);
    for delivery in outbound.all().await {
        assert_eq!(delivery.attempts, 1, "an attempt that was cut off is not counted");
    }
    let sent = sent(&outbound);
    assert_eq!(sent.values().filter(|bodies| bodies.len() == 2).count(), left);
    assert!(sent.values().all(|bodies| bodies.iter().all(|body| *body == bodies[0])));
    lives.stop().await;
}

#[tokio::test]
async fn a_process_that_stops_hands_everything_over_within_a_second() {
    let outbound = Outbound::new().await;
    many_webhooks(&outbound, 12).await;
    let (stops, stays) = (Process::start(&outbound, 5).await, Process::start(&outbound, 6).await);
    pass(&outbound, 5).await;
    stops.stop().await;
    create_many(&outbound, 0, 3).await;
    pass(&outbound, 1).await;
    assert_eq!(outbound.count(DeliveryStatus::Delivered).await, 36);
    assert!(sent(&outbound).values().all(|bodies| bodies.len() == 1));
    stays.stop().await;
}

/// A process that can be cut off from the database.
async fn start_faulty(outbound: &Outbound) -> (Process, FaultyStore) {
    let faulty = FaultyStore::new(Arc::new(outbound.model.another_process()));
    let app = Kit::builder()
        .store(Arc::new(faulty.clone()))
        .ids(SeededIds::new(5))
        .clock(outbound.kit.clock.clone())
        .transport(outbound.kit.transport.clone())
        .start()
        .await;
    let process = Process::run(outbound, app);
    pass(outbound, 2).await;
    (process, faulty)
}

/// The attempts of each delivery, which are those in its log, sorted.
async fn attempts(outbound: &Outbound) -> Vec<u32> {
    let mut attempts = Vec::new();
    for delivery in outbound.all().await {
        let log = outbound.detail(delivery.id).await.attempt_log;
        let numbers: Vec<u32> = log.iter().map(|entry| entry.attempt).collect();
        assert_eq!(numbers, (1..=delivery.attempts).collect::<Vec<u32>>());
        attempts.push(delivery.attempts);
    }
    attempts.sort_unstable();
    attempts
}

#[tokio::test]
async fn a_process_that_was_cut_off_does_not_send_what_another_has_taken_over() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    let receiver = outbound.receiver(URL);
    receiver.hold();
    let (cut_off, faulty) = start_faulty(&outbound).await;
    create_many(&outbound, 0, 40).await;
    receiver.has_got(16).await;
    faulty.fail_all(StoreFailure::Unavailable);
    let other = Process::start(&outbound, 6).await;
    pass(&outbound, 12).await;
    receiver.open();
    quiet().await;
    assert_eq!(outbound.count(DeliveryStatus::Delivered).await, 40);
    faulty.heal();
    // The lease of a server is renewed by a task of its own.
    cut_off.app.workers().renew().await.unwrap();
    pass(&outbound, 5).await;
    assert_eq!(receiver.arrived(), 16 + 40, "what was in flight came twice, and nothing else");
    assert_eq!(attempts(&outbound).await, [vec![1; 24], vec![2; 16]].concat());
    assert_eq!(outbound.count(DeliveryStatus::Delivered).await, 40);
    cut_off.stop().await;
    other.stop().await;
}

/// D53.
#[tokio::test]
async fn what_a_stalled_process_and_its_successor_send_is_five_attempts_together() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    let receiver = outbound.receiver(URL);
    receiver.otherwise_status(500);
    receiver.hold();
    let (stalled, faulty) = start_faulty(&outbound).await;
    create_many(&outbound, 0, 3).await;
    receiver.has_got(3).await;
    faulty.fail_all(StoreFailure::Unavailable);
    let successor = Process::start(&outbound, 6).await;
    pass(&outbound, 12).await;
    receiver.has_got(6).await;
    receiver.open();
    quiet().await;
    faulty.heal();
    stalled.app.workers().renew().await.unwrap();
    pass(&outbound, 5).await;
    assert_eq!(attempts(&outbound).await, [2, 2, 2]);
    for _ in 0..1_300 {
        // Short enough for both to keep their shards.
        outbound.kit.clock.advance(Duration::from_secs(2));
        quiet().await;
    }
    assert_eq!(receiver.arrived(), 15);
    assert_eq!(attempts(&outbound).await, [5, 5, 5]);
    assert_eq!(outbound.count(DeliveryStatus::Failed).await, 3);
    stalled.stop().await;
    successor.stop().await;
}

#[tokio::test]
async fn a_receiver_that_keeps_a_stopping_process_waiting_does_not_keep_the_others() {
    let outbound = Outbound::new().await;
    let urls = many_webhooks(&outbound, 12).await;
    let (mut stops, stays) =
        (Process::start(&outbound, 5).await, Process::start(&outbound, 6).await);
    pass(&outbound, 5).await;
    let company = outbound.kit.company.id;
    let webhooks = outbound.kit.app.webhooks().all(company).await.unwrap();
    let shards = stops.app.store().all_stored::<Shard>(()).await.unwrap();
    let owner = |url: &str| {
        let webhook = webhooks.iter().find(|webhook| webhook.url == url).unwrap();
        let shard =
            shards.iter().find(|shard| shard.number == Shards::USUAL.of_webhook(webhook.id));
        shard.and_then(|shard| shard.owner)
    };
    let own = stops.app.workers().own_id();
    let (held, rest): (Vec<&String>, Vec<&String>) =
        urls.iter().partition(|url| owner(url) == Some(own));
    let held = held.first().expect("it has some of twelve");
    outbound.receiver(held).hold();
    create_many(&outbound, 0, 1).await;
    quiet().await;
    stops.begin_to_stop();
    quiet().await;
    create_many(&outbound, 1, 1).await;
    pass(&outbound, 1).await;
    assert!(!stops.running.is_finished(), "it waits for its answer");
    for url in urls.iter().filter(|url| url != held) {
        assert_eq!(outbound.receiver(url).arrived(), 2, "{url}, of {} others", rest.len());
    }
    assert_eq!(outbound.receiver(held).arrived(), 1, "what is in flight is not taken over");
    outbound.receiver(held).open();
    stops.running.await.unwrap();
    pass(&outbound, 1).await;
    assert_eq!(outbound.count(DeliveryStatus::Delivered).await, 24);
    stays.stop().await;
}

#[tokio::test]
async fn a_process_that_stops_finishes_what_is_in_flight_and_begins_nothing() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    let receiver = outbound.receiver(URL);
    receiver.hold();
    let mut process = Process::run(&outbound, outbound.kit.app.clone());
    create_many(&outbound, 0, 20).await;
    receiver.has_got(16).await;
    process.begin_to_stop();
    quiet().await;
    assert!(!process.running.is_finished(), "it waits for its answers");
    receiver.open();
    process.running.await.unwrap();
    assert_eq!(receiver.arrived(), 16);
    assert_eq!(outbound.count(DeliveryStatus::Delivered).await, 16);
    let shards = outbound.kit.app.store().all_stored::<Shard>(()).await.unwrap();
    assert!(shards.iter().all(|shard| shard.owner.is_none()));
    let next = Process::start(&outbound, 6).await;
    quiet().await;
    assert_eq!(outbound.count(DeliveryStatus::Delivered).await, 20);
    next.stop().await;
}

#[tokio::test]
async fn a_webhook_has_one_dispatcher_however_processes_come_and_go() {
    let outbound = Outbound::new().await;
    let urls = many_webhooks(&outbound, 8).await;
    let one = Process::start(&outbound, 5).await;
    quiet().await;
    for url in &urls {
        outbound.receiver(url).hold();
    }
    create_many(&outbound, 0, 10).await;
    quiet().await;
    assert_eq!(sent(&outbound).len(), 80);
    // They come while everything is in flight, and must wait for their shares.
    let two = Process::start(&outbound, 8).await;
    let three = Process::start(&outbound, 9).await;
    pass(&outbound, 30).await;
    assert!(sent(&outbound).values().all(|bodies| bodies.len() == 1), "nothing is sent twice");
    for url in &urls {
        outbound.receiver(url).open();
    }
    pass(&outbound, 5).await;
    assert_eq!(outbound.count(DeliveryStatus::Delivered).await, 80);
    for url in &urls {
        outbound.receiver(url).hold();
    }
    create_many(&outbound, 100, 2).await;
    quiet().await;
    // The first one's webhooks are now spread over three.
    one.die().await;
    let alive = outbound.kit.transport.at(&urls[0]);
    assert!(alive.in_flight() <= 2);
    let in_flight: usize = urls.iter().map(|url| outbound.receiver(url).in_flight()).sum();
    assert!((1..16).contains(&in_flight), "{in_flight} are not the dead one's");
    for url in &urls {
        outbound.receiver(url).open();
    }
    pass(&outbound, 15).await;
    assert_eq!(outbound.count(DeliveryStatus::Pending).await, 0);
    two.stop().await;
    three.stop().await;
}

#[tokio::test]
async fn bounds_and_order_hold_over_all_processes() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["message.received"]).await;
    outbound.webhook(OTHER_URL, &["message.received"]).await;
    let mut processes = Vec::new();
    for seed in 5..8 {
        processes.push(Process::start(&outbound, seed).await);
    }
    pass(&outbound, 5).await;
    let messaging = Messaging::on(outbound.kit.clone()).await;
    for receiver in [URL, OTHER_URL] {
        outbound.receiver(receiver).hold();
    }
    for n in 0..10 {
        for who in 0..20 {
            let from = format!("55349912300{who:02}");
            messaging.hear(&format!("m{who}-{n}"), &from, &n.to_string()).await;
        }
    }
    quiet().await;
    for receiver in [URL, OTHER_URL] {
        assert_eq!(outbound.receiver(receiver).in_flight(), 16);
        outbound.receiver(receiver).open();
    }
    pass(&outbound, 2).await;
    let expected: Vec<String> = (0..10).map(|n| n.to_string()).collect();
    for receiver in [URL, OTHER_URL] {
        let receiver = outbound.receiver(receiver);
        assert_eq!((receiver.most_in_flight(), receiver.arrived()), (16, 200));
        let texts = texts(&receiver.bodies());
        assert!(texts.values().all(|texts| *texts == expected));
    }
    for process in processes {
        process.stop().await;
    }
}

#[tokio::test]
async fn a_process_without_a_dispatcher_gets_no_share() {
    let outbound = Outbound::new().await;
    many_webhooks(&outbound, 12).await;
    let idle = Kit::builder()
        .store(Arc::new(outbound.model.another_process()))
        .ids(SeededIds::new(9))
        .clock(outbound.kit.clock.clone())
        .start()
        .await;
    idle.workers().renew().await.unwrap();
    let process = Process::start(&outbound, 5).await;
    quiet().await;
    create_many(&outbound, 0, 2).await;
    quiet().await;
    assert_eq!(outbound.count(DeliveryStatus::Delivered).await, 24);
    let shards = outbound.kit.app.store().all_stored::<Shard>(()).await.unwrap();
    let owner = Some(process.app.workers().own_id());
    assert!(shards.iter().all(|shard| shard.owner == owner));
    process.stop().await;
}

#[tokio::test]
async fn what_waits_for_an_inactive_webhook_goes_when_another_process_activates_it() {
    let outbound = Outbound::new().await;
    let id = outbound.webhook(URL, &["*"]).await;
    create_many(&outbound, 0, 3).await;
    outbound.change(id, serde_json::json!({ "is_active": false })).await;
    let process = Process::start(&outbound, 5).await;
    pass(&outbound, 10).await;
    assert_eq!(outbound.receiver(URL).arrived(), 0);
    outbound.change(id, serde_json::json!({ "is_active": true })).await;
    quiet().await;
    assert_eq!(outbound.receiver(URL).arrived(), 3);
    process.stop().await;
}
