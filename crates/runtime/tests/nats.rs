//! Notifications between processes by a real NATS server (R463).
#![cfg(feature = "nats")]

use std::time::Duration;

use recado_core::deliveries::{QueueKey, Signals};
use recado_core::ids::{CompanyId, WebhookId};
use recado_runtime::nats::NatsSignals;
use recado_testkit::nats::NatsServer;
use tokio::time::timeout;
use uuid::Uuid;

/// Long enough for every notification that is sent.
const LONG: Duration = Duration::from_secs(30);

fn key(n: u128) -> QueueKey {
    QueueKey {
        company: CompanyId::new(Uuid::from_u128(n)),
        webhook: WebhookId::new(Uuid::from_u128(n + 1)),
    }
}

fn signals_at(urls: &str, subject: &str) -> NatsSignals {
    NatsSignals::new(urls.parse().expect("URLs"), &subject.parse().expect("a subject"))
}

fn signals(urls: &str) -> NatsSignals {
    signals_at(urls, "recado.deliveries")
}

async fn heard(signals: &NatsSignals) -> Option<Vec<QueueKey>> {
    timeout(LONG, signals.notified()).await.expect("it hears of it")
}

/// Processes that hear each other: each has been told to poll all of its queues.
async fn connected<const N: usize>(urls: [&str; N]) -> [NatsSignals; N] {
    let all = urls.map(signals);
    for one in &all {
        assert_eq!(heard(one).await, None);
    }
    all
}

/// R463.
#[tokio::test(flavor = "multi_thread")]
async fn every_other_process_hears_whose_queues_have_something_new_and_none_hears_itself() {
    let server = NatsServer::start();
    let [one, two, three] = connected([&server.url(); 3].map(String::as_str)).await;
    one.notify(&[key(1), key(10)]);
    assert_eq!(heard(&two).await, Some(vec![key(1), key(10)]));
    assert_eq!(heard(&three).await, Some(vec![key(1), key(10)]));
    two.notify(&[key(2)]);
    assert_eq!(heard(&one).await, Some(vec![key(2)]), "and nothing of its own");
    assert_eq!(heard(&three).await, Some(vec![key(2)]));
    let elsewhere = signals_at(&server.url(), "recado.cell-1");
    assert_eq!(heard(&elsewhere).await, None);
    elsewhere.notify(&[key(3)]);
    one.notify(&[key(4)]);
    assert_eq!(heard(&two).await, Some(vec![key(4)]), "another installation is not heard");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_queues_fit_and_too_many_and_none_are_all_of_them() {
    let server = NatsServer::start();
    let [one, two] = connected([&server.url(); 2].map(String::as_str)).await;
    let queues: Vec<QueueKey> = (0..1_001).map(key).collect();
    one.notify(&queues[..1_000]);
    assert_eq!(heard(&two).await, Some(queues[..1_000].to_vec()));
    one.notify(&queues);
    assert_eq!(heard(&two).await, None);
    one.notify(&[]);
    assert_eq!(heard(&two).await, None);
    one.notify(&[key(3)]);
    assert_eq!(heard(&two).await, Some(vec![key(3)]));
}

/// R463.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_was_cut_off_looks_everywhere_and_goes_on() {
    let mut server = NatsServer::start();
    let [one, two] = connected([&server.url(); 2].map(String::as_str)).await;
    for _ in 0..2 {
        server.kill();
        server.restart();
        assert_eq!(heard(&one).await, None);
        assert_eq!(heard(&two).await, None);
        one.notify(&[key(1)]);
        assert_eq!(heard(&two).await, Some(vec![key(1)]));
        two.notify(&[key(2)]);
        assert_eq!(heard(&one).await, Some(vec![key(2)]));
    }
}

/// R463.
#[tokio::test(flavor = "multi_thread")]
async fn nats_may_come_later_and_of_several_servers_one_is_enough() {
    let (mut server, absent) = (NatsServer::stopped(), NatsServer::stopped());
    let urls = format!("{},{}", absent.url(), server.url());
    let (one, two) = (signals(&urls), signals(&urls));
    assert!(timeout(Duration::from_millis(1), two.notified()).await.is_err());
    // Whatever is notified meanwhile is not kept, and nobody waits for it.
    for n in 0..100_000 {
        one.notify(&[key(n)]);
    }
    server.restart();
    // What comes first means all queues.
    one.notify(&[key(1)]);
    while heard(&two).await != Some(vec![key(1)]) {
        one.notify(&[key(1)]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_may_ask_for_a_password_or_a_token() {
    let server = NatsServer::with_args(&["--user", "ana", "--pass", "s@cret"]);
    let address = server.address();
    let [one, two] =
        connected([&format!("nats://ana:s%40cret@{address}"); 2].map(|url| url.as_str())).await;
    one.notify(&[key(1)]);
    assert_eq!(heard(&two).await, Some(vec![key(1)]));
    let server = NatsServer::with_args(&["--auth", "t0ken"]);
    connected([&format!("nats://t0ken@{}", server.address())]).await;
}
