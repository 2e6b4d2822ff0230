//! How often an inbound endpoint may be called: 7.2, 8; D12, D13.

use std::time::Duration;

use recado_tests::backend::TestServer;
use recado_tests::hooks_in::{Endpoint, FORWARDED, SECRET, incoming, plain, unknown_client};
use recado_tests::{Answer, Intake, Request, Setup, both_stores, join_all, mobile, on_postgres};
use serde_json::{Value, json};

fn ana() -> Value {
    json!({"phone": mobile(1), "name": "Ana"})
}

/// A call to an endpoint with its secret by some client.
async fn from(world: &Intake, client: &str, endpoint: &Endpoint) -> Answer {
    world.send(endpoint.request().header(FORWARDED, client).json(&ana())).await
}

/// How many calls of a client in a row succeed, and how long it has to wait then.
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

/// How many calls of as many clients in a row succeed, and how long the next one has to wait.
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
async fn the_tier_follows_the_mode(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    world.change_endpoint(&site, json!({"auth_mode": "public"})).await;
    assert_eq!(crowd(&world, &site).await.0, 30);
    world.advance(Duration::from_secs(60));
    world.change_endpoint(&site, json!({"auth_mode": "secret_required"})).await;
    assert_eq!(crowd(&world, &site).await.0, 60);
}

#[both_stores]
async fn one_counter_of_a_client_counts_the_calls_to_all_endpoints(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let theirs = world.neighbour("Other").await;
    let other = world.endpoint_of(&theirs, "other-leads", plain(), json!({})).await;
    let open = world.public("site-open").await;
    let client = unknown_client();
    for n in 0..10 {
        from(&world, &client, if n % 2 == 0 { &site } else { &other }).await.expect_ok();
    }
    for endpoint in [&site, &other, &open] {
        from(&world, &client, endpoint).await.expect_limited();
    }
}

#[both_stores]
async fn calls_that_lead_nowhere_count_for_the_client(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let client = unknown_client();
    let unknown = || Request::new("POST", incoming("nobody-has-this")).header(FORWARDED, &client);
    for _ in 0..10 {
        world.send(unknown()).await.expect_hook_error(404, "ENDPOINT_NOT_FOUND");
    }
    assert_eq!(world.send(unknown()).await.expect_limited(), 6, "the tier of an unknown slug");
    from(&world, &client, &site).await.expect_limited();
}

#[both_stores]
async fn the_limit_of_a_client_is_reported_before_anything_else(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let client = unknown_client();
    let wrong = || {
        let request = Request::new("POST", site.path()).header(FORWARDED, &client);
        request.header(SECRET, "wrong").body(vec![b'x'; 200_000])
    };
    for _ in 0..10 {
        world.send(wrong()).await.expect_hook_error(401, "INVALID_SECRET");
    }
    world.send(wrong()).await.expect_limited();
    world.change_endpoint(&site, json!({"is_active": false})).await;
    world.send(wrong()).await.expect_limited();
    world.features(&world.us, false, false).await;
    world.send(wrong()).await.expect_limited();
    let path = format!("C/inbound-endpoints/{}", site.id);
    world.operator("DELETE", &path, Value::Null).await;
    world.send(wrong()).await.expect_limited();
    world.advance(Duration::from_secs(6));
    world.send(wrong()).await.expect_hook_error(404, "ENDPOINT_NOT_FOUND");
    world.send(wrong()).await.expect_limited();
}

#[both_stores]
async fn a_call_that_was_limited_is_not_charged(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let client = unknown_client();
    burst(&world, &client, &site).await;
    for _ in 0..20 {
        from(&world, &client, &site).await.expect_limited();
    }
    world.advance(Duration::from_secs(60));
    assert_eq!(burst(&world, &client, &site).await.0, 10);
}

#[both_stores]
async fn a_stranger_cannot_use_up_the_allowance_of_an_endpoint(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    for _ in 0..70 {
        let request = Request::new("POST", site.path()).header(SECRET, "wrong").json(&ana());
        world.knock(request).await.expect_hook_error(401, "INVALID_SECRET");
    }
    assert_eq!(crowd(&world, &site).await.0, 60);
}

#[both_stores]
async fn the_limit_of_the_endpoint_is_reported_after_the_secret_and_before_the_size(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    crowd(&world, &site).await;
    let wrong = Request::new("POST", site.path()).header(SECRET, "wrong").json(&ana());
    world.knock(wrong).await.expect_hook_error(401, "INVALID_SECRET");
    world.hand_in_bytes(&site, vec![b'x'; 200_000]).await.expect_limited();
    world.hand_in_bytes(&site, "{").await.expect_limited();
    world.change_endpoint(&site, json!({"is_active": false})).await;
    world.hand_in(&site, &ana()).await.expect_hook_error(410, "ENDPOINT_INACTIVE");
}

#[both_stores]
async fn a_client_is_not_charged_for_a_full_endpoint_nor_the_endpoint_for_a_busy_client(
    world: Intake,
) {
    let (site, other) =
        (world.endpoint("site-leads", plain()).await, world.endpoint("other-leads", plain()).await);
    crowd(&world, &site).await;
    let client = unknown_client();
    for _ in 0..15 {
        from(&world, &client, &site).await.expect_limited();
    }
    assert_eq!(burst(&world, &client, &other).await.0, 10);
    for _ in 0..15 {
        from(&world, &client, &other).await.expect_limited();
    }
    assert_eq!(crowd(&world, &other).await.0, 50);
}

#[both_stores]
async fn refusals_of_the_body_are_charged(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    for n in 0..60 {
        let body: &[u8] = if n % 2 == 0 { b"{" } else { b"{}" };
        assert_eq!(world.hand_in_bytes(&site, body).await.status, 400);
    }
    world.hand_in(&site, &ana()).await.expect_limited();
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
