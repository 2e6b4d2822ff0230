//! Line breaks of any form, and the length of what is sent: 4.3, 4.4, 4.8–4.10; D9, D34.

use recado_tests::hooks_in::{Endpoint, plain};
use recado_tests::{Intake, World, both_stores, digits, mobile, text, with};
use serde_json::{Value, json};

/// A text with every form of line break, and how it is read.
const GIVEN: &str = "um\r\ndois\rtrês\nquatro\r\r\ncinco";
const READ: &str = "um\ndois\ntrês\nquatro\n\ncinco";

#[both_stores]
async fn carriage_returns_in_a_contact_are_newlines(world: World) {
    let field = world.field("plano").await;
    let texts = json!({
        "name": GIVEN, "observation": GIVEN, "rg": GIVEN, "genero": GIVEN, "estado_civil": GIVEN,
        "profissao": GIVEN, "city": GIVEN, "state": GIVEN, "custom_fields": {&field: GIVEN},
    });
    let made = world.create_id(with(texts.clone(), json!({"phone": mobile(1)}))).await;
    let changed = world.create_id(json!({"phone": mobile(2)})).await;
    world.patch_contact(&changed, texts.clone()).await.expect(200);
    let imported = world.import(with(texts.clone(), json!({"phone": mobile(3)}))).await;
    for id in [made, changed, imported] {
        let listed = world.listed(&id).await;
        for (name, value) in texts.as_object().expect("an object") {
            if value.is_string() {
                assert_eq!(listed[name], READ, "{name}");
            }
        }
        assert_eq!(listed["custom_fields"], json!({"plano": READ}));
        assert_eq!(listed["display_name"], READ);
    }
    let edges = json!({"observation": "\r\n um\r", "name": "\r", "city": "\r\n"});
    let id = world.create_id(with(edges, json!({"phone": mobile(4)}))).await;
    let listed = world.listed(&id).await;
    assert_eq!((&listed["observation"], &listed["name"]), (&json!("um"), &json!("")));
    assert_eq!(listed["city"], Value::Null);
}

#[both_stores]
async fn a_line_break_counts_as_one_character(world: World) {
    let id = world.create_id(json!({"phone": mobile(1)})).await;
    for (field, limit) in [("name", 200), ("observation", 10_000), ("city", 200)] {
        let longest = "a\r\n".repeat(limit / 2 - 1) + "ab";
        world.patch_contact(&id, json!({field: longest})).await.expect(200);
        let longer = "a\r\n".repeat(limit / 2) + "a";
        assert_eq!(
            world.patch_contact(&id, json!({field: longer})).await.expect_invalid(),
            [field]
        );
    }
}

#[both_stores]
async fn a_message_is_sent_with_its_line_breaks_as_newlines_and_its_white_space(world: World) {
    world.qr().await;
    let sent = world.sent(&mobile(1), &format!(" \r\n{GIVEN}\r ")).await;
    let stored = world.message(&text(&sent["message_id"])).await;
    let read = format!(" \n{READ}\n ");
    assert_eq!(stored["content"], read);
    let handed = world.events_of("message.sent").await;
    assert_eq!(handed[0]["content"], read);
    let contact = text(&sent["contact_id"]);
    let full = world.act(&contact, "reply", json!({"message": GIVEN})).await.expect(200);
    assert_eq!(full["messages"][0]["content"], READ);
    world.act(&contact, "ai-mode", json!({"mode": "service"})).await.expect(200);
    let turn = json!({"messages": [GIVEN, "\rok"], "prosas": 1, "cost_brl": 1});
    let full = world.act(&contact, "ai-turn", turn).await.expect(200);
    assert_eq!(full["messages"][0]["content"], READ);
    assert_eq!(full["messages"][1]["content"], "\nok");
}

#[both_stores]
async fn a_message_padded_beyond_4096_characters_is_422(world: World) {
    world.qr().await;
    let padded = |length: usize| format!("oi{}", " ".repeat(length - 2));
    for long in [padded(8_192), padded(4_097), " ".repeat(4_096) + "a", "ã".repeat(4_097)] {
        let answer = world.send_text(&mobile(1), &long).await;
        assert_eq!(answer.expect_invalid(), ["message"]);
    }
    assert!(world.list_ids("").await.is_empty(), "nothing was made");
    let contact = text(&world.sent(&mobile(1), &padded(4_096)).await["contact_id"]);
    let longest = "a\r\n".repeat(2_048);
    let sent = world.sent(&mobile(1), &longest).await;
    let stored = world.message(&text(&sent["message_id"])).await;
    assert_eq!(stored["content"], "a\n".repeat(2_048), "counted as it is sent");
    for action in ["reply", "ai-turn"] {
        let body = json!({"message": padded(4_097)});
        let turn = json!({"messages": [padded(4_097)], "prosas": 1, "cost_brl": 1});
        let body = if action == "reply" { body } else { turn };
        let answer = world.act(&contact, action, body).await;
        answer.expect_error(422, "VALIDATION_ERROR");
    }
}

