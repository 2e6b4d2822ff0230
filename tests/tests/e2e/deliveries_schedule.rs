//! The times of attempts, and when a delivery fails: 3.3, 6.3, 8; D52, D53. The test sets the
//! clock.

use std::time::Duration;

use recado_tests::{Hooks, Outside, Reply, Setup, StoreKind, both_stores, keys, phone, text};
use serde_json::{Value, json};

/// The waits of section 8.
const WAITS: [Duration; 4] = [
    Duration::from_secs(30),
    Duration::from_secs(120),
    Duration::from_secs(600),
    Duration::from_secs(1_800),
];
const MILLI: Duration = Duration::from_millis(1);

/// Creates a webhook at `/a` and one delivery to it, without attempts; returns the delivery's id.
async fn pending(hooks: &Hooks) -> String {
    hooks.hook("/a", &["contact.created"]).await;
    hooks.create(json!({"phone": phone(1), "name": "Zé"})).await;
    text(&hooks.only_delivery().await["id"])
}

fn manual(kind: StoreKind, setup: Setup) -> impl Future<Output = Hooks> {
    Hooks::with(kind, Setup { no_background: true, ..setup })
}

fn numbers(delivery: &Value) -> Vec<u64> {
    let log = delivery["attempt_log"].as_array().expect("a log");
    log.iter().map(|one| one["attempt"].as_u64().expect("a number")).collect()
}

#[both_stores]
async fn a_delivery_is_tried_five_times_with_these_waits_and_then_failed(hooks: Hooks) {
    hooks.receiver.answers("/a", Reply::status(500));
    let id = pending(&hooks).await;
    let fresh = hooks.delivery(&id).await;
    assert_eq!((&fresh["status"], &fresh["attempts"]), (&json!("pending"), &json!(0)));
    assert_eq!(fresh["next_attempt_at"], hooks.time());
    assert_eq!(fresh["attempt_log"], json!([]));
    hooks.drain().await;
    for (n, wait) in (1..).zip(WAITS) {
        let waiting = hooks.delivery(&id).await;
        assert_eq!(waiting["status"], "pending");
        assert_eq!(waiting["attempts"], n);
        let due = hooks.server.clock.now().plus(wait).to_string();
        assert_eq!(waiting["next_attempt_at"], due);
        assert_eq!(waiting["delivered_at"], Value::Null);
        hooks.pass(wait - MILLI).await;
        assert_eq!(hooks.receiver.count("/a"), n, "not a millisecond early");
        hooks.pass(MILLI).await;
        assert_eq!(hooks.receiver.count("/a"), n + 1);
    }
    let failed = hooks.delivery(&id).await;
    assert_eq!(failed["status"], "failed");
    assert_eq!(failed["attempts"], 5);
    assert_eq!(failed["next_attempt_at"], Value::Null);
    assert_eq!(failed["delivered_at"], Value::Null);
    assert_eq!(numbers(&failed), [1, 2, 3, 4, 5]);
    hooks.pass(Duration::from_secs(86_400)).await;
    assert_eq!(hooks.receiver.count("/a"), 5, "no sixth attempt");
}

#[both_stores]
async fn the_operator_may_set_other_waits(kind: StoreKind) {
    let waits = [1, 2, 3, 4].map(Duration::from_secs);
    let hooks = manual(kind, Setup { retry_waits: Some(waits), ..Setup::default() }).await;
    hooks.receiver.answers("/a", Reply::status(500));
    pending(&hooks).await;
    hooks.drain().await;
    for (n, wait) in (1..).zip(waits) {
        hooks.pass(wait - MILLI).await;
        assert_eq!(hooks.receiver.count("/a"), n);
        hooks.pass(MILLI).await;
    }
    assert_eq!(hooks.only_delivery().await["status"], "failed");
}

