//! Every refusal of POST /send/template, and their order: 7.1; D38, D40, D49.

use recado_testkit::store::StoreOp;
use recado_tests::{
    ScriptedAnswer, Setup, StoreKind, World, both_stores, mobile, steered, text, unknown_id, with,
};
use serde_json::{Value, json};

const PATH: &str = "/api/v1/send/template";

async fn send(world: &World, body: Value) -> ScriptedAnswer {
    world.post(PATH, body).await
}

async fn ola(world: &World) -> Value {
    world.template("ola", "MARKETING", "Olá {{1}} {{2}}").await
}

fn whole() -> Value {
    json!({"to": mobile(1), "template": "ola", "variables": {"1": "Ana", "2": "x"}})
}

/// The body with some members replaced.
fn but(more: Value) -> Value {
    with(whole(), more)
}

#[both_stores]
async fn to_and_template_are_needed(world: World) {
    for empty in [Value::Null, json!(""), json!(" \n")] {
        let to = send(&world, but(json!({"to": empty}))).await;
        assert_eq!(to.expect_error(400, "MISSING_FIELD")["fields"], json!(["to"]));
        let template = send(&world, but(json!({"template": empty}))).await;
        assert_eq!(template.expect_error(400, "MISSING_FIELD")["fields"], json!(["template"]));
    }
    let both = send(&world, json!({"nope": 1, "variables": 5})).await;
    let details = both.expect_error(400, "MISSING_FIELD");
    let mut fields: Vec<String> =
        details["fields"].as_array().expect("fields").iter().map(text).collect();
    fields.sort();
    assert_eq!(fields, ["template", "to"], "before wrong types are told");
}

#[both_stores]
async fn wrong_types_and_unknown_keys_are_reported_all_at_once(world: World) {
    let body = json!({
        "to": 5, "template": ["ola"], "language": 7, "variables": "x", "connection_id": "x",
        "nope": 1,
    });
    let refused = send(&world, body).await.expect_invalid();
    assert_eq!(refused, ["connection_id", "language", "nope", "template", "to", "variables"]);
    for variables in [json!(["a"]), json!({"1": 5}), json!({"1": {}}), json!(5)] {
        let body = json!({"to": "x", "template": "nope", "variables": variables});
        let refused = send(&world, body).await;
        assert_eq!(refused.expect_invalid(), ["variables"], "before the phone is looked at");
    }
    let message = send(&world, but(json!({"message": "oi"}))).await;
    assert_eq!(message.expect_invalid(), ["message"], "a text is another endpoint's");
}

#[both_stores]
async fn a_body_that_is_no_object_is_refused(world: World) {
    for body in [json!([]), json!("x"), json!(null)] {
        send(&world, body).await.expect_error(400, "INVALID_BODY");
    }
}

#[both_stores]
async fn a_phone_that_does_not_normalize_and_a_group_are_refused(world: World) {
    let qr = world.silent("qr").await;
    ola(&world).await;
    let group = json!([{"code": "123@g.us", "subject": "g"}]);
    world.put_groups(&qr, group).await.expect(200);
    for to in ["abc", "12", "123@g.us", "999@g.us", "+55", "11 98765-4321 x"] {
        let body = but(json!({"to": to, "connection_id": unknown_id(), "template": "nope"}));
        let refused = send(&world, body).await;
        assert_eq!(refused.status, 400, "{to}: {}", refused.show());
        refused.expect_error(400, "INVALID_PHONE");
    }
}

#[both_stores]
async fn a_connection_of_another_company_is_not_there(world: World) {
    world.silent("official_cloud").await;
    let other = world.tenant("Other").await;
    let theirs = world.connection_of(&other, "official_cloud", json!({})).await;
    for connection in [theirs, unknown_id()] {
        let body = but(json!({"connection_id": connection, "template": "nope"}));
        send(&world, body).await.expect_error(404, "NOT_FOUND");
    }
}

