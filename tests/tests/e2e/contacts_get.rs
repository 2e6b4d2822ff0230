//! GET /contacts/{id}: 2.2, 2.3.1, 4.2; D18, D44a.

use recado_tests::{World, both_stores, phone, text, unknown_id};
use serde_json::{Value, json};

/// The keys of the detail form (2.2) without `lead_memory`.
const KEYS: [&str; 33] = [
    "assigned_to",
    "assigned_to_member_id",
    "connections",
    "created_at",
    "crm_status",
    "custom_fields",
    "display_name",
    "email",
    "first_message_at",
    "id",
    "identifier",
    "inbox_status",
    "is_ai_enabled",
    "is_archived",
    "is_blocked",
    "is_muted",
    "is_pinned",
    "last_close_reason_id",
    "last_closed_at",
    "last_connection_id",
    "last_inbound_at",
    "last_message_at",
    "last_read_at",
    "name",
    "phone",
    "pipeline_stage",
    "pipeline_stage_id",
    "priority",
    "source_platform",
    "tags",
    "updated_at",
    "wa_profile_name",
    "wa_push_name",
];

fn keys(value: &Value) -> Vec<String> {
    let mut keys: Vec<String> = value.as_object().expect("an object").keys().cloned().collect();
    keys.sort();
    keys
}

fn expected_keys(more: &[&str]) -> Vec<String> {
    let mut keys: Vec<String> = KEYS.iter().chain(more).map(|&key| key.to_owned()).collect();
    keys.sort();
    keys
}

/// 4.2, D63.
#[both_stores]
async fn the_detail_form_has_exactly_the_documented_keys(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let key = world.key_with(&["contacts:read"]).await;
    let detail = world.get_as(&key, &format!("/api/v1/contacts/{id}")).await.expect(200);
    assert_eq!(keys(&detail), expected_keys(&[]));
}

#[both_stores]
async fn lead_memory_is_absent_without_the_scope_and_null_with_it(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let key = world.key_with(&["contacts:read"]).await;
    let without = world.get_as(&key, &format!("/api/v1/contacts/{id}")).await.expect(200);
    let mut with = world.detail(&id).await;
    assert_eq!(keys(&with), expected_keys(&["lead_memory"]));
    assert_eq!(with["lead_memory"], Value::Null);
    with.as_object_mut().expect("an object").remove("lead_memory");
    assert_eq!(with, without, "otherwise identical (2.3)");
}

#[both_stores]
async fn a_contact_without_anything_has_empty_collections_never_null(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let detail = world.detail(&id).await;
    assert_eq!(detail["custom_fields"], json!({}));
    assert_eq!(detail["connections"], json!([]));
    assert_eq!(detail["tags"], json!([]));
    assert_eq!(detail["assigned_to"], Value::Null);
}

/// R7.
#[both_stores]
async fn custom_fields_are_keyed_by_id_and_show_active_filled_ones_only(world: World) {
    let (active, later) = (world.field("active").await, world.field("later").await);
    let id = world
        .create_id(json!({"phone": phone(1), "custom_fields": {&active: "x", &later: "y"}}))
        .await;
    world
        .operator("PATCH", &format!("C/custom-fields/{later}"), json!({"status": "inactive"}))
        .await
        .expect(200);
    assert_eq!(world.detail(&id).await["custom_fields"], json!({&active: "x"}));
    world
        .operator("PATCH", &format!("C/custom-fields/{later}"), json!({"status": "active"}))
        .await
        .expect(200);
    assert_eq!(
        world.detail(&id).await["custom_fields"],
        json!({&active: "x", &later: "y"}),
        "the value was kept"
    );
}

#[both_stores]
async fn custom_fields_can_be_sent_back_in_post_and_patch(world: World) {
    let field = world.field("field").await;
    let id = world.create_id(json!({"phone": phone(1), "custom_fields": {&field: "x"}})).await;
    let block = world.detail(&id).await["custom_fields"].clone();
    world.patch_contact(&id, json!({"custom_fields": block})).await.expect(200);
    let copy = world.create_id(json!({"phone": phone(2), "custom_fields": block})).await;
    assert_eq!(world.detail(&copy).await["custom_fields"], block);
}

#[both_stores]
async fn the_whole_detail_body_with_another_phone_makes_a_copy_by_post(world: World) {
    let field = world.field("field").await;
    let id = world
        .create_id(json!({"phone": phone(1), "name": "Ana", "custom_fields": {&field: "x"}}))
        .await;
    let mut body = world.detail(&id).await;
    body["phone"] = json!(phone(2));
    body.as_object_mut().expect("an object").remove("identifier");
    let copy = world.create(body).await;
    assert_ne!(copy["id"], id.as_str());
    assert_eq!(copy["name"], "Ana");
    assert_eq!(copy["identifier"], &phone(2)[1..]);
}

