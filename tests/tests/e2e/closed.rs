//! Closed installations and companies (D76), and what an operator may do during a hold (D75).

use recado_core::halts::Whereabouts;
use recado_tests::{Request, World, both_stores, digits, mobile, text};
use serde_json::{Value, json};

/// D76.
#[both_stores]
async fn a_closed_installation_answers_reads_and_refuses_every_write(world: World) {
    let qr = world.qr().await;
    let id = world.create_id(json!({ "phone": mobile(1) })).await;
    let link = json!({ "contact_id": id, "url": "https://example.org/" });
    let link = text(&world.make("C/links", link).await["code"]);
    let halts = world.server.recado().halts();
    halts.close(None, Some("a test"), Whereabouts::Here).await.expect("it is closed");
    let refused = world.post_contact(json!({ "phone": mobile(2) })).await;
    refused.expect_error(503, "MOVING");
    assert_eq!(refused.header("retry-after"), "5");
    world.patch_contact(&id, json!({ "name": "Ana" })).await.expect_error(503, "MOVING");
    world.delete(&format!("/api/v1/contacts/{id}")).await.expect_error(503, "MOVING");
    world.send_text(&mobile(1), "oi").await.expect_error(503, "MOVING");
    world
        .operator("POST", "C/tags", json!({ "name": "a", "color": "#000000" }))
        .await
        .expect_error(503, "MOVING");
    let events = json!({ "events": [world.inbound("5534991230009", "oi")] });
    world
        .operator("POST", &format!("C/connections/{qr}/events"), events)
        .await
        .expect_error(503, "MOVING");
    for path in
        [format!("/api/webhooks/provider/{qr}"), "/api/webhooks/incoming/nowhere".to_owned()]
    {
        let answer = world.send(Request::new("POST", &path).json(&json!({}))).await;
        assert_eq!((answer.status, &answer.json()["code"]), (503, &json!("MOVING")), "{path}");
        assert_eq!(answer.header("retry-after"), "5");
    }
    // The click of a tracked link would be a write.
    assert_eq!(world.send(Request::new("GET", format!("/l/{link}"))).await.status, 503);
    let ready = world.send(Request::new("GET", "/readyz")).await;
    ready.expect_error(503, "MOVING");
    world.detail(&id).await;
    assert_eq!(world.export(10).await, [id.clone()]);
    halts.open(None).await.expect("it is open");
    world.patch_contact(&id, json!({ "name": "Ana" })).await.expect(200);
    assert_eq!(world.send(Request::new("GET", "/readyz")).await.json()["data"]["held"], false);
}

/// D76: only the company that is moved.
#[both_stores]
async fn a_closed_company_refuses_its_writes_and_the_others_do_not_notice(world: World) {
    let other = world.tenant("Other").await;
    let company = recado_core::ids::CompanyId::parse(&world.us.id).expect("an id");
    let halts = world.server.recado().halts();
    halts.close(Some(company), None, Whereabouts::Here).await.expect("it is closed");
    world.post_contact(json!({ "phone": mobile(2) })).await.expect_error(503, "MOVING");
    let path = "C/tags";
    let tag = json!({ "name": "a", "color": "#000000" });
    world.operator("POST", path, tag).await.expect_error(503, "MOVING");
    world.operator("GET", path, Value::Null).await.expect(200);
    world.create_as(&other, json!({ "phone": mobile(2) })).await;
    assert_eq!(world.send(Request::new("GET", "/readyz")).await.status, 200);
    halts.open(Some(company)).await.expect("it is open");
    world.post_contact(json!({ "phone": mobile(2) })).await.expect(201);
}

/// D75: what an operator would say to a customer is refused, and what nobody is told of is not.
#[both_stores]
async fn an_operator_sends_nothing_during_a_hold(world: World) {
    let qr = world.qr().await;
    let id = world.create_id(json!({ "phone": mobile(1) })).await;
    world.receive(&qr, &digits(&mobile(1)), "olá").await;
    world.template("ola", "UTILITY", "Olá {{1}}").await;
    let before = world.all_messages().await.len();
    world.server.hold("a test").await;
    for (action, body) in [
        ("reply", json!({ "message": "pois não" })),
        ("reply-template", json!({ "template": "ola", "variables": { "1": "Ana" } })),
        ("ai-turn", json!({ "messages": ["oi"], "prosas": 1, "cost_brl": 0.1 })),
    ] {
        let refused = world.act(&id, action, body).await;
        refused.expect_error(503, "ON_HOLD");
        assert_eq!(refused.header("retry-after"), "60", "{action}");
    }
    assert_eq!(world.all_messages().await.len(), before, "nothing is stored either");
    world.act(&id, "read", json!({})).await.expect(200);
    world.act(&id, "close", json!({})).await.expect(200);
}
