//! PATCH /contacts/{id}: 4.4, 7.1; D20, D23, D44a.

use std::time::Duration;

use recado_tests::{World, both_stores, join_all, phone, text, unknown_id};
use serde_json::{Value, json};

async fn rich(world: &World) -> (String, String) {
    let field = world.field("plano").await;
    let id = world
        .create_id(json!({
            "phone": "+5511987654321", "name": "Ana", "email": "ana@example.com",
            "birthday": "1990-02-28", "observation": "nota", "cpf": "52998224725", "rg": "1",
            "genero": "f", "estado_civil": "s", "profissao": "p", "city": "c", "state": "SP",
            "postal_code": "01310100", "custom_fields": {&field: "ouro"},
        }))
        .await;
    (id, field)
}

#[both_stores]
async fn only_the_fields_sent_change(world: World) {
    let (id, _) = rich(&world).await;
    let before = world.listed(&id).await;
    world.patch_contact(&id, json!({"city": "Recife"})).await.expect(200);
    let mut after = world.listed(&id).await;
    assert_eq!(after["city"], "Recife");
    after["city"] = before["city"].clone();
    after["updated_at"] = before["updated_at"].clone();
    assert_eq!(after, before);
}

#[both_stores]
async fn every_writable_field_changes(world: World) {
    let (id, _) = rich(&world).await;
    let changes = json!({
        "name": "Bia", "email": "bia@example.com", "birthday": "1991-03-01",
        "observation": "outra", "city": "Rio", "state": "RJ", "postal_code": "20040002",
        "cpf": "11144477735", "rg": "2", "genero": "x", "estado_civil": "c", "profissao": "q",
    });
    world.patch_contact(&id, changes.clone()).await.expect(200);
    let after = world.listed(&id).await;
    for (name, value) in changes.as_object().expect("an object") {
        assert_eq!(&after[name], value, "{name}");
    }
    assert_eq!(after["display_name"], "Bia");
}

#[both_stores]
async fn the_answer_has_the_fields_of_create_without_shared_email(world: World) {
    let created = world.create(json!({"phone": phone(1)})).await;
    let answer = world.patch_contact(&text(&created["id"]), json!({"name": "Ana"})).await;
    let data = answer.expect(200);
    let mut expected: Vec<String> =
        created.as_object().expect("an object").keys().cloned().collect();
    expected.retain(|key| key != "shared_email");
    let found: Vec<String> =
        data["contact"].as_object().expect("an object").keys().cloned().collect();
    assert_eq!(found, expected);
    assert_eq!(data["contact"]["name"], "Ana");
    assert!(answer.json().get("warnings").is_none());
}

#[both_stores]
async fn the_empty_string_and_null_clear_a_native_field(world: World) {
    let names = [
        "email",
        "birthday",
        "observation",
        "city",
        "state",
        "postal_code",
        "cpf",
        "rg",
        "genero",
        "estado_civil",
        "profissao",
    ];
    for empty in [json!(""), json!("  "), Value::Null] {
        let (id, field) = rich_again(&world).await;
        for name in names {
            world.patch_contact(&id, json!({name: empty})).await.expect(200);
        }
        world.patch_contact(&id, json!({"name": empty})).await.expect(200);
        let after = world.listed(&id).await;
        for name in names {
            assert_eq!(after[name], Value::Null, "{name} cleared by {empty}");
        }
        assert_eq!(after["name"], "", "a cleared name is empty (D23)");
        assert_eq!(after["display_name"], "+55 11 98765-4321");
        assert_eq!(world.detail(&id).await["custom_fields"][&field], "ouro");
        world.delete(&format!("/api/v1/contacts/{id}")).await.expect_deleted();
    }
}

// 4.4.1

#[both_stores]
async fn custom_fields_merge_field_by_field(world: World) {
    let (a, b) = (world.field("aaa").await, world.field("bbb").await);
    let id = world.create_id(json!({"phone": phone(1), "custom_fields": {&a: "1"}})).await;
    world.patch_contact(&id, json!({"custom_fields": {&b: "2"}})).await.expect(200);
    assert_eq!(world.detail(&id).await["custom_fields"], json!({&a: "1", &b: "2"}));
    world.patch_contact(&id, json!({"custom_fields": {&a: "3"}})).await.expect(200);
    assert_eq!(world.detail(&id).await["custom_fields"], json!({&a: "3", &b: "2"}));
    world.patch_contact(&id, json!({"custom_fields": {}})).await.expect(200);
    assert_eq!(world.detail(&id).await["custom_fields"], json!({&a: "3", &b: "2"}));
}

