//! Dispatches under way: what they block, and what a crash leaves (D50).

use std::time::Duration;

use recado_core::dispatches::RESERVATION;
use recado_core::workers::LEASE;
use recado_testkit::{StoreFailure, StoreOp};
use serde_json::json;

use super::dispatch_windows::{Desk, MILLISECOND, TEN_MINUTES, existing};
use super::dispatches::{PHONE, dispatch, utility};
use super::shop::{cut_off, refusal, uncertain};
use super::{code, create_phone};

#[tokio::test]
async fn a_dispatch_that_is_under_way_stands_in_the_way_without_being_named() {
    let desk = Desk::with(utility()).await;
    let gate = desk.shop.kit().provider.hold();
    let repeats = async {
        gate.reached(1).await;
        for app in desk.shop.apps() {
            for form in [PHONE, "3491230001"] {
                let repeat = dispatch(app, &desk.admitted, form, "Ana").await;
                assert_eq!(existing(repeat), None);
            }
        }
        gate.open();
    };
    let (sent, ()) = tokio::join!(desk.send("Ana"), repeats);
    let sent = sent.unwrap();
    assert_eq!(existing(desk.send("Ana").await).map(|e| e.message_id), Some(sent.message_id));
    assert_eq!(desk.shop.calls(), 1);
}

/// R88.
#[tokio::test]
async fn what_a_dead_process_reserved_lapses_after_exactly_sixty_seconds() {
    let desk = Desk::with(utility()).await;
    create_phone(desk.shop.kit(), PHONE).await;
    let dead = desk.shop.process(77).await;
    let gate = desk.shop.kit().provider.hold();
    let at = desk.shop.now();
    tokio::select! {
        biased;
        _ = dispatch(&dead, &desk.admitted, PHONE, "Ana") => panic!("the provider holds it back"),
        () = gate.reached(1) => {}
    }
    drop(dead);
    gate.open();
    for millis in [0, 1, 10_001, 59_998] {
        desk.shop.kit().clock.set(at.plus(Duration::from_millis(millis)));
        desk.shop.app().sending().recover().await.unwrap();
        assert_eq!(existing(desk.send("Ana").await), None, "{millis}");
    }
    assert_eq!(desk.shop.messaging.newest().await["error_type"], "delivery_uncertain");
    desk.shop.kit().clock.set(at.plus(RESERVATION - MILLISECOND));
    assert_eq!(existing(desk.send("Ana").await), None);
    desk.shop.kit().clock.set(at.plus(RESERVATION));
    let sent = desk.send("Ana").await.unwrap();
    assert_eq!(desk.shop.calls(), 2);
    let again = existing(desk.send("Ana").await).expect("it is known");
    assert_eq!((again.message_id, again.sent_at), (sent.message_id, at.plus(RESERVATION)));
}

#[tokio::test]
async fn a_dispatch_that_is_dropped_at_any_step_stands_in_the_way_for_sixty_seconds_at_most() {
    let mut reached = false;
    for steps in 1..100 {
        let desk = Desk::with(utility()).await;
        let _gate = desk.shop.kit().provider.hold();
        let sent = cut_off(desk.send("Ana"), steps).await;
        assert!(sent.is_none(), "the provider holds it back");
        reached = desk.shop.calls() == 1;
        drop(_gate);
        desk.shop.app().sending().recover().await.unwrap();
        let messages = desk.shop.messaging.messages().await;
        assert!(messages.iter().all(|message| message["status"] == "failed"), "{messages:?}");
        desk.shop.advance(RESERVATION - MILLISECOND);
        if !messages.is_empty() {
            assert_eq!(existing(desk.send("Ana").await), None, "after {steps} steps");
        }
        desk.shop.advance(MILLISECOND);
        desk.send("Ana").await.unwrap();
        assert_eq!(desk.shop.count_events("contact.created"), 1);
        if reached {
            break;
        }
    }
    assert!(reached, "no dispatch ever reached its provider");
}

