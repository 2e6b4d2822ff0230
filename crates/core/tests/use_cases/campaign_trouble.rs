//! Campaigns with a store that fails for some of their operations (D66).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use recado_core::campaigns::RecipientNumber;
use recado_core::store::{ChangeKind, ChangeSet, Row};
use recado_testkit::{StoreFailure, StoreOp};
use serde_json::json;

use super::campaign_process::{Process, SECOND, TENTH, pass, pass_drains, pass_until_it_ends};
use super::campaign_scene::Scene;
use super::shop::Shop;

/// Whether a commit writes a recipient.
fn writes(changes: &ChangeSet, number: u32) -> bool {
    changes.changes.iter().any(|change| {
        let ChangeKind::Update { row, .. } = change.kind() else { return false };
        matches!(row, Row::Recipient(recipient) if recipient.number == RecipientNumber(number))
    })
}

#[tokio::test]
async fn a_recipient_whose_turn_always_fails_keeps_nobody_waiting_behind_it() {
    for per_second in [5, 1_000] {
        let with = json!({ "messages_per_second": per_second });
        let scene = Scene::with(Shop::new().await, 30, with).await;
        let tries = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&tries);
        scene.shop.store.plan_commits(move |changes| {
            let fails = writes(changes, 1);
            counted.fetch_add(usize::from(fails), Ordering::SeqCst);
            fails.then_some(StoreFailure::Unavailable)
        });
        let process = Process::run(scene.shop.app(), &scene.shop.kit().clock);
        scene.start().await;
        for _ in 0..200 {
            pass(&scene, 1, TENTH).await;
            if scene.shop.calls() == 29 {
                break;
            }
        }
        assert_eq!(scene.shop.calls(), 29, "{per_second}");
        // All are served in one round.
        assert!((1..=2).contains(&tries.load(Ordering::SeqCst)), "{tries:?}");
        pass(&scene, 30, SECOND).await;
        let tries = tries.load(Ordering::SeqCst);
        assert!((5..40).contains(&tries), "about one try a second, not {tries}");
        assert_eq!(scene.status().await.0, "running");
        assert_eq!(scene.statuses().await.get("waiting"), Some(&1));
        scene.shop.store.heal();
        pass_until_it_ends(&scene, TENTH).await;
        process.stop().await;
        assert_eq!(scene.counts().await["sent"], 30);
        scene.check().await;
    }
}

/// Counts operations of a store from now on.
fn count(scene: &Scene, counted: StoreOp) -> Arc<AtomicUsize> {
    let count = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&count);
    scene.shop.store.plan(move |op| {
        counting.fetch_add(usize::from(op == counted), Ordering::SeqCst);
        None
    });
    count
}

#[tokio::test]
async fn while_running_campaigns_cannot_be_read_a_changed_one_is_not_tried_all_the_time() {
    let scene = Scene::with(Shop::new().await, 200, json!({ "messages_per_second": 100 })).await;
    let process = Process::run(scene.shop.app(), &scene.shop.kit().clock);
    scene.start().await;
    pass(&scene, 12, TENTH).await;
    let sent = scene.shop.calls();
    assert!((1..200).contains(&sent), "{sent}");
    scene.shop.store.fail_read("active_campaigns");
    let changed = recado_testkit::kit::body(json!({ "variables": { "1": "Ana" } }));
    let company = scene.shop.kit().company.id;
    scene.shop.other.campaigns().change(company, scene.id, &changed).await.unwrap();
    let reads = count(&scene, StoreOp::Read);
    pass(&scene, 100, TENTH).await;
    assert_eq!(scene.shop.calls(), sent, "it is not known what to send");
    // Those of the sends that were begun before the first one found the change.
    let reads = reads.load(Ordering::SeqCst);
    assert!(reads < 200, "{reads} reads in ten seconds");
    scene.shop.store.heal();
    pass_until_it_ends(&scene, TENTH).await;
    process.stop().await;
    assert_eq!(scene.counts().await["sent"], 200);
    scene.check().await;
}

#[tokio::test]
async fn a_long_row_of_contacts_without_a_message_is_passed_over_to_the_one_behind_it() {
    let scene = long_row().await;
    let process = Process::run(scene.shop.app(), &scene.shop.kit().clock);
    pass_until_it_ends(&scene, TENTH).await;
    process.stop().await;
    assert_eq!(scene.status().await.0, "finished");
    let counts = scene.counts().await;
    assert_eq!((&counts["skipped"], &counts["sent"]), (&json!(300), &json!(1)));
    assert_eq!(scene.shop.calls(), 1);
    scene.check().await;
}