#[both_stores]
async fn any_other_status_is_a_failed_attempt(hooks: Hooks) {
    let id = pending(&hooks).await;
    let mut n = 0;
    for status in [
        300, 303, 304, 400, 401, 403, 404, 408, 409, 410, 418, 422, 429, 500, 501, 502, 503, 504,
        511, 599,
    ] {
        n += 1;
        hooks.receiver.then("/a", Reply::status(status));
        hooks.pass(Duration::from_secs(1_800)).await;
        let delivery = hooks.delivery(&id).await;
        assert_eq!(delivery["attempts"], n, "{status}");
        assert_ne!(delivery["status"], "delivered", "{status}");
        let entry = delivery["attempt_log"][n - 1].clone();
        assert_eq!(entry["status_code"], status);
        assert_eq!(entry["error"], Value::Null);
        if delivery["status"] == "failed" {
            hooks.redeliver(&id).await.expect(200);
        }
    }
}

#[both_stores]
async fn a_redirect_is_a_failed_attempt_and_is_not_followed(hooks: Hooks) {
    let id = pending(&hooks).await;
    let elsewhere = hooks.receiver.url("/elsewhere");
    for (n, status) in (1..).zip([301, 302, 307, 308]) {
        hooks.receiver.then("/a", Reply::header(status, "location", &elsewhere));
        hooks.pass(Duration::from_secs(1_800)).await;
        let delivery = hooks.delivery(&id).await;
        assert_eq!(delivery["attempts"], n, "{status}");
        assert_eq!(delivery["status"], "pending");
        assert_eq!(delivery["attempt_log"][n - 1]["status_code"], status);
    }
    assert_eq!(hooks.receiver.count("/elsewhere"), 0);
}

#[both_stores]
async fn a_receiver_that_cannot_be_reached_is_a_failed_attempt(hooks: Hooks) {
    let hook = hooks.hook("/a", &["*"]).await;
    // It is held, so that no server of another test gets it, and nobody listens there.
    let closed = tokio::net::TcpSocket::new_v4().expect("a socket");
    closed.bind(([127, 0, 0, 1], 0).into()).expect("a port");
    let port = closed.local_addr().expect("an address").port();
    let url = format!("http://127.0.0.1:{port}/");
    hooks.change_hook(&hook, json!({"url": url})).await;
    hooks.create(json!({"phone": phone(1)})).await;
    hooks.drain().await;
    let delivery = hooks.only_delivery().await;
    assert_eq!((&delivery["status"], &delivery["attempts"]), (&json!("pending"), &json!(1)));
    let entry = &delivery["attempt_log"][0];
    assert_eq!(entry["status_code"], Value::Null);
    assert_eq!(entry["response"], Value::Null);
    assert!(!text(&entry["error"]).is_empty(), "{entry}");
    hooks.change_hook(&hook, json!({"url": hooks.receiver.url("/a")})).await;
    hooks.pass(Duration::from_secs(30)).await;
    assert_eq!(hooks.only_delivery().await["status"], "delivered");
}

#[both_stores]
async fn a_receiver_that_hangs_up_or_talks_nonsense_is_a_failed_attempt(hooks: Hooks) {
    let id = pending(&hooks).await;
    hooks.receiver.then("/a", Reply::Hangup);
    hooks.receiver.then("/a", Reply::Raw(b"this is no HTTP\r\n\r\n".to_vec()));
    hooks.receiver.then("/a", Reply::FloodHeaders(200));
    hooks.drain().await;
    hooks.pass(WAITS[0]).await;
    hooks.pass(WAITS[1]).await;
    let delivery = hooks.delivery(&id).await;
    assert_eq!(numbers(&delivery), [1, 2, 3]);
    for entry in delivery["attempt_log"].as_array().expect("a log") {
        assert_eq!(entry["status_code"], Value::Null, "{entry}");
        assert!(entry["error"].is_string(), "{entry}");
    }
    assert_eq!(hooks.receiver.count("/a"), 3);
}

