//! A campaign that is watched: R429.

use std::time::Duration;

use recado_core::access::OperatorRole;
use recado_tests::{Campaigning, on_sqlite};
use serde_json::json;

use crate::office::{person, signed_in};

/// Its progress appears by itself, to the end.
#[on_sqlite]
async fn a_campaign_is_watched_to_its_end(world: Campaigning) {
    let (campaign, _) = world.campaign_to(3, json!({"messages_per_second": 1})).await;
    let manager = person(&world, &world.us, OperatorRole::Owner, None).await;
    let browser = signed_in(&world, &manager).await;
    browser.goto(&format!("/console/campaigns/{campaign}")).await;
    browser.sees_in("#campaign-progress", "Draft").await;
    browser.click_named("main summary", "Start").await;
    browser.click("main form[action$='/start'] button").await;
    browser.sees_in("#campaign-progress", "Running").await;
    browser.find("main form[action$='/pause'] button").await;
    browser.mark().await;
    for done in 1..=3 {
        world.drain().await;
        browser.sees_in("#campaign-progress", &format!("{done} of 3 done")).await;
        world.advance(Duration::from_secs(1));
    }
    browser.has_no_barrier().await;
    world.drain().await;
    browser.sees_in("#campaign-progress", "Finished").await;
    // What can be done, what it did when, and the plot follow.
    browser.loses("#campaign-acts", "Pause").await;
    browser.find_named("#campaign-acts summary", "Delete").await;
    browser.find("#campaign-over-time figure canvas").await;
    browser.has_no_barrier().await;
    assert!(browser.is_marked().await, "all of it appears by itself");
}