#[both_stores]
async fn custom_fields_of_unknown_inactive_or_foreign_definitions_are_422(world: World) {
    let inactive = text(
        &world
            .make("C/custom-fields", json!({"label": "i", "slug": "iii", "status": "inactive"}))
            .await["id"],
    );
    let other = world.tenant("Other").await;
    let foreign = text(
        &world.make_for(&other, "C/custom-fields", json!({"label": "f", "slug": "fff"})).await["id"],
    );
    let unknown = unknown_id();
    let id = world.create_id(json!({"phone": phone(1)})).await;
    for wrong in [&inactive, &foreign, &unknown] {
        let answer = world.patch_contact(&id, json!({"custom_fields": {wrong: "x"}})).await;
        assert_eq!(answer.expect_invalid(), ["custom_fields"]);
        assert_eq!(answer.json()["details"]["custom_fields"], json!([wrong]));
        assert!(!text(&answer.json()["details"]["hint"]).is_empty());
    }
}

// 4.4.3, D22

#[both_stores]
async fn a_cnpj_links_an_organization_only_if_there_is_none(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    assert_eq!(world.listed(&id).await["organization"], Value::Null);
    world.patch_contact(&id, json!({"cnpj": "19.131.243/0001-97"})).await.expect(200);
    let linked = world.listed(&id).await;
    assert_eq!(linked["organization"]["cnpj"], "19131243000197");
    assert_eq!(linked["organization_id"], linked["organization"]["id"]);
    world.patch_contact(&id, json!({"cnpj": "11222333000181"})).await.expect(200);
    assert_eq!(world.listed(&id).await["organization"], linked["organization"]);
    world.patch_contact(&id, json!({"cnpj": ""})).await.expect(200);
    assert_eq!(world.listed(&id).await["organization"], linked["organization"]);
}

// 4.4.4

#[both_stores]
async fn the_whole_detail_body_can_be_sent_back_unchanged(world: World) {
    let (id, _) = rich(&world).await;
    let tag = text(&world.make("C/tags", json!({"name": "vip", "color": "#ff0000"})).await["id"]);
    world
        .operator("PATCH", &format!("C/contacts/{id}"), json!({"tag_ids": [tag]}))
        .await
        .expect(200);
    let before = world.detail(&id).await;
    world.advance(Duration::from_secs(60));
    world.patch_contact(&id, before.clone()).await.expect(200);
    assert_eq!(world.detail(&id).await, before, "nothing changed, not even updated_at");
}

#[both_stores]
async fn read_only_fields_are_ignored_whatever_they_hold(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let before = world.detail(&id).await;
    let mut body = serde_json::Map::new();
    for name in [
        "id",
        "display_name",
        "crm_status",
        "inbox_status",
        "tags",
        "connections",
        "assigned_to",
        "lead_memory",
        "created_at",
        "updated_at",
        "last_closed_at",
        "last_close_reason_id",
        "shared_email",
        "wa_profile_name",
        "wa_push_name",
        "source_platform",
        "priority",
        "is_ai_enabled",
        "is_archived",
        "is_pinned",
        "is_muted",
        "is_blocked",
        "first_message_at",
        "last_message_at",
        "last_inbound_at",
        "last_read_at",
        "pipeline_stage_id",
        "assigned_to_member_id",
        "last_connection_id",
        "pipeline_stage",
    ] {
        body.insert(name.to_owned(), json!({"anything": [1, 2]}));
    }
    world.advance(Duration::from_secs(1));
    world.patch_contact(&id, Value::Object(body)).await.expect(200);
    assert_eq!(world.detail(&id).await, before);
}

// 4.4.5

#[both_stores]
async fn the_current_phone_is_accepted_however_it_is_written(world: World) {
    let id = world.create_id(json!({"phone": "+5511987654321"})).await;
    for same in ["+5511987654321", "(11) 98765-4321", "11 8765-4321", "5511987654321"] {
        world.patch_contact(&id, json!({"phone": same, "name": "x"})).await.expect(200);
    }
    world.patch_contact(&id, json!({"identifier": "5511987654321"})).await.expect(200);
}

#[both_stores]
async fn another_phone_or_identifier_is_422_with_details_fields(world: World) {
    let id = world.create_id(json!({"phone": "+5511987654321", "name": "Ana"})).await;
    for (name, value) in [
        ("phone", "+5511987654322"),
        ("phone", "abc"),
        ("phone", ""),
        ("identifier", "5511987654322"),
        ("identifier", "other"),
    ] {
        let answer = world.patch_contact(&id, json!({name: value, "name": "Bia"})).await;
        assert_eq!(answer.expect_invalid(), [name], "{name}={value:?}");
    }
    assert_eq!(world.detail(&id).await["name"], "Ana", "a refused PATCH changes nothing");
}

// 4.4.6

#[both_stores]
async fn any_unknown_key_is_422_and_nothing_changes(world: World) {
    let id = world.create_id(json!({"phone": phone(1), "name": "Ana"})).await;
    let answer = world.patch_contact(&id, json!({"name": "Bia", "nmae": "x", "avatar": 1})).await;
    assert_eq!(answer.expect_invalid(), ["avatar", "nmae"]);
    assert_eq!(world.detail(&id).await["name"], "Ana");
}

