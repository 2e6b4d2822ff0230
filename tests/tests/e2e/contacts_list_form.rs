//! A contact in the form of lists: 2.1.

use std::collections::BTreeSet;

use recado_tests::{World, both_stores, phone, text};
use serde_json::{Value, json};

/// The keys of the list form (2.1).
const KEYS: [&str; 49] = [
    "address_complement",
    "assigned_to_member_id",
    "avatar_url",
    "birthday",
    "cargo",
    "city",
    "country",
    "cpf",
    "created_at",
    "crm_status",
    "custom_fields",
    "display_name",
    "email",
    "estado_civil",
    "external_chat_id",
    "first_message_at",
    "genero",
    "id",
    "identifier",
    "inbox_status",
    "is_ai_enabled",
    "is_archived",
    "is_blocked",
    "is_group",
    "is_simulated",
    "last_close_reason_id",
    "last_closed_at",
    "last_connection_id",
    "last_inbound_at",
    "last_message_at",
    "name",
    "neighborhood",
    "observation",
    "organization",
    "organization_id",
    "phone",
    "pipeline_stage",
    "pipeline_stage_id",
    "postal_code",
    "priority",
    "profissao",
    "rg",
    "source_platform",
    "state",
    "street",
    "street_number",
    "tags",
    "updated_at",
    "wa_push_name",
];

#[both_stores]
async fn the_list_form_has_exactly_the_documented_keys(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let contact = world.listed(&id).await;
    let found: BTreeSet<&str> =
        contact.as_object().expect("an object").keys().map(String::as_str).collect();
    let expected: BTreeSet<&str> = KEYS.into_iter().collect();
    assert_eq!(found, expected);
}

#[both_stores]
async fn a_new_contact_shows_nulls_and_defaults(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let contact = world.listed(&id).await;
    assert_eq!(contact["custom_fields"], json!({}));
    assert_eq!(contact["tags"], json!([]));
    assert_eq!(contact["organization"], Value::Null);
    assert_eq!(contact["pipeline_stage"], Value::Null);
    assert_eq!(contact["external_chat_id"], Value::Null);
    for flag in ["is_group", "is_simulated", "is_archived", "is_blocked"] {
        assert_eq!(contact[flag], false, "{flag}");
    }
}

#[both_stores]
async fn every_stored_field_shows_in_the_list_form(world: World) {
    let reason = text(&world.make("C/close-reasons", json!({"name": "done"})).await["id"]);
    let stored = json!({
        "phone": phone(1), "identifier": "chan-1", "name": "Ana", "email": "a@example.com",
        "wa_push_name": "aninha", "avatar_url": "https://example.com/a.png",
        "observation": "o", "source_platform": "instagram", "inbox_status": "resolved",
        "priority": "high", "crm_status": "customer", "is_ai_enabled": false,
        "is_archived": true, "is_blocked": true, "is_simulated": true,
        "first_message_at": "2026-01-01T00:00:00.000Z",
        "last_message_at": "2026-01-02T00:00:00.000Z",
        "last_inbound_at": "2026-01-03T00:00:00.000Z",
        "last_closed_at": "2026-01-04T00:00:00.000Z", "last_close_reason_id": reason,
        "street": "Rua A", "street_number": "10", "address_complement": "ap 1",
        "neighborhood": "Centro", "city": "Recife", "state": "PE", "postal_code": "50010000",
        "country": "BR", "birthday": "1990-01-01", "cpf": "52998224725", "rg": "1",
        "genero": "f", "estado_civil": "s", "profissao": "p", "cargo": "chefe",
        "created_at": "2025-12-31T00:00:00.000Z",
    });
    let id = world.import(stored.clone()).await;
    let contact = world.listed(&id).await;
    for (name, value) in stored.as_object().expect("an object") {
        assert_eq!(&contact[name], value, "{name}");
    }
}

#[both_stores]
async fn a_group_shows_its_code_and_its_identifier_as_phone(world: World) {
    let code = "120363000000000001@g.us";
    let id = world
        .import(json!({
            "identifier": code, "name": "Time", "is_group": true, "external_chat_id": code,
        }))
        .await;
    let contact = world.listed(&id).await;
    assert_eq!(contact["is_group"], true);
    assert_eq!(contact["external_chat_id"], code);
    assert_eq!(contact["phone"], code, "D16");
}

#[both_stores]
async fn tags_show_with_id_name_and_color(world: World) {
    let tag = world.make("C/tags", json!({"name": "vip", "color": "#ff0000"})).await;
    let id = world.create_id(json!({"phone": phone(1)})).await;
    world
        .operator("PATCH", &format!("C/contacts/{id}"), json!({"tag_ids": [tag["id"]]}))
        .await
        .expect(200);
    let shown = json!([{"id": tag["id"], "name": "vip", "color": "#ff0000"}]);
    assert_eq!(world.listed(&id).await["tags"], shown);
    assert_eq!(world.detail(&id).await["tags"], shown);
}

/// R7.
#[both_stores]
async fn custom_fields_are_keyed_by_slug_whatever_the_definitions_status(world: World) {
    let field = world.field("plano").await;
    let id = world.create_id(json!({"phone": phone(1), "custom_fields": {&field: "ouro"}})).await;
    world
        .operator("PATCH", &format!("C/custom-fields/{field}"), json!({"status": "inactive"}))
        .await
        .expect(200);
    assert_eq!(world.listed(&id).await["custom_fields"], json!({"plano": "ouro"}), "D58");
    assert_eq!(world.detail(&id).await["custom_fields"], json!({}), "2.2: active only");
}
