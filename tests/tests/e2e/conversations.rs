//! The states of a conversation and of its AI flags, and the operator's actions on them: 3.1, 3.4,
//! docs/operator-api.md; D39, D41, D42, D44a.

use std::time::Duration;

use recado_tests::{World, both_stores, digits, mobile, text, unknown_id};
use serde_json::{Value, json};

/// A contact with an open conversation on a QR-code connection, both AIs on, assigned to a member.
async fn talking(world: &World) -> (String, String, String) {
    let qr = world.qr().await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    let member = world.member("Bia").await;
    world.act(&contact, "assign", json!({"member_id": member})).await.expect(200);
    (qr, contact, member)
}

/// Status, assignee, the service's AI, the external AI.
async fn state(world: &World, contact: &str) -> (String, Value, bool, bool) {
    of(&world.full(contact).await)
}

fn of(full: &Value) -> (String, Value, bool, bool) {
    (
        text(&full["inbox_status"]),
        full["assigned_to_member_id"].clone(),
        full["is_ai_enabled"].as_bool().expect("a boolean"),
        full["external_ai_enabled"].as_bool().expect("a boolean"),
    )
}

fn open(assignee: impl Into<Value>, ai: bool, external: bool) -> (String, Value, bool, bool) {
    ("open".to_owned(), assignee.into(), ai, external)
}

fn resolved(assignee: impl Into<Value>, ai: bool, external: bool) -> (String, Value, bool, bool) {
    ("resolved".to_owned(), assignee.into(), ai, external)
}

// Messages.

#[both_stores]
async fn a_message_in_an_open_conversation_changes_no_flag(world: World) {
    let (qr, contact, member) = talking(&world).await;
    world.receive(&qr, &digits(&mobile(1)), "alô").await;
    assert_eq!(state(&world, &contact).await, open(member, true, true));
}

#[both_stores]
async fn a_reply_after_closing_reopens_without_assignee_and_with_the_ai_off(world: World) {
    let (qr, contact, member) = talking(&world).await;
    let reason = text(&world.make("C/close-reasons", json!({"name": "vendido"})).await["id"]);
    world.advance(Duration::from_secs(60));
    let closed_at = world.time();
    world.act(&contact, "close", json!({"close_reason_id": reason})).await.expect(200);
    assert_eq!(state(&world, &contact).await, resolved(member, true, true));
    world.advance(Duration::from_secs(60));
    world.receive(&qr, &digits(&mobile(1)), "voltei").await;
    assert_eq!(state(&world, &contact).await, open(Value::Null, false, true));
    let detail = world.detail(&contact).await;
    assert_eq!(detail["last_closed_at"], closed_at, "kept after reopening");
    assert_eq!(detail["last_close_reason_id"], reason.as_str());
}

#[both_stores]
async fn arrival_decides_about_reopening_and_not_the_providers_time(world: World) {
    let (qr, contact, _) = talking(&world).await;
    world.advance(Duration::from_secs(60));
    world.close(&contact).await;
    let mut event = world.inbound(&digits(&mobile(1)), "de antes");
    event["timestamp"] = json!(world.time_ago(30_000));
    world.stored(&qr, event).await;
    assert_eq!(state(&world, &contact).await, open(Value::Null, false, true));
}

#[both_stores]
async fn a_reply_that_finds_the_conversation_reopened_by_somebody_leaves_the_flags(world: World) {
    let (qr, contact, member) = talking(&world).await;
    world.close(&contact).await;
    world.act(&contact, "reply-template", template(&world).await).await.expect(200);
    let before = state(&world, &contact).await;
    assert_eq!(before.1, member.as_str());
    world.receive(&qr, &digits(&mobile(1)), "voltei").await;
    assert_eq!(state(&world, &contact).await, before);
}

