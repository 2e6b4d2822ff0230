//! POST /send/template: what it sends and changes: 3.1, 4.8 rule 3; D34, D37, D39, D40.

use recado_tests::{
    Answer, Intake, Request, World, both_stores, digits, eight_digits, join_all, keys, mobile,
    steered, text, with,
};
use serde_json::{Value, json};

const PATH: &str = "/api/v1/send/template";

async fn send(world: &World, body: Value) -> Answer {
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
    assert_eq!(keys(&data), ["contact_id", "message_id", "provider", "template_id", "wamid"]);
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
async fn the_language_is_the_given_one_else_pt_br_else_the_oldest(world: World) {
    world.silent("official_cloud").await;
    let make = |name: &'static str, language: &'static str| {
        let world = &world;
        async move {
            world.advance(std::time::Duration::from_secs(1));
            let body = json!({
                "name": name, "category": "UTILITY", "language": language,
                "body": format!("{language} {{{{1}}}}"), "status": "APPROVED",
            });
            text(&world.make("C/templates", body).await["id"])
        }
    };
    let english = make("ola", "en_US").await;
    let portuguese = make("ola", "pt_BR").await;
    let spanish = make("sol", "es_ES").await;
    let french = make("sol", "fr_FR").await;
    for (name, language, expected) in [
        ("ola", json!("en_US"), &english),
        ("ola", json!("pt_BR"), &portuguese),
        ("ola", Value::Null, &portuguese),
        ("sol", json!("fr_FR"), &french),
        ("sol", Value::Null, &spanish),
    ] {
        let mut body = with(to(&mobile(1)), json!({"template": name}));
        if !language.is_null() {
            body["language"] = language.clone();
        }
        let data = send(&world, body).await.expect(200);
        assert_eq!(data["template_id"], expected.as_str(), "{name} {language}");
    }
    for (name, language) in [("ola", "es_ES"), ("sol", "pt_BR"), ("ola", "pt-BR")] {
        let body = with(to(&mobile(1)), json!({"template": name, "language": language}));
        let answer = send(&world, body).await;
        assert_eq!(answer.status, 404, "{name} {language}: {}", answer.show());
        answer.expect_error(404, "TEMPLATE_NOT_FOUND");
    }
}

#[both_stores]
async fn a_resolved_conversation_is_reopened_by_an_accepted_send_only(world: World) {
    world.silent("official_cloud").await;
    ola(&world).await;
    for (phone, status, state) in
        [(mobile(1), 200, "open"), (steered(1), 502, "resolved"), (steered(2), 502, "resolved")]
    {
        let id = world.create_id(json!({"phone": phone})).await;
        world.close(&id).await;
        world.send_text(&phone, "oi").await;
        assert_eq!(world.detail(&id).await["inbox_status"], "resolved", "a text does not");
        assert_eq!(send(&world, to(&phone)).await.status, status);
        let after = world.detail(&id).await;
        assert_eq!(after["inbox_status"], state, "{phone}");
        assert!(after["last_closed_at"].is_string(), "it is kept after reopening");
    }
}

#[both_stores]
async fn the_external_ai_does_not_matter(world: World) {
    world.silent("official_cloud").await;
    ola(&world).await;
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    world.act(&contact, "ai-mode", json!({"mode": "off"})).await.expect(200);
    world.send_text(&mobile(1), "oi").await.expect_error(403, "EXTERNAL_AI_DISABLED");
    send(&world, to(&mobile(1))).await.expect(200);
    assert_eq!(world.full(&contact).await["external_ai_enabled"], false);
}

#[both_stores]
async fn there_is_no_duplicate_window(world: World) {
    world.silent("official_cloud").await;
    ola(&world).await;
    for _ in 0..3 {
        send(&world, to(&mobile(1))).await.expect(200);
    }
    let calls = (0..10).map(|_| send(&world, to(&mobile(2)))).collect();
    for answer in join_all(calls).await {
        answer.expect(200);
    }
    assert_eq!(world.all_messages().await.len(), 13);
    assert_eq!(world.list_ids("").await.len(), 2);
}

#[both_stores]
async fn the_feature_of_dispatch_is_not_needed(world: Intake) {
    world.silent("official_cloud").await;
    ola(&world).await;
    world.features(&world.us, false, false).await;
    send(&world, to(&mobile(1))).await.expect(200);
}

#[both_stores]
async fn a_number_of_any_country_is_taken_and_a_national_one_is_of_the_company(world: World) {
    world.silent("official_cloud").await;
    ola(&world).await;
    let path = format!("/companies/{}", world.us.id);
    world.operator("PATCH", &path, json!({"default_region": "US"})).await.expect(200);
    for (given, phone) in [("(212) 736-5000", "+12127365000"), ("+351912345678", "+351912345678")] {
        let data = send(&world, to(given)).await.expect(200);
        let contact = world.detail(&text(&data["contact_id"])).await;
        assert_eq!(contact["phone"], phone);
    }
}

#[both_stores]
async fn someone_known_to_the_channel_is_found(world: World) {
    let cloud = world.silent("official_cloud").await;
    ola(&world).await;
    let met = world.contact_by_message(&cloud, &eight_digits(&mobile(1))).await;
    let data = send(&world, to(&digits(&mobile(1)))).await.expect(200);
    assert_eq!(data["contact_id"], met.as_str());
}

#[both_stores]
async fn surplus_variables_are_ignored_and_none_are_needed_by_a_plain_text(world: World) {
    world.silent("official_cloud").await;
    ola(&world).await;
    let body = with(to(&mobile(1)), json!({"variables": {"1": "Ana", "2": "x", "7": "y"}}));
    let data = send(&world, body).await.expect(200);
    assert_eq!(world.message(&text(&data["message_id"])).await["content"], "Olá Ana");
    world.template("bare", "UTILITY", "Oi").await;
    send(&world, json!({"to": mobile(1), "template": "bare"})).await.expect(200);
    let body = json!({"to": mobile(1), "template": "bare", "variables": {}});
    send(&world, body).await.expect(200);
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
async fn of_simultaneous_calls_with_one_key_one_sends(world: World) {
    world.silent("official_cloud").await;
    ola(&world).await;
    let body = to(&mobile(1));
    let calls = (0..10).map(|_| world.send(world.keyed(PATH, "k", &body))).collect();
    for answer in join_all(calls).await {
        if answer.status != 200 {
            answer.expect_error(409, "REQUEST_IN_PROGRESS");
        }
    }
    assert_eq!(world.all_messages().await.len(), 1);
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