#[tokio::test]
async fn an_answer_that_comes_after_its_reservation_lapsed_leaves_the_next_ones_window_alone() {
    for failure in [None, Some(refusal()), Some(uncertain())] {
        let desk = Desk::with(utility()).await;
        create_phone(desk.shop.kit(), PHONE).await;
        if let Some(failure) = &failure {
            desk.shop.kit().provider.then(Err(failure.clone()));
        }
        let slow = desk.shop.kit().provider.hold();
        let late = async {
            slow.reached(1).await;
            desk.shop.advance(RESERVATION);
            // The gate of the first call stays shut.
            let _open = desk.shop.kit().provider.hold();
            _open.open();
            let sent = desk.send("Ana").await.unwrap();
            slow.open();
            sent
        };
        let (first, second) = tokio::join!(desk.send("Ana"), late);
        assert_eq!(first.is_ok(), failure.is_none());
        let known = existing(desk.send("Ana").await).expect("it is known");
        assert_eq!(known.message_id, second.message_id, "{failure:?}");
        assert_eq!(desk.shop.calls(), 2);
    }
}

#[tokio::test]
async fn an_outcome_that_was_recorded_late_opens_or_gives_back_the_window_as_it_should() {
    for (failure, opens) in [(None, true), (Some(uncertain()), true), (Some(refusal()), false)] {
        for recovers in [true, false] {
            let desk = Desk::with(utility()).await;
            desk.shop.kit().provider.otherwise(failure.clone());
            let mut commits = 0;
            desk.shop.store.plan(move |op| {
                commits += u32::from(op == StoreOp::Commit);
                (op == StoreOp::Commit && commits > 1).then_some(StoreFailure::Unavailable)
            });
            assert_eq!(code(desk.send("Ana").await), "SEND_FAILED");
            desk.shop.store.heal();
            let elsewhere = dispatch(&desk.shop.other, &desk.admitted, PHONE, "Ana").await;
            assert_eq!(existing(elsewhere), None, "nobody else knows what became of it");
            if recovers {
                desk.shop.app().sending().recover().await.unwrap();
            }
            desk.shop.kit().provider.otherwise(None);
            // The process with the outcome records it before the next dispatch, at the latest.
            let again = desk.send("Ana").await;
            assert_eq!(again.is_err(), opens, "{failure:?}");
            if opens {
                assert!(existing(again).is_some());
            }
        }
    }
}

#[tokio::test]
async fn an_answer_that_comes_after_the_message_was_given_up_gives_back_or_opens_its_window() {
    for (failure, opens) in [(None, true), (Some(uncertain()), true), (Some(refusal()), false)] {
        let desk = Desk::with(utility()).await;
        create_phone(desk.shop.kit(), PHONE).await;
        desk.shop.kit().provider.otherwise(failure.clone());
        let gate = desk.shop.kit().provider.hold();
        let give_up = async {
            gate.reached(1).await;
            // Its process was paused for as long as its lease, and goes on.
            desk.shop.advance(LEASE);
            desk.shop.other.sending().recover().await.unwrap();
            assert_eq!(desk.shop.messaging.newest().await["error_type"], "delivery_uncertain");
            gate.open();
        };
        let (first, ()) = tokio::join!(desk.send("Ana"), give_up);
        assert_eq!(first.is_ok(), failure.is_none());
        let message = desk.shop.messaging.newest().await;
        let shown = if failure.is_none() { "sent" } else { "failed" };
        assert_eq!(message["status"], shown);
        if failure.is_some() {
            // The outcome that is known in the end replaces the uncertain failure.
            let why = if opens { "delivery_uncertain" } else { "provider" };
            assert_eq!(message["error_type"], why, "{failure:?}");
        }
        desk.shop.kit().provider.otherwise(None);
        let again = desk.send("Ana").await;
        assert_eq!(again.is_err(), opens, "{failure:?}");
        if opens {
            assert!(existing(again).is_some());
        }
        assert_eq!(desk.shop.calls(), if opens { 1 } else { 2 });
    }
}

/// R88.
#[tokio::test]
async fn a_dispatch_that_took_too_long_to_be_stored_is_not_sent_and_frees_its_window() {
    for (took, is_sent) in [(5_000, true), (5_001, false), (59_999, false), (61_000, false)] {
        let desk = Desk::with(utility()).await;
        create_phone(desk.shop.kit(), PHONE).await;
        let (clock, mut commits) = (desk.shop.kit().clock.clone(), 0);
        desk.shop.store.plan(move |op| {
            commits += u32::from(op == StoreOp::Commit);
            if op == StoreOp::Commit && commits == 1 {
                clock.advance(Duration::from_millis(took));
            }
            None
        });
        let outcome = desk.send("Ana").await;
        desk.shop.store.heal();
        if is_sent {
            outcome.unwrap();
            continue;
        }
        assert_eq!(code(outcome), "SEND_FAILED", "{took}");
        assert_eq!(desk.shop.calls(), 0, "{took}");
        let message = desk.shop.messaging.newest().await;
        assert_eq!(
            (&message["status"], &message["error_type"]),
            (&json!("failed"), &json!("unknown"))
        );
        desk.shop.app().sending().recover().await.unwrap();
        desk.send("Ana").await.unwrap();
        assert_eq!(desk.shop.calls(), 1, "{took}");
    }
}

