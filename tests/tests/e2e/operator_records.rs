//! The properties of all collections of the operator API: docs/operator-api.md; D8, D58.

use std::time::Duration;

use recado_tests::{World, both_stores, phone, text, unknown_id};
use serde_json::{Value, json};

/// Every collection, a body that creates a record, and a valid change.
async fn collections(world: &World) -> Vec<(&'static str, Value, Option<Value>)> {
    let contact = world.create_id(json!({"phone": phone(99)})).await;
    let color = "#123456";
    vec![
        ("C/keys", json!({"name": "k", "scopes": ["contacts:read"]}), Some(json!({"name": "n"}))),
        ("C/members", json!({"display_name": "m"}), Some(json!({"display_name": "n"}))),
        ("C/tags", json!({"name": "t", "color": color}), Some(json!({"name": "n"}))),
        ("C/close-reasons", json!({"name": "r"}), Some(json!({"name": "n"}))),
        ("C/lists", json!({"name": "l"}), Some(json!({"name": "n"}))),
        ("C/custom-fields", json!({"label": "f", "slug": "slug"}), Some(json!({"label": "n"}))),
        (
            "C/pipelines",
            json!({"name": "p", "stages": [{"name": "s", "color": color}]}),
            Some(json!({"name": "n"})),
        ),
        ("C/deals", json!({"contact_id": contact, "title": "d"}), Some(json!({"status": "won"}))),
        ("C/links", json!({"contact_id": contact, "url": "https://example.com/"}), None),
    ]
}

#[both_stores]
async fn a_record_is_read_listed_changed_and_deleted_by_its_id(world: World) {
    for (path, body, change) in collections(&world).await {
        let before = world.operator_get(path).await.as_array().expect("a list").len();
        let made = world.make(path, body).await;
        let one = format!("{path}/{}", text(&made["id"]));
        let read = world.operator_get(&one).await;
        for (name, value) in read.as_object().expect("an object") {
            assert_eq!(&made[name], value, "{path}: POST answers with the whole record: {name}");
        }
        let listed = world.operator_get(path).await;
        assert_eq!(listed.as_array().expect("a list").len(), before + 1, "{path}");
        if let Some(change) = change {
            let changed = world.operator("PATCH", &one, change.clone()).await.expect(200);
            for (name, value) in change.as_object().expect("an object") {
                assert_eq!(&changed[name], value, "{path}: {name}");
            }
            let again = world.operator_get(&one).await;
            assert_eq!(again, changed, "{path}: PATCH answers with the whole record");
            let mut change = change;
            change["nope"] = json!(1);
            let unknown = world.operator("PATCH", &one, change).await;
            assert_eq!(unknown.expect_invalid(), ["nope"], "{path}");
        }
        let deleted = world.operator("DELETE", &one, Value::Null).await;
        assert_eq!(deleted.status, 200, "{path}: {}", deleted.show());
        world.operator("GET", &one, Value::Null).await.expect_error(404, "NOT_FOUND");
        world.operator("DELETE", &one, Value::Null).await.expect_error(404, "NOT_FOUND");
        let listed = world.operator_get(path).await;
        assert_eq!(listed.as_array().expect("a list").len(), before, "{path}");
    }
}

#[both_stores]
async fn a_record_that_never_existed_is_404(world: World) {
    for (path, _, change) in collections(&world).await {
        for id in [unknown_id(), "x".to_owned()] {
            let one = format!("{path}/{id}");
            world.operator("GET", &one, Value::Null).await.expect_error(404, "NOT_FOUND");
            world.operator("DELETE", &one, Value::Null).await.expect_error(404, "NOT_FOUND");
            if let Some(change) = &change {
                let patch = world.operator("PATCH", &one, change.clone()).await;
                patch.expect_error(404, "NOT_FOUND");
            }
        }
    }
}

#[both_stores]
async fn collections_are_listed_by_creation(world: World) {
    for (path, body, _) in collections(&world).await {
        let mut ids: Vec<String> = world.operator("GET", path, Value::Null).await.ids();
        for n in 0..4 {
            let mut body = body.clone();
            if path == "C/custom-fields" {
                body["slug"] = json!(format!("slug-{n}"));
            }
            ids.push(text(&world.make(path, body).await["id"]));
            world.advance(Duration::from_millis(1));
        }
        assert_eq!(world.operator("GET", path, Value::Null).await.ids(), ids, "{path}");
    }
}

/// R5.
#[both_stores]
async fn records_that_others_refer_to_are_not_torn_out(world: World) {
    let member = text(&world.make("C/members", json!({"display_name": "m"})).await["id"]);
    let reason = text(&world.make("C/close-reasons", json!({"name": "r"})).await["id"]);
    let pipeline = json!({"name": "p", "stages": [{"name": "s", "color": "#111111"}]});
    let pipeline = world.make("C/pipelines", pipeline).await;
    let id = world
        .import(json!({
            "phone": phone(1), "assigned_to_member_id": member, "last_close_reason_id": reason,
        }))
        .await;
    let stage = &pipeline["stages"][0]["id"];
    world.make("C/deals", json!({"contact_id": id, "title": "d", "stage_id": stage})).await;
    let before = world.detail(&id).await;
    for path in [
        format!("C/members/{member}"),
        format!("C/close-reasons/{reason}"),
        format!("C/pipelines/{}", text(&pipeline["id"])),
    ] {
        let answer = world.operator("DELETE", &path, Value::Null).await;
        assert_eq!(answer.status, 409, "{path}: {}", answer.show());
    }
    assert_eq!(world.detail(&id).await, before);
}

#[both_stores]
async fn the_operator_deletes_a_contact_as_the_integrator_does(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    world.document(&id, "a", b"bytes").await;
    let path = format!("C/contacts/{id}");
    assert_eq!(world.operator("DELETE", &path, Value::Null).await.status, 200);
    world.get(&format!("/api/v1/contacts/{id}")).await.expect_error(404, "NOT_FOUND");
    assert!(world.server.files_on_disk().is_empty());
}

/// R5.
#[both_stores]
async fn a_deleted_custom_field_hides_its_values(world: World) {
    let field = world.field("plano").await;
    let id = world.create_id(json!({"phone": phone(1), "custom_fields": {&field: "x"}})).await;
    let path = format!("C/custom-fields/{field}");
    assert_eq!(world.operator("DELETE", &path, Value::Null).await.status, 200);
    assert_eq!(world.detail(&id).await["custom_fields"], json!({}));
    assert_eq!(world.listed(&id).await["custom_fields"], json!({}));
}

#[both_stores]
async fn a_contact_imported_with_a_brazilian_mobile_of_eight_digits_gets_its_nine(world: World) {
    let id = world.import(json!({"phone": "+55 11 8765-4321"})).await;
    let detail = world.detail(&id).await;
    assert_eq!(detail["phone"], "+5511987654321");
    let again = world.post_contact(json!({"phone": "+5511987654321"})).await;
    again.expect_error(409, "CONTACT_EXISTS");
    assert_eq!(again.json()["contact_id"], id.as_str());
}