/// More than one read of contacts who opted out, and then one who did not.
async fn long_row() -> Scene {
    let scene = Scene::with(Shop::new().await, 301, json!({})).await;
    let mut contacts = scene.contacts.clone();
    contacts.sort();
    for contact in &contacts[..300] {
        scene.shop.opt_out(*contact).await;
    }
    scene.start().await;
    scene
}

#[tokio::test]
async fn a_process_that_is_asked_to_stop_in_a_long_row_ends_within_it() {
    let scene = long_row().await;
    let mut process = Process::run(scene.shop.app(), &scene.shop.kit().clock);
    let passed = count(&scene, StoreOp::Commit);
    while passed.load(Ordering::SeqCst) < 100 {
        tokio::task::yield_now().await;
    }
    process.begin_to_stop();
    // The clock does not advance.
    while !process.running.is_finished() {
        tokio::task::yield_now().await;
    }
    process.running.await.unwrap();
    let passed = scene.statuses().await["skipped"];
    assert!((100..=256).contains(&passed), "{passed}");
    assert_eq!((scene.shop.calls(), scene.status().await.0.as_str()), (0, "running"));
}

#[tokio::test]
async fn an_intent_that_lands_after_its_connection_broke_is_given_back_and_never_sent() {
    for seconds in [0, 1, 30, 59] {
        let scene = Scene::of(2).await;
        scene.start().await;
        scene.shop.store.fail_nth(StoreOp::Commit, 0, StoreFailure::UnknownLate);
        scene.shop.app().campaigns().drain().await;
        scene.shop.store.heal();
        scene.shop.app().sending().recover().await.unwrap();
        assert_eq!(scene.statuses().await.get("waiting"), Some(&1), "it is not there yet");
        scene.shop.advance(Duration::from_secs(seconds));
        assert_eq!(scene.shop.store.land().await.unwrap(), 1);
        assert_eq!(scene.statuses().await.get("sending"), Some(&1));
        scene.shop.app().sending().recover().await.unwrap();
        assert_eq!(scene.refunds().await, 1, "after {seconds} seconds");
        pass_drains(&scene).await;
        assert_eq!((scene.refunds().await, scene.shop.calls()), (1, 1));
        assert_eq!(scene.status().await.0, "finished");
        let all = scene.recipients().await;
        let failed: Vec<_> = all.iter().filter(|known| known.status.as_str() == "failed").collect();
        assert_eq!((failed.len(), json!(failed[0].error_code)), (1, json!("UNKNOWN")));
        scene.check().await;
    }
}

#[tokio::test]
async fn an_intent_that_lands_after_its_recipient_had_another_turn_changes_nothing() {
    let scene = Scene::of(1).await;
    scene.start().await;
    scene.shop.store.fail_nth(StoreOp::Commit, 0, StoreFailure::UnknownLate);
    scene.shop.app().campaigns().drain().await;
    scene.shop.store.heal();
    pass_drains(&scene).await;
    assert_eq!((scene.shop.calls(), scene.status().await.0.as_str()), (1, "finished"));
    assert_eq!(scene.shop.store.land().await.unwrap(), 0);
    scene.shop.app().sending().recover().await.unwrap();
    assert_eq!((scene.refunds().await, scene.shop.ledger().await.len()), (0, 1));
    scene.check().await;
}

#[tokio::test]
async fn an_intent_that_never_lands_is_looked_for_for_a_minute() {
    let scene = Scene::of(1).await;
    scene.start().await;
    scene.shop.store.fail_nth(StoreOp::Commit, 0, StoreFailure::UnknownBefore);
    scene.shop.app().campaigns().drain().await;
    scene.shop.store.heal();
    let reads = count(&scene, StoreOp::Read);
    let mut each = Vec::new();
    for _ in 0..13 {
        scene.shop.app().sending().recover().await.unwrap();
        each.push(reads.swap(0, Ordering::SeqCst));
        scene.shop.advance(Duration::from_secs(6));
    }
    // Seconds 0 to 54, a last time at 60, and no more after that.
    let looks = each[0];
    assert!(each[..11].iter().all(|reads| *reads == looks), "{each:?}");
    assert!(each[11..].iter().all(|reads| *reads == looks - 1), "{each:?}");
}
