//! The dispatch of a template, and the order in which it is checked: 4.10, 7.3; D48, D51.

use recado_tests::hooks_in::{dispatching, plain};
use recado_tests::{Intake, Request, both_stores, keys, mobile, text, unknown_id, with};
use serde_json::{Value, json};

const NOTHING: &str = "TEMPLATE_NOT_FOUND";

async fn set_status(world: &Intake, template: &Value, status: &str) {
    let path = format!("C/templates/{}", text(&template["id"]));
    world.operator("PATCH", &path, json!({"status": status})).await.expect(200);
}

#[both_stores]
async fn a_template_reaches_someone_new(world: Intake) {
    let cloud = world.silent("official_cloud").await;
    let token = world.token("ola", "UTILITY", "Olá {{1}}, seu pedido {{2}} saiu").await;
    let body = json!({"phone_number": mobile(1), "variables": {"1": "Ana", "2": "42"}});
    let done = world.dispatch(&token, &body).await.expect_ok();
    assert_eq!(keys(&done), ["action", "contact_id", "message_id", "ok", "wamid"]);
    assert_eq!(done["action"], "created");
    assert!(text(&done["wamid"]).starts_with("sim."), "{done}");
    let message = world.message(&text(&done["message_id"])).await;
    for (field, value) in [
        ("type", "template"),
        ("sender_type", "system"),
        ("direction", "outbound"),
        ("status", "sent"),
        ("content", "Olá Ana, seu pedido 42 saiu"),
        ("connection_id", &cloud),
    ] {
        assert_eq!(message[field], value, "{field}");
    }
    assert_eq!(message["wamid"], done["wamid"]);
    assert_eq!(message["contact_id"], done["contact_id"]);
    let contact = world.detail(&text(&done["contact_id"])).await;
    assert_eq!(contact["phone"], mobile(1));
    assert_eq!(contact["last_connection_id"], cloud.as_str());
    let events: Vec<String> = world.events().await.into_iter().map(|one| one.event).collect();
    assert_eq!(events, ["contact.created", "message.sent"]);
}

#[both_stores]
async fn someone_known_is_an_existing_contact(world: Intake) {
    world.silent("official_cloud").await;
    let token = world.token("ola", "UTILITY", "Olá").await;
    let id = world.create_id(json!({"phone": mobile(1)})).await;
    let done = world.dispatched(&token, &mobile(1)).await;
    assert_eq!(done["action"], "existing");
    assert_eq!(done["contact_id"], id.as_str());
    assert_eq!(world.events_of("contact.created").await.len(), 1, "that of the API call");
    let met = world
        .contact_by_message(&world.silent("qr").await, &recado_tests::eight_digits(&mobile(2)))
        .await;
    let path = format!("C/contacts/{met}");
    let cloud = world.cloud().await;
    world.operator("PATCH", &path, json!({"last_connection_id": cloud})).await.expect(200);
    let done = world.dispatched(&token, &mobile(2)).await;
    assert_eq!((done["action"].as_str(), &done["contact_id"]), (Some("existing"), &json!(met)));
}

#[both_stores]
async fn without_the_feature_every_call_is_403(world: Intake) {
    let token = world.token("ola", "UTILITY", "Olá").await;
    world.features(&world.us, true, false).await;
    world.dispatch_to(&token, &mobile(1)).await.expect_hook_error(403, "FEATURE_DISABLED");
    let huge = Request::new("POST", dispatching(&token)).body(vec![b'x'; 60_000]);
    world.knock(huge).await.expect_hook_error(403, "FEATURE_DISABLED");
    world.dispatch_to(&unknown_id(), &mobile(1)).await.expect_hook_error(404, NOTHING);
    let other = world.tenant("Other").await;
    let body = json!({"name": "x", "category": "UTILITY", "body": "x", "status": "APPROVED"});
    let theirs = text(&world.make_for(&other, "C/templates", body).await["token"]);
    world.dispatch_to(&theirs, &mobile(1)).await.expect_hook_error(403, "FEATURE_DISABLED");
}