#[both_stores]
async fn a_receiver_that_never_answers_is_a_failed_attempt_after_the_timeout(kind: StoreKind) {
    let timeout = Some(Duration::from_millis(300));
    let hooks = manual(kind, Setup { webhook_timeout: timeout, ..Setup::default() }).await;
    let id = pending(&hooks).await;
    hooks.receiver.then("/a", Reply::Never);
    hooks.drain().await;
    let delivery = hooks.delivery(&id).await;
    assert_eq!((&delivery["status"], &delivery["attempts"]), (&json!("pending"), &json!(1)));
    let entry = &delivery["attempt_log"][0];
    assert_eq!(entry["status_code"], Value::Null);
    assert!(text(&entry["error"]).contains("timed out"), "{entry}");
    hooks.pass(WAITS[0]).await;
    assert_eq!(hooks.delivery(&id).await["status"], "delivered");
}

#[both_stores]
async fn an_address_that_became_forbidden_is_not_called(kind: StoreKind) {
    let mut hooks = manual(kind, Setup::default()).await;
    let id = pending(&hooks).await;
    hooks.world.server.set_outside(Outside::Guarded);
    hooks.world.restart().await;
    hooks.drain().await;
    assert_eq!(hooks.receiver.connections(), 0, "nothing connects");
    let delivery = hooks.delivery(&id).await;
    assert_eq!((&delivery["status"], &delivery["attempts"]), (&json!("pending"), &json!(1)));
    let entry = &delivery["attempt_log"][0];
    assert_eq!(entry["status_code"], Value::Null);
    assert!(text(&entry["error"]).contains("not allowed"), "{entry}");
}

#[both_stores]
async fn the_log_of_an_attempt_reports_when_how_long_and_what_came_back(hooks: Hooks) {
    let id = pending(&hooks).await;
    hooks.receiver.then("/a", Reply::body(502, "não agora"));
    hooks.drain().await;
    hooks.pass(WAITS[0]).await;
    let delivery = hooks.delivery(&id).await;
    let log = delivery["attempt_log"].as_array().expect("a log").clone();
    assert_eq!(log.len(), 2);
    for entry in &log {
        assert_eq!(
            keys(entry),
            ["attempt", "duration_ms", "error", "response", "started_at", "status_code"]
        );
        assert!(entry["duration_ms"].is_u64());
    }
    assert_eq!(
        log[0],
        json!({
            "attempt": 1, "started_at": delivery["created_at"], "duration_ms": 0,
            "status_code": 502, "error": null, "response": "não agora",
        })
    );
    assert_eq!(log[1]["started_at"], hooks.time());
    assert_eq!(log[1]["status_code"], 200);
}

#[both_stores]
async fn of_an_answer_at_most_1024_bytes_are_kept_as_text(hooks: Hooks) {
    let id = pending(&hooks).await;
    let bodies = [
        "a".repeat(1_024).into_bytes(),
        "b".repeat(100_000).into_bytes(),
        "é".repeat(2_000).into_bytes(),
        vec![0xff; 5_000],
        b"half \xf0\x9f and a NUL \0.".to_vec(),
    ];
    for (n, body) in (0..).zip(&bodies) {
        hooks.receiver.then("/a", Reply::body(200, body.clone()));
        hooks.drain().await;
        let kept = text(&hooks.delivery(&id).await["attempt_log"][n]["response"]);
        assert!(kept.len() <= 1_024, "{}", kept.len());
        let beginning = String::from_utf8_lossy(body).replace('\0', "\u{fffd}");
        assert!(beginning.starts_with(&kept) && !kept.is_empty(), "{kept:?}");
        hooks.redeliver(&id).await.expect(200);
    }
    let log = hooks.delivery(&id).await["attempt_log"].clone();
    assert_eq!(log[0]["response"], "a".repeat(1_024));
    assert_eq!(log[2]["response"], "é".repeat(512));
}