#[both_stores]
async fn a_free_text_send_by_the_api_does_not_reopen(world: World) {
    let (_, contact, member) = talking(&world).await;
    world.close(&contact).await;
    world.sent(&mobile(1), "oi").await;
    assert_eq!(state(&world, &contact).await, resolved(member, true, true));
}

#[both_stores]
async fn a_message_of_a_blocked_contact_is_stored_reopens_and_fires_its_event(world: World) {
    let (qr, contact, _) = talking(&world).await;
    let full = world.act(&contact, "block", Value::Null).await.expect(200);
    assert_eq!(full["is_blocked"], true);
    world.close(&contact).await;
    let id = world.receive(&qr, &digits(&mobile(1)), "voltei").await;
    assert_eq!(world.message(&id).await["content"], "voltei");
    assert_eq!(state(&world, &contact).await.0, "open");
    assert_eq!(world.events_of("message.received").await.len(), 2);
    let full = world.act(&contact, "unblock", Value::Null).await.expect(200);
    assert_eq!(full["is_blocked"], false);
}

// Closing.

#[both_stores]
async fn closing_sets_time_and_reason_and_closing_again_moves_both(world: World) {
    let (_, contact, member) = talking(&world).await;
    let reason = text(&world.make("C/close-reasons", json!({"name": "vendido"})).await["id"]);
    let body = json!({"close_reason_id": reason});
    let full = world.act(&contact, "close", body).await.expect(200);
    assert_eq!(of(&full), resolved(member, true, true));
    assert_eq!(full["last_closed_at"], world.time());
    assert_eq!(full["last_close_reason_id"], reason.as_str());
    world.advance(Duration::from_secs(60));
    let full = world.act(&contact, "close", json!({})).await.expect(200);
    assert_eq!(full["last_closed_at"], world.time());
    assert_eq!(full["last_close_reason_id"], Value::Null, "none was given");
}

#[both_stores]
async fn closing_assigns_to_the_member_who_is_given(world: World) {
    let (_, contact, _) = talking(&world).await;
    let other = world.member("Caio").await;
    world.act(&contact, "close", json!({"member_id": other})).await.expect(200);
    assert_eq!(state(&world, &contact).await, resolved(other, true, true));
}

#[both_stores]
async fn a_patch_that_sends_the_closing_is_ignored(world: World) {
    let (_, contact, _) = talking(&world).await;
    world.close(&contact).await;
    let before = world.detail(&contact).await;
    let body =
        json!({"last_closed_at": null, "last_close_reason_id": null, "inbox_status": "open"});
    world.patch_contact(&contact, body).await.expect(200);
    assert_eq!(world.detail(&contact).await, before);
}

// People.

#[both_stores]
async fn a_take_over_assigns_opens_and_switches_both_ais_off(world: World) {
    let (_, contact, _) = talking(&world).await;
    let other = world.member("Caio").await;
    world.close(&contact).await;
    let full = world.act(&contact, "take-over", json!({"member_id": other})).await.expect(200);
    assert_eq!(of(&full), open(other, false, false));
    let answer = world.act(&contact, "take-over", json!({})).await;
    assert_eq!(answer.expect_invalid(), ["member_id"]);
}

#[both_stores]
async fn assigning_changes_the_assignee_only(world: World) {
    let (_, contact, _) = talking(&world).await;
    let other = world.member("Caio").await;
    world.close(&contact).await;
    for assignee in [json!(other), Value::Null] {
        let full = world.act(&contact, "assign", json!({"member_id": assignee})).await.expect(200);
        assert_eq!(of(&full), resolved(assignee, true, true));
    }
    assert_eq!(world.act(&contact, "assign", json!({})).await.expect_invalid(), ["member_id"]);
}

#[both_stores]
async fn the_assignee_is_shown_by_name(world: World) {
    let (_, contact, member) = talking(&world).await;
    assert_eq!(
        world.detail(&contact).await["assigned_to"],
        json!({"id": member, "display_name": "Bia", "role": "agent"})
    );
}

