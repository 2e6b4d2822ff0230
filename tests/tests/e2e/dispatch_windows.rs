//! The same template is not dispatched twice within its window: 4.10, 7.3, 8; D50.

use std::time::Duration;

use recado_tests::hooks_in::Intake;
use recado_tests::{ScriptedAnswer, both_stores, mobile, steered, text, with};
use serde_json::json;

const DAY: u64 = 24 * 60 * 60 * 1_000;
const TEN_MINUTES: u64 = 10 * 60 * 1_000;

fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// Dispatches with one variable.
async fn say(world: &Intake, token: &str, phone: &str, value: &str) -> ScriptedAnswer {
    world.dispatch(token, &json!({"phone_number": phone, "variables": {"1": value}})).await
}

async fn world_with_cloud(world: &Intake) {
    world.silent("official_cloud").await;
}

#[both_stores]
async fn a_marketing_template_goes_to_a_contact_once_in_24_hours(world: Intake) {
    world_with_cloud(&world).await;
    let token = world.token("promo", "MARKETING", "Olá {{1}}").await;
    let (sent_at, until) = (world.time(), world.time_in(DAY));
    let done = say(&world, &token, &mobile(1), "Ana").await.expect_ok();
    let existing = json!({
        "message_id": done["message_id"], "sent_at": sent_at, "next_eligible_at": until,
    });
    for value in ["Ana", "Bia"] {
        let refused = say(&world, &token, &mobile(1), value).await;
        assert_eq!(refused.expect_duplicate(), existing, "whatever the variables");
    }
    world.advance(millis(DAY - 1));
    let refused = say(&world, &token, &mobile(1), "Caio").await;
    assert_eq!(refused.expect_duplicate(), existing, "a refusal extends nothing");
    say(&world, &token, &mobile(2), "Caio").await.expect_ok();
    world.advance(millis(1));
    let again = say(&world, &token, &mobile(1), "Caio").await.expect_ok();
    let refused = say(&world, &token, &mobile(1), "Caio").await.expect_duplicate();
    assert_eq!(refused["message_id"], again["message_id"]);
    assert_eq!(refused["next_eligible_at"], world.time_in(DAY));
    assert_eq!(world.all_messages().await.len(), 3);
}

#[both_stores]
async fn utility_and_authentication_go_by_content_for_10_minutes(world: Intake) {
    world_with_cloud(&world).await;
    for (n, category) in ["UTILITY", "AUTHENTICATION", "AUTH"].into_iter().enumerate() {
        let phone = mobile(u32::try_from(n).expect("small"));
        let token = world.token(&format!("t{n}"), category, "Código {{1}}").await;
        let existing =
            json!({"sent_at": world.time(), "next_eligible_at": world.time_in(TEN_MINUTES)});
        let done = say(&world, &token, &phone, "1").await.expect_ok();
        let existing = with(existing, json!({"message_id": done["message_id"]}));
        assert_eq!(say(&world, &token, &phone, "1").await.expect_duplicate(), existing);
        say(&world, &token, &phone, "2").await.expect_ok();
        say(&world, &token, &mobile(9), "1").await.expect_ok();
        world.advance(millis(TEN_MINUTES - 1));
        assert_eq!(say(&world, &token, &phone, "1").await.expect_duplicate(), existing);
        world.advance(millis(1));
        say(&world, &token, &phone, "1").await.expect_ok();
    }
}

// What opens a window.

#[both_stores]
async fn an_uncertain_send_opens_one(world: Intake) {
    world_with_cloud(&world).await;
    for (n, (category, window)) in
        [("MARKETING", DAY), ("UTILITY", TEN_MINUTES)].into_iter().enumerate()
    {
        let token = world.token(&format!("t{n}"), category, "Olá").await;
        let (sent_at, until) = (world.time(), world.time_in(window));
        let answer = world.dispatch_to(&token, &steered(2)).await;
        answer.expect_hook_error(502, "SEND_FAILED");
        let all = world.all_messages().await;
        let failed = &all[0];
        assert_eq!(failed["error_type"], "delivery_uncertain");
        let existing = world.dispatch_to(&token, &steered(2)).await.expect_duplicate();
        let expected = json!({
            "message_id": failed["id"], "sent_at": sent_at, "next_eligible_at": until,
        });
        assert_eq!(existing, expected);
        assert_eq!(world.all_messages().await.len(), n + 1);
        world.advance(millis(window));
    }
}

#[both_stores]
async fn a_report_that_a_dispatch_failed_later_leaves_its_window(world: Intake) {
    let cloud = world.silent("official_cloud").await;
    let token = world.token("promo", "MARKETING", "Olá").await;
    let done = world.dispatched(&token, &mobile(1)).await;
    let report = world.report(&text(&done["wamid"]), "failed");
    assert_eq!(world.gateway_one(&cloud, report).await["result"], "stored");
    let existing = world.dispatch_to(&token, &mobile(1)).await.expect_duplicate();
    assert_eq!(existing["message_id"], done["message_id"]);
}

#[both_stores]
async fn a_restart_forgets_no_window(mut world: Intake) {
    world_with_cloud(&world).await;
    let token = world.token("promo", "MARKETING", "Olá").await;
    let done = world.dispatched(&token, &mobile(1)).await;
    world.world.restart().await;
    let existing = world.dispatch_to(&token, &mobile(1)).await.expect_duplicate();
    assert_eq!(existing["message_id"], done["message_id"]);
}
