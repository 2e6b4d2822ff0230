//! Rate limits: 5.1, 7.1, 8; D6, D12.

use std::time::Duration;

use recado_tests::{Request, World, both_stores, join_all, phone, text, unknown_id};
use serde_json::{Value, json};

const LIST: &str = "/api/v1/contacts";
const EXPORT: &str = "/api/v1/contacts?order_by=created_at";

/// How many consecutive calls succeed before a 429.
async fn burst(world: &World, key: &str, path: &str) -> usize {
    for n in 0.. {
        let answer = world.get_as(key, path).await;
        if answer.status == 429 {
            return n;
        }
        answer.expect(200);
    }
    unreachable!("a counter ends")
}

#[both_stores]
async fn the_whole_minutes_allowance_may_be_used_at_once(world: World) {
    let key = world.key_rated(7, 60).await;
    assert_eq!(burst(&world, &key, LIST).await, 7);
}

#[both_stores]
async fn the_defaults_are_600_and_60(world: World) {
    let made = world.make("C/keys", json!({"name": "k", "scopes": ["contacts:read"]})).await;
    assert_eq!(made["rate_per_minute"], 600);
    assert_eq!(made["export_rate_per_minute"], 60);
    let key = text(&made["key"]);
    assert_eq!(burst(&world, &key, EXPORT).await, 60);
    // The sixty exports also count as sixty of the six hundred calls; the refused export does not
    // count.
    let mut answers = Vec::new();
    // Not all at once: a call waits five seconds for a connection of the pool.
    for calls in [60; 9].into_iter().chain([1]) {
        let calls = (0..calls).map(|_| world.get_as(&key, LIST)).collect();
        answers.extend(join_all(calls).await.iter().map(|answer| answer.status));
    }
    assert_eq!(answers.iter().filter(|status| **status == 200).count(), 540);
    assert_eq!(answers.iter().filter(|status| **status == 429).count(), 1);
}

#[both_stores]
async fn an_exceeded_limit_is_429_with_retry_after_in_whole_seconds(world: World) {
    let key = world.key_rated(3, 60).await;
    burst(&world, &key, LIST).await;
    let answer = world.get_as(&key, LIST).await;
    answer.expect_error(429, "RATE_LIMITED");
    let wait: u64 = answer.header("retry-after").parse().expect("whole seconds");
    assert!((1..=20).contains(&wait), "{wait}");
    world.advance(Duration::from_secs(wait));
    world.get_as(&key, LIST).await.expect(200);
}

#[both_stores]
async fn all_calls_of_the_api_share_the_allowance(world: World) {
    let key = world.key_rated(6, 60).await;
    let id = unknown_id();
    world.get_as(&key, LIST).await.expect(200);
    world.get_as(&key, "/api/v1/lists").await.expect(200);
    world.get_as(&key, "/api/v1/custom-fields").await.expect(200);
    world.get_as(&key, &format!("{LIST}/{id}")).await.expect_error(404, "NOT_FOUND");
    world.post_as(&key, LIST, json!({"phone": phone(1)})).await.expect(201);
    world.get_as(&key, EXPORT).await.expect(200);
    world.get_as(&key, LIST).await.expect_error(429, "RATE_LIMITED");
    world.post_as(&key, LIST, json!({"phone": phone(2)})).await.expect_error(429, "RATE_LIMITED");
}

#[both_stores]
async fn refusals_after_the_rate_check_are_charged(world: World) {
    let key = world.key_rated(4, 60).await;
    world.post_as(&key, LIST, json!({})).await.expect_error(422, "VALIDATION_ERROR");
    world.get_as(&key, "/api/v1/contacts?page=0").await.expect_error(400, "INVALID_PARAMETER");
    let huge = Request::new("POST", LIST).bearer(&key).body(vec![b'x'; 1024 * 1024 + 1]);
    world.send(huge).await.expect_error(413, "PAYLOAD_TOO_LARGE");
    world
        .send(Request::new("POST", LIST).bearer(&key).body("{"))
        .await
        .expect_error(400, "INVALID_BODY");
    world.get_as(&key, LIST).await.expect_error(429, "RATE_LIMITED");
}

