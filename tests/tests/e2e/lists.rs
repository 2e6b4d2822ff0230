//! GET /lists: 4.11, 4.12; D58; and the operator's side of the lists.

use std::time::Duration;

use recado_tests::{World, both_stores, phone, text, unknown_id};
use serde_json::{Value, json};

async fn count(world: &World) -> Value {
    world.get("/api/v1/lists").await.items()[0]["contacts_count"].clone()
}

#[both_stores]
async fn lists_have_exactly_the_documented_fields(world: World) {
    let made = world.make("C/lists", json!({"name": "VIP"})).await;
    world.create(json!({"phone": phone(1), "list_ids": [made["id"]]})).await;
    let answer = world.get("/api/v1/lists").await;
    let expected = json!([{
        "id": made["id"], "name": "VIP", "is_active": true, "contacts_count": 1,
        "created_at": made["created_at"],
    }]);
    assert_eq!(answer.expect(200), expected);
    assert!(answer.json().get("pagination").is_none());
}

#[both_stores]
async fn all_lists_are_listed_by_creation_inactive_ones_too(world: World) {
    let mut ids = Vec::new();
    for n in 0..105 {
        let body = json!({"name": "x", "is_active": n % 2 == 0});
        ids.push(text(&world.make("C/lists", body).await["id"]));
        world.advance(Duration::from_millis(1));
    }
    assert_eq!(world.get("/api/v1/lists?limit=2").await.ids(), ids);
}

#[both_stores]
async fn lists_of_another_company_do_not_show(world: World) {
    let other = world.tenant("Other").await;
    world.make_for(&other, "C/lists", json!({"name": "x"})).await;
    assert_eq!(world.get("/api/v1/lists").await.expect(200), json!([]));
}

#[both_stores]
async fn the_operator_adds_contacts_to_a_list_once_each(world: World) {
    let list = world.list("VIP").await;
    let (a, b) = (
        world.create_id(json!({"phone": phone(1)})).await,
        world.create_id(json!({"phone": phone(2)})).await,
    );
    let path = format!("C/lists/{list}/contacts");
    for _ in 0..2 {
        let answer = world.operator("POST", &path, json!({"contact_ids": [&a, &b, &a]})).await;
        assert_eq!(answer.status, 200, "{}", answer.show());
    }
    assert_eq!(count(&world).await, 2);
    let stored = world.operator_get(&format!("C/contacts/{a}")).await;
    assert_eq!(stored["lists"][0]["id"], list.as_str());
}

#[both_stores]
async fn the_operator_cannot_add_unknown_or_foreign_contacts(world: World) {
    let list = world.list("VIP").await;
    let ours = world.create_id(json!({"phone": phone(1)})).await;
    let other = world.tenant("Other").await;
    let foreign = text(&world.create_as(&other, json!({"phone": phone(1)})).await["id"]);
    for wrong in [foreign, unknown_id()] {
        let body = json!({"contact_ids": [&ours, wrong]});
        world
            .operator("POST", &format!("C/lists/{list}/contacts"), body)
            .await
            .expect_error(404, "NOT_FOUND");
    }
    assert_eq!(count(&world).await, 0);
}

#[both_stores]
async fn the_count_follows_deletions_of_contacts(world: World) {
    let list = world.list("VIP").await;
    let a = world.create_id(json!({"phone": phone(1), "list_ids": [&list]})).await;
    world.create(json!({"phone": phone(2), "list_ids": [&list]})).await;
    assert_eq!(count(&world).await, 2);
    world.delete(&format!("/api/v1/contacts/{a}")).await.expect_deleted();
    assert_eq!(count(&world).await, 1);
}

#[both_stores]
async fn a_deactivated_list_takes_no_more_contacts_and_keeps_its_own(world: World) {
    let list = world.list("VIP").await;
    world.create(json!({"phone": phone(1), "list_ids": [&list]})).await;
    world
        .operator("PATCH", &format!("C/lists/{list}"), json!({"is_active": false}))
        .await
        .expect(200);
    world
        .post_contact(json!({"phone": phone(2), "list_ids": [&list]}))
        .await
        .expect_error(404, "NOT_FOUND");
    assert_eq!(count(&world).await, 1);
    assert_eq!(world.get("/api/v1/lists").await.items()[0]["is_active"], false);
}

#[both_stores]
async fn a_deleted_list_is_gone_and_its_contacts_stay(world: World) {
    let list = world.list("VIP").await;
    let id = world.create_id(json!({"phone": phone(1), "list_ids": [&list]})).await;
    let answer = world.operator("DELETE", &format!("C/lists/{list}"), Value::Null).await;
    assert_eq!(answer.status, 200, "{}", answer.show());
    assert_eq!(world.get("/api/v1/lists").await.expect(200), json!([]));
    assert_eq!(world.operator_get(&format!("C/contacts/{id}")).await["lists"], json!([]));
}
