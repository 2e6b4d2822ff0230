//! How long deliveries, their bodies and the journal are kept: docs/operator-api.md
//! (`--retention`), D26, D52a.

use std::time::Duration;

use recado_tests::hooks::part;
use recado_tests::{Hooks, Reply, Setup, StoreKind, both_stores, eventually, phone, text};
use serde_json::{Value, json};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const MILLI: Duration = Duration::from_millis(1);

async fn create(hooks: &Hooks, n: u32) -> String {
    hooks.create_id(json!({"phone": phone(n), "name": format!("c{n}")})).await
}

async fn sweep(hooks: &Hooks) {
    hooks.server.sweep_deliveries().await;
}

async fn count(hooks: &Hooks, query: &str) -> u64 {
    let answer = hooks.list_deliveries(&format!("limit=1&{query}")).await;
    answer.json()["pagination"]["total"].as_u64().expect("a number")
}

/// The entries of the whole journal.
async fn reported(hooks: &Hooks, key: &str) -> Vec<Value> {
    part(&hooks.journal(key, "limit=100").await).0
}

async fn remove(hooks: &Hooks, contact: &str) {
    hooks.delete(&format!("/api/v1/contacts/{contact}")).await.expect_deleted();
}

#[both_stores]
async fn finished_deliveries_and_events_go_after_30_days(hooks: Hooks) {
    let key = hooks.journal_key().await;
    hooks.hook("/a", &["*"]).await;
    hooks.receiver.then("/a", Reply::status(500));
    create(&hooks, 1).await;
    hooks.drain().await;
    create(&hooks, 2).await;
    hooks.drain().await;
    hooks.receiver.answers("/a", Reply::status(500));
    for wait in [30, 120, 600, 1_800] {
        hooks.pass(Duration::from_secs(wait)).await;
    }
    let elapsed = Duration::from_secs(2_550);
    assert_eq!(
        (count(&hooks, "status=delivered").await, count(&hooks, "status=failed").await),
        (1, 1)
    );
    let ids: Vec<String> = hooks.deliveries("").await.iter().map(|one| text(&one["id"])).collect();
    hooks.advance(DAY * 30 - elapsed);
    sweep(&hooks).await;
    assert_eq!(count(&hooks, "").await, 2, "thirty days are not over");
    assert_eq!(reported(&hooks, &key).await.len(), 2);
    hooks.advance(MILLI);
    sweep(&hooks).await;
    assert_eq!(count(&hooks, "").await, 0);
    assert!(reported(&hooks, &key).await.is_empty());
    for id in ids {
        let path = format!("C/deliveries/{id}");
        hooks.operator("GET", &path, Value::Null).await.expect_error(404, "NOT_FOUND");
        hooks.redeliver(&id).await.expect_error(404, "NOT_FOUND");
    }
}

#[both_stores]
async fn the_operator_sets_another_retention_and_a_running_server_sweeps(kind: StoreKind) {
    let retention = Some(Duration::from_secs(3_600));
    let hooks = Hooks::with(kind, Setup { retention, ..Setup::default() }).await;
    let key = hooks.journal_key().await;
    hooks.hook("/a", &["*"]).await;
    create(&hooks, 1).await;
    hooks.receiver.reaches("/a", 1).await;
    let id = text(&hooks.deliveries("").await[0]["id"]);
    hooks.finished(&id).await;
    hooks.advance(Duration::from_secs(3_599));
    create(&hooks, 2).await;
    hooks.receiver.reaches("/a", 2).await;
    hooks.advance(Duration::from_secs(2));
    eventually("the first is gone", || async { (count(&hooks, "").await == 1).then_some(()) })
        .await;
    assert_eq!(
        hooks.only_delivery().await["webhook_id"],
        hooks.deliveries("").await[0]["webhook_id"]
    );
    eventually("its event is gone", || async {
        (reported(&hooks, &key).await.len() == 1).then_some(())
    })
    .await;
    assert_eq!(reported(&hooks, &key).await[0]["data"]["name"], "c2");
}