#[both_stores]
async fn opted_out_is_reported_before_blocked_and_the_external_ai_does_not_matter(world: Intake) {
    let token = world.token("ola", "UTILITY", "Olá").await;
    let contact = world
        .import(json!({
            "phone": mobile(1), "opted_out_at": world.time(), "is_blocked": true,
            "external_ai_enabled": false,
        }))
        .await;
    let reported = |code| {
        let (world, token) = (&world, &token);
        async move { world.dispatch_to(token, &mobile(1)).await.expect_hook_error(403, code) }
    };
    // No connection is usable, which is checked later.
    reported("CONTACT_OPTED_OUT").await;
    world.act(&contact, "opt-in", Value::Null).await.expect(200);
    reported("CONTACT_BLOCKED").await;
    world.act(&contact, "unblock", Value::Null).await.expect(200);
    assert!(world.all_messages().await.is_empty(), "a refusal leaves nothing");
    world.silent("official_cloud").await;
    world.dispatched(&token, &mobile(1)).await;
    assert_eq!(world.full(&contact).await["external_ai_enabled"], false);
}

#[both_stores]
async fn the_first_of_several_refusals_is_reported(world: Intake) {
    let made = world.template("ola", "UTILITY", "Olá {{1}} {{2}}").await;
    let token = text(&made["token"]);
    set_status(&world, &made, "PAUSED").await;
    let contact = json!({"phone": mobile(1), "opted_out_at": world.time(), "is_blocked": true});
    world.import(contact).await;
    let reported = |body: Value, status, code| {
        let (world, token) = (&world, &token);
        async move {
            let answer = world.dispatch(token, &body).await;
            assert_eq!(answer.status, status, "{body}: {}", answer.show());
            answer.expect_hook_error(status, code);
        }
    };
    reported(json!(["x".repeat(52_000)]), 413, "INVALID_PAYLOAD").await;
    reported(json!([1]), 400, "INVALID_PAYLOAD").await;
    reported(json!({"variables": {"1": "{{nome}}", "2": "x"}}), 400, "INVALID_PAYLOAD").await;
    reported(json!({"variables": {"1": "x"}}), 400, "INVALID_PAYLOAD").await;
    let filled = json!({"variables": {"1": "x", "2": "y"}});
    reported(filled.clone(), 400, "MISSING_PHONE").await;
    reported(with(filled.clone(), json!({"phone_number": "12"})), 400, "INVALID_PHONE").await;
    let whole = with(filled, json!({"phone_number": mobile(1)}));
    reported(whole.clone(), 403, "TEMPLATE_NOT_APPROVED").await;
    set_status(&world, &made, "APPROVED").await;
    reported(whole, 403, "CONTACT_OPTED_OUT").await;
}

#[both_stores]
async fn a_token_sends_for_its_company_only(world: Intake) {
    let theirs = world.neighbour("Other").await;
    world.silent("official_cloud").await;
    world.connection_of(&theirs, "official_cloud", json!({"settings": {"reports": false}})).await;
    let body = json!({"name": "ola", "category": "MARKETING", "body": "Olá", "status": "APPROVED"});
    let other = text(&world.make_for(&theirs, "C/templates", body).await["token"]);
    let ours = world.token("ola", "MARKETING", "Olá").await;
    let blocked = json!({"phone": mobile(1), "is_blocked": true});
    world.import(blocked).await;
    world.dispatch_to(&ours, &mobile(1)).await.expect_hook_error(403, "CONTACT_BLOCKED");
    let done = world.dispatched(&other, &mobile(1)).await;
    assert_eq!(done["action"], "created", "our contact is none of theirs");
    assert!(world.all_messages().await.is_empty());
    let listed = world.get_as(&theirs.key, "/api/v1/messages").await;
    assert_eq!(listed.ids(), [text(&done["message_id"])]);
}

#[both_stores]
async fn the_contact_webhook_and_dispatch_are_two_features(world: Intake) {
    world.silent("official_cloud").await;
    let site = world.endpoint("site-leads", plain()).await;
    let token = world.token("ola", "UTILITY", "Olá").await;
    world.features(&world.us, false, true).await;
    let lead = json!({"phone": mobile(1)});
    world.hand_in(&site, &lead).await.expect_hook_error(403, "FEATURE_DISABLED");
    world.dispatched(&token, &mobile(1)).await;
}
