//! POST /contacts: 4.3, 7.1, 8; D8, D9, D14–D16, D18–D21.

use recado_tests::{Setup, StoreKind, World, both_stores, phone, text, unknown_id};
use serde_json::{Value, json};

const PATH: &str = "/api/v1/contacts";

/// The keys of the answer, as 4.3 lists them.
const KEYS: [&str; 24] = [
    "assigned_to_member_id",
    "created_at",
    "crm_status",
    "display_name",
    "email",
    "first_message_at",
    "id",
    "identifier",
    "inbox_status",
    "is_ai_enabled",
    "is_archived",
    "is_blocked",
    "last_close_reason_id",
    "last_closed_at",
    "last_connection_id",
    "last_inbound_at",
    "last_message_at",
    "name",
    "phone",
    "pipeline_stage_id",
    "priority",
    "shared_email",
    "source_platform",
    "updated_at",
];

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> =
        value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[both_stores]
async fn a_phone_alone_makes_a_contact_with_the_documented_defaults(world: World) {
    let answer = world.post_contact(json!({"phone": "+5511987654321"})).await;
    let data = answer.expect(201);
    assert_eq!(keys(&data), ["contact"]);
    let contact = &data["contact"];
    assert_eq!(keys(contact), KEYS);
    assert_eq!(contact["phone"], "+5511987654321");
    assert_eq!(contact["identifier"], "5511987654321", "D15");
    assert_eq!(contact["email"], Value::Null);
    assert_eq!(contact["shared_email"], Value::Null);
    assert_eq!(contact["name"], "", "D18");
    assert_eq!(contact["source_platform"], "whatsapp", "D2");
    assert_eq!(contact["inbox_status"], "open");
    assert_eq!(contact["priority"], "normal");
    assert_eq!(contact["crm_status"], "lead");
    assert_eq!(contact["is_ai_enabled"], true);
    for flag in ["is_archived", "is_blocked"] {
        assert_eq!(contact[flag], false, "{flag}");
    }
    for empty in [
        "first_message_at",
        "last_message_at",
        "last_inbound_at",
        "last_closed_at",
        "last_close_reason_id",
        "pipeline_stage_id",
        "assigned_to_member_id",
        "last_connection_id",
    ] {
        assert_eq!(contact[empty], Value::Null, "{empty}");
    }
    assert_eq!(contact["created_at"], contact["updated_at"]);
    assert!(answer.json().get("warnings").is_none(), "absent when empty (D20)");
}

/// D3.
#[both_stores]
async fn ids_are_uuid_v7_and_times_are_utc_with_milliseconds(kind: StoreKind) {
    let world = World::with(kind, Setup { alone: true, ..Setup::default() }).await;
    let contact = world.create(json!({"phone": phone(1)})).await;
    let id = uuid::Uuid::parse_str(&text(&contact["id"])).expect("a uuid");
    assert_eq!(id.get_version_num(), 7, "D3");
    let created = text(&contact["created_at"]);
    assert_eq!(created.len(), "2026-11-20T17:31:36.123Z".len(), "{created}");
    assert!(created.ends_with('Z') && created.as_bytes()[19] == b'.', "{created}");
}

#[both_stores]
async fn every_documented_field_is_stored(world: World) {
    let field = world.field("plano").await;
    let list = world.list("VIP").await;
    let id = world
        .create_id(json!({
            "phone": "(11) 98765-4321", "name": "João da Silva", "email": "Joao@Example.COM",
            "birthday": "1990-02-28", "observation": "gosta de café\nsem açúcar",
            "cpf": "529.982.247-25", "rg": "12.345.678-9", "genero": "masculino",
            "estado_civil": "casado", "profissao": "padeiro", "city": "São Paulo", "state": "SP",
            "postal_code": "01310-100", "cnpj": "19.131.243/0001-97",
            "custom_fields": {&field: "ouro"}, "list_ids": [&list],
        }))
        .await;
    let contact = world.listed(&id).await;
    let expected = json!({
        "phone": "+5511987654321", "name": "João da Silva", "display_name": "João da Silva",
        "email": "joao@example.com", "birthday": "1990-02-28",
        "observation": "gosta de café\nsem açúcar", "cpf": "52998224725",
        "rg": "12.345.678-9", "genero": "masculino", "estado_civil": "casado",
        "profissao": "padeiro", "city": "São Paulo", "state": "SP", "postal_code": "01310100",
        "custom_fields": {"plano": "ouro"},
    });
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(&contact[name], value, "{name}");
    }
    assert_eq!(contact["organization"]["cnpj"], "19131243000197");
    let stored = world.operator_get(&format!("C/contacts/{id}")).await;
    assert_eq!(stored["lists"][0]["id"], list.as_str());
}