#[both_stores]
async fn a_handoff_opens_switches_both_ais_off_and_assigns_if_reported(world: World) {
    let (_, contact, member) = talking(&world).await;
    world.close(&contact).await;
    let full = world.act(&contact, "handoff", Value::Null).await.expect(200);
    assert_eq!(of(&full), open(member, false, false));
    let other = world.member("Caio").await;
    let full = world.act(&contact, "handoff", json!({"member_id": other})).await.expect(200);
    assert_eq!(of(&full), open(other, false, false));
}

#[both_stores]
async fn a_member_who_does_not_exist_can_be_given_nothing(world: World) {
    let (_, contact, member) = talking(&world).await;
    for action in ["close", "take-over", "assign", "handoff"] {
        let body = json!({"member_id": unknown_id()});
        let answer = world.act(&contact, action, body).await;
        assert!([404, 422].contains(&answer.status), "{action}: {}", answer.show());
        assert_eq!(state(&world, &contact).await, open(member.clone(), true, true));
    }
}

/// D42.
#[both_stores]
async fn a_reply_goes_out_as_an_agents_message_and_switches_both_ais_off(world: World) {
    let (qr, contact, member) = talking(&world).await;
    world.close(&contact).await;
    let full = world.act(&contact, "reply", json!({"message": "pois não"})).await.expect(200);
    assert_eq!(of(&full), open(member, false, false));
    let messages = full["messages"].as_array().expect("the messages").clone();
    assert_eq!(messages.len(), 1);
    let shown = world.message(&text(&messages[0]["id"])).await;
    assert_eq!(shown["sender_type"], "agent");
    assert_eq!(shown["direction"], "outbound");
    assert_eq!(shown["content"], "pois não");
    assert_eq!(shown["connection_id"], qr.as_str());
    assert_eq!(shown["prosa"], Value::Null);
    world.reaches(&text(&messages[0]["id"]), "read").await;
    assert_eq!(world.events_of("message.sent").await.len(), 1);
}

#[both_stores]
async fn a_reply_assigns_to_the_member_who_is_given(world: World) {
    let (_, contact, _) = talking(&world).await;
    let other = world.member("Caio").await;
    let body = json!({"message": "pois não", "member_id": other});
    world.act(&contact, "reply", body).await.expect(200);
    assert_eq!(state(&world, &contact).await, open(other, false, false));
}

#[both_stores]
async fn a_reply_without_a_text_is_refused(world: World) {
    let (_, contact, member) = talking(&world).await;
    for message in [json!(null), json!(" "), json!(5), json!("x".repeat(4_097))] {
        let answer = world.act(&contact, "reply", json!({"message": message})).await;
        assert_eq!(answer.expect_invalid(), ["message"]);
    }
    assert_eq!(world.act(&contact, "reply", json!({})).await.expect_invalid(), ["message"]);
    let template = world.act(&contact, "reply-template", json!({})).await;
    assert_eq!(template.expect_invalid(), ["template"]);
    assert_eq!(state(&world, &contact).await, open(member, true, true));
}

#[both_stores]
async fn an_operator_may_reply_to_a_contact_that_opted_out(world: World) {
    let (qr, contact, _) = talking(&world).await;
    world.receive(&qr, &digits(&mobile(1)), "sair").await;
    world.send_text(&mobile(1), "oi").await.expect_error(403, "CONTACT_OPTED_OUT");
    world.act(&contact, "reply", json!({"message": "certo"})).await.expect(200);
}

#[both_stores]
async fn a_reply_that_the_provider_refuses_answers_as_a_send_does(world: World) {
    let qr = world.qr().await;
    let phone = recado_tests::steered(1);
    let contact = world.contact_by_message(&qr, &phone).await;
    let answer = world.act(&contact, "reply", json!({"message": "oi"})).await;
    answer.expect_error(502, "PROVIDER_ERROR");
    assert_eq!(world.messages_of(&contact).await[0]["status"], "failed");
}

