//! Contacts of the operator API: import, PATCH, GET: docs/operator-api.md; D17, D20.

use std::time::Duration;

use recado_tests::{World, both_stores, phone, text, unknown_id};
use serde_json::{Value, json};

#[both_stores]
async fn an_import_needs_a_phone_or_an_identifier(world: World) {
    let answer = world.operator("POST", "C/contacts", json!({"name": "x"})).await;
    assert!(!answer.expect_invalid().is_empty());
    world.import(json!({"phone": phone(1)})).await;
    world.import(json!({"identifier": "abc"})).await;
}

#[both_stores]
async fn an_import_answers_with_the_whole_record(world: World) {
    let made = world
        .make("C/contacts", json!({"phone": phone(1), "name": "Ana", "external_ai_enabled": false}))
        .await;
    let read = world.operator_get(&format!("C/contacts/{}", text(&made["id"]))).await;
    assert_eq!(made["name"], "Ana");
    assert_eq!(made["id"], read["id"]);
    assert_eq!(read["external_ai_enabled"], false);
}

#[both_stores]
async fn two_imported_contacts_may_share_a_phone_but_not_an_identifier(world: World) {
    let first = world.import(json!({"phone": phone(1), "identifier": "a"})).await;
    let second = world.import(json!({"phone": phone(1), "identifier": "b"})).await;
    assert_ne!(first, second);
    let answer =
        world.operator("POST", "C/contacts", json!({"phone": phone(2), "identifier": "a"})).await;
    answer.expect_error(409, "CONTACT_EXISTS");
    assert_eq!(answer.json()["contact_id"], first.as_str());
    world.import(json!({"identifier": "a", "source_platform": "instagram"})).await;
}

#[both_stores]
async fn a_taken_email_of_an_import_goes_to_shared_email(world: World) {
    world.import(json!({"phone": phone(1), "email": "a@example.com"})).await;
    let id = world.import(json!({"phone": phone(2), "email": "a@example.com"})).await;
    let stored = world.operator_get(&format!("C/contacts/{id}")).await;
    assert_eq!(stored["email"], Value::Null);
    assert_eq!(stored["shared_email"], "a@example.com");
}

#[both_stores]
async fn an_import_takes_every_stored_field(world: World) {
    let tag = text(&world.make("C/tags", json!({"name": "t", "color": "#111111"})).await["id"]);
    let field = world.field("plano").await;
    let member = text(&world.make("C/members", json!({"display_name": "m"})).await["id"]);
    let body = json!({
        "phone": phone(1), "identifier": "x", "name": "n", "wa_profile_name": "wp", "wa_push_name": "wq",
        "priority": "urgent", "crm_status": "lost", "is_pinned": true, "is_muted": true, "is_archived": true,
        "is_blocked": true, "is_ai_enabled": false, "inbox_status": "resolved", "tag_ids": [tag],
        "custom_fields": {&field: "ouro"}, "assigned_to_member_id": member,
        "opted_out_at": "2026-01-01T00:00:00.000Z", "external_ai_enabled": false,
        "last_message_at": "2026-01-02T00:00:00.000Z", "last_read_at": "2026-01-03T00:00:00.000Z",
        "created_at": "2025-01-01T00:00:00.000Z",
    });
    let mut sent = body.clone();
    sent["id"] = recado_tests::unknown_id().into();
    let id = world.import(sent.clone()).await;
    assert_ne!(sent["id"], id.as_str(), "it has one of its own");
    let stored = world.operator_get(&format!("C/contacts/{id}")).await;
    for (name, value) in body.as_object().expect("an object") {
        if name != "tag_ids" {
            assert_eq!(&stored[name], value, "{name}");
        }
    }
    assert_eq!(stored["tags"][0]["id"], tag.as_str());
}

#[both_stores]
async fn an_import_refuses_computed_and_unknown_fields_and_names_all_that_is_wrong(world: World) {
    for computed in ["display_name", "pipeline_stage", "connections", "lead_memory"] {
        let answer =
            world.operator("POST", "C/contacts", json!({"phone": phone(1), computed: null})).await;
        if answer.status != 201 {
            assert_eq!(answer.expect_invalid(), [computed]);
        } else {
            panic!("{computed} was taken");
        }
    }
    let answer = world.operator("POST", "C/contacts", json!({
        "phone": "x", "priority": "huge", "crm_status": "x", "inbox_status": "x", "is_group": 1, "created_at": "never", "nope": 1,
    })).await;
    assert_eq!(
        answer.expect_invalid(),
        ["created_at", "crm_status", "inbox_status", "is_group", "nope", "phone", "priority"]
    );
}