#[both_stores]
async fn the_assignee_shows_with_id_name_and_role(world: World) {
    let member = world.make("C/members", json!({"display_name": "Bia", "role": "admin"})).await;
    let id = world.import(json!({"phone": phone(1), "assigned_to_member_id": member["id"]})).await;
    let detail = world.detail(&id).await;
    assert_eq!(detail["assigned_to_member_id"], member["id"]);
    assert_eq!(
        detail["assigned_to"],
        json!({"id": member["id"], "display_name": "Bia", "role": "admin"})
    );
}

#[both_stores]
async fn the_focus_stage_shows_with_its_name_color_and_order(world: World) {
    let pipeline = world.make("C/pipelines", json!({
        "name": "Vendas", "stages": [{"name": "Novo", "color": "#112233"}, {"name": "Fim", "color": "#445566"}],
    })).await;
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let stage = pipeline["stages"][1]["id"].clone();
    world.make("C/deals", json!({"contact_id": id, "title": "d", "stage_id": stage})).await;
    let shown = json!({"id": stage, "name": "Fim", "color": "#445566", "display_order": 1});
    for form in [world.detail(&id).await, world.listed(&id).await] {
        assert_eq!(form["pipeline_stage_id"], stage);
        assert_eq!(form["pipeline_stage"], shown);
    }
}

#[both_stores]
async fn include_profile_adds_the_native_fields_of_the_list_form(world: World) {
    let id =
        world.create_id(json!({"phone": phone(1), "city": "Recife", "cpf": "52998224725"})).await;
    let plain = world.detail(&id).await;
    let profile = world.get(&format!("/api/v1/contacts/{id}?include=profile")).await.expect(200);
    for (name, value) in plain.as_object().expect("an object") {
        assert_eq!(&profile[name], value, "{name}");
    }
    for name in [
        "avatar_url",
        "observation",
        "street",
        "street_number",
        "address_complement",
        "neighborhood",
        "city",
        "state",
        "postal_code",
        "country",
        "birthday",
        "cpf",
        "rg",
        "genero",
        "estado_civil",
        "profissao",
        "cargo",
    ] {
        assert!(profile.get(name).is_some(), "{name} is missing");
        assert!(plain.get(name).is_none(), "{name} is not in the detail form");
    }
    assert_eq!(profile["city"], "Recife");
    assert_eq!(profile["cpf"], "52998224725");
}

/// R15.
#[both_stores]
async fn an_unknown_include_is_400(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let answer = world.get(&format!("/api/v1/contacts/{id}?include=everything")).await;
    answer.expect_bad_parameter("include");
}

#[both_stores]
async fn an_unknown_id_is_404(world: World) {
    let unknown = unknown_id();
    world.get(&format!("/api/v1/contacts/{unknown}")).await.expect_error(404, "NOT_FOUND");
}

#[both_stores]
async fn what_is_no_uuid_is_404(world: World) {
    for wrong in [
        "x",
        "1",
        "%00",
        "..",
        "%2e%2e",
        "null",
        "0192f0c1-0000-7000-8000-00000000000g",
        "%F0%9F%98%80",
    ] {
        let answer = world.get(&format!("/api/v1/contacts/{wrong}")).await;
        answer.expect_error(404, "NOT_FOUND");
    }
}

#[both_stores]
async fn the_display_name_falls_back_step_by_step(world: World) {
    let profile = json!({"identifier": "a", "wa_profile_name": "Perfil", "wa_push_name": "Push", "phone": phone(1)});
    let push = json!({"identifier": "b", "wa_push_name": "Push", "phone": phone(2)});
    let bare = json!({"identifier": "c", "phone": "+5511987654321"});
    let nothing = json!({"identifier": "only-an-id"});
    for (body, shown) in
        [(profile, "Perfil"), (push, "Push"), (bare, "+55 11 98765-4321"), (nothing, "only-an-id")]
    {
        let id = world.import(body).await;
        assert_eq!(world.detail(&id).await["display_name"], shown, "D18");
    }
}

#[both_stores]
async fn a_contact_without_a_phone_shows_its_identifier_as_phone(world: World) {
    let id = world.import(json!({"identifier": "only-an-id"})).await;
    assert_eq!(world.detail(&id).await["phone"], "only-an-id", "D16");
}

#[both_stores]
async fn close_data_shows_in_both_forms(world: World) {
    let reason = text(&world.make("C/close-reasons", json!({"name": "done"})).await["id"]);
    let at = "2026-01-04T00:00:00.000Z";
    let id = world
        .import(json!({"phone": phone(1), "last_closed_at": at, "last_close_reason_id": reason}))
        .await;
    for form in [world.detail(&id).await, world.listed(&id).await] {
        assert_eq!(form["last_closed_at"], at);
        assert_eq!(form["last_close_reason_id"], reason.as_str());
    }
}