#[both_stores]
async fn a_template_reply_reopens_and_is_an_agents_reply(world: World) {
    let (_, contact, member) = talking(&world).await;
    world.close(&contact).await;
    let body = template(&world).await;
    let full = world.act(&contact, "reply-template", body).await.expect(200);
    assert_eq!(of(&full), open(member, false, false));
    let shown = world.message(&text(&full["messages"][0]["id"])).await;
    assert_eq!(shown["type"], "template");
    assert_eq!(shown["sender_type"], "agent");
    assert_eq!(shown["content"], "Olá Ana, tudo bem?");
    assert_eq!(shown["official_template_category"], "UTILITY");
    assert_eq!(shown["prosa"], Value::Null);
}

#[both_stores]
async fn a_template_reply_needs_an_approved_template_and_all_its_variables(world: World) {
    let (_, contact, member) = talking(&world).await;
    let body = json!({"template": "nenhum", "variables": {"1": "Ana"}});
    let answer = world.act(&contact, "reply-template", body).await;
    answer.expect_error(404, "TEMPLATE_NOT_FOUND");
    let body = template(&world).await;
    let without = json!({"template": body["template"]});
    let answer = world.act(&contact, "reply-template", without).await;
    answer.expect_error(422, "VALIDATION_ERROR");
    let pending = json!({"name": "b", "category": "UTILITY", "body": "oi", "status": "PENDING"});
    world.make("C/templates", pending).await;
    let answer = world.act(&contact, "reply-template", json!({"template": "b"})).await;
    answer.expect_error(403, "TEMPLATE_NOT_APPROVED");
    assert_eq!(state(&world, &contact).await, open(member, true, true));
}

// The AI menu.

#[both_stores]
async fn pausing_the_ai_switches_the_external_ai_off_for_good(world: World) {
    let (_, contact, member) = talking(&world).await;
    let until = world.time_in(60_000);
    let full = world.act(&contact, "pause-ai", json!({"until": until})).await.expect(200);
    assert_eq!(full["ai_paused_until"], until);
    assert_eq!(of(&full), open(member.clone(), true, false));
    world.advance(Duration::from_secs(3_600));
    assert_eq!(
        state(&world, &contact).await,
        open(member.clone(), true, false),
        "it does not come back when the pause ends"
    );
    let full = world.act(&contact, "resume-ai", Value::Null).await.expect(200);
    assert_eq!(full["ai_paused_until"], Value::Null);
    assert_eq!(of(&full), open(member, true, false));
    for body in [json!({}), json!({"until": "soon"}), json!({"until": null})] {
        let answer = world.act(&contact, "pause-ai", body).await;
        assert_eq!(answer.expect_invalid(), ["until"]);
    }
}

#[both_stores]
async fn each_mode_of_the_menu_switches_both_ais(world: World) {
    let (_, contact, member) = talking(&world).await;
    for (mode, ai, external) in [
        ("off", false, false),
        ("service", true, false),
        ("external", false, true),
        ("service", true, false),
        ("external", false, true),
        ("off", false, false),
    ] {
        let full = world.act(&contact, "ai-mode", json!({"mode": mode})).await.expect(200);
        assert_eq!(of(&full), open(member.clone(), ai, external), "{mode}");
    }
    for body in [json!({}), json!({"mode": "magic"})] {
        assert_eq!(world.act(&contact, "ai-mode", body).await.expect_invalid(), ["mode"]);
    }
}