/// 2.1.
#[both_stores]
async fn an_imported_person_has_no_external_chat_id_and_a_group_has_its_code(world: World) {
    let chat = "120363041234567890@g.us";
    for (n, is_group) in (1..).zip([json!(false), Value::Null]) {
        let body = json!({"phone": phone(n), "external_chat_id": chat, "is_group": is_group});
        let answer = world.operator("POST", "C/contacts", body).await;
        assert_eq!(answer.expect_invalid(), ["external_chat_id"]);
    }
    let body = json!({"phone": phone(1), "external_chat_id": "x", "priority": "huge"});
    let answer = world.operator("POST", "C/contacts", body).await;
    assert_eq!(answer.expect_invalid(), ["external_chat_id", "priority"]);
    assert!(world.list_ids("").await.is_empty());
    let person = world.import(json!({"phone": phone(1), "external_chat_id": ""})).await;
    assert_eq!(world.listed(&person).await["external_chat_id"], Value::Null);
    let body = json!({"identifier": "a", "is_group": true, "external_chat_id": "12@c.us"});
    let answer = world.operator("POST", "C/contacts", body).await;
    assert_eq!(answer.expect_invalid(), ["external_chat_id"]);
    let group = world.import(json!({"identifier": chat, "is_group": true})).await;
    assert_eq!(world.listed(&group).await["external_chat_id"], chat, "its identifier is its code");
    let body = json!({"identifier": "b", "is_group": true, "external_chat_id": " 7@g.us "});
    let group = world.import(body).await;
    assert_eq!(world.listed(&group).await["external_chat_id"], "7@g.us");
}

#[both_stores]
async fn the_operators_patch_changes_what_the_platform_changes(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let changes = json!({
        "priority": "high", "crm_status": "prospect", "is_archived": true, "is_pinned": true, "is_muted": true,
    });
    world.advance(Duration::from_secs(1));
    let before = world.detail(&id).await;
    world.operator("PATCH", &format!("C/contacts/{id}"), changes.clone()).await.expect(200);
    let after = world.detail(&id).await;
    for (name, value) in changes.as_object().expect("an object") {
        assert_eq!(&after[name], value, "{name}");
    }
    assert!(text(&after["updated_at"]) > text(&before["updated_at"]), "D44a");
}

#[both_stores]
async fn the_operators_patch_names_all_that_is_wrong_and_changes_nothing(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let answer = world.operator("PATCH", &format!("C/contacts/{id}"), json!({
        "priority": "huge", "crm_status": 1, "is_pinned": "yes", "tag_ids": "x", "name": "x", "is_archived": true,
    })).await;
    assert_eq!(answer.expect_invalid(), ["crm_status", "is_pinned", "name", "priority", "tag_ids"]);
    assert_eq!(world.detail(&id).await["is_archived"], false);
    let nulls = json!({
        "priority": null, "crm_status": null, "is_archived": null, "is_pinned": null, "is_muted": null,
        "tag_ids": null, "last_connection_id": null,
    });
    let answer = world.operator("PATCH", &format!("C/contacts/{id}"), nulls).await;
    assert_eq!(
        answer.expect_invalid(),
        ["crm_status", "is_archived", "is_muted", "is_pinned", "priority", "tag_ids"]
    );
}

#[both_stores]
async fn the_operator_reads_more_than_the_integrator(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let detail = world.detail(&id).await;
    let stored = world.operator_get(&format!("C/contacts/{id}")).await;
    for (name, value) in detail.as_object().expect("an object") {
        assert_eq!(&stored[name], value, "{name}");
    }
    for (name, value) in [
        ("external_ai_enabled", json!(true)),
        ("ai_paused_until", Value::Null),
        ("opted_out_at", Value::Null),
        ("shared_email", Value::Null),
        ("lists", json!([])),
    ] {
        assert_eq!(stored[name], value, "{name}");
        assert!(detail.get(name).is_none(), "{name} is the operator's");
    }
}

#[both_stores]
async fn the_operator_lists_contacts_by_page(world: World) {
    for n in 0..3 {
        world.create(json!({"phone": phone(n)})).await;
    }
    let answer = world.operator("GET", "C/contacts?limit=2", Value::Null).await;
    assert_eq!(answer.items().len(), 2);
    let pagination = json!({"page": 1, "limit": 2, "total": 3, "total_pages": 2});
    assert_eq!(answer.json()["pagination"], pagination);
    let answer = world.operator("GET", "C/contacts?limit=2&page=2", Value::Null).await;
    assert_eq!(answer.items().len(), 1);
    world.operator("GET", "C/contacts?limit=0", Value::Null).await.expect_bad_parameter("limit");
}

#[both_stores]
async fn an_unknown_contact_is_404_for_the_operator(world: World) {
    let unknown = unknown_id();
    world
        .operator("GET", &format!("C/contacts/{unknown}"), Value::Null)
        .await
        .expect_error(404, "NOT_FOUND");
    world
        .operator("PATCH", &format!("C/contacts/{unknown}"), json!({"is_pinned": true}))
        .await
        .expect_error(404, "NOT_FOUND");
    world.operator("GET", "C/contacts/x", Value::Null).await.expect_error(404, "NOT_FOUND");
}
