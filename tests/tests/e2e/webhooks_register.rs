//! Creating, changing and deleting webhooks: docs/operator-api.md, D52a, D54, D56, D56a.

use recado_tests::backend::Outside;
use recado_tests::world::{operator_at, tenant_at};
use recado_tests::{
    Hooks, Request, Setup, StoreKind, World, both_stores, keys, text, unknown_id, with,
};
use serde_json::{Value, json};

const FIELDS: [&str; 8] = [
    "created_at",
    "events",
    "id",
    "is_active",
    "previous_secret_until",
    "standard_headers",
    "updated_at",
    "url",
];

/// A world that refuses private destinations, which is the default of an installation.
async fn guarded(kind: StoreKind) -> World {
    World::with(kind, Setup { outside: Outside::Guarded, ..Setup::default() }).await
}

fn draft(more: Value) -> Value {
    with(json!({"url": "http://93.184.216.34/hook", "events": ["*"]}), more)
}

#[both_stores]
async fn a_new_webhook_is_shown_whole_and_its_secret_this_once(hooks: Hooks) {
    let body = draft(json!({"events": ["message.sent", "contact.created", "message.sent"]}));
    let made = hooks.make("C/webhooks", body).await;
    let secret = text(&made["secret"]);
    let random = secret.strip_prefix("whsec_").expect("the prefix");
    assert_eq!(random.len(), 43);
    assert!(random.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)));
    let mut shown = made.clone();
    shown.as_object_mut().expect("an object").remove("secret");
    assert_eq!(
        shown,
        json!({
            "id": made["id"], "url": "http://93.184.216.34/hook",
            "events": ["contact.created", "message.sent"], "is_active": true,
            "standard_headers": false, "previous_secret_until": null,
            "created_at": hooks.time(), "updated_at": hooks.time(),
        })
    );
    let path = format!("C/webhooks/{}", text(&made["id"]));
    assert_eq!(hooks.operator_get(&path).await, shown);
    assert_eq!(hooks.operator_get("C/webhooks").await, json!([shown]));
    let changed = hooks.operator("PATCH", &path, json!({"is_active": false})).await;
    assert_eq!(keys(&changed.expect(200)), FIELDS);
    let again = hooks.make("C/webhooks", draft(json!({}))).await;
    assert_ne!(again["secret"], made["secret"]);
}

#[both_stores]
async fn a_url_that_leads_to_a_special_address_is_refused(kind: StoreKind) {
    let world = guarded(kind).await;
    let made = world.make("C/webhooks", draft(json!({}))).await;
    let path = format!("C/webhooks/{}", text(&made["id"]));
    for url in [
        "http://127.0.0.1/",
        "http://127.0.0.1:8080/hook",
        "http://localhost/",
        "http://LOCALHOST:1/",
        "https://localhost./",
        "http://10.1.2.3/",
        "http://172.16.0.1/",
        "http://192.168.1.1/",
        "http://100.64.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://0.0.0.0/",
        "http://224.0.0.1/",
        "http://240.0.0.1/",
        "http://255.255.255.255/",
        "http://192.0.2.1/",
        "http://198.18.0.1/",
        "http://[::1]/",
        "http://[::]/",
        "http://[fe80::1]/",
        "http://[fd00:ec2::254]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://127.1/",
    ] {
        let answer = world.operator("POST", "C/webhooks", draft(json!({"url": url}))).await;
        assert_eq!(answer.expect_invalid(), ["url"], "{url}");
        let answer = world.operator("PATCH", &path, json!({"url": url})).await;
        assert_eq!(answer.expect_invalid(), ["url"], "{url}");
    }
    assert_eq!(world.operator_get(&path).await["url"], made["url"]);
    assert_eq!(world.operator_get("C/webhooks").await.as_array().map(Vec::len), Some(1));
}