#[both_stores]
async fn only_switching_the_external_ai_on_again_lifts_its_refusal(world: World) {
    let (_, contact, member) = talking(&world).await;
    world.act(&contact, "reply", json!({"message": "pois não"})).await.expect(200);
    world.send_text(&mobile(1), "oi").await.expect_error(403, "EXTERNAL_AI_DISABLED");
    for action in ["resume-ai", "read", "opt-in", "unblock"] {
        world.act(&contact, action, Value::Null).await.expect(200);
        world.send_text(&mobile(1), "oi").await.expect_error(403, "EXTERNAL_AI_DISABLED");
    }
    let full = world.act(&contact, "enable-external-ai", Value::Null).await.expect(200);
    assert_eq!(of(&full), open(member, false, true), "the service's AI stays as it is");
    world.sent(&mobile(1), "oi").await;
}

// `ai-turn`.

#[both_stores]
async fn an_ai_turn_sends_its_bubbles_under_one_debit(world: World) {
    let (_, contact, member) = talking(&world).await;
    world.close(&contact).await;
    let body = json!({"messages": ["um", "dois", "três"], "prosas": 1.5, "cost_brl": 0.03});
    let full = world.act(&contact, "ai-turn", body).await.expect(200);
    assert_eq!(of(&full), resolved(member, true, true), "a turn reopens nothing");
    let messages = full["messages"].as_array().expect("the messages").clone();
    let texts: Vec<String> = messages.iter().map(|one| text(&one["content"])).collect();
    assert_eq!(texts, ["um", "dois", "três"]);
    let debit = world.message(&text(&messages[0]["id"])).await["prosa"].clone();
    assert_eq!(debit["scope"], "turn");
    assert_eq!(text(&debit["prosas"]), "1.5", "the whole debit");
    for one in &messages {
        let shown = world.message(&text(&one["id"])).await;
        assert_eq!(shown["sender_type"], "ai");
        assert_eq!(shown["prosa"], debit);
    }
    assert_eq!(world.events_of("message.sent").await.len(), 3);
    let ledger = world.get("/api/v1/prosas/consumption").await;
    assert_eq!(ledger.column("consumption_id"), [text(&debit["consumption_id"])]);
}

#[both_stores]
async fn an_ai_turn_is_refused_as_a_send_is(world: World) {
    let (qr, contact, _) = talking(&world).await;
    let turn = json!({"messages": ["um"], "prosas": 1, "cost_brl": 0.02});
    world.act(&contact, "block", Value::Null).await.expect(200);
    let answer = world.act(&contact, "ai-turn", turn.clone()).await;
    answer.expect_error(403, "CONTACT_BLOCKED");
    world.receive(&qr, &digits(&mobile(1)), "sair").await;
    let answer = world.act(&contact, "ai-turn", turn.clone()).await;
    answer.expect_error(403, "CONTACT_OPTED_OUT");
    assert!(world.get("/api/v1/prosas/consumption").await.items().is_empty());
    for body in [
        json!({"messages": [], "prosas": 1, "cost_brl": 1}),
        json!({"messages": ["um"]}),
        json!({"messages": ["um"], "prosas": -1, "cost_brl": 1}),
        json!({"messages": [5], "prosas": 1, "cost_brl": 1}),
    ] {
        world.act(&contact, "ai-turn", body).await.expect_error(422, "VALIDATION_ERROR");
    }
    let nothing = world.act(&contact, "ai-turn", json!({})).await;
    assert_eq!(nothing.expect_invalid(), ["cost_brl", "messages", "prosas"]);
}