#[both_stores]
async fn a_created_contact_is_visible_to_the_very_next_call(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    assert_eq!(world.list_ids("").await, [id.clone()]);
    assert_eq!(world.export(50).await, [id.clone()]);
    assert_eq!(world.detail(&id).await["id"], id.as_str());
}

// D14, D15

#[both_stores]
async fn every_way_to_write_a_brazilian_mobile_is_one_phone(world: World) {
    let first = world.create(json!({"phone": "+55 11 98765-4321"})).await;
    for same in [
        "+5511987654321",
        "5511987654321",
        "11987654321",
        "(11) 98765-4321",
        "011987654321",
        "0 15 11 98765-4321",
        "+55 11 8765-4321",
        "551187654321",
        "1187654321",
        "  11 98765 4321  ",
        "+55 (11) 9.8765.4321",
    ] {
        let answer = world.post_contact(json!({"phone": same})).await;
        answer.expect_error(409, "CONTACT_EXISTS");
        assert_eq!(answer.json()["contact_id"], first["id"], "{same}");
    }
}

#[both_stores]
async fn a_number_without_plus_is_read_in_the_companys_region(world: World) {
    let body = json!({"name": "Lisboa", "default_region": "PT"});
    let company = world.operator("POST", "/companies", body).await.expect(201);
    let id = text(&company["id"]);
    let tenant = recado_tests::Tenant { id, key: String::new() };
    let key = json!({"name": "k", "scopes": ["contacts:write"]});
    let key = text(&world.make_for(&tenant, "C/keys", key).await["key"]);
    for (given, stored) in [("912 345 678", "+351912345678"), ("351912345679", "+351912345679")] {
        let answer = world.post_as(&key, PATH, json!({"phone": given})).await;
        assert_eq!(answer.expect(201)["contact"]["phone"], stored);
    }
}

#[both_stores]
async fn the_phone_is_required_and_must_be_a_string(world: World) {
    for body in [
        json!({}),
        json!({"phone": 5_511_987_654_321_u64}),
        json!({"phone": null}),
        json!({"phone": ["+5511987654321"]}),
        json!({"name": "sem telefone"}),
    ] {
        let answer = world.post_contact(body.clone()).await;
        assert_eq!(answer.expect_invalid(), ["phone"], "{body}");
    }
}

// 4.3.1, D17

#[both_stores]
async fn a_phone_that_a_contact_has_is_409_and_names_the_holder(world: World) {
    let first = world.create(json!({"phone": phone(1), "name": "A"})).await;
    let answer = world.post_contact(json!({"phone": phone(1), "name": "B"})).await;
    answer.expect_error(409, "CONTACT_EXISTS");
    assert_eq!(answer.json()["contact_id"], first["id"]);
    assert_eq!(world.detail(&text(&first["id"])).await["name"], "A");
    assert_eq!(world.list_ids("").await.len(), 1);
}

#[both_stores]
async fn two_companies_may_have_the_same_phone_and_email(world: World) {
    let other = world.tenant("Other").await;
    let body = json!({"phone": phone(1), "email": "a@example.com"});
    let ours = world.create(body.clone()).await;
    let theirs = world.create_as(&other, body).await;
    assert_ne!(ours["id"], theirs["id"]);
    assert_eq!(theirs["email"], "a@example.com");
    assert_eq!(theirs["shared_email"], Value::Null);
}

#[both_stores]
async fn a_deleted_contacts_phone_is_free_again(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    world.delete(&format!("{PATH}/{id}")).await;
    let again = world.create_id(json!({"phone": phone(1)})).await;
    assert_ne!(id, again);
}

#[both_stores]
async fn of_many_simultaneous_creations_of_one_phone_exactly_one_wins(world: World) {
    let calls: Vec<_> = (0..12).map(|_| world.post_contact(json!({"phone": phone(7)}))).collect();
    let answers = join(calls).await;
    let winners: Vec<_> = answers.iter().filter(|answer| answer.status == 201).collect();
    assert_eq!(winners.len(), 1);
    let id = winners[0].data()["contact"]["id"].clone();
    for loser in answers.iter().filter(|answer| answer.status != 201) {
        loser.expect_error(409, "CONTACT_EXISTS");
        assert_eq!(loser.json()["contact_id"], id);
    }
    assert_eq!(world.list_ids("").await.len(), 1);
}

// 4.3.4, D20

#[both_stores]
async fn a_taken_email_goes_to_shared_email_with_a_warning(world: World) {
    world.create(json!({"phone": phone(1), "email": "ana@example.com"})).await;
    let answer = world.post_contact(json!({"phone": phone(2), "email": " ANA@Example.com "})).await;
    let contact = &answer.expect(201)["contact"];
    assert_eq!(contact["email"], Value::Null);
    assert_eq!(contact["shared_email"], "ana@example.com");
    let body = answer.json();
    let warnings = body["warnings"].as_array().expect("a root-level array");
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0]["code"], "EMAIL_BELONGS_TO_ANOTHER_CONTACT");
    assert_eq!(warnings[0]["field"], "email");
    assert!(!text(&warnings[0]["message"]).is_empty());
}