/// R61.
#[both_stores]
async fn a_name_that_does_not_resolve_is_refused(kind: StoreKind) {
    let world = guarded(kind).await;
    let body = draft(json!({"url": "https://nowhere.invalid/hook"}));
    let answer = world.operator("POST", "C/webhooks", body).await;
    assert_eq!(answer.expect_invalid(), ["url"]);
}

#[both_stores]
async fn a_private_destination_is_accepted_where_the_option_allows_it(hooks: Hooks) {
    for url in ["http://127.0.0.1:9/x", "http://localhost:9/x", "http://[::1]:9/x"] {
        hooks.make("C/webhooks", draft(json!({"url": url}))).await;
    }
}

#[both_stores]
async fn webhooks_are_registered_on_any_plan(kind: StoreKind) {
    let world = guarded(kind).await;
    for plan in ["starter", "professional", "enterprise"] {
        let tenant = tenant_at(world.addr, plan, plan).await;
        let made = world.make_for(&tenant, "C/webhooks", draft(json!({}))).await;
        assert_eq!(made["is_active"], true);
    }
}

#[both_stores]
async fn a_refused_body_names_everything_that_is_wrong(hooks: Hooks) {
    let refused = |body: Value| {
        let hooks = &hooks;
        async move { hooks.operator("POST", "C/webhooks", body).await.expect_invalid() }
    };
    assert_eq!(refused(json!({})).await, ["events", "url"]);
    assert_eq!(
        refused(json!({
            "url": "x", "events": [], "secret": "short", "is_active": "yes",
            "standard_headers": 1, "colour": "red",
        }))
        .await,
        ["colour", "events", "is_active", "secret", "standard_headers", "url"]
    );
    for events in [
        json!([]),
        json!("*"),
        json!(["message"]),
        json!([1]),
        json!(null),
        json!(["webhook.test"]),
        json!(["*", "x"]),
        json!(["MESSAGE.SENT"]),
    ] {
        assert_eq!(refused(draft(json!({"events": events}))).await, ["events"], "{events}");
    }
    assert_eq!(hooks.operator_get("C/webhooks").await, json!([]));
}

#[both_stores]
async fn a_change_is_kept_and_leaves_the_rest(hooks: Hooks) {
    let hook = hooks.hook("/a", &["*"]).await;
    let path = format!("C/webhooks/{}", hook.id);
    let before = hooks.operator_get(&path).await;
    assert_eq!(hooks.change_hook(&hook, json!({})).await, before);
    hooks.advance(std::time::Duration::from_secs(1));
    let same = hooks.change_hook(&hook, json!({"events": ["*"]})).await;
    assert_eq!(same, before, "a change of nothing is none");
    let mut expected = before;
    for (name, value) in [
        ("url", json!(hooks.receiver.url("/b"))),
        ("events", json!(["contact.opted_out", "message.status_updated"])),
        ("standard_headers", json!(true)),
        ("is_active", json!(false)),
    ] {
        let body = json!({name: value.clone()});
        expected = with(expected, with(body.clone(), json!({"updated_at": hooks.time()})));
        let mut changed = hooks.change_hook(&hook, body).await;
        sort_events(&mut changed);
        sort_events(&mut expected);
        assert_eq!(changed, expected, "{name}");
    }
    let mut kept = hooks.operator_get(&path).await;
    sort_events(&mut kept);
    assert_eq!(kept, expected);
}

#[both_stores]
async fn a_change_of_the_secret_or_with_a_wrong_field_is_refused_and_changes_nothing(hooks: Hooks) {
    let hook = hooks.hook("/a", &["*"]).await;
    let path = format!("C/webhooks/{}", hook.id);
    let before = hooks.operator_get(&path).await;
    for (body, field) in [
        (json!({"secret": "another secret of ours"}), "secret"),
        (json!({"events": []}), "events"),
        (json!({"events": null}), "events"),
        (json!({"url": null}), "url"),
        (json!({"url": ""}), "url"),
        (json!({"is_active": null}), "is_active"),
        (json!({"is_active": false, "colour": "red"}), "colour"),
    ] {
        let answer = hooks.operator("PATCH", &path, body).await;
        assert_eq!(answer.expect_invalid(), [field]);
    }
    assert_eq!(hooks.operator_get(&path).await, before);
}