#[both_stores]
async fn deleting_a_contact_erases_what_was_reported_of_it(hooks: Hooks) {
    let key = hooks.journal_key().await;
    hooks.hook("/a", &["*"]).await;
    let (gone, left) = (create(&hooks, 1).await, create(&hooks, 2).await);
    hooks.drain().await;
    let of = |contact: &str| {
        let found = hooks.receiver.to("/a").into_iter().find(|one| one.data()["id"] == contact);
        found.expect("it was told").delivery()
    };
    let (of_gone, of_left) = (of(&gone), of(&left));
    remove(&hooks, &gone).await;
    hooks.server.run_due_jobs().await;
    let erased = hooks.delivery(&of_gone).await;
    assert_eq!(erased["body"], Value::Null);
    assert_eq!(erased["status"], "delivered");
    assert_eq!(erased["attempt_log"].as_array().map(Vec::len), Some(1));
    hooks.redeliver(&of_gone).await.expect_error(409, "BODY_ERASED");
    let kept = hooks.delivery(&of_left).await;
    assert!(text(&kept["body"]).contains("c2"));
    hooks.redeliver(&of_left).await.expect(200);
    let reported = reported(&hooks, &key).await;
    assert_eq!(reported.len(), 2, "the journal keeps that something happened");
    assert_eq!(reported[0]["event"], "contact.created");
    assert_eq!(reported[0]["data"], Value::Null);
    assert_eq!(reported[1]["data"]["name"], "c2");
}

#[both_stores]
async fn everything_that_was_reported_of_a_deleted_contact_is_erased(hooks: Hooks) {
    let key = hooks.journal_key().await;
    hooks.hook("/a", &["*"]).await;
    let qr = hooks.qr().await;
    let events =
        (0..700).map(|n| hooks.inbound("5511987650001", &format!("secreto {n}"))).collect();
    hooks.gateway(&qr, events).await;
    hooks.gateway_one(&qr, hooks.inbound("5511987650001", "parar")).await;
    hooks.drain().await;
    let contact = text(&hooks.receiver.to("/a")[0].data()["id"]);
    remove(&hooks, &contact).await;
    hooks.server.run_due_jobs().await;
    let mut query = "limit=100".to_owned();
    let mut seen = 0;
    loop {
        let (entries, position) = part(&hooks.journal(&key, &query).await);
        if entries.is_empty() {
            break;
        }
        assert!(entries.iter().all(|entry| entry["data"].is_null()), "{entries:?}");
        seen += entries.len();
        query = format!("limit=100&after={position}");
    }
    assert_eq!(seen, 703);
    for delivery in hooks.deliveries("limit=100").await {
        assert_eq!(hooks.delivery(&text(&delivery["id"])).await["body"], Value::Null);
    }
}

/// Asserts that nothing that can be read says one of these words: a delivery, the journal.
async fn says_nothing_of(hooks: &Hooks, key: &str, words: &[&str]) {
    let journal = reported(hooks, key).await;
    let mut all: Vec<String> = journal.iter().map(Value::to_string).collect();
    for delivery in hooks.deliveries("limit=100").await {
        all.push(hooks.delivery(&text(&delivery["id"])).await.to_string());
    }
    for said in all {
        assert!(!words.iter().any(|word| said.contains(word)), "{said}");
    }
}

