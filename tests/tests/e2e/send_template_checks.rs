//! Every refusal of POST /send/template, and their order: 7.1; D38, D40, D49.

use recado_testkit::store::StoreOp;
use recado_tests::{
    Answer, Setup, StoreKind, World, both_stores, mobile, steered, text, unknown_id, with,
};
use serde_json::{Value, json};

const PATH: &str = "/api/v1/send/template";

async fn send(world: &World, body: Value) -> Answer {
    world.post(PATH, body).await
}

async fn ola(world: &World) -> Value {
    world.template("ola", "MARKETING", "Olá {{1}} {{2}}").await
}

fn whole() -> Value {
    json!({"to": mobile(1), "template": "ola", "variables": {"1": "Ana", "2": "x"}})
}

/// A body whose members are these instead.
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
        // Not one variable is there: that would only be told later.
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
async fn missing_empty_and_literal_variables_are_refused_before_the_contact(world: World) {
    world.silent("official_cloud").await;
    ola(&world).await;
    world.import(json!({"phone": mobile(1), "opted_out_at": world.time()})).await;
    let mut wrong = vec![
        json!({}),
        json!({"1": "x"}),
        json!({"2": "x"}),
        json!({"1": "x", "2": ""}),
        json!({"1": "x", "3": "x"}),
    ];
    for tag in [
        "{{nome}}",
        "Olá {{ nome }}!",
        "${nome}",
        "[[nome]]",
        "<%= nome %>",
        "*|FNAME|*",
        "{nome}",
        "%nome%",
        "{a.b-c}",
    ] {
        wrong.push(json!({"1": "x", "2": tag}));
    }
    for variables in wrong {
        let refused = send(&world, but(json!({"variables": variables}))).await;
        assert_eq!(refused.status, 422, "{variables}: {}", refused.show());
        assert_eq!(refused.expect_invalid(), ["variables"], "{variables}");
    }
    let none = send(&world, json!({"to": mobile(1), "template": "ola"})).await;
    assert_eq!(none.expect_invalid(), ["variables"]);
    for fine in ["100%", "{a b}", "oi {nome}", "{{", "$5"] {
        let body = but(json!({"variables": {"1": "x", "2": fine}}));
        send(&world, body).await.expect_error(403, "CONTACT_OPTED_OUT");
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
async fn opted_out_is_reported_before_blocked_and_both_before_the_connection(world: World) {
    ola(&world).await;
    let contact = world
        .import(json!({
            "phone": mobile(1), "opted_out_at": world.time(), "is_blocked": true,
            "external_ai_enabled": false,
        }))
        .await;
    send(&world, whole()).await.expect_error(403, "CONTACT_OPTED_OUT");
    world.act(&contact, "opt-in", Value::Null).await.expect(200);
    send(&world, whole()).await.expect_error(403, "CONTACT_BLOCKED");
    world.act(&contact, "unblock", Value::Null).await.expect(200);
    send(&world, whole()).await.expect_error(422, "CONNECTION_REQUIRED");
    assert!(world.all_messages().await.is_empty(), "a refusal leaves nothing");
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
async fn without_a_usable_connection_it_is_422_and_nothing_stays(world: World) {
    ola(&world).await;
    let refused = |more: Value| {
        let world = &world;
        async move { send(world, but(more)).await.expect_error(422, "CONNECTION_REQUIRED") }
    };
    refused(json!({})).await;
    let waha = json!({
        "gateway": "waha", "status": "connected",
        "settings": {"base_url": "https://waha.example", "session": "s", "api_key": "k",
                     "webhook_hmac_key": "h"},
    });
    let waha = world.connection("qr", waha).await;
    refused(json!({})).await;
    refused(json!({"connection_id": waha})).await;
    let off = world.connection("official_cloud", json!({"is_active": false})).await;
    let gone = world.connection("qr", json!({"status": "disconnected"})).await;
    for connection in [off, gone] {
        refused(json!({"connection_id": connection})).await;
    }
    refused(json!({})).await;
    assert!(world.list_ids("").await.is_empty());
    assert!(world.events().await.is_empty());
    let first = world.silent("official_cloud").await;
    send(&world, whole()).await.expect(200);
    world.silent("official_cloud").await;
    let other = but(json!({"to": mobile(2)}));
    send(&world, other.clone()).await.expect_error(422, "CONNECTION_REQUIRED");
    send(&world, whole()).await.expect(200);
    let given = with(other, json!({"connection_id": first}));
    send(&world, given).await.expect(200);
}

#[both_stores]
async fn the_templates_own_connection_has_to_be_used(world: World) {
    let (own, other) = (world.silent("official_cloud").await, world.silent("official_cloud").await);
    let body = json!({
        "name": "own", "category": "UTILITY", "body": "Oi", "status": "APPROVED",
        "connection_id": own,
    });
    world.make("C/templates", body).await;
    let own_template = |more: Value| with(json!({"to": mobile(1), "template": "own"}), more);
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    let path = format!("C/contacts/{contact}");
    world.operator("PATCH", &path, json!({"last_connection_id": other})).await.expect(200);
    for more in [json!({}), json!({"connection_id": own})] {
        let data = send(&world, own_template(more)).await.expect(200);
        let message = world.message(&text(&data["message_id"])).await;
        assert_eq!(message["connection_id"], own.as_str());
    }
    let before = world.message_ids("").await.len();
    let given = send(&world, own_template(json!({"connection_id": other}))).await;
    // Which of the two it is, is open: through that connection there is no such template.
    let code = if given.status == 404 { "TEMPLATE_NOT_FOUND" } else { "CONNECTION_REQUIRED" };
    given.expect_error(if given.status == 404 { 404 } else { 422 }, code);
    assert_eq!(world.message_ids("").await.len(), before);
    let event = json!({"kind": "connection", "status": "disconnected", "timestamp": world.time()});
    world.gateway_one(&own, event).await;
    send(&world, own_template(json!({}))).await.expect_error(422, "CONNECTION_REQUIRED");
}

#[both_stores]
async fn of_templates_of_one_name_that_of_the_given_connection_is_sent(world: World) {
    let (first, second) =
        (world.silent("official_cloud").await, world.silent("official_cloud").await);
    for connection in [&first, &second] {
        let body = json!({
            "name": "own", "category": "UTILITY", "body": format!("por {connection}"),
            "status": "APPROVED", "connection_id": connection,
        });
        world.make("C/templates", body).await;
    }
    for connection in [&second, &first] {
        let body = json!({"to": mobile(1), "template": "own", "connection_id": connection});
        let data = send(&world, body).await.expect(200);
        let message = world.message(&text(&data["message_id"])).await;
        assert_eq!(message["connection_id"], connection.as_str());
        assert_eq!(message["content"], format!("por {connection}"));
    }
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