#[both_stores]
async fn webhooks_are_listed_oldest_first_and_one_company_at_a_time(hooks: Hooks) {
    let them = hooks.tenant("Them").await;
    let theirs = hooks.hook_with(&them, "/theirs", &["*"], json!({})).await;
    let mut ids = Vec::new();
    for path in ["/a", "/b", "/c"] {
        ids.push(hooks.hook(path, &["*"]).await.id);
        hooks.advance(std::time::Duration::from_millis(1));
    }
    let answer = hooks.operator("GET", "C/webhooks", Value::Null).await;
    answer.expect(200);
    assert_eq!(answer.ids(), ids);
    let answer = hooks.operator_for(&them, "GET", "C/webhooks", Value::Null).await;
    assert_eq!(answer.ids(), [theirs.id]);
}

#[both_stores]
async fn a_deleted_webhook_is_gone(hooks: Hooks) {
    let (gone, left) = (hooks.hook("/a", &["*"]).await, hooks.hook("/b", &["*"]).await);
    let path = format!("C/webhooks/{}", gone.id);
    hooks.operator("DELETE", &path, Value::Null).await.expect_deleted();
    for (method, path, body) in every_call(&gone.id) {
        hooks.operator(method, &path, body).await.expect_error(404, "NOT_FOUND");
    }
    let answer = hooks.operator("GET", "C/webhooks", Value::Null).await;
    assert_eq!(answer.ids(), [left.id]);
}

#[both_stores]
async fn a_webhook_of_another_company_or_of_none_is_not_found(hooks: Hooks) {
    let them = hooks.tenant("Them").await;
    let theirs = hooks.hook_with(&them, "/theirs", &["*"], json!({})).await;
    for id in [theirs.id.clone(), unknown_id(), "x".to_owned()] {
        for (method, path, body) in every_call(&id) {
            hooks.operator(method, &path, body).await.expect_error(404, "NOT_FOUND");
        }
    }
    let path = format!("C/webhooks/{}", theirs.id);
    let kept = hooks.operator_for(&them, "GET", &path, Value::Null).await.expect(200);
    assert_eq!(kept["is_active"], true);
    let nobody = unknown_id();
    let answer = operator_at(hooks.addr, &nobody, "POST", "C/webhooks", draft(json!({}))).await;
    answer.expect_error(404, "NOT_FOUND");
}

#[both_stores]
async fn webhooks_and_deliveries_need_the_operator_token(hooks: Hooks) {
    let hook = hooks.hook("/a", &["*"]).await;
    let company = &hooks.us.id;
    for path in ["webhooks".to_owned(), format!("webhooks/{}", hook.id), "deliveries".into()] {
        let path = format!("/operator/v1/companies/{company}/{path}");
        let bare = Request::new("GET", &path).send(hooks.addr).await;
        bare.expect_error(401, "UNAUTHORIZED");
        hooks.get(&path).await.expect_error(401, "UNAUTHORIZED");
    }
}

/// Every route of one webhook.
fn every_call(id: &str) -> Vec<(&'static str, String, Value)> {
    let path = format!("C/webhooks/{id}");
    vec![
        ("GET", path.clone(), Value::Null),
        ("PATCH", path.clone(), json!({"is_active": false})),
        ("DELETE", path.clone(), Value::Null),
        ("POST", format!("{path}/rotate-secret"), Value::Null),
        ("POST", format!("{path}/test"), Value::Null),
    ]
}

fn sort_events(webhook: &mut Value) {
    if let Some(events) = webhook["events"].as_array_mut() {
        events.sort_by_key(text);
    }
}