#[both_stores]
async fn other_control_characters_stay_422(world: World) {
    world.qr().await;
    for control in ["\0", "\u{1}", "\u{b}", "\u{c}", "\u{1b}", "\u{7f}", "\u{85}"] {
        let wrong = format!("a{control}b");
        let answer = world.send_text(&mobile(1), &wrong).await;
        assert_eq!(answer.expect_invalid(), ["message"], "{control:?}");
        let answer = world.post_contact(json!({"phone": mobile(1), "observation": wrong})).await;
        assert_eq!(answer.expect_invalid(), ["observation"], "{control:?}");
    }
}

/// An endpoint that fills a custom field and native ones.
async fn endpoint(world: &Intake) -> Endpoint {
    let more = json!({"observation": "$.note", "profissao": "$.note", "recado": "$.note"});
    world.endpoint("site-leads", with(plain(), more)).await
}

#[both_stores]
async fn carriage_returns_in_a_mapped_body_are_newlines(world: Intake) {
    let site = endpoint(&world).await;
    let taken = world.taken(&site, json!({"phone": mobile(1), "note": GIVEN})).await;
    assert!(taken.get("warnings").is_none(), "{taken}");
    let listed = world.listed(&text(&taken["contact_id"])).await;
    assert_eq!((&listed["observation"], &listed["profissao"]), (&json!(READ), &json!(READ)));
    assert_eq!(listed["custom_fields"], json!({"recado": READ}));
}

#[both_stores]
async fn carriage_returns_in_variables_of_templates_are_newlines(world: Intake) {
    world.silent("official_cloud").await;
    let token = world.token("ola", "UTILITY", "Olá {{1}}!").await;
    let body = json!({"phone_number": mobile(1), "variables": {"1": GIVEN}});
    let sent = world.dispatch(&token, &body).await.expect_ok();
    let content = |id: &Value| {
        let (world, id) = (&world, text(id));
        async move { world.message(&id).await["content"].clone() }
    };
    assert_eq!(content(&sent["message_id"]).await, format!("Olá {READ}!"));
    let query = format!("phone={}&v1=um%0D%0Adois%0D", digits(&mobile(2)));
    let sent = world.dispatch_query(&token, &query).await.expect_ok();
    assert_eq!(content(&sent["message_id"]).await, "Olá um\ndois\n!");
    let body = json!({"to": mobile(3), "template": "ola", "variables": {"1": GIVEN}});
    let sent = world.post("/api/v1/send/template", body).await.expect(200);
    assert_eq!(content(&sent["message_id"]).await, format!("Olá {READ}!"));
    let contact = text(&sent["contact_id"]);
    let body = json!({"template": "ola", "variables": {"1": GIVEN}});
    let full = world.act(&contact, "reply-template", body).await.expect(200);
    assert_eq!(full["messages"][0]["content"], format!("Olá {READ}!"));
}

#[both_stores]
async fn carriage_returns_in_what_operators_and_gateways_write_are_newlines(world: World) {
    let qr = world.qr().await;
    let tag = world.make("C/tags", json!({"name": GIVEN, "color": "#111111"})).await;
    assert_eq!(tag["name"], READ);
    let list = world.make("C/lists", json!({"name": GIVEN})).await;
    assert_eq!(list["name"], READ);
    let body = json!({"name": "t", "category": "UTILITY", "body": GIVEN});
    assert_eq!(world.make("C/templates", body).await["body"], READ);
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    let path = format!("C/contacts/{contact}/lead-memory");
    let memory = json!({"summary": GIVEN, "key_facts": [GIVEN], "bant": {"need": GIVEN}});
    let kept = world.operator("POST", &path, memory).await.data();
    assert_eq!((&kept["summary"], &kept["key_facts"][0]), (&json!(READ), &json!(READ)));
    assert_eq!(kept["bant"]["need"], READ);
    let imported = world
        .import_message(json!({
            "contact_id": contact, "connection_id": qr, "direction": "inbound", "type": "text",
            "content": GIVEN,
        }))
        .await;
    assert_eq!(world.message(&imported).await["content"], READ);
    let received = world.receive(&qr, &digits(&mobile(1)), GIVEN).await;
    assert_eq!(world.message(&received).await["content"], READ);
    world.put_groups(&qr, json!([{"code": "1@g.us", "subject": "a\r\nb"}])).await.expect(200);
    assert_eq!(world.group_contact("1@g.us").await["name"], "a\nb");
}
