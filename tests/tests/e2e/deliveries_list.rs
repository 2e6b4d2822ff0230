//! The operator's listing of deliveries, one delivery in detail, and trying one again:
//! docs/operator-api.md, D26, D52a, D56a.

use std::time::Duration;

use recado_tests::{Hooks, Reply, both_stores, digits, keys, mobile, phone, text, unknown_id};
use serde_json::{Value, json};

const WAITS: [u64; 4] = [30, 120, 600, 1_800];

async fn create(hooks: &Hooks, n: u32) {
    hooks.create(json!({"phone": phone(n), "name": format!("c{n}")})).await;
}

/// Lets a series of attempts end, however it ends.
async fn end_series(hooks: &Hooks) {
    hooks.drain().await;
    for wait in WAITS {
        hooks.pass(Duration::from_secs(wait)).await;
    }
}

fn ids(deliveries: &[Value]) -> Vec<String> {
    deliveries.iter().map(|one| text(&one["id"])).collect()
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
async fn deliveries_are_listed_newest_first_in_pages(hooks: Hooks) {
    hooks.hook("/a", &["*"]).await;
    hooks.hook("/b", &["*"]).await;
    for n in 0..5 {
        create(&hooks, n).await;
        hooks.advance(Duration::from_millis(u64::from(n % 2)));
    }
    let all = hooks.deliveries("limit=100").await;
    assert_eq!(all.len(), 10);
    let order: Vec<(String, String)> =
        all.iter().map(|one| (text(&one["created_at"]), text(&one["id"]))).collect();
    let mut newest_first = order.clone();
    newest_first.sort();
    newest_first.reverse();
    assert_eq!(order, newest_first);
    let mut paged = Vec::new();
    for page in 1..=4 {
        let answer = hooks.list_deliveries(&format!("limit=3&page={page}")).await;
        assert_eq!(
            answer.json()["pagination"],
            json!({"page": page, "limit": 3, "total": 10, "total_pages": 4})
        );
        paged.extend(answer.items());
    }
    assert_eq!(paged, all);
    let beyond = hooks.list_deliveries("limit=3&page=5").await;
    assert_eq!(beyond.items(), Vec::<Value>::new());
    assert_eq!(beyond.json()["pagination"]["total"], 10);
    let usual = hooks.list_deliveries("").await;
    assert_eq!(usual.json()["pagination"]["limit"], 50);
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
async fn an_unacceptable_parameter_of_the_listing_is_named(hooks: Hooks) {
    for (query, name) in [
        ("status=done", "status"),
        ("status=", "status"),
        ("webhook_id=7", "webhook_id"),
        ("event=message", "event"),
        ("event=*", "event"),
        ("page=0", "page"),
        ("page=x", "page"),
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("status=failed&status=failed", "status"),
    ] {
        hooks.list_deliveries(query).await.expect_bad_parameter(name);
    }
    hooks.list_deliveries("colour=red").await.expect(200);
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
async fn a_pending_delivery_is_not_redelivered(hooks: Hooks) {
    hooks.hook("/a", &["*"]).await;
    create(&hooks, 1).await;
    let id = text(&hooks.only_delivery().await["id"]);
    hooks.redeliver(&id).await.expect_error(409, "DELIVERY_PENDING");
    hooks.receiver.then("/a", Reply::status(500));
    hooks.drain().await;
    hooks.redeliver(&id).await.expect_error(409, "DELIVERY_PENDING");
    hooks.pass(Duration::from_secs(30)).await;
    let calls = (0..6).map(|_| hooks.redeliver(&id));
    let answers = recado_tests::join_all(calls.collect()).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    hooks.drain().await;
    assert_eq!(hooks.receiver.count("/a"), 3);
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

#[both_stores]
async fn a_redelivery_goes_to_its_own_webhook_only(hooks: Hooks) {
    hooks.hook("/a", &["*"]).await;
    hooks.hook("/b", &["*"]).await;
    let qr = hooks.qr().await;
    hooks.receive(&qr, &digits(&mobile(1)), "oi").await;
    hooks.drain().await;
    let of_a = hooks.receiver.to("/a")[0].delivery();
    hooks.redeliver(&of_a).await.expect(200);
    hooks.drain().await;
    let again = ids(&hooks.deliveries("").await).into_iter().filter(|id| *id == of_a).count();
    assert_eq!(again, 1, "it is the same delivery");
    assert_eq!((hooks.receiver.count("/a"), hooks.receiver.count("/b")), (3, 2));
}

#[both_stores]
async fn a_redelivery_waits_while_its_webhook_is_inactive(hooks: Hooks) {
    let hook = hooks.hook("/a", &["*"]).await;
    create(&hooks, 1).await;
    hooks.drain().await;
    let id = text(&hooks.only_delivery().await["id"]);
    hooks.change_hook(&hook, json!({"is_active": false})).await;
    hooks.redeliver(&id).await.expect(200);
    hooks.drain().await;
    assert_eq!(hooks.receiver.count("/a"), 1);
    hooks.change_hook(&hook, json!({"is_active": true})).await;
    hooks.drain().await;
    assert_eq!(hooks.receiver.count("/a"), 2);
}