/// D42.
#[both_stores]
async fn the_services_ai_goes_by_its_own_flags_and_not_by_the_external_ai(world: World) {
    let (_, contact, member) = talking(&world).await;
    let turn = || json!({"messages": ["um"], "prosas": 1, "cost_brl": 0.02});
    let ai_turn = || world.act(&contact, "ai-turn", turn());
    for mode in ["external", "off"] {
        world.act(&contact, "ai-mode", json!({"mode": mode})).await.expect(200);
        ai_turn().await.expect_error(403, "AI_DISABLED");
    }
    world.act(&contact, "ai-mode", json!({"mode": "service"})).await.expect(200);
    let full = ai_turn().await.expect(200);
    assert_eq!(of(&full), open(member.clone(), true, false), "the external AI is off");
    world.send_text(&mobile(1), "oi").await.expect_error(403, "EXTERNAL_AI_DISABLED");

    let until = world.time_in(60_000);
    world.act(&contact, "pause-ai", json!({"until": until})).await.expect(200);
    ai_turn().await.expect_error(403, "AI_DISABLED");
    world.advance(Duration::from_millis(59_999));
    ai_turn().await.expect_error(403, "AI_DISABLED");
    world.advance(Duration::from_millis(1));
    ai_turn().await.expect(200);
    let until = world.time_in(60_000);
    world.act(&contact, "pause-ai", json!({"until": until})).await.expect(200);
    ai_turn().await.expect_error(403, "AI_DISABLED");
    world.act(&contact, "resume-ai", Value::Null).await.expect(200);
    ai_turn().await.expect(200);

    for (action, body) in [
        ("take-over", json!({"member_id": member})),
        ("handoff", json!({})),
        ("reply", json!({"message": "pois não"})),
    ] {
        world.act(&contact, "ai-mode", json!({"mode": "service"})).await.expect(200);
        world.act(&contact, action, body).await.expect(200);
        ai_turn().await.expect_error(403, "AI_DISABLED");
        world.act(&contact, "enable-external-ai", Value::Null).await.expect(200);
        ai_turn().await.expect_error(403, "AI_DISABLED");
    }
    let ledger = world.get("/api/v1/prosas/consumption").await;
    assert_eq!(ledger.items().len(), 3, "a refused turn is not billed");
    let sent = world.messages_of(&contact).await;
    assert_eq!(sent.iter().filter(|one| one["sender_type"] == "ai").count(), 3, "nor sent");
}

/// R24.
#[both_stores]
async fn the_debit_of_a_turn_stands_only_if_a_bubble_was_accepted(world: World) {
    let qr = world.qr().await;
    let contact = world.contact_by_message(&qr, &recado_tests::steered(1)).await;
    let turn = json!({"messages": ["um", "dois"], "prosas": 1, "cost_brl": 0.02});
    world.act(&contact, "ai-turn", turn).await.expect_error(502, "PROVIDER_ERROR");
    let ledger = world.get("/api/v1/prosas/consumption").await.json();
    assert_eq!(ledger["totals"]["prosas"].as_f64(), Some(0.0));
    assert_eq!(ledger["totals"]["cost_brl"].as_f64(), Some(0.0));
}

// The routes.

#[both_stores]
async fn an_unknown_action_or_contact_is_404_and_unknown_fields_are_422(world: World) {
    let (_, contact, member) = talking(&world).await;
    world.act(&contact, "dance", json!({})).await.expect_error(404, "NOT_FOUND");
    for action in ["close", "handoff", "block", "unblock", "read", "resume-ai", "opt-in"] {
        world.act(&unknown_id(), action, json!({})).await.expect_error(404, "NOT_FOUND");
        let answer = world.act(&contact, action, json!({"nope": 1})).await;
        assert_eq!(answer.expect_invalid(), ["nope"], "{action}");
    }
    assert_eq!(state(&world, &contact).await, open(member, true, true));
}

#[both_stores]
async fn a_contact_deleted_goes_with_its_messages_and_memory(world: World) {
    let (_, contact, _) = talking(&world).await;
    world.sent(&mobile(1), "oi").await;
    world.delete(&format!("/api/v1/contacts/{contact}")).await.expect_deleted();
    assert!(world.all_messages().await.is_empty());
    world.get(&format!("/api/v1/contacts/{contact}/messages")).await.expect_error(404, "NOT_FOUND");
}

/// An approved template, as the body of a reply with it.
async fn template(world: &World) -> Value {
    world.template("ola", "UTILITY", "Olá {{1}}, tudo bem?").await;
    json!({"template": "ola", "variables": {"1": "Ana"}})
}
