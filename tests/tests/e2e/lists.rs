//! GET /lists: 4.11, 4.12; D58, D78; and the operator's side of the lists.

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

/// D78.
#[both_stores]
async fn the_contacts_of_a_list_are_listed_by_last_message_page_by_page(world: World) {
    let list = world.list("VIP").await;
    let mut ids = Vec::new();
    for n in 0..5 {
        let at = format!("2026-01-0{}T00:00:00.000Z", n + 1);
        ids.insert(0, world.import(json!({"phone": phone(n), "last_message_at": at})).await);
    }
    let path = format!("C/lists/{list}/contacts");
    world.operator("POST", &path, json!({"contact_ids": &ids[..4]})).await.expect(200);
    let first = world.operator("GET", &format!("{path}?limit=3"), Value::Null).await;
    assert_eq!(first.ids(), ids[..3]);
    let pagination = json!({"page": 1, "limit": 3, "total": 4, "total_pages": 2});
    assert_eq!(first.json()["pagination"], pagination);
    assert_eq!(first.items()[0], world.listed(&ids[0]).await, "in the list form");
    let second = world.operator("GET", &format!("{path}?limit=3&page=2"), Value::Null).await;
    assert_eq!(second.ids(), ids[3..4]);
    world
        .operator("GET", &format!("{path}?limit=0"), Value::Null)
        .await
        .expect_bad_parameter("limit");
    let unknown = format!("C/lists/{}/contacts", unknown_id());
    world.operator("GET", &unknown, Value::Null).await.expect_error(404, "NOT_FOUND");
}

/// D78.
#[both_stores]
async fn contacts_are_removed_from_a_list_and_stay(world: World) {
    let list = world.list("VIP").await;
    let mut ids = Vec::new();
    for n in 0..4 {
        ids.push(world.create_id(json!({"phone": phone(n)})).await);
    }
    let path = format!("C/lists/{list}/contacts");
    world.operator("POST", &path, json!({"contact_ids": &ids[..3]})).await.expect(200);
    let some = json!({"contact_ids": &ids[1..]});
    let removed = world.operator("DELETE", &path, some.clone()).await;
    assert_eq!(removed.expect(200), json!({"removed": 2, "not_in_list": 1}));
    let again = world.operator("DELETE", &path, some).await;
    assert_eq!(again.expect(200), json!({"removed": 0, "not_in_list": 3}));
    assert_eq!(world.list_ids(&format!("list_id={list}")).await, ids[..1]);
    assert_eq!(count(&world).await, 1);
    assert_eq!(world.list_ids("").await.len(), 4);
}

/// D78.
#[both_stores]
async fn the_contacts_of_a_list_are_replaced(world: World) {
    let list = world.list("VIP").await;
    let mut ids = Vec::new();
    for n in 0..5 {
        ids.push(world.create_id(json!({"phone": phone(n)})).await);
    }
    let path = format!("C/lists/{list}/contacts");
    world.operator("POST", &path, json!({"contact_ids": &ids[..3]})).await.expect(200);
    let body = json!({"contact_ids": [&ids[2], &ids[3], &ids[3]]});
    for (added, already_in_list, removed) in [(1, 1, 2), (0, 2, 0)] {
        let replaced = world.operator("PUT", &path, body.clone()).await;
        let counts =
            json!({"added": added, "already_in_list": already_in_list, "removed": removed});
        assert_eq!(replaced.expect(200), counts);
        let mut now = world.list_ids(&format!("list_id={list}")).await;
        now.sort();
        assert_eq!(now, ids[2..4]);
    }
    let emptied = world.operator("PUT", &path, json!({"contact_ids": []})).await;
    assert_eq!(emptied.expect(200)["removed"], 2);
    assert_eq!(count(&world).await, 0);
}

/// D78, R271: nothing is changed if one of the contacts is not of the company.
#[both_stores]
async fn no_list_is_changed_by_a_call_that_names_unknown_contacts_or_too_many(world: World) {
    let list = world.list("VIP").await;
    let ours = world.create_id(json!({"phone": phone(1), "list_ids": [&list]})).await;
    let other = world.tenant("Other").await;
    let foreign = text(&world.create_as(&other, json!({"phone": phone(1)})).await["id"]);
    let path = format!("C/lists/{list}/contacts");
    for method in ["POST", "PUT", "DELETE"] {
        for wrong in [&foreign, &unknown_id()] {
            let answer =
                world.operator(method, &path, json!({"contact_ids": [&ours, wrong]})).await;
            let details = answer.expect_error(404, "NOT_FOUND");
            assert_eq!(details["contact_ids"], json!([wrong]), "{method}");
        }
        let body = json!({"contact_ids": [&ours]});
        let unknown = format!("C/lists/{}/contacts", unknown_id());
        world.operator(method, &unknown, body).await.expect_error(404, "NOT_FOUND");
        let ids: Vec<String> = (0..=10_000).map(|_| unknown_id()).collect();
        let many = world.operator(method, &path, json!({"contact_ids": ids})).await;
        assert_eq!(many.expect_invalid(), ["contact_ids"], "{method}");
        let none = world.operator(method, &path, json!({})).await;
        assert_eq!(none.expect_invalid(), ["contact_ids"], "{method}");
        assert_eq!(count(&world).await, 1, "{method}");
    }
}