// D74
#[both_stores]
async fn from_the_commit_of_a_delete_on_nothing_personal_of_the_contact_is_handed_out(
    hooks: Hooks,
) {
    let key = hooks.journal_key().await;
    hooks.hook("/a", &["*"]).await;
    hooks.receiver.answers("/a", Reply::body(200, "thanks for Fulano 5511987650001"));
    let qr = hooks.qr().await;
    let contact = hooks.create_id(json!({"phone": "+5511987650001", "name": "Fulano"})).await;
    hooks.gateway_one(&qr, hooks.inbound("5511987650001", "segredo")).await;
    hooks.gateway_one(&qr, hooks.inbound("5511987650001", "parar")).await;
    hooks.drain().await;
    let of_gone = hooks.deliveries("limit=100").await;
    assert_eq!(of_gone.len(), 4);
    hooks.receiver.answers("/a", Reply::status(200));
    let left = create(&hooks, 2).await;
    hooks.drain().await;
    remove(&hooks, &contact).await;
    // Before the erasure has been there, and after it.
    for _ in 0..2 {
        says_nothing_of(&hooks, &key, &["Fulano", "987650001", "segredo"]).await;
        for delivery in &of_gone {
            let id = text(&delivery["id"]);
            hooks.redeliver(&id).await.expect_error(409, "BODY_ERASED");
            let shown = hooks.delivery(&id).await;
            assert_eq!((&shown["body"], &shown["status"]), (&Value::Null, &json!("delivered")));
            let attempt = &shown["attempt_log"][0];
            assert_eq!(
                (&attempt["status_code"], &attempt["response"]),
                (&json!(200), &Value::Null)
            );
        }
        let journal = reported(&hooks, &key).await;
        assert_eq!(journal.len(), 5, "that something happened stays");
        assert!(journal[..4].iter().all(|entry| entry["data"] == Value::Null), "{journal:?}");
        assert_eq!(journal[4]["data"]["id"], left);
        hooks.drain().await;
        assert_eq!(hooks.receiver.count("/a"), 5, "nothing is sent again");
        hooks.server.run_due_jobs().await;
    }
}

// D26, D74
#[both_stores]
async fn what_was_pending_at_the_deletion_is_delivered_and_shown_to_nobody(hooks: Hooks) {
    let key = hooks.journal_key().await;
    hooks.hook("/a", &["contact.created"]).await;
    hooks.receiver.then("/a", Reply::status(500));
    let contact = hooks.create_id(json!({"phone": phone(1), "name": "Fulano"})).await;
    hooks.drain().await;
    let first = hooks.receiver.only("/a");
    remove(&hooks, &contact).await;
    says_nothing_of(&hooks, &key, &["Fulano"]).await;
    hooks.redeliver(&first.delivery()).await.expect_error(409, "DELIVERY_PENDING");
    hooks.server.run_due_jobs().await;
    hooks.pass(Duration::from_secs(30)).await;
    let all = hooks.receiver.to("/a");
    assert_eq!((all.len(), &all[1].body), (2, &first.body), "byte for byte");
    says_nothing_of(&hooks, &key, &["Fulano"]).await;
    hooks.redeliver(&first.delivery()).await.expect_error(409, "BODY_ERASED");
}

/// How often each delivery was tried, sorted.
fn attempts(deliveries: &[Value]) -> Vec<u64> {
    let attempts = deliveries.iter().map(|one| one["attempts"].as_u64().expect("a number"));
    let mut attempts: Vec<u64> = attempts.collect();
    attempts.sort_unstable();
    attempts
}

// D26, D74
#[both_stores]
async fn what_waits_for_an_inactive_webhook_is_given_up_when_its_contact_is_deleted(hooks: Hooks) {
    let key = hooks.journal_key().await;
    let hook = hooks.hook("/a", &["contact.created"]).await;
    hooks.receiver.then("/a", Reply::status(500));
    let tried = hooks.create_id(json!({"phone": phone(1), "name": "Fulano"})).await;
    hooks.drain().await;
    let fresh = hooks.create_id(json!({"phone": phone(2), "name": "Sicrano"})).await;
    let stays = create(&hooks, 3).await;
    hooks.change_hook(&hook, json!({"is_active": false})).await;
    for contact in [&tried, &fresh] {
        remove(&hooks, contact).await;
    }
    // No job has run.
    let given_up = hooks.deliveries("status=failed").await;
    assert_eq!(attempts(&given_up), [0, 1]);
    hooks.change_hook(&hook, json!({"is_active": true})).await;
    hooks.pass(Duration::from_secs(7_200)).await;
    let sent = hooks.receiver.to("/a");
    let contacts: Vec<String> = sent.iter().map(|one| text(&one.data()["id"])).collect();
    assert_eq!(contacts, [tried, stays], "the first before it was deleted");
    for _ in 0..2 {
        says_nothing_of(&hooks, &key, &["Fulano", "Sicrano"]).await;
        for delivery in &given_up {
            let shown = hooks.delivery(&text(&delivery["id"])).await;
            assert_eq!((&shown["status"], &shown["body"]), (&json!("failed"), &Value::Null));
            assert_eq!(shown["next_attempt_at"], Value::Null);
        }
        hooks.server.run_due_jobs().await;
    }
}

