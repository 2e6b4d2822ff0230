//! Webhooks that are tested, switched off, deleted, or not part of the plan: D10, D52a, D56a.

use std::time::Duration;

use recado_tests::{Hook, Hooks, Received, Reply, both_stores, eventually, mobile, phone, text};
use serde_json::{Value, json};

async fn delete(hooks: &Hooks, hook: &Hook) {
    let path = format!("C/webhooks/{}", hook.id);
    hooks.operator("DELETE", &path, Value::Null).await.expect_deleted();
}

async fn set_plan(hooks: &Hooks, plan: &str) {
    let path = format!("/companies/{}", hooks.us.id);
    hooks.operator("PATCH", &path, json!({"plan": plan})).await.expect(200);
}

/// The names of the contacts in the requests, sorted: contacts have no order among each other.
fn names(requests: &[Received]) -> Vec<String> {
    let mut names: Vec<String> =
        requests.iter().map(|request| text(&request.data()["name"])).collect();
    names.sort();
    names
}

async fn create(hooks: &Hooks, n: u32, name: &str) {
    hooks.create(json!({"phone": phone(n), "name": name})).await;
}

#[both_stores]
async fn a_test_goes_to_the_webhook_tested_and_to_no_other(hooks: Hooks) {
    let tested = hooks.hook("/tested", &["message.sent"]).await;
    hooks.hook("/all", &["*"]).await;
    let path = format!("C/webhooks/{}/test", tested.id);
    let view = hooks.operator("POST", &path, Value::Null).await.expect(200);
    let id = text(&view["id"]);
    assert_eq!(
        view,
        json!({
            "id": id, "webhook_id": tested.id, "event": "webhook.test", "status": "pending",
            "attempts": 0, "next_attempt_at": hooks.time(), "created_at": hooks.time(),
            "delivered_at": null,
        })
    );
    hooks.drain().await;
    let request = hooks.receiver.only("/tested");
    assert_eq!(request.event(), "webhook.test");
    assert_eq!(request.delivery(), id);
    assert_eq!(
        request.json(),
        json!({
            "event": "webhook.test", "timestamp": hooks.time(), "company_id": hooks.us.id,
            "delivery_id": id, "data": {"webhook_id": tested.id},
        })
    );
    assert!(request.is_signed("x-service-signature", &tested.secret));
    assert_eq!(hooks.receiver.count("/all"), 0);
    assert_eq!(hooks.delivery(&id).await["status"], "delivered");
    let listed = hooks.deliveries("event=webhook.test").await;
    assert_eq!(listed.len(), 1);
}

#[both_stores]
async fn what_happens_while_a_webhook_is_inactive_is_never_sent_to_it(hooks: Hooks) {
    let more = json!({"is_active": false});
    let hook = hooks.hook_with(&hooks.us, "/a", &["*"], more).await;
    hooks.hook("/b", &["*"]).await;
    create(&hooks, 1, "one").await;
    hooks.change_hook(&hook, json!({"is_active": true})).await;
    create(&hooks, 2, "two").await;
    hooks.change_hook(&hook, json!({"is_active": false})).await;
    hooks.drain().await;
    create(&hooks, 3, "three").await;
    hooks.change_hook(&hook, json!({"is_active": true})).await;
    create(&hooks, 4, "four").await;
    hooks.drain().await;
    assert_eq!(names(&hooks.receiver.to("/a")), ["four", "two"]);
    assert_eq!(names(&hooks.receiver.to("/b")), ["four", "one", "three", "two"]);
    let query = format!("webhook_id={}", hook.id);
    assert_eq!(hooks.deliveries(&query).await.len(), 2);
}

#[both_stores]
async fn what_is_pending_waits_while_the_webhook_is_inactive(hooks: Hooks) {
    let hook = hooks.hook("/a", &["*"]).await;
    hooks.receiver.then("/a", Reply::status(500));
    create(&hooks, 1, "tried").await;
    hooks.drain().await;
    create(&hooks, 2, "fresh").await;
    hooks.change_hook(&hook, json!({"is_active": false})).await;
    hooks.pass(Duration::from_secs(3_600)).await;
    assert_eq!(hooks.receiver.count("/a"), 1, "nothing is sent meanwhile");
    let pending = hooks.deliveries("status=pending").await;
    assert_eq!(pending.len(), 2);
    hooks.change_hook(&hook, json!({"is_active": true})).await;
    hooks.drain().await;
    assert_eq!(names(&hooks.receiver.to("/a")), ["fresh", "tried", "tried"]);
    assert!(hooks.deliveries("status=pending").await.is_empty());
}

#[both_stores]
async fn deleting_a_webhook_gives_up_what_is_pending_and_sends_nothing_more(hooks: Hooks) {
    let (gone, left) = (hooks.hook("/gone", &["*"]).await, hooks.hook("/left", &["*"]).await);
    hooks.receiver.answers("/gone", Reply::status(500));
    create(&hooks, 1, "tried").await;
    hooks.drain().await;
    create(&hooks, 2, "fresh").await;
    delete(&hooks, &gone).await;
    create(&hooks, 3, "later").await;
    hooks.pass(Duration::from_secs(7_200)).await;
    assert_eq!(hooks.receiver.count("/gone"), 1);
    assert_eq!(names(&hooks.receiver.to("/left")), ["fresh", "later", "tried"]);
    let kept = hooks.deliveries(&format!("webhook_id={}", gone.id)).await;
    assert_eq!(kept.len(), 2, "the listing keeps them: {kept:?}");
    for (delivery, attempts) in kept.iter().zip([0, 1]) {
        assert_eq!(delivery["status"], "failed");
        assert_eq!(delivery["attempts"], attempts);
        assert_eq!(delivery["next_attempt_at"], Value::Null);
        let detail = hooks.delivery(&text(&delivery["id"])).await;
        assert!(detail["body"].is_string());
    }
    let others = hooks.deliveries(&format!("webhook_id={}", left.id)).await;
    assert!(others.iter().all(|one| one["status"] == "delivered"), "{others:?}");
}

