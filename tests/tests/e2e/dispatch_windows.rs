//! The same is not sent twice inside its window: 4.10, 7.3, 8; D50.

use std::time::Duration;

use recado_tests::hooks_in::Intake;
use recado_tests::{Answer, Setup, StoreKind, both_stores, mobile, steered, text, with};
use serde_json::{Value, json};

const DAY: u64 = 24 * 60 * 60 * 1_000;
const TEN_MINUTES: u64 = 10 * 60 * 1_000;

fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// Dispatches with one variable.
async fn say(world: &Intake, token: &str, phone: &str, value: &str) -> Answer {
    world.dispatch(token, &json!({"phone_number": phone, "variables": {"1": value}})).await
}

async fn world_with_cloud(world: &Intake) {
    world.silent("official_cloud").await;
}

async fn in_language(world: &Intake, name: &str, category: &str, language: &str) -> String {
    let body = json!({
        "name": name, "category": category, "language": language, "body": "Olá {{1}}",
        "status": "APPROVED",
    });
    text(&world.make("C/templates", body).await["token"])
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
async fn the_window_of_marketing_is_that_of_the_name(world: Intake) {
    world_with_cloud(&world).await;
    let promo = in_language(&world, "promo", "MARKETING", "pt_BR").await;
    let english = in_language(&world, "promo", "MARKETING", "en_US").await;
    let other = in_language(&world, "other", "MARKETING", "pt_BR").await;
    let done = say(&world, &promo, &mobile(1), "Ana").await.expect_ok();
    let refused = say(&world, &english, &mobile(1), "Bia").await.expect_duplicate();
    assert_eq!(refused["message_id"], done["message_id"]);
    say(&world, &other, &mobile(1), "Ana").await.expect_ok();
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

#[both_stores]
async fn identical_is_the_name_the_language_and_the_whole_text(world: Intake) {
    world_with_cloud(&world).await;
    let first = in_language(&world, "aviso", "UTILITY", "pt_BR").await;
    let english = in_language(&world, "aviso", "UTILITY", "en_US").await;
    let other = in_language(&world, "outro", "UTILITY", "pt_BR").await;
    for token in [&first, &english, &other] {
        say(&world, token, &mobile(1), "x").await.expect_ok();
        say(&world, token, &mobile(1), "x").await.expect_duplicate();
    }
    for value in ["X", "x ", " x", "x\u{301}"] {
        say(&world, &first, &mobile(1), value).await.expect_ok();
    }
    let surplus = json!({"phone_number": mobile(1), "variables": {"1": "x", "2": "y"}});
    world.dispatch(&first, &surplus).await.expect_duplicate();
    let two = world.token("two", "UTILITY", "{{1}}{{2}}").await;
    let split =
        |a: &str, b: &str| json!({"phone_number": mobile(1), "variables": {"1": a, "2": b}});
    world.dispatch(&two, &split("ab", "c")).await.expect_ok();
    world.dispatch(&two, &split("a", "bc")).await.expect_duplicate();
}

#[both_stores]
async fn another_spelling_of_the_phone_is_the_same_contact(world: Intake) {
    world_with_cloud(&world).await;
    let token = world.token("promo", "MARKETING", "Olá").await;
    world.dispatched(&token, "+5511987654321").await;
    for phone in ["(11) 98765-4321", "11 8765-4321", "551187654321"] {
        world.dispatch_to(&token, phone).await.expect_duplicate();
    }
    let query = world.dispatch_query(&token, "phone=11987654321").await;
    query.expect_duplicate();
}

#[both_stores]
async fn the_token_in_another_case_is_the_same_template(world: Intake) {
    world_with_cloud(&world).await;
    let token = world.token("promo", "MARKETING", "Olá").await;
    world.dispatched(&token, &mobile(1)).await;
    world.dispatch_to(&token.to_uppercase(), &mobile(1)).await.expect_duplicate();
}

#[both_stores]
async fn the_same_template_of_another_company_has_its_own_window(world: Intake) {
    world_with_cloud(&world).await;
    let theirs = world.neighbour("Other").await;
    world.connection_of(&theirs, "official_cloud", json!({})).await;
    let body =
        json!({"name": "promo", "category": "MARKETING", "body": "Olá", "status": "APPROVED"});
    let ours = text(&world.make("C/templates", body.clone()).await["token"]);
    let other = text(&world.make_for(&theirs, "C/templates", body).await["token"]);
    world.dispatched(&ours, &mobile(1)).await;
    world.dispatched(&other, &mobile(1)).await;
}

// What opens a window.

#[both_stores]
async fn a_refused_or_surely_failed_send_opens_no_window(world: Intake) {
    world_with_cloud(&world).await;
    let token = world.token("promo", "MARKETING", "Olá").await;
    for phone in [steered(1), steered(3)] {
        for _ in 0..2 {
            let answer = world.dispatch_to(&token, &phone).await;
            answer.expect_hook_error(502, "SEND_FAILED");
        }
    }
    let all = world.all_messages().await;
    assert_eq!(all.len(), 4);
    assert!(all.iter().all(|one| one["status"] == "failed"), "{all:?}");
    assert!(all.iter().all(|one| one["error_type"] != "delivery_uncertain"), "{all:?}");
}

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
async fn an_uncertain_send_of_a_qr_connection_opens_one_too(world: Intake) {
    world.silent("qr").await;
    let token = world.token("promo", "MARKETING", "Olá").await;
    world.dispatch_to(&token, &steered(2)).await.expect_hook_error(502, "SEND_FAILED");
    world.dispatch_to(&token, &steered(2)).await.expect_duplicate();
}

#[both_stores]
async fn only_dispatches_count_and_they_count_for_nothing_else(world: Intake) {
    world_with_cloud(&world).await;
    let token = world.token("promo", "MARKETING", "Olá").await;
    let api = || async {
        let body = json!({"to": mobile(1), "template": "promo"});
        world.post("/api/v1/send/template", body).await.expect(200);
    };
    api().await;
    api().await;
    let contact = text(&world.all_messages().await[0]["contact_id"]);
    let reply = world.act(&contact, "reply-template", json!({"template": "promo"})).await;
    reply.expect(200);
    world.dispatched(&token, &mobile(1)).await;
    api().await;
    world.dispatch_to(&token, &mobile(1)).await.expect_duplicate();
}

#[both_stores]
async fn a_campaign_opens_no_window_and_minds_none(kind: StoreKind) {
    let world = Intake::with(kind, Setup { no_background: true, ..Setup::default() }).await;
    let cloud = world.silent("official_cloud").await;
    let made = world.template("promo", "MARKETING", "Olá").await;
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    let path = format!("C/contacts/{contact}");
    world.operator("PATCH", &path, json!({"last_connection_id": cloud})).await.expect(200);
    let list = world.list("all").await;
    let path = format!("C/lists/{list}/contacts");
    world.operator("POST", &path, json!({"contact_ids": [contact]})).await.expect(200);
    let run = |count: usize| {
        let (world, body) =
            (&world, json!({"name": "c", "template_id": made["id"], "list_id": list}));
        async move {
            let campaign = text(&world.make("C/campaigns", body).await["id"]);
            let path = format!("C/campaigns/{campaign}/start");
            world.operator("POST", &path, Value::Null).await.expect(200);
            world.server.drain_campaigns().await;
            assert_eq!(world.message_ids("status=sent").await.len(), count);
        }
    };
    let token = text(&made["token"]);
    run(1).await;
    let done = world.dispatched(&token, &mobile(1)).await;
    run(3).await;
    let existing = world.dispatch_to(&token, &mobile(1)).await.expect_duplicate();
    assert_eq!(existing["message_id"], done["message_id"]);
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
async fn the_contacts_state_is_reported_before_the_window(world: Intake) {
    world_with_cloud(&world).await;
    let token = world.token("promo", "MARKETING", "Olá").await;
    let contact = text(&world.dispatched(&token, &mobile(1)).await["contact_id"]);
    world.act(&contact, "block", Value::Null).await.expect(200);
    world.dispatch_to(&token, &mobile(1)).await.expect_hook_error(403, "CONTACT_BLOCKED");
    world.act(&contact, "unblock", Value::Null).await.expect(200);
    world.dispatch_to(&token, &mobile(1)).await.expect_duplicate();
}

#[both_stores]
async fn the_window_is_reported_before_the_connection(world: Intake) {
    let cloud = world.silent("official_cloud").await;
    let token = world.token("promo", "MARKETING", "Olá").await;
    world.dispatched(&token, &mobile(1)).await;
    let event = json!({"kind": "connection", "status": "disconnected", "timestamp": world.time()});
    world.gateway_one(&cloud, event).await;
    world.dispatch_to(&token, &mobile(1)).await.expect_duplicate();
    world.dispatch_to(&token, &mobile(2)).await.expect_hook_error(502, "SEND_FAILED");
}

#[both_stores]
async fn a_deleted_contact_takes_its_windows_along(world: Intake) {
    world_with_cloud(&world).await;
    let token = world.token("promo", "MARKETING", "Olá").await;
    let contact = text(&world.dispatched(&token, &mobile(1)).await["contact_id"]);
    world.delete(&format!("/api/v1/contacts/{contact}")).await.expect_deleted();
    assert_eq!(world.dispatched(&token, &mobile(1)).await["action"], "created");
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
