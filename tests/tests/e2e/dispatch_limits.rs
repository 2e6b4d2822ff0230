//! How often a template may be dispatched: 7.3, 8; D13, D48.

use std::time::Duration;

use recado_tests::backend::TestServer;
use recado_tests::hooks_in::{FORWARDED, dispatching, unknown_client};
use recado_tests::{Intake, Request, ScriptedAnswer, Setup, both_stores, join_all, on_postgres};
use serde_json::json;

/// A call from a client, with a body that only the last check refuses.
async fn from(world: &Intake, client: &str, token: &str) -> ScriptedAnswer {
    world.send(call(token, client)).await
}

fn call(token: &str, client: &str) -> Request {
    Request::new("POST", dispatching(token)).header(FORWARDED, client).json(&json!({}))
}

/// How many consecutive calls of a client pass, and how long it has to wait then.
async fn burst(world: &Intake, client: &str, token: &str) -> (usize, u64) {
    for n in 0.. {
        let answer = from(world, client, token).await;
        if answer.status == 429 {
            return (n, answer.expect_limited());
        }
        answer.expect_hook_error(400, "MISSING_PHONE");
    }
    unreachable!("a counter ends")
}

/// How many consecutive calls of different clients pass, and how long the next one has to wait.
async fn crowd(world: &Intake, token: &str) -> (usize, u64) {
    for n in 0.. {
        let answer = from(world, &unknown_client(), token).await;
        if answer.status == 429 {
            return (n, answer.expect_limited());
        }
        answer.expect_hook_error(400, "MISSING_PHONE");
    }
    unreachable!("a counter ends")
}

#[both_stores]
async fn a_client_has_10_calls_a_minute(world: Intake) {
    let token = world.token("ola", "UTILITY", "Olá").await;
    let other = world.token("other", "UTILITY", "Olá").await;
    let client = unknown_client();
    assert_eq!(burst(&world, &client, &token).await, (10, 6));
    from(&world, &client, &other).await.expect_limited();
    world.advance(Duration::from_millis(5_999));
    from(&world, &client, &token).await.expect_limited();
    world.advance(Duration::from_millis(1));
    assert_eq!(burst(&world, &client, &token).await.0, 1);
    world.advance(Duration::from_secs(60));
    assert_eq!(burst(&world, &client, &token).await, (10, 6));
}

#[both_stores]
async fn a_token_has_60_calls_a_minute_however_it_is_written(world: Intake) {
    let token = world.token("ola", "UTILITY", "Olá").await;
    let other = world.token("other", "UTILITY", "Olá").await;
    assert_eq!(crowd(&world, &token).await, (60, 1));
    from(&world, &unknown_client(), &token.to_uppercase()).await.expect_limited();
    assert_eq!(crowd(&world, &other).await.0, 60);
    world.advance(Duration::from_secs(1));
    assert_eq!(crowd(&world, &token).await.0, 1);
}

#[both_stores]
async fn simultaneous_calls_never_exceed_an_allowance(world: Intake) {
    let token = world.token("ola", "UTILITY", "Olá").await;
    let client = unknown_client();
    let answers = join_all((0..30).map(|_| from(&world, &client, &token)).collect()).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 400).count(), 10);
    assert_eq!(answers.iter().filter(|answer| answer.status == 429).count(), 20);
    world.advance(Duration::from_secs(60));
    let clients: Vec<String> = (0..80).map(|_| unknown_client()).collect();
    let answers = join_all(clients.iter().map(|one| from(&world, one, &token)).collect()).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 400).count(), 60);
    assert_eq!(answers.iter().filter(|answer| answer.status == 429).count(), 20);
}

#[on_postgres]
async fn two_processes_share_the_allowances(world: Intake) {
    let setup = Setup {
        clock: Some(world.server.clock.clone()),
        trusted_proxies: &["127.0.0.0/8"],
        ..Setup::default()
    };
    let second = TestServer::start(&world.database, setup).await;
    let addrs = [world.addr, second.addr];
    let token = world.token("ola", "UTILITY", "Olá").await;
    let client = unknown_client();
    let calls = (0..30).map(|n| call(&token, &client).send(addrs[n % 2])).collect();
    let answers = join_all(calls).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 400).count(), 10);
    world.advance(Duration::from_secs(60));
    let calls = (0..80).map(|n| call(&token, &unknown_client()).send(addrs[n % 2])).collect();
    let answers = join_all(calls).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 400).count(), 60);
    assert_eq!(answers.iter().filter(|answer| answer.status == 429).count(), 20);
}