// D26, D74
#[both_stores]
async fn a_redelivery_ends_when_its_contact_is_deleted(hooks: Hooks) {
    hooks.hook("/a", &["contact.created"]).await;
    let contact = hooks.create_id(json!({"phone": phone(1), "name": "Fulano"})).await;
    hooks.drain().await;
    let id = hooks.receiver.only("/a").delivery();
    hooks.receiver.answers("/a", Reply::status(500));
    hooks.redeliver(&id).await.expect(200);
    hooks.drain().await;
    assert_eq!(hooks.receiver.count("/a"), 2);
    remove(&hooks, &contact).await;
    assert_eq!(hooks.only_delivery().await["status"], "failed");
    hooks.redeliver(&id).await.expect_error(409, "BODY_ERASED");
    hooks.server.run_due_jobs().await;
    hooks.pass(Duration::from_secs(7_200)).await;
    assert_eq!(hooks.receiver.count("/a"), 2, "its receiver had it before");
    let shown = hooks.delivery(&id).await;
    assert_eq!((&shown["attempts"], &shown["body"]), (&json!(2), &Value::Null));
}

// D74
#[both_stores]
async fn an_attempt_at_a_redelivery_during_the_deletion_is_the_last_and_is_recorded(hooks: Hooks) {
    hooks.hook("/a", &["contact.created"]).await;
    let contact = hooks.create_id(json!({"phone": phone(1), "name": "Fulano"})).await;
    hooks.drain().await;
    let id = hooks.receiver.only("/a").delivery();
    hooks.redeliver(&id).await.expect(200);
    hooks.receiver.answers("/a", Reply::Held(500));
    let draining = hooks.draining();
    hooks.receiver.reaches("/a", 2).await;
    remove(&hooks, &contact).await;
    hooks.receiver.release();
    draining.await.expect("it ends");
    hooks.pass(Duration::from_secs(7_200)).await;
    assert_eq!(hooks.receiver.count("/a"), 2);
    let shown = hooks.delivery(&id).await;
    assert_eq!((&shown["status"], &shown["attempts"]), (&json!("failed"), &json!(2)));
    assert_eq!(shown["attempt_log"][1]["status_code"], 500);
}

// D74
#[both_stores]
async fn what_was_reported_of_a_contact_that_became_another_one_goes_on_being_reported(
    hooks: Hooks,
) {
    let key = hooks.journal_key().await;
    hooks.hook("/a", &["contact.created"]).await;
    let (goes, stays) = (create(&hooks, 1).await, create(&hooks, 2).await);
    hooks.drain().await;
    let merge = format!("C/contacts/{stays}/merge");
    hooks.operator("POST", &merge, json!({"other_contact_id": goes})).await.expect(200);
    let journal = reported(&hooks, &key).await;
    assert!(journal.iter().all(|entry| !entry["data"].is_null()), "{journal:?}");
    for delivery in hooks.deliveries("").await {
        hooks.redeliver(&text(&delivery["id"])).await.expect(200);
    }
    hooks.drain().await;
    assert_eq!(hooks.receiver.count("/a"), 4);
}
