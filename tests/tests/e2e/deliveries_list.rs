//! The operator's listing of deliveries, one delivery in detail, and redelivery:
//! docs/operator-api.md, D26, D52a, D56a.

use std::time::Duration;

use recado_tests::{Hooks, Reply, both_stores, keys, mobile, phone, text, unknown_id};
use serde_json::{Value, json};

const WAITS: [u64; 4] = [30, 120, 600, 1_800];

async fn create(hooks: &Hooks, n: u32) {
    hooks.create(json!({"phone": phone(n), "name": format!("c{n}")})).await;
}

/// Runs a series of attempts to its end.
async fn end_series(hooks: &Hooks) {
    hooks.drain().await;
    for wait in WAITS {
        hooks.pass(Duration::from_secs(wait)).await;
    }
}

#[both_stores]
async fn a_delivery_is_listed_with_what_became_of_it(hooks: Hooks) {
    let hook = hooks.hook("/a", &["*"]).await;
    let created = hooks.time();
    create(&hooks, 1).await;
    let listed = hooks.deliveries("").await;
    let mut expected = json!({
        "id": listed[0]["id"], "webhook_id": hook.id, "event": "contact.created",
        "status": "pending", "attempts": 0, "next_attempt_at": created,
        "created_at": created, "delivered_at": null,
    });
    assert_eq!(listed, [expected.clone()]);
    hooks.pass(Duration::from_secs(5)).await;
    expected["status"] = json!("delivered");
    expected["attempts"] = json!(1);
    expected["next_attempt_at"] = Value::Null;
    expected["delivered_at"] = json!(hooks.time());
    assert_eq!(hooks.deliveries("").await, [expected]);
}

#[both_stores]
async fn the_listing_is_filtered_by_status_webhook_and_event(hooks: Hooks) {
    let (a, b) = (hooks.hook("/a", &["*"]).await, hooks.hook("/b", &["*"]).await);
    hooks.receiver.then("/a", Reply::status(500));
    create(&hooks, 1).await;
    end_series(&hooks).await;
    hooks.receiver.answers("/b", Reply::status(500));
    let qr = hooks.qr().await;
    hooks.contact_by_message(&qr, &mobile(1)).await;
    hooks.drain().await;
    let gone = hooks.hook("/gone", &["*"]).await;
    create(&hooks, 2).await;
    hooks.operator("DELETE", &format!("C/webhooks/{}", gone.id), Value::Null).await;
    let all = hooks.deliveries("limit=100").await;
    assert_eq!(all.len(), 9);
    let parts = [
        ("status", ["pending", "delivered", "failed"].map(str::to_owned).to_vec()),
        ("webhook_id", vec![a.id.clone(), b.id.clone(), gone.id.clone()]),
        ("event", ["contact.created", "message.received"].map(str::to_owned).to_vec()),
    ];
    let mut found = 0;
    for (name, values) in &parts {
        for value in values {
            let wanted: Vec<Value> =
                all.iter().filter(|one| one[*name] == value.as_str()).cloned().collect();
            assert!(!wanted.is_empty(), "{name}={value}");
            found += wanted.len();
            assert_eq!(hooks.deliveries(&format!("{name}={value}")).await, wanted);
        }
    }
    assert_eq!(found, all.len() * parts.len(), "every value is there");
    let query = format!("status=delivered&webhook_id={}&event=contact.created", a.id);
    let listed = hooks.deliveries(&query).await;
    let wanted = all.iter().filter(|one| {
        one["status"] == "delivered"
            && one["webhook_id"] == a.id.as_str()
            && one["event"] == "contact.created"
    });
    assert_eq!(listed, wanted.cloned().collect::<Vec<Value>>());
    for nothing in [format!("webhook_id={}", unknown_id()), "event=message.sent".to_owned()] {
        let answer = hooks.list_deliveries(&nothing).await;
        assert_eq!(answer.items(), Vec::<Value>::new());
        assert_eq!(answer.json()["pagination"]["total"], 0);
        assert_eq!(answer.json()["pagination"]["total_pages"], 0);
    }
}