#[tokio::test]
async fn a_dispatch_that_lands_after_its_connection_broke_is_never_sent() {
    let desk = Desk::with(utility()).await;
    desk.shop.store.fail_nth(StoreOp::Commit, 0, StoreFailure::UnknownLate);
    assert_eq!(code(desk.send("Ana").await), "SEND_FAILED");
    desk.shop.store.heal();
    desk.shop.app().sending().recover().await.unwrap();
    assert_eq!(desk.shop.store.land().await.unwrap(), 1);
    assert_eq!(existing(desk.send("Ana").await), None, "it holds its reservation");
    assert_eq!(desk.shop.messaging.newest().await["status"], "failed");
    desk.shop.advance(RESERVATION);
    desk.send("Ana").await.unwrap();
    assert_eq!(desk.shop.calls(), 1);
}

#[tokio::test]
async fn a_store_that_fails_at_any_commit_never_lets_a_dispatch_out_twice() {
    let failures = [
        StoreFailure::Unavailable,
        StoreFailure::UnknownBefore,
        StoreFailure::UnknownAfter,
        StoreFailure::Contended,
    ];
    for failure in failures {
        for n in 0..4 {
            let desk = Desk::with(utility()).await;
            desk.shop.store.fail_nth(StoreOp::Commit, n, failure);
            let first = desk.send("Ana").await;
            desk.shop.store.heal();
            let when = format!("{failure:?} {n}: {first:?}");
            let second = desk.send("Ana").await;
            desk.shop.app().sending().recover().await.unwrap();
            let third = desk.send("Ana").await;
            assert_eq!(desk.shop.calls().max(1), 1, "{when}, {second:?}, {third:?}");
            desk.shop.advance(RESERVATION);
            let fourth = desk.send("Ana").await;
            assert_eq!(desk.shop.calls(), 1, "{when}, {second:?}, {third:?}, {fourth:?}");
            desk.shop.advance(TEN_MINUTES);
            desk.send("Ana").await.unwrap();
            assert_eq!(desk.shop.count_events("contact.created"), 1, "{when}");
            assert_eq!(desk.shop.count_events("message.sent"), 2, "{when}");
        }
    }
}

#[tokio::test]
async fn upkeep_forgets_windows_that_ended_and_no_others() {
    let desk = Desk::with(utility()).await;
    desk.send("Ana").await.unwrap();
    let rows = desk.shop.model.row_count();
    desk.shop.advance(TEN_MINUTES - MILLISECOND);
    desk.shop.app().upkeep().await.unwrap();
    assert!(existing(desk.send("Ana").await).is_some());
    desk.shop.advance(MILLISECOND);
    desk.shop.app().upkeep().await.unwrap();
    assert_eq!(desk.shop.model.row_count(), rows - 1);
}

#[tokio::test]
async fn an_answer_that_comes_late_does_not_give_back_what_another_has_reserved_since() {
    for failure in [None, Some(refusal()), Some(uncertain())] {
        let desk = Desk::with(utility()).await;
        create_phone(desk.shop.kit(), PHONE).await;
        let provider = &desk.shop.kit().provider;
        if let Some(failure) = &failure {
            provider.then(Err(failure.clone()));
        }
        let (slow, second_calls) = (provider.hold(), tokio::sync::Notify::new());
        let first = async {
            let first = desk.send("Ana").await;
            assert_eq!(first.is_ok(), failure.is_none());
            // The second one is still under way.
            assert_eq!(existing(desk.send("Ana").await), None, "{failure:?}");
            second_calls.notify_one();
        };
        let second = async {
            slow.reached(1).await;
            desk.shop.advance(RESERVATION);
            let gate = provider.hold();
            let open = async {
                gate.reached(2).await;
                slow.open();
                second_calls.notified().await;
                gate.open();
            };
            let (second, ()) = tokio::join!(desk.send("Ana"), open);
            second.unwrap()
        };
        let ((), second) = tokio::join!(first, second);
        let known = existing(desk.send("Ana").await).expect("it is known");
        assert_eq!(known.message_id, second.message_id, "{failure:?}");
        assert_eq!(desk.shop.calls(), 2);
    }
}
