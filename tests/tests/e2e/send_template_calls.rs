//! POST /send/template: sends and their effects: 3.1, 4.8 rule 3; D34, D37, D39, D40.

use recado_tests::{
    Intake, Request, ScriptedAnswer, World, both_stores, digits, eight_digits, keys, mobile,
    steered, text, with,
};
use serde_json::{Value, json};

const PATH: &str = "/api/v1/send/template";

async fn send(world: &World, body: Value) -> ScriptedAnswer {
    world.post(PATH, body).await
}

async fn ola(world: &World) -> Value {
    world.template("ola", "MARKETING", "Olá {{1}}").await
}

fn to(phone: &str) -> Value {
    json!({"to": phone, "template": "ola", "variables": {"1": "Ana"}})
}

#[both_stores]
async fn the_answer_is_that_of_a_text_plus_the_template(world: World) {
    let cloud = world.silent("official_cloud").await;
    let template = ola(&world).await;
    let data = send(&world, to(&mobile(1))).await.expect(200);
    let fields = ["contact_id", "message_id", "provider", "template_id", "type", "wamid"];
    assert_eq!(
        (keys(&data), &data["type"]),
        (fields.map(str::to_owned).to_vec(), &json!("template"))
    );
    assert_eq!(data["template_id"], template["id"]);
    assert_eq!(data["provider"], "official_cloud");
    assert!(text(&data["wamid"]).starts_with("sim."));
    let message = world.message(&text(&data["message_id"])).await;
    for (field, value) in [
        ("type", "template"),
        ("sender_type", "system"),
        ("direction", "outbound"),
        ("status", "sent"),
        ("content", "Olá Ana"),
        ("connection_id", &cloud),
    ] {
        assert_eq!(message[field], value, "{field}");
    }
    assert_eq!(message["wamid"], data["wamid"]);
    let events: Vec<String> = world.events().await.into_iter().map(|one| one.event).collect();
    assert_eq!(events, ["contact.created", "message.sent"]);
    let contact = world.detail(&text(&data["contact_id"])).await;
    assert_eq!(contact["phone"], mobile(1));
    assert_eq!(contact["last_connection_id"], cloud.as_str());
}

/// X15, R370: by API and by an agent; a message of somebody else does not exist.
#[both_stores]
async fn a_template_may_answer_a_message_of_its_contact(world: World) {
    let cloud = world.silent("official_cloud").await;
    ola(&world).await;
    let asked = world.receive(&cloud, &digits(&mobile(1)), "Onde está?").await;
    let other = world.receive(&cloud, &digits(&mobile(2)), "Oi").await;
    let quoting = |id: &str| with(to(&mobile(1)), json!({"quoted_message_id": id}));
    let sent = send(&world, quoting(&asked)).await.expect(200);
    let message = world.message(&text(&sent["message_id"])).await;
    assert_eq!(message["quoted_message_id"], asked.as_str());
    assert_eq!(
        (&message["quoted_content"], &message["quoted_type"]),
        (&json!("Onde está?"), &json!("text"))
    );
    let contact = text(&sent["contact_id"]);
    let reply =
        |id: &str| json!({"template": "ola", "variables": {"1": "Ana"}, "quoted_message_id": id});
    let replied = world.act(&contact, "reply-template", reply(&asked)).await.expect(200);
    assert_eq!(replied["messages"][0]["quoted_message_id"], asked.as_str());
    let stored = world.all_messages().await.len();
    for nobodys in [other, recado_tests::unknown_id()] {
        send(&world, quoting(&nobodys)).await.expect_error(404, "NOT_FOUND");
        let refused = world.act(&contact, "reply-template", reply(&nobodys)).await;
        refused.expect_error(404, "NOT_FOUND");
    }
    let wrong = with(to(&mobile(1)), json!({"quoted_message_id": "x"}));
    assert_eq!(send(&world, wrong).await.expect_invalid(), ["quoted_message_id"]);
    assert_eq!(world.all_messages().await.len(), stored, "nothing was stored");
}

#[both_stores]
async fn a_template_is_named_by_its_name_or_its_id(world: World) {
    world.silent("official_cloud").await;
    let template = ola(&world).await;
    for name in ["ola".to_owned(), text(&template["id"]), text(&template["id"]).to_uppercase()] {
        let body = with(to(&mobile(1)), json!({"template": name}));
        assert_eq!(send(&world, body).await.expect(200)["template_id"], template["id"]);
    }
}