// D21

#[both_stores]
async fn an_alphanumeric_cnpj_is_accepted_and_upper_cased(world: World) {
    let body = json!({"phone": phone(1), "cnpj": "12.abc.345/01de-35"});
    let contact = world.listed(&world.create_id(body).await).await;
    assert_eq!(contact["organization"]["cnpj"], "12ABC34501DE35");
}

// D8

#[both_stores]
async fn every_field_wrong_at_once_is_one_422_that_names_all(world: World) {
    let answer = world
        .post_contact(json!({
            "phone": "abc", "name": 1, "email": "no", "birthday": "x", "observation": [],
            "cpf": "1", "rg": {}, "genero": true, "estado_civil": 1.5, "profissao": ["x"],
            "city": "a\u{0}", "state": "x".repeat(201), "postal_code": "1", "cnpj": "1",
            "custom_fields": {"nope": "x"}, "list_ids": ["nope"], "nmae": "x", "\u{1f600}": 1,
        }))
        .await;
    let mut all = [
        "phone",
        "name",
        "email",
        "birthday",
        "observation",
        "cpf",
        "rg",
        "genero",
        "estado_civil",
        "profissao",
        "city",
        "state",
        "postal_code",
        "cnpj",
        "custom_fields",
        "list_ids",
        "nmae",
        "\u{1f600}",
    ];
    all.sort_unstable();
    assert_eq!(answer.expect_invalid(), all);
    let details = &answer.json()["details"];
    assert_eq!(details["custom_fields"], json!(["nope"]));
    assert_eq!(details["list_ids"], json!(["nope"]));
    assert!(details["hint"].as_str().is_some_and(|hint| !hint.is_empty()));
}

/// R1.
#[both_stores]
async fn unknown_keys_are_422_naming_each(world: World) {
    let body = json!({"phone": phone(1), "nmae": "x", "street": "Rua A", "Phone": "1"});
    let answer = world.post_contact(body).await;
    assert_eq!(answer.expect_invalid(), ["Phone", "nmae", "street"]);
    assert!(world.list_ids("").await.is_empty());
}

#[both_stores]
async fn read_only_keys_are_ignored(world: World) {
    let contact = world
        .create(json!({
            "phone": phone(1), "id": "x", "display_name": "X", "crm_status": "customer",
            "inbox_status": "resolved", "tags": 5, "created_at": "never", "shared_email": "z@z.zz",
            "is_blocked": true, "last_closed_at": 3,
        }))
        .await;
    assert_ne!(contact["id"], "x");
    assert_eq!(contact["crm_status"], "lead");
    assert_eq!(contact["inbox_status"], "open");
    assert_eq!(contact["shared_email"], Value::Null);
    assert_eq!(contact["is_blocked"], false);
}

#[both_stores]
async fn a_native_field_that_is_null_counts_as_absent(world: World) {
    let contact = world
        .create(json!({
            "phone": phone(1), "name": null, "email": null, "birthday": null, "cpf": null,
            "cnpj": null, "observation": null, "postal_code": null,
        }))
        .await;
    assert_eq!(contact["name"], "");
    assert_eq!(contact["email"], Value::Null);
}

#[both_stores]
async fn a_null_or_ill_typed_custom_fields_or_list_ids_is_422(world: World) {
    for (name, wrong) in [
        ("custom_fields", json!([])),
        ("custom_fields", json!("x")),
        ("list_ids", json!({})),
        ("list_ids", json!("x")),
        ("list_ids", json!([1])),
    ] {
        let answer = world.post_contact(json!({"phone": phone(1), name: wrong})).await;
        assert_eq!(answer.expect_invalid(), [name], "{wrong}");
    }
}

// 4.3.2

#[both_stores]
async fn custom_fields_that_are_not_active_fields_of_ours_are_422_with_a_hint(world: World) {
    let good = world.field("good").await;
    let inactive = world
        .make("C/custom-fields", json!({"label": "i", "slug": "iii", "status": "inactive"}))
        .await;
    let pending = world
        .make("C/custom-fields", json!({"label": "p", "slug": "ppp", "status": "pending"}))
        .await;
    let other = world.tenant("Other").await;
    let foreign =
        world.make_for(&other, "C/custom-fields", json!({"label": "f", "slug": "fff"})).await;
    let (inactive, pending, foreign) =
        (text(&inactive["id"]), text(&pending["id"]), text(&foreign["id"]));
    let unknown = unknown_id();
    let answer = world
        .post_contact(json!({"phone": phone(1), "custom_fields": {
            &good: "x", &inactive: "x", &pending: "x", &foreign: "x", &unknown: "x", "slug": "x",
        }}))
        .await;
    assert_eq!(answer.expect_invalid(), ["custom_fields"]);
    let details = answer.json()["details"].clone();
    let mut named: Vec<String> =
        details["custom_fields"].as_array().expect("a list").iter().map(text).collect();
    named.sort();
    let mut wrong = vec![inactive, pending, foreign, unknown, "slug".to_owned()];
    wrong.sort();
    assert_eq!(named, wrong);
    assert!(!text(&details["hint"]).is_empty());
    assert!(world.list_ids("").await.is_empty());
}