/// R71.
#[both_stores]
async fn an_attempt_in_flight_while_its_webhook_is_deleted_is_the_last(hooks: Hooks) {
    let hook = hooks.hook("/a", &["*"]).await;
    hooks.receiver.answers("/a", Reply::Held(500));
    create(&hooks, 1, "one").await;
    let draining = hooks.draining();
    hooks.receiver.reaches("/a", 1).await;
    delete(&hooks, &hook).await;
    hooks.receiver.release();
    draining.await.expect("it ends");
    hooks.pass(Duration::from_secs(7_200)).await;
    assert_eq!(hooks.receiver.count("/a"), 1);
    assert_eq!(hooks.only_delivery().await["status"], "failed");
}

/// R59.
#[both_stores]
async fn webhooks_fire_from_the_professional_plan_on(hooks: Hooks) {
    hooks.hook("/a", &["message.received"]).await;
    let qr = hooks.qr().await;
    for (plan, text) in
        [("starter", "one"), ("professional", "two"), ("starter", "three"), ("enterprise", "four")]
    {
        set_plan(&hooks, plan).await;
        let event = hooks.inbound("5511987650001", text);
        let result = hooks.gateway_one(&qr, event).await;
        assert_eq!(result["result"], "stored");
        hooks.drain().await;
    }
    let sent: Vec<String> =
        hooks.receiver.to("/a").iter().map(|one| text(&one.data()["content"])).collect();
    assert_eq!(sent, ["two", "four"]);
    assert_eq!(hooks.list_deliveries("limit=1").await.json()["pagination"]["total"], 2);
}

#[both_stores]
async fn what_happened_before_a_webhook_was_registered_is_not_sent_to_it(hooks: Hooks) {
    create(&hooks, 1, "before").await;
    hooks.hook("/a", &["*"]).await;
    create(&hooks, 2, "after").await;
    hooks.drain().await;
    assert_eq!(names(&hooks.receiver.to("/a")), ["after"]);
}

#[both_stores]
async fn each_webhook_gets_what_it_is_subscribed_to(hooks: Hooks) {
    let all = [
        "message.received",
        "message.sent",
        "message.status_updated",
        "contact.created",
        "contact.opted_out",
    ];
    for event in all {
        hooks.hook(&format!("/{event}"), &[event]).await;
    }
    hooks.hook("/two", &["message.sent", "contact.created"]).await;
    hooks.hook("/star", &["*"]).await;
    let qr = hooks.silent("qr").await;
    let sent = hooks.sent(&mobile(1), "oi").await;
    let report = hooks.report(&text(&sent["wamid"]), "delivered");
    hooks.gateway_one(&qr, report).await;
    hooks.receive(&qr, &recado_tests::digits(&mobile(1)), "parar").await;
    hooks.drain().await;
    for event in all {
        assert_eq!(hooks.receiver.only(&format!("/{event}")).event(), event);
    }
    let events = |path: &str| {
        let mut events: Vec<String> = hooks.receiver.to(path).iter().map(Received::event).collect();
        events.sort();
        events
    };
    assert_eq!(events("/two"), ["contact.created", "message.sent"]);
    let mut all = all.to_vec();
    all.sort_unstable();
    assert_eq!(events("/star"), all);
    let ids: std::collections::BTreeSet<String> =
        hooks.receiver.all().iter().map(Received::delivery).collect();
    assert_eq!(ids.len(), 12, "each delivery has an id of its own");
}

#[both_stores]
async fn an_event_reaches_its_own_company_only(hooks: Hooks) {
    let them = hooks.tenant("Them").await;
    hooks.hook("/ours", &["*"]).await;
    hooks.hook_with(&them, "/theirs", &["*"], json!({})).await;
    create(&hooks, 1, "ours").await;
    hooks.create_as(&them, json!({"phone": phone(1), "name": "theirs"})).await;
    hooks.drain().await;
    assert_eq!(hooks.receiver.only("/ours").json()["company_id"], hooks.us.id);
    assert_eq!(hooks.receiver.only("/theirs").json()["company_id"], them.id);
    assert_eq!(hooks.receiver.only("/theirs").data()["name"], "theirs");
}

#[both_stores]
async fn a_running_server_sends_by_itself_also_after_a_restart(kind: recado_tests::StoreKind) {
    let mut hooks = Hooks::live(kind).await;
    hooks.hook("/a", &["*"]).await;
    create(&hooks, 1, "one").await;
    hooks.receiver.reaches("/a", 1).await;
    hooks.receiver.then("/a", Reply::status(500));
    create(&hooks, 2, "two").await;
    eventually("the second was tried", || async {
        let pending = hooks.deliveries("status=pending").await;
        (pending.len() == 1 && pending[0]["attempts"] == 1).then_some(())
    })
    .await;
    hooks.world.restart().await;
    hooks.advance(Duration::from_secs(30));
    let all = hooks.receiver.reaches("/a", 3).await;
    assert_eq!(names(&all), ["one", "two", "two"]);
}
