//! The values that a mapping reads from a body: 4.9, 7.2; D14, D15, D46, D46a, D47, D62.

use recado_tests::hooks_in::{Endpoint, plain};
use recado_tests::{Intake, both_stores, digits, eight_digits, mobile, text};
use serde_json::{Value, json};

const MISSING: (u16, &str) = (400, "MISSING_PHONE");
const FAILED: (u16, &str) = (400, "MAPPING_FAILED");

async fn refused(world: &Intake, endpoint: &Endpoint, body: Value, (status, code): (u16, &str)) {
    let answer = world.hand_in(endpoint, &body).await;
    assert_eq!(answer.status, status, "{body}: {}", answer.show());
    answer.expect_hook_error(status, code);
}

/// Posts a body, and returns the contact as the list shows it.
async fn contact(world: &Intake, endpoint: &Endpoint, body: &str) -> Value {
    let taken = world.hand_in_bytes(endpoint, body.to_owned()).await.expect_ok();
    world.listed(&text(&taken["contact_id"])).await
}

#[both_stores]
async fn a_phone_that_is_not_found_or_no_phone_is_missing(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    for body in [
        json!({}),
        json!({"name": "Ana"}),
        json!({"phone": null}),
        json!({"phone": ""}),
        json!({"phone": "  "}),
        json!({"phone": "abc"}),
        json!({"phone": "123"}),
        json!({"phone": 5}),
        json!({"phone": true}),
        json!({"phone": "+55 11 1234"}),
        json!({"phone": "11 98765-4321 ramal 5"}),
        json!({"phone": "+99987654321"}),
    ] {
        refused(&world, &site, body, MISSING).await;
    }
    assert!(world.list_ids("").await.is_empty());
    assert!(world.events().await.is_empty());
}

#[both_stores]
async fn someone_known_by_the_name_of_a_channel_is_found(world: Intake) {
    let met = world.contact_by_message(&world.silent("qr").await, &eight_digits(&mobile(1))).await;
    let site = world.endpoint("site-leads", plain()).await;
    let taken = world.taken(&site, json!({"phone": mobile(1), "name": "Ana"})).await;
    assert_eq!(taken["action"], "updated");
    assert_eq!(taken["contact_id"], met.as_str());
    let one = world.detail(&met).await;
    assert_eq!(one["name"], "Ana");
    assert_eq!(one["identifier"], eight_digits(&mobile(1)), "what the channel says stays");
}

#[both_stores]
async fn an_opted_out_or_blocked_contact_is_brought_up_to_date_too(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let body = json!({"phone": mobile(1), "opted_out_at": world.time(), "is_blocked": true});
    let id = world.import(body).await;
    let taken = world.taken(&site, json!({"phone": mobile(1), "name": "Ana"})).await;
    assert_eq!(taken["contact_id"], id.as_str());
    let full = world.full(&id).await;
    assert_eq!(full["name"], "Ana");
    assert!(full["opted_out_at"].is_string() && full["is_blocked"] == true, "{full}");
}

// Values.

#[both_stores]
async fn numbers_become_their_text_as_written_and_booleans_theirs(world: Intake) {
    let keys = ["aaa", "bbb", "ccc", "ddd", "eee", "fff", "ggg"];
    let mut mapping = plain();
    for key in keys {
        mapping[key] = json!(format!("$.{key}"));
    }
    let site = world.endpoint("site-leads", mapping).await;
    let body = format!(
        r#"{{"phone": "{}", "name": 7.10, "aaa": 1.50, "bbb": 100.0, "ccc": -0,
                "ddd": 123456789012345678901234567890, "eee": true, "fff": false, "ggg": 0.001}}"#,
        mobile(1)
    );
    let one = contact(&world, &site, &body).await;
    assert_eq!(one["name"], "7.10");
    let expected = json!({
        "aaa": "1.50", "bbb": "100.0", "ccc": "-0", "ddd": "123456789012345678901234567890",
        "eee": "true", "fff": "false", "ggg": "0.001",
    });
    assert_eq!(one["custom_fields"], expected);
}

#[both_stores]
async fn objects_and_arrays_are_refused_wherever_they_are_found(world: Intake) {
    let mapping = json!({
        "phone_number": "$.phone", "name": "$.name", "email": "$.email", "plan": "$.plan",
    });
    let site = world.endpoint("site-leads", mapping).await;
    for key in ["phone", "name", "email", "plan"] {
        for value in [json!({}), json!([]), json!({"a": 1}), json!(["x"])] {
            let mut body = json!({"phone": mobile(1), "name": "Ana"});
            body[key] = value;
            refused(&world, &site, body, FAILED).await;
        }
    }
    assert!(world.list_ids("").await.is_empty());
    assert_eq!(world.get("/api/v1/custom-fields").await.expect(200), json!([]));
}

#[both_stores]
async fn what_is_not_mapped_is_ignored(world: Intake) {
    let site = world.endpoint("site-leads", json!({"phone_number": "$.phone"})).await;
    let body = json!({"phone": mobile(1), "name": "Ana", "email": "a@b.co", "x": {"y": []}});
    let id = text(&world.taken(&site, body).await["contact_id"]);
    let one = world.listed(&id).await;
    assert_eq!(one["name"], "");
    assert_eq!(one["email"], Value::Null);
    assert_eq!(one["identifier"], digits(&mobile(1)));
}

#[both_stores]
async fn a_changed_mapping_holds_for_the_next_call(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    world.change_endpoint(&site, json!({"variable_mapping": {"phone": "$.other"}})).await;
    refused(&world, &site, json!({"phone": mobile(1)}), MISSING).await;
    world.taken(&site, json!({"other": mobile(1)})).await;
}
