//! Receivers with bad answers: the status line decides, and nothing after it causes another attempt
//! (D53).

use std::time::Duration;

use recado_tests::{Hooks, Reply, StoreKind, both_stores, eventually, phone, text};
use serde_json::{Value, json};

const MIB: u64 = 1024 * 1024;

async fn create(hooks: &Hooks, n: u32) {
    hooks.create(json!({"phone": phone(n), "name": format!("c{n}")})).await;
}

/// Makes one delivery get this answer, and advances the clock; returns the delivery afterwards.
async fn met(hooks: &Hooks, reply: Reply) -> Value {
    hooks.hook("/a", &["contact.created"]).await;
    hooks.receiver.then("/a", reply);
    create(hooks, 1).await;
    hooks.drain().await;
    let delivery = hooks.only_delivery().await;
    if delivery["status"] == "delivered" {
        hooks.pass(Duration::from_secs(7_200)).await;
        assert_eq!(hooks.receiver.count("/a"), 1, "it is not tried again");
    }
    assert_eq!(hooks.receiver.most_in_flight("/a"), 1);
    delivery
}

/// Asserts that it was delivered at the first attempt with status 200, and returns the stored
/// answer.
fn delivered_at_once(delivery: &Value) -> String {
    assert_eq!(delivery["status"], "delivered", "{delivery}");
    assert_eq!(delivery["attempts"], 1);
    let log = delivery["attempt_log"].as_array().expect("a log");
    assert_eq!(log.len(), 1);
    assert_eq!(log[0]["status_code"], 200);
    assert_eq!(log[0]["error"], Value::Null);
    text(&log[0]["response"])
}

#[both_stores]
async fn a_200_with_a_body_of_300_mib_is_one_delivered_attempt(hooks: Hooks) {
    let delivery = met(&hooks, Reply::Huge(200, 300 * MIB)).await;
    assert_eq!(delivered_at_once(&delivery), "x".repeat(1_024));
    let written = hooks.receiver.written();
    assert!(written < 64 * MIB, "it was not read: {written}");
}

#[both_stores]
async fn a_200_that_stalls_after_the_headers_is_one_delivered_attempt(hooks: Hooks) {
    let delivery = met(&hooks, Reply::StallAfterHeaders(200)).await;
    assert_eq!(delivered_at_once(&delivery), "");
}

#[both_stores]
async fn a_500_with_a_huge_or_broken_body_is_one_failed_attempt(hooks: Hooks) {
    hooks.hook("/a", &["contact.created"]).await;
    create(&hooks, 1).await;
    for (n, reply) in (1..).zip([
        Reply::Huge(500, 300 * MIB),
        Reply::Flood(500),
        Reply::StallAfterHeaders(500),
        Reply::BreakOff(500),
    ]) {
        hooks.receiver.then("/a", reply);
        hooks.pass(Duration::from_secs(1_800)).await;
        let delivery = hooks.only_delivery().await;
        assert_eq!((&delivery["status"], &delivery["attempts"]), (&json!("pending"), &json!(n)));
        assert_eq!(delivery["attempt_log"][n - 1]["status_code"], 500);
        assert_eq!(hooks.receiver.count("/a"), n);
    }
}

#[both_stores]
async fn an_attempt_under_way_is_not_joined_by_a_second_one_however_long_it_takes(kind: StoreKind) {
    let hooks = Hooks::live(kind).await;
    hooks.hook("/a", &["contact.created"]).await;
    hooks.hook("/b", &["contact.created"]).await;
    hooks.receiver.then("/a", Reply::Held(200));
    create(&hooks, 1).await;
    let held = hooks.receiver.reaches("/a", 1).await[0].delivery();
    for n in 2..5 {
        // Longer than every lease and every wait. Afterwards another delivery shows that the
        // delivery worker still works.
        hooks.advance(Duration::from_secs(1_801));
        create(&hooks, n).await;
        hooks.receiver.reaches("/b", n as usize).await;
        hooks.receiver.reaches("/a", n as usize).await;
    }
    let of_it = hooks.receiver.to("/a").iter().filter(|one| one.delivery() == held).count();
    assert_eq!(of_it, 1);
    hooks.receiver.release();
    let delivery = hooks.finished(&held).await;
    assert_eq!((&delivery["status"], &delivery["attempts"]), (&json!("delivered"), &json!(1)));
}

/// D53.
#[both_stores]
async fn five_requests_at_most_can_ever_reach_a_receiver_for_one_delivery(hooks: Hooks) {
    // Whatever comes to /a is read and then the connection is closed, without an answer.
    hooks.hook("/a", &["contact.created"]).await;
    hooks.receiver.answers("/a", Reply::Hangup);
    // /b leaves a connection to the same host that waits for its next request.
    let warm = hooks.hook("/b", &["message.sent"]).await;
    let warm = format!("C/webhooks/{}/test", warm.id);
    let leave_a_connection = || async {
        hooks.operator("POST", &warm, Value::Null).await.expect(200);
        hooks.drain().await;
    };
    leave_a_connection().await;
    create(&hooks, 1).await;
    hooks.drain().await;
    for wait in [30, 120, 600, 1_800, 86_400] {
        leave_a_connection().await;
        hooks.pass(Duration::from_secs(wait)).await;
    }
    let id = hooks.receiver.to("/a")[0].delivery();
    let delivery = hooks.delivery(&id).await;
    assert_eq!((&delivery["status"], &delivery["attempts"]), (&json!("failed"), &json!(5)));
    let requests = hooks.receiver.to("/a");
    assert_eq!(requests.len(), 5);
    let of_b: Vec<usize> = hooks.receiver.to("/b").iter().map(|one| one.connection).collect();
    for request in requests {
        assert!(of_b.contains(&request.connection), "each came over a connection that was used");
    }
}

/// D53.
#[both_stores]
async fn a_connection_that_was_closed_while_unused_costs_no_attempt(hooks: Hooks) {
    hooks.hook("/a", &["contact.created"]).await;
    hooks.receiver.answers("/a", Reply::ThenClose);
    for n in 0..4 {
        create(&hooks, n).await;
        hooks.drain().await;
        hooks.receiver.closes_all().await;
    }
    for delivery in hooks.deliveries("").await {
        assert_eq!(delivery["status"], "delivered");
        assert_eq!(delivery["attempts"], 1);
    }
    let all = hooks.receiver.to("/a");
    assert_eq!((all.len(), hooks.receiver.deliveries(), hooks.receiver.connections()), (4, 4, 4));
}

#[both_stores]
async fn a_receiver_that_was_away_gets_what_it_missed(kind: StoreKind) {
    let hooks = Hooks::live(kind).await;
    hooks.hook("/a", &["contact.created"]).await;
    hooks.receiver.answers("/a", Reply::Hangup);
    for n in 0..5 {
        create(&hooks, n).await;
    }
    eventually("each was tried once", || async {
        let all = hooks.deliveries("").await;
        all.iter().all(|one| one["attempts"] == 1).then_some(())
    })
    .await;
    hooks.receiver.answers("/a", Reply::status(200));
    hooks.advance(Duration::from_secs(30));
    eventually("everything is delivered", || async {
        (hooks.deliveries("status=delivered").await.len() == 5).then_some(())
    })
    .await;
    assert_eq!(hooks.receiver.count("/a"), 10);
    assert_eq!(hooks.receiver.deliveries(), 5);
}