#[both_stores]
async fn the_feature_of_dispatch_is_not_needed(world: Intake) {
    world.silent("official_cloud").await;
    ola(&world).await;
    world.features(&world.us, false, false).await;
    send(&world, to(&mobile(1))).await.expect(200);
}

#[both_stores]
async fn someone_known_to_the_channel_is_found(world: World) {
    let cloud = world.silent("official_cloud").await;
    ola(&world).await;
    let met = world.contact_by_message(&cloud, &eight_digits(&mobile(1))).await;
    let data = send(&world, to(&digits(&mobile(1)))).await.expect(200);
    assert_eq!(data["contact_id"], met.as_str());
}

// Idempotency.

#[both_stores]
async fn a_repetition_with_its_key_gets_the_first_answer_and_sends_nothing(world: World) {
    world.silent("official_cloud").await;
    ola(&world).await;
    for (phone, status) in [(mobile(1), 200), (steered(1), 502), (steered(2), 502)] {
        let before = world.all_messages().await.len();
        let call = || world.send(world.keyed(PATH, &format!("k{phone}"), &to(&phone)));
        let first = call().await;
        assert_eq!(first.status, status, "{}", first.show());
        assert_eq!(first.header("idempotent-replayed"), "");
        for _ in 0..2 {
            let again = call().await;
            assert_eq!(again.header("idempotent-replayed"), "true", "{}", again.show());
            assert_eq!((again.status, &again.body), (first.status, &first.body));
        }
        assert_eq!(world.all_messages().await.len(), before + 1);
    }
    let other = world.keyed(PATH, &format!("k{}", mobile(1)), &to(&mobile(2)));
    world.send(other).await.expect_error(422, "IDEMPOTENCY_KEY_REUSED");
    let text = json!({"to": mobile(1), "message": "oi"});
    let path = "/api/v1/send/message";
    let answer = world.send(world.keyed(path, &format!("k{}", mobile(1)), &text)).await;
    answer.expect(200);
    assert_eq!(answer.header("idempotent-replayed"), "", "another path is another call");
}

#[both_stores]
async fn refusals_before_the_contact_are_not_remembered_and_later_ones_are(world: World) {
    let call = |key: &'static str, body: Value| {
        let world = &world;
        async move { world.send(world.keyed(PATH, key, &body)).await }
    };
    world.silent("official_cloud").await;
    ola(&world).await;
    let contact = world.import(json!({"phone": mobile(1), "is_blocked": true})).await;
    call("a", to(&mobile(1))).await.expect_error(403, "CONTACT_BLOCKED");
    world.act(&contact, "unblock", Value::Null).await.expect(200);
    let again = call("a", to(&mobile(1))).await;
    again.expect_error(403, "CONTACT_BLOCKED");
    assert_eq!(again.header("idempotent-replayed"), "true");
    let missing = json!({"to": mobile(1), "template": "ola"});
    call("b", missing.clone()).await.expect_error(422, "VALIDATION_ERROR");
    let again = call("b", missing).await;
    again.expect_error(422, "VALIDATION_ERROR");
    assert_eq!(again.header("idempotent-replayed"), "");
}

#[both_stores]
async fn the_key_needs_the_scope_to_send(world: World) {
    world.silent("official_cloud").await;
    ola(&world).await;
    let key = world.key_with(&["messages:send"]).await;
    world.post_as(&key, PATH, to(&mobile(1))).await.expect(200);
    let others = ["contacts:read", "contacts:write", "messages:read", "lead_memory:read"];
    let key = world.key_with(&others).await;
    let refused = world.post_as(&key, PATH, to(&mobile(1))).await;
    let details = refused.expect_error(403, "INSUFFICIENT_SCOPE");
    assert_eq!(details["required_scope"], "messages:send");
    let bare = world.send(Request::new("POST", PATH).json(&to(&mobile(1)))).await;
    bare.expect_error(401, "UNAUTHORIZED");
    let get = world.get(PATH).await;
    get.expect_error(405, "METHOD_NOT_ALLOWED");
    assert_eq!(get.header("allow"), "POST");
}
