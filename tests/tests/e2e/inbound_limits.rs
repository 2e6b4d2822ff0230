//! How often an inbound endpoint may be called: 7.2, 8; D12, D13.

use std::time::Duration;

use recado_tests::backend::TestServer;
use recado_tests::hooks_in::{Endpoint, FORWARDED, dispatching, incoming, plain, unknown_client};
use recado_tests::{
    Intake, Request, ScriptedAnswer, Setup, both_stores, join_all, mobile, on_postgres,
};
use serde_json::{Value, json};

fn ana() -> Value {
    json!({"phone": mobile(1), "name": "Ana"})
}

/// A call to an endpoint with its secret, from a client.
async fn from(world: &Intake, client: &str, endpoint: &Endpoint) -> ScriptedAnswer {
    world.send(endpoint.request().header(FORWARDED, client).json(&ana())).await
}

/// How many consecutive calls of a client succeed, and how long it has to wait then.
async fn burst(world: &Intake, client: &str, endpoint: &Endpoint) -> (usize, u64) {
    for n in 0.. {
        let answer = from(world, client, endpoint).await;
        if answer.status == 429 {
            return (n, answer.expect_limited());
        }
        answer.expect_ok();
    }
    unreachable!("a counter ends")
}

/// How many consecutive calls of different clients succeed, and how long the next one has to wait.
async fn crowd(world: &Intake, endpoint: &Endpoint) -> (usize, u64) {
    for n in 0.. {
        let answer = world.hand_in(endpoint, &ana()).await;
        if answer.status == 429 {
            return (n, answer.expect_limited());
        }
        answer.expect_ok();
    }
    unreachable!("a counter ends")
}

#[both_stores]
async fn a_client_has_10_calls_a_minute(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let client = unknown_client();
    assert_eq!(burst(&world, &client, &site).await, (10, 6));
    world.advance(Duration::from_millis(5_999));
    assert_eq!(burst(&world, &client, &site).await, (0, 1));
    world.advance(Duration::from_millis(1));
    assert_eq!(burst(&world, &client, &site).await.0, 1);
    world.advance(Duration::from_secs(30));
    assert_eq!(burst(&world, &client, &site).await.0, 5);
    world.advance(Duration::from_secs(600));
    assert_eq!(burst(&world, &client, &site).await, (10, 6), "never more than a minute's");
    assert_eq!(burst(&world, &unknown_client(), &site).await.0, 10, "each client has its own");
}

#[both_stores]
async fn a_client_has_5_calls_a_minute_to_a_public_endpoint(world: Intake) {
    let open = world.public("site-open").await;
    let client = unknown_client();
    assert_eq!(burst(&world, &client, &open).await, (5, 12));
    world.advance(Duration::from_secs(12));
    assert_eq!(burst(&world, &client, &open).await.0, 1);
    world.advance(Duration::from_secs(60));
    assert_eq!(burst(&world, &client, &open).await, (5, 12));
}

/// D13.
#[both_stores]
async fn each_tier_counts_the_calls_of_a_client_for_itself(world: Intake) {
    let (site, open) =
        (world.endpoint("site-leads", plain()).await, world.public("site-open").await);
    let other = world.public("other-open").await;
    let token = world.token("ola", "UTILITY", "Olá").await;
    let client = unknown_client();
    let dispatch = || {
        let call = Request::new("POST", dispatching(&token)).header(FORWARDED, &client);
        world.send(call.json(&json!({})))
    };
    let unknown = || {
        let call = Request::new("POST", incoming("nobody-has-this")).header(FORWARDED, &client);
        world.send(call.json(&ana()))
    };
    assert_eq!(burst(&world, &client, &open).await, (5, 12), "public calls");
    assert_eq!(burst(&world, &client, &other).await.0, 0, "all public endpoints are one tier");
    for _ in 0..4 {
        unknown().await.expect_hook_error(404, "ENDPOINT_NOT_FOUND");
    }
    assert_eq!(burst(&world, &client, &site).await, (6, 6), "an unknown slug is in the tier of 10");
    unknown().await.expect_limited();
    for _ in 0..10 {
        dispatch().await.expect_hook_error(400, "MISSING_PHONE");
    }
    dispatch().await.expect_limited();
    world.advance(Duration::from_secs(60));
    assert_eq!(burst(&world, &client, &site).await.0, 10, "secret calls first this time");
    assert_eq!(burst(&world, &client, &open).await.0, 5);
    // A wrong secret is charged to the tier of its endpoint.
    let stranger = unknown_client();
    for _ in 0..10 {
        let wrong = Request::new("POST", site.path()).header(FORWARDED, &stranger);
        world.send(wrong.json(&ana())).await.expect_hook_error(401, "INVALID_SECRET");
    }
    assert_eq!(burst(&world, &stranger, &site).await.0, 0);
    assert_eq!(burst(&world, &stranger, &open).await.0, 5);
}

#[both_stores]
async fn an_endpoint_has_60_calls_a_minute(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    assert_eq!(crowd(&world, &site).await, (60, 1));
    world.advance(Duration::from_secs(1));
    assert_eq!(crowd(&world, &site).await.0, 1);
    let other = world.endpoint("other-leads", plain()).await;
    assert_eq!(crowd(&world, &other).await.0, 60, "each endpoint has its own");
}

#[both_stores]
async fn a_public_endpoint_has_30_calls_a_minute(world: Intake) {
    let open = world.public("site-open").await;
    assert_eq!(crowd(&world, &open).await, (30, 2));
    world.advance(Duration::from_secs(2));
    assert_eq!(crowd(&world, &open).await.0, 1);
}

#[both_stores]
async fn simultaneous_calls_never_exceed_an_allowance(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let client = unknown_client();
    let calls = (0..30).map(|_| from(&world, &client, &site)).collect();
    let answers = join_all(calls).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 10);
    assert_eq!(answers.iter().filter(|answer| answer.status == 429).count(), 20);
    world.advance(Duration::from_secs(60));
    let body = ana();
    let calls = (0..80).map(|_| world.hand_in(&site, &body)).collect();
    let answers = join_all(calls).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 60);
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
    let site = world.endpoint("site-leads", plain()).await;
    let addrs = [world.addr, second.addr];
    let client = unknown_client();
    let calls = (0..30)
        .map(|n| site.request().header(FORWARDED, &client).json(&ana()).send(addrs[n % 2]))
        .collect();
    let answers = join_all(calls).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 10);
    world.advance(Duration::from_secs(60));
    let calls = (0..80)
        .map(|n| site.request().header(FORWARDED, unknown_client()).json(&ana()).send(addrs[n % 2]))
        .collect();
    let answers = join_all(calls).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 60);
    assert_eq!(answers.iter().filter(|answer| answer.status == 429).count(), 20);
}