// D23

#[both_stores]
async fn an_empty_body_is_200_and_changes_nothing(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let before = world.detail(&id).await;
    world.advance(Duration::from_secs(1));
    world.patch_contact(&id, json!({})).await.expect(200);
    assert_eq!(world.detail(&id).await, before);
}

#[both_stores]
async fn lists_are_added_and_none_is_removed(world: World) {
    let (a, b) = (world.list("a").await, world.list("b").await);
    let id = world.create_id(json!({"phone": phone(1), "list_ids": [&a]})).await;
    world.patch_contact(&id, json!({"list_ids": [&b]})).await.expect(200);
    world.patch_contact(&id, json!({"list_ids": []})).await.expect(200);
    world.patch_contact(&id, json!({"list_ids": [&b, &b]})).await.expect(200);
    let lists = world.get("/api/v1/lists").await.items();
    assert_eq!(lists.iter().map(|list| list["contacts_count"].clone()).collect::<Vec<_>>(), [1, 1]);
}

#[both_stores]
async fn a_list_not_of_ours_or_inactive_is_404_and_nothing_changes(world: World) {
    let good = world.list("good").await;
    let inactive =
        text(&world.make("C/lists", json!({"name": "i", "is_active": false})).await["id"]);
    let unknown = unknown_id();
    let id = world.create_id(json!({"phone": phone(1), "name": "Ana"})).await;
    for wrong in [&inactive, &unknown] {
        let body = json!({"name": "Bia", "list_ids": [&good, wrong]});
        let details = world.patch_contact(&id, body).await.expect_error(404, "NOT_FOUND");
        assert_eq!(details["list_ids"], json!([wrong]));
    }
    assert_eq!(world.detail(&id).await["name"], "Ana");
    assert_eq!(world.get("/api/v1/lists").await.items()[0]["contacts_count"], 0);
}

// D20

#[both_stores]
async fn a_taken_email_goes_to_shared_email_and_leaves_email(world: World) {
    world.create(json!({"phone": phone(1), "email": "taken@example.com"})).await;
    let id = world.create_id(json!({"phone": phone(2), "email": "mine@example.com"})).await;
    let answer = world.patch_contact(&id, json!({"email": "TAKEN@example.com"})).await;
    assert_eq!(answer.expect(200)["contact"]["email"], "mine@example.com");
    assert_eq!(answer.json()["warnings"][0]["code"], "EMAIL_BELONGS_TO_ANOTHER_CONTACT");
    assert_eq!(answer.json()["warnings"][0]["field"], "email");
    let stored = world.operator_get(&format!("C/contacts/{id}")).await;
    assert_eq!(stored["shared_email"], "taken@example.com");
    assert_eq!(stored["email"], "mine@example.com");
}

// D44a

#[both_stores]
async fn concurrent_updates_of_one_contact_lose_nothing(world: World) {
    let mut fields = Vec::new();
    for n in 0..10 {
        fields.push(world.field(&format!("field-{n}")).await);
    }
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let calls =
        fields.iter().map(|field| world.patch_contact(&id, json!({"custom_fields": {field: "x"}})));
    for answer in join_all(calls.collect()).await {
        answer.expect(200);
    }
    let stored = world.detail(&id).await["custom_fields"].clone();
    assert_eq!(stored.as_object().expect("an object").len(), 10);
}

// D6: validation, then the existence of the record, then checks that need the record

#[both_stores]
async fn an_unknown_contact_is_404_but_a_wrong_body_comes_first(world: World) {
    let unknown = unknown_id();
    world.patch_contact(&unknown, json!({"name": "x"})).await.expect_error(404, "NOT_FOUND");
    assert_eq!(
        world.patch_contact(&unknown, json!({"nmae": "x"})).await.expect_invalid(),
        ["nmae"]
    );
    world.patch_contact(&unknown, json!({"phone": phone(1)})).await.expect_error(404, "NOT_FOUND");
}

async fn rich_again(world: &World) -> (String, String) {
    let fields = world.get("/api/v1/custom-fields").await.items();
    if fields.is_empty() {
        return rich(world).await;
    }
    let field = text(&fields[0]["id"]);
    let id = world
        .create_id(json!({
            "phone": "+5511987654321", "name": "Ana", "email": "ana@example.com",
            "birthday": "1990-02-28", "observation": "nota", "cpf": "52998224725", "rg": "1",
            "genero": "f", "estado_civil": "s", "profissao": "p", "city": "c", "state": "SP",
            "postal_code": "01310100", "custom_fields": {&field: "ouro"},
        }))
        .await;
    (id, field)
}