#[both_stores]
async fn a_template_that_is_not_ours_is_not_there(world: World) {
    world.silent("official_cloud").await;
    let ours = ola(&world).await;
    let other = world.tenant("Other").await;
    let body = json!({"name": "sol", "category": "UTILITY", "body": "x", "status": "APPROVED"});
    let theirs = world.make_for(&other, "C/templates", body).await;
    for name in [
        json!("nope"),
        json!("sol"),
        theirs["id"].clone(),
        json!(unknown_id()),
        ours["token"].clone(),
        json!("Ola"),
        json!("ol"),
    ] {
        // All variables are missing, which is checked later.
        let body = json!({"to": mobile(1), "template": name});
        let refused = send(&world, body).await;
        assert_eq!(refused.status, 404, "{name}: {}", refused.show());
        refused.expect_error(404, "TEMPLATE_NOT_FOUND");
    }
}

#[both_stores]
async fn a_template_has_to_be_approved(world: World) {
    world.silent("official_cloud").await;
    let made = ola(&world).await;
    let path = format!("C/templates/{}", text(&made["id"]));
    for status in ["PENDING", "REJECTED", "PAUSED"] {
        world.operator("PATCH", &path, json!({"status": status})).await.expect(200);
        let refused = send(&world, json!({"to": mobile(1), "template": "ola"})).await;
        refused.expect_error(403, "TEMPLATE_NOT_APPROVED");
    }
}

#[both_stores]
async fn a_phone_of_several_contacts_is_ambiguous(world: World) {
    ola(&world).await;
    world.import(json!({"phone": mobile(1), "identifier": "a", "is_blocked": true})).await;
    world.import(json!({"phone": mobile(1), "identifier": "b"})).await;
    send(&world, whole()).await.expect_error(409, "AMBIGUOUS_CONTACT");
}

#[both_stores]
async fn a_contact_whose_state_cannot_be_read_is_503(kind: StoreKind) {
    let world = World::with(kind, Setup { no_background: true, ..Setup::default() }).await;
    world.silent("official_cloud").await;
    ola(&world).await;
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    world.server.store.fail_contact_reads();
    let answer = send(&world, whole()).await;
    world.server.store.heal();
    answer.expect_error(503, "CONTACT_STATE_UNAVAILABLE");
    assert_eq!(answer.header("retry-after"), "5");
    assert!(world.messages_of(&contact).await.is_empty());
    world.server.store.fail_nth(StoreOp::Read, 0, recado_testkit::store::StoreFailure::Unavailable);
    let answer = send(&world, whole()).await;
    world.server.store.heal();
    answer.expect_error(503, "UNAVAILABLE");
    assert!(!answer.header("retry-after").is_empty());
    send(&world, whole()).await.expect(200);
}

#[both_stores]
async fn a_failure_of_the_provider_is_reported_as_for_a_text(world: World) {
    let cloud = world.silent("official_cloud").await;
    let qr = world.silent("qr").await;
    ola(&world).await;
    for (ending, connection, code, uncertain) in [
        (1, &cloud, "PROVIDER_ERROR", false),
        (2, &cloud, "DELIVERY_UNCERTAIN", true),
        (3, &cloud, "PROVIDER_ERROR", false),
        (1, &qr, "PROVIDER_ERROR", false),
        (2, &qr, "PROVIDER_ERROR", true),
        (3, &qr, "PROVIDER_ERROR", false),
    ] {
        let before = world.message_ids("").await;
        let body = but(json!({"to": steered(ending), "connection_id": connection}));
        let refused = send(&world, body).await;
        assert_eq!(refused.status, 502, "{ending}: {}", refused.show());
        refused.expect_error(502, code);
        let after = world.all_messages().await;
        let failed: Vec<&Value> =
            after.iter().filter(|one| !before.contains(&text(&one["id"]))).collect();
        assert_eq!(failed.len(), 1);
        assert_eq!(failed[0]["status"], "failed");
        assert_eq!(failed[0]["type"], "template");
        assert_eq!(failed[0]["error_type"] == "delivery_uncertain", uncertain, "{ending} {code}");
    }
}