#[both_stores]
async fn refusals_before_the_rate_check_are_free(world: World) {
    let body = json!({"name": "k", "scopes": ["contacts:read"], "rate_per_minute": 1});
    let key = text(&world.make("C/keys", body).await["key"]);
    for _ in 0..5 {
        world.get_as(&key, "/api/v1/nothing").await.expect_error(404, "NOT_FOUND");
        let put = Request::new("PUT", LIST).bearer(&key);
        world.send(put).await.expect_error(405, "METHOD_NOT_ALLOWED");
        world.post_as(&key, LIST, json!({})).await.expect_error(403, "INSUFFICIENT_SCOPE");
    }
    let company = format!("/companies/{}", world.us.id);
    world.operator("PATCH", &company, json!({"plan": "starter"})).await.expect(200);
    world.get_as(&key, LIST).await.expect_error(403, "PLAN_REQUIRED");
    world.operator("PATCH", &company, json!({"plan": "enterprise"})).await.expect(200);
    world.get_as(&key, LIST).await.expect(200);
    world.get_as(&key, LIST).await.expect_error(429, "RATE_LIMITED");
}

// Section 8: the export

#[both_stores]
async fn only_cursor_mode_uses_the_export_allowance(world: World) {
    let key = world.key_rated(1_000, 2).await;
    for path in [LIST, "/api/v1/contacts?order_by=last_message_at", "/api/v1/lists"] {
        for _ in 0..5 {
            world.get_as(&key, path).await.expect(200);
        }
    }
    assert_eq!(burst(&world, &key, EXPORT).await, 2);
    world.get_as(&key, LIST).await.expect(200);
}

#[both_stores]
async fn the_same_cursor_works_after_the_wait(world: World) {
    let mut ids = Vec::new();
    for n in 0..4 {
        ids.push(world.create_id(json!({"phone": phone(n)})).await);
        world.advance(Duration::from_millis(1));
    }
    let key = world.key_rated(1_000, 1).await;
    let first = world.get_as(&key, &format!("{EXPORT}&limit=2")).await;
    assert_eq!(first.ids(), ids[..2]);
    let cursor = text(&first.json()["pagination"]["next_cursor"]);
    let next = format!("{EXPORT}&limit=2&cursor={cursor}");
    let refused = world.get_as(&key, &next).await;
    refused.expect_error(429, "RATE_LIMITED");
    let wait: u64 = refused.header("retry-after").parse().expect("whole seconds");
    world.advance(Duration::from_secs(wait));
    assert_eq!(world.get_as(&key, &next).await.ids(), ids[2..]);
}

// Configurable per key

#[both_stores]
async fn a_change_of_a_rate_holds_at_once(world: World) {
    let key = world.key_rated(2, 1).await;
    assert_eq!(burst(&world, &key, LIST).await, 2);
    let path = format!("C/keys/{}", key_id(&world).await);
    world
        .operator("PATCH", &path, json!({"rate_per_minute": 600, "export_rate_per_minute": 30}))
        .await
        .expect(200);
    world.advance(Duration::from_millis(100));
    assert!(burst(&world, &key, LIST).await >= 1);
    world.advance(Duration::from_secs(120));
    assert_eq!(burst(&world, &key, EXPORT).await, 30);
    world.operator("PATCH", &path, json!({"rate_per_minute": 1})).await.expect(200);
    world.advance(Duration::from_secs(60));
    assert_eq!(burst(&world, &key, LIST).await, 1);
}

#[both_stores]
async fn a_rate_is_a_whole_number_of_at_least_one(world: World) {
    for name in ["rate_per_minute", "export_rate_per_minute"] {
        for wrong in [json!(0), json!(-1), json!(1.5), json!("10"), json!(null), json!(true)] {
            let body = json!({"name": "k", "scopes": ["contacts:read"], name: wrong});
            let answer = world.operator("POST", "C/keys", body).await;
            if wrong.is_null() && answer.status == 201 {
                continue;
            }
            assert_eq!(answer.expect_invalid(), [name], "{wrong}");
        }
        let id = key_id(&world).await;
        let answer = world.operator("PATCH", &format!("C/keys/{id}"), json!({name: 0})).await;
        assert_eq!(answer.expect_invalid(), [name]);
    }
    let key = world.key_rated(1, 1).await;
    assert_eq!(burst(&world, &key, LIST).await, 1);
}

#[both_stores]
async fn simultaneous_calls_never_exceed_the_allowance(world: World) {
    let key = world.key_rated(10, 60).await;
    let calls = (0..40).map(|_| world.get_as(&key, LIST)).collect();
    let answers = join_all(calls).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 10);
    assert_eq!(answers.iter().filter(|answer| answer.status == 429).count(), 30);
}

/// The id of the newest key.
async fn key_id(world: &World) -> String {
    let keys = world.operator("GET", "C/keys", Value::Null).await.items();
    text(&keys.last().expect("a key")["id"])
}