#[both_stores]
async fn custom_field_values_are_strings_of_at_most_500_characters(world: World) {
    let field = world.field("field").await;
    for wrong in
        [json!(1), json!(true), json!(null), json!(["x"]), json!({}), json!("é".repeat(501))]
    {
        let answer =
            world.post_contact(json!({"phone": phone(1), "custom_fields": {&field: wrong}})).await;
        assert_eq!(answer.expect_invalid(), ["custom_fields"], "{wrong}");
        assert_eq!(answer.json()["details"]["custom_fields"], json!([field]));
    }
    let value = "é".repeat(500);
    let id = world.create_id(json!({"phone": phone(1), "custom_fields": {&field: value}})).await;
    assert_eq!(world.detail(&id).await["custom_fields"][&field], value.as_str());
}

#[both_stores]
async fn the_number_of_custom_fields_is_not_limited(world: World) {
    let mut fields = serde_json::Map::new();
    for n in 0..120 {
        fields.insert(world.field(&format!("field-{n}")).await, json!(format!("value {n}")));
    }
    let id = world.create_id(json!({"phone": phone(1), "custom_fields": &fields})).await;
    assert_eq!(world.detail(&id).await["custom_fields"], Value::Object(fields));
}

// 4.3.3, D6

#[both_stores]
async fn a_list_not_of_ours_or_inactive_is_404_and_nothing_is_created(world: World) {
    let good = world.list("good").await;
    let inactive =
        text(&world.make("C/lists", json!({"name": "i", "is_active": false})).await["id"]);
    let other = world.tenant("Other").await;
    let foreign = text(&world.make_for(&other, "C/lists", json!({"name": "f"})).await["id"]);
    let unknown = unknown_id();
    let body = json!({"phone": phone(1), "list_ids": [&good, &inactive, &foreign, &unknown]});
    let details = world.post_contact(body).await.expect_error(404, "NOT_FOUND");
    let mut named: Vec<String> =
        details["list_ids"].as_array().expect("a list").iter().map(text).collect();
    named.sort();
    let mut wrong = vec![inactive, foreign, unknown];
    wrong.sort();
    assert_eq!(named, wrong);
    assert!(world.list_ids("").await.is_empty());
}

#[both_stores]
async fn what_is_invalid_comes_before_a_missing_list_and_that_before_a_taken_phone(world: World) {
    world.create(json!({"phone": phone(1)})).await;
    let missing = unknown_id();
    let body = json!({"phone": phone(1), "email": "no", "list_ids": [&missing]});
    assert_eq!(world.post_contact(body).await.expect_invalid(), ["email"]);
    let body = json!({"phone": phone(1), "list_ids": [&missing]});
    world.post_contact(body).await.expect_error(404, "NOT_FOUND");
    world.post_contact(json!({"phone": phone(1)})).await.expect_error(409, "CONTACT_EXISTS");
}

#[both_stores]
async fn a_contact_joins_each_named_list_once(world: World) {
    let (a, b) = (world.list("a").await, world.list("b").await);
    world.create(json!({"phone": phone(1), "list_ids": [&a, &b, &a]})).await;
    let lists = world.get("/api/v1/lists").await.items();
    assert_eq!(lists.iter().map(|list| list["contacts_count"].clone()).collect::<Vec<_>>(), [1, 1]);
}

// D18

#[both_stores]
async fn the_display_name_is_the_name_or_else_the_international_phone(world: World) {
    let named = world.create(json!({"phone": phone(1), "name": " Ana "})).await;
    assert_eq!(named["display_name"], "Ana");
    let unnamed = world.create(json!({"phone": "+5511987654321"})).await;
    assert_eq!(unnamed["display_name"], "+55 11 98765-4321");
}

#[both_stores]
async fn the_content_type_is_not_checked(world: World) {
    let request = recado_tests::Request::new("POST", PATH)
        .header("content-type", "text/plain")
        .body(json!({"phone": phone(1)}).to_string());
    world.call(request).await.expect(201);
    let request =
        recado_tests::Request::new("POST", PATH).body(json!({"phone": phone(2)}).to_string());
    world.call(request).await.expect(201);
}

async fn join<T, F: Future<Output = T>>(futures: Vec<F>) -> Vec<T> {
    recado_tests::join_all(futures).await
}