#[both_stores]
async fn a_delivery_in_detail_has_the_exact_body_and_every_attempt(hooks: Hooks) {
    hooks.hook("/a", &["*"]).await;
    hooks.receiver.then("/a", Reply::body(503, "later"));
    hooks.create(json!({"phone": phone(1), "name": "Zé \"🦜\" \\ é"})).await;
    let before = hooks.only_delivery().await;
    assert_eq!(
        keys(&before),
        [
            "attempt_log",
            "attempts",
            "body",
            "created_at",
            "delivered_at",
            "event",
            "id",
            "next_attempt_at",
            "status",
            "webhook_id",
        ]
    );
    hooks.drain().await;
    hooks.pass(Duration::from_secs(30)).await;
    let after = hooks.only_delivery().await;
    for request in hooks.receiver.to("/a") {
        assert_eq!(after["body"], request.text());
    }
    assert_eq!(before["body"], after["body"], "it is known before it is sent");
    assert_eq!(after["attempt_log"].as_array().map(Vec::len), Some(2));
}

#[both_stores]
async fn a_delivery_of_another_company_or_of_none_is_not_found(hooks: Hooks) {
    let them = hooks.tenant("Them").await;
    hooks.hook_with(&them, "/theirs", &["*"], json!({})).await;
    hooks.create_as(&them, json!({"phone": phone(1)})).await;
    hooks.drain().await;
    let theirs = hooks.receiver.only("/theirs").delivery();
    for id in [theirs.clone(), unknown_id(), "7".to_owned()] {
        let path = format!("C/deliveries/{id}");
        let answer = hooks.operator("GET", &path, Value::Null).await;
        answer.expect_error(404, "NOT_FOUND");
        hooks.redeliver(&id).await.expect_error(404, "NOT_FOUND");
    }
    assert_eq!(hooks.deliveries("").await, Vec::<Value>::new());
    let path = format!("C/deliveries/{theirs}");
    let seen = hooks.operator_for(&them, "GET", &path, Value::Null).await.expect(200);
    assert_eq!(seen["status"], "delivered");
}

#[both_stores]
async fn redelivery_is_a_fresh_series_with_the_same_id_and_body(hooks: Hooks) {
    hooks.hook("/a", &["*"]).await;
    create(&hooks, 1).await;
    hooks.drain().await;
    let id = text(&hooks.only_delivery().await["id"]);
    hooks.advance(Duration::from_secs(60));
    hooks.receiver.answers("/a", Reply::status(500));
    let view = hooks.redeliver(&id).await.expect(200);
    assert_eq!(view["id"], id.as_str());
    assert_eq!((&view["status"], &view["attempts"]), (&json!("pending"), &json!(1)));
    assert_eq!(view["next_attempt_at"], hooks.time());
    assert_eq!(view["delivered_at"], Value::Null);
    hooks.drain().await;
    for (n, wait) in (2..).zip(WAITS) {
        let waiting = hooks.delivery(&id).await;
        assert_eq!(waiting["status"], "pending");
        assert_eq!(waiting["attempts"], n, "the count goes on");
        assert_eq!(waiting["next_attempt_at"], hooks.time_in(wait * 1_000));
        hooks.pass(Duration::from_secs(wait)).await;
    }
    let failed = hooks.delivery(&id).await;
    assert_eq!((&failed["status"], &failed["attempts"]), (&json!("failed"), &json!(6)));
    hooks.receiver.answers("/a", Reply::status(200));
    hooks.redeliver(&id).await.expect(200);
    hooks.drain().await;
    let delivered = hooks.delivery(&id).await;
    assert_eq!((&delivered["status"], &delivered["attempts"]), (&json!("delivered"), &json!(7)));
    assert_eq!(delivered["delivered_at"], hooks.time());
    let log = delivered["attempt_log"].as_array().expect("a log");
    let numbers: Vec<&Value> = log.iter().map(|one| &one["attempt"]).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7], "the log goes on");
    let all = hooks.receiver.to("/a");
    assert_eq!(all.len(), 7);
    assert!(all.iter().all(|one| one.body == all[0].body && one.delivery() == id));
}

#[both_stores]
async fn a_delivery_of_a_deleted_webhook_is_not_redelivered(hooks: Hooks) {
    let hook = hooks.hook("/a", &["*"]).await;
    create(&hooks, 1).await;
    hooks.drain().await;
    let id = text(&hooks.only_delivery().await["id"]);
    hooks.operator("DELETE", &format!("C/webhooks/{}", hook.id), Value::Null).await;
    hooks.redeliver(&id).await.expect_error(409, "WEBHOOK_DELETED");
    let path = format!("C/deliveries/{id}/redeliver");
    let answer = hooks.operator("POST", &path, json!({"force": true})).await;
    assert_eq!(answer.expect_invalid(), ["force"]);
}
