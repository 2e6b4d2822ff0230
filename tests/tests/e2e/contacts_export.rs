//! GET /contacts with `order_by=created_at`: 4.1.2, 7.1; D25.

use std::time::Duration;

use recado_tests::{World, both_stores, phone, text};
use serde_json::{Value, json};

const EXPORT: &str = "/api/v1/contacts?order_by=created_at";

async fn some(world: &World, count: u32) -> Vec<String> {
    let mut ids = Vec::new();
    for n in 0..count {
        ids.push(world.create_id(json!({"phone": phone(n)})).await);
        world.advance(Duration::from_millis(7));
    }
    ids
}

/// 4.1.2.
#[both_stores]
async fn the_export_is_in_order_of_creation_whatever_the_page_size(world: World) {
    let ids = some(&world, 11).await;
    for limit in [1, 2, 3, 10, 11, 12, 100] {
        assert_eq!(world.export(limit).await, ids, "limit {limit}");
    }
}

#[both_stores]
async fn the_pagination_has_limit_total_and_next_cursor_only(world: World) {
    some(&world, 3).await;
    let answer = world.get(&format!("{EXPORT}&limit=2")).await;
    answer.expect(200);
    let pagination = answer.json()["pagination"].clone();
    assert_eq!(pagination["limit"], 2);
    assert_eq!(pagination["total"], 3);
    assert!(pagination["next_cursor"].is_string());
    assert_eq!(pagination.as_object().expect("an object").len(), 3);
    let answer = world.get(EXPORT).await;
    assert_eq!(answer.json()["pagination"], json!({"limit": 50, "total": 3, "next_cursor": null}));
}

#[both_stores]
async fn the_cursor_ends_as_soon_as_nothing_follows(world: World) {
    let ids = some(&world, 4).await;
    let first = world.get(&format!("{EXPORT}&limit=2")).await;
    let cursor = text(&first.json()["pagination"]["next_cursor"]);
    let second = world.get(&format!("{EXPORT}&limit=2&cursor={cursor}")).await;
    assert_eq!(second.ids(), ids[2..]);
    assert_eq!(second.json()["pagination"]["next_cursor"], Value::Null);
    assert_eq!(
        second.json()["pagination"]["total"],
        4,
        "the total of the filters, not of the rest"
    );
}

#[both_stores]
async fn an_empty_export_ends_at_once(world: World) {
    let answer = world.get(EXPORT).await;
    assert_eq!(answer.expect(200), json!([]));
    assert_eq!(answer.json()["pagination"], json!({"limit": 50, "total": 0, "next_cursor": null}));
}

#[both_stores]
async fn a_cursor_may_be_used_again_and_does_not_expire(world: World) {
    let ids = some(&world, 4).await;
    let first = world.get(&format!("{EXPORT}&limit=2")).await;
    let cursor = text(&first.json()["pagination"]["next_cursor"]);
    for _ in 0..2 {
        assert_eq!(world.list_ids(&format!("order_by=created_at&cursor={cursor}")).await, ids[2..]);
    }
    world.advance(Duration::from_secs(400 * 24 * 3600));
    assert_eq!(world.list_ids(&format!("order_by=created_at&cursor={cursor}")).await, ids[2..]);
}

#[both_stores]
async fn a_cursor_outlives_a_restart(world: World) {
    let mut world = world;
    let ids = some(&world, 4).await;
    let first = world.get(&format!("{EXPORT}&limit=2")).await;
    let cursor = text(&first.json()["pagination"]["next_cursor"]);
    world.restart().await;
    assert_eq!(world.list_ids(&format!("order_by=created_at&cursor={cursor}")).await, ids[2..]);
}

#[both_stores]
async fn a_cursor_with_other_filters_is_400(world: World) {
    some(&world, 4).await;
    let first = world.get(&format!("{EXPORT}&limit=2&crm_status=lead")).await;
    let cursor = text(&first.json()["pagination"]["next_cursor"]);
    world.get(&format!("{EXPORT}&crm_status=lead&cursor={cursor}")).await.expect(200);
    for filters in [
        "",
        "&crm_status=customer",
        "&crm_status=lead&is_group=false",
        "&crm_status=lead&search=a",
        "&is_ai_enabled=true",
        "&inbox_status=open",
        "&source_platform=lead",
        "&crm_status=lead&list_id=01939b5e-0000-7000-8000-000000000001",
        "&crm_status=lead&tag_id=01939b5e-0000-7000-8000-000000000001",
        "&crm_status=lead&assigned_to=none",
        "&crm_status=lead&unread=false",
        "&crm_status=lead&updated_since=2026-01-01",
        "&crm_status=lead&active_since=2026-01-01",
    ] {
        let answer = world.get(&format!("{EXPORT}{filters}&cursor={cursor}")).await;
        answer.expect_bad_parameter("cursor");
    }
}

#[both_stores]
async fn a_cursor_of_another_company_is_400(world: World) {
    some(&world, 3).await;
    let other = world.tenant("Other").await;
    for n in 0..3 {
        world.create_as(&other, json!({"phone": phone(n)})).await;
    }
    let first = world.get_as(&other.key, &format!("{EXPORT}&limit=1")).await;
    let cursor = text(&first.json()["pagination"]["next_cursor"]);
    world.get(&format!("{EXPORT}&cursor={cursor}")).await.expect_bad_parameter("cursor");
}

#[both_stores]
async fn all_filters_apply_to_the_export_and_its_total(world: World) {
    let mut customers = Vec::new();
    for n in 0..8 {
        let status = if n % 2 == 0 { "customer" } else { "lead" };
        let body = json!({"phone": phone(n), "crm_status": status, "created_at": format!("2026-01-0{}T00:00:00.000Z", n + 1)});
        let id = world.import(body).await;
        if n % 2 == 0 {
            customers.push(id);
        }
    }
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let answer = world.get(&format!("{EXPORT}&limit=1&crm_status=customer{cursor}")).await;
        assert_eq!(answer.json()["pagination"]["total"], 4);
        seen.extend(answer.ids());
        match answer.json()["pagination"]["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen, customers);
}

// D25: no contact becomes visible at or before a position that was already answered.

#[both_stores]
async fn a_contact_created_between_two_pages_comes_later_in_the_same_millisecond_too(world: World) {
    let mut created = Vec::new();
    created.push(world.create_id(json!({"phone": phone(0)})).await);
    created.push(world.create_id(json!({"phone": phone(1)})).await);
    let mut seen = Vec::new();
    let mut cursor = String::new();
    for n in 2..60 {
        let answer = world.get(&format!("{EXPORT}&limit=1{cursor}")).await;
        seen.extend(answer.ids());
        if n < 30 {
            created.push(world.create_id(json!({"phone": phone(n)})).await);
        }
        match answer.json()["pagination"]["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    seen.sort();
    created.sort();
    assert_eq!(seen, created);
}

#[both_stores]
async fn a_clock_that_goes_back_hides_no_new_contact_from_the_export(world: World) {
    let mut created = some(&world, 3).await;
    let first = world.get(&format!("{EXPORT}&limit=2")).await;
    let mut seen = first.ids();
    let cursor = text(&first.json()["pagination"]["next_cursor"]);
    // Setting the clock back does not use up an allowance either.
    world.server.clock.set_back(Duration::from_secs(3_600));
    created.push(world.create_id(json!({"phone": phone(77)})).await);
    seen.extend(world.list_ids(&format!("order_by=created_at&cursor={cursor}")).await);
    seen.sort();
    created.sort();
    assert_eq!(seen, created);
}
