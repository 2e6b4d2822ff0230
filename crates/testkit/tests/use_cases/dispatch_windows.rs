//! The windows of template dispatch: inside one, nothing is sent a second time (8, D50).

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use recado_core::dispatches::{
    AdmittedTemplate, DispatchError, Dispatched, ExistingSend, RESERVATION,
};
use recado_core::gateway::SendFailure;
use recado_core::messages::{DeliveryCode, Failure};
use recado_core::{Error, Recado, Timestamp};
use recado_testkit::kit::body;
use recado_testkit::{StoreFailure, StoreOp};
use serde_json::{Value, json};

use super::dispatches::{Outcome, PHONE, admit, dispatch, utility};
use super::shop::{Shop, cut_off, phone, refusal, uncertain, unreachable};
use super::{code, create_phone};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const TEN_MINUTES: Duration = Duration::from_secs(600);
const MILLISECOND: Duration = Duration::from_millis(1);

fn template(name: &str, category: &str, language: &str, text: &str) -> Value {
    json!({ "name": name, "category": category, "language": language, "body": text })
}

/// A company with one template.
struct Desk {
    shop: Shop,
    admitted: AdmittedTemplate,
}

impl Desk {
    async fn with(new: Value) -> Self {
        let shop = Shop::new().await;
        let made = shop.template(new).await;
        let admitted = admit(&shop, &made).await;
        Self { shop, admitted }
    }

    async fn another(&self, new: Value) -> AdmittedTemplate {
        let made = self.shop.template(new).await;
        self.shop.advance(Duration::from_secs(6));
        admit(&self.shop, &made).await
    }

    async fn send(&self, name: &str) -> Outcome {
        dispatch(self.shop.app(), &self.admitted, PHONE, name).await
    }

    async fn send_as(&self, admitted: &AdmittedTemplate, name: &str) -> Outcome {
        dispatch(self.shop.app(), admitted, PHONE, name).await
    }
}

/// The earlier send that a refusal names, or `None` for one that is under way.
fn existing(outcome: Outcome) -> Option<ExistingSend> {
    match outcome {
        Err(Error::Rejected(DispatchError::Duplicate(existing))) => existing,
        other => panic!("a duplicate was expected, not {other:?}"),
    }
}

fn sent_at(at: Timestamp, sent: &Dispatched, lasts: Duration) -> ExistingSend {
    ExistingSend { message_id: sent.message_id, sent_at: at, next_eligible_at: at.plus(lasts) }
}

#[tokio::test]
async fn a_window_ends_to_the_millisecond() {
    for (category, lasts) in
        [("MARKETING", DAY), ("UTILITY", TEN_MINUTES), ("AUTHENTICATION", TEN_MINUTES)]
    {
        let desk = Desk::with(template("a", category, "pt_BR", "Olá {{1}}")).await;
        for _ in 0..2 {
            let at = desk.shop.now();
            let sent = desk.send("Ana").await.unwrap();
            let first = sent_at(at, &sent, lasts);
            assert_eq!(existing(desk.send("Ana").await), Some(first), "{category}");
            desk.shop.advance(lasts - MILLISECOND);
            assert_eq!(existing(desk.send("Ana").await), Some(first), "{category}");
            desk.shop.advance(MILLISECOND);
        }
        assert_eq!(desk.shop.calls(), 2);
    }
}

#[tokio::test]
async fn a_refusal_names_the_message_in_the_form_of_the_contract() {
    let desk = Desk::with(utility()).await;
    let sent = desk.send("Ana").await.unwrap();
    let Err(Error::Rejected(error)) = desk.send("Ana").await else { panic!("not refused") };
    let extra = recado_core::Rejection::extra(&error).unwrap();
    assert_eq!(
        json!(extra),
        json!({ "existing": {
            "message_id": sent.message_id, "sent_at": "2026-11-20T12:00:00.000Z",
            "next_eligible_at": "2026-11-20T12:10:00.000Z",
        } })
    );
}

#[tokio::test]
async fn a_refused_repeat_does_not_make_the_window_longer() {
    let desk = Desk::with(utility()).await;
    let at = desk.shop.now();
    let sent = desk.send("Ana").await.unwrap();
    for _ in 0..9 {
        desk.shop.advance(Duration::from_secs(60));
        assert_eq!(existing(desk.send("Ana").await), Some(sent_at(at, &sent, TEN_MINUTES)));
    }
    desk.shop.advance(Duration::from_secs(60));
    desk.send("Ana").await.unwrap();
}

#[tokio::test]
async fn advertising_is_held_back_by_its_name_whatever_it_says() {
    let desk = Desk::with(template("promo", "MARKETING", "pt_BR", "Olá {{1}}")).await;
    desk.send("Ana").await.unwrap();
    assert!(existing(desk.send("Bia").await).is_some());
    let other_text = desk.another(template("promo", "MARKETING", "en", "Hi {{1}}")).await;
    assert!(existing(desk.send_as(&other_text, "Ana").await).is_some());
    let other_name = desk.another(template("promo2", "MARKETING", "pt_BR", "Olá {{1}}")).await;
    desk.send_as(&other_name, "Ana").await.unwrap();
    dispatch(desk.shop.app(), &desk.admitted, &phone(7), "Ana").await.unwrap();
}

#[tokio::test]
async fn everything_else_is_held_back_by_name_language_and_text() {
    for category in ["UTILITY", "AUTH"] {
        let desk = Desk::with(template("a", category, "pt_BR", "Olá {{1}}")).await;
        desk.send("Ana").await.unwrap();
        desk.send("Bia").await.unwrap();
        for other in [
            template("b", category, "pt_BR", "Olá {{1}}"),
            template("a", category, "en", "Olá {{1}}"),
        ] {
            let other = desk.another(other).await;
            desk.send_as(&other, "Ana").await.unwrap();
        }
        // Another template, and the same content all the same.
        let same = desk.another(template("a", category, "pt_BR", "{{1}} {{2}}")).await;
        let said = json!({ "phone_number": PHONE, "variables": { "1": "Olá", "2": "Ana" } });
        let none = recado_core::query::Params::new(Vec::new());
        let dispatches = desk.shop.app().dispatches();
        let again = dispatches.send(&same, said.to_string().as_bytes(), &none).await;
        assert!(existing(again).is_some());
    }
}

#[tokio::test]
async fn all_ways_to_write_a_phone_share_a_window() {
    let desk = Desk::with(utility()).await;
    desk.send("Ana").await.unwrap();
    for form in ["34991230001", "+553491230001", "(34) 9123-0001", "5534991230001"] {
        let again = dispatch(&desk.shop.other, &desk.admitted, form, "Ana").await;
        assert!(existing(again).is_some(), "{form}");
    }
}

#[tokio::test]
async fn a_window_is_of_one_company() {
    let desk = Desk::with(utility()).await;
    desk.send("Ana").await.unwrap();
    let (other, _) = desk.shop.kit().another_company("Outra").await;
    let access = desk.shop.app().access();
    let features = body(json!({ "features": { "template_dispatch": true } }));
    access.change_company(other.id, &features).await.unwrap();
    let connection = body(json!({
        "kind": "qr", "name": "Loja", "identifier": "5511940028944", "gateway": "simulated",
    }));
    desk.shop.app().connections().create(other.id, &connection).await.unwrap();
    let mut new = utility();
    new["status"] = json!("APPROVED");
    let made = desk.shop.app().templates().create(other.id, &body(new)).await.unwrap();
    let dispatches = desk.shop.app().dispatches();
    let admitted = dispatches.admit(&made.token.to_string(), super::shop::client(9)).await.unwrap();
    desk.send_as(&admitted, "Ana").await.unwrap();
}

#[tokio::test]
async fn a_refused_or_surely_failed_send_opens_no_window() {
    let desk = Desk::with(utility()).await;
    for failure in [
        refusal(),
        unreachable(),
        SendFailure::TryLater(Failure::new(DeliveryCode::RateLimitedByProvider, "slow".to_owned())),
        SendFailure::Connection(Failure::new(DeliveryCode::Configuration, "token".to_owned())),
    ] {
        desk.shop.kit().provider.then(Err(failure));
        assert_eq!(code(desk.send("Ana").await), "SEND_FAILED");
    }
    desk.send("Ana").await.unwrap();
    assert!(existing(desk.send("Ana").await).is_some());
}

#[tokio::test]
async fn a_failed_repeat_after_a_window_opens_none_either() {
    let desk = Desk::with(utility()).await;
    desk.send("Ana").await.unwrap();
    desk.shop.advance(TEN_MINUTES);
    desk.shop.kit().provider.then(Err(refusal()));
    assert_eq!(code(desk.send("Ana").await), "SEND_FAILED");
    desk.send("Ana").await.unwrap();
}

#[tokio::test]
async fn an_uncertain_send_opens_a_window() {
    let desk = Desk::with(utility()).await;
    desk.shop.kit().provider.then(Err(uncertain()));
    let at = desk.shop.now();
    assert_eq!(code(desk.send("Ana").await), "SEND_FAILED");
    let message = desk.shop.talk.newest().await;
    let existing = existing(desk.send("Ana").await).expect("it is known");
    assert_eq!(json!(existing.message_id), message["id"]);
    assert_eq!((existing.sent_at, existing.next_eligible_at), (at, at.plus(TEN_MINUTES)));
    assert_eq!(desk.shop.calls(), 1);
    desk.shop.advance(TEN_MINUTES);
    desk.send("Ana").await.unwrap();
}

#[tokio::test]
async fn sends_by_api_and_by_agents_open_no_window_and_heed_none() {
    let desk = Desk::with(utility()).await;
    let sending = desk.shop.app().sending();
    let said = json!({ "to": PHONE, "template": "boas_vindas", "variables": { "1": "Ana" } });
    let said = body(said);
    sending.send_template(&desk.shop.kit().caller, &said).await.unwrap();
    desk.send("Ana").await.unwrap();
    assert!(existing(desk.send("Ana").await).is_some());
    sending.send_template(&desk.shop.kit().caller, &said).await.unwrap();
    assert_eq!(desk.shop.calls(), 3);
}

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
    assert_eq!(desk.shop.talk.newest().await["error_type"], "delivery_uncertain");
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
        let messages = desk.shop.talk.messages().await;
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
        let desk = Desk::with(utility()).await;
        desk.shop.kit().provider.otherwise(failure.clone());
        let mut commits = 0;
        desk.shop.store.plan(move |op| {
            commits += u32::from(op == StoreOp::Commit);
            (op == StoreOp::Commit && commits > 1).then_some(StoreFailure::Unavailable)
        });
        assert_eq!(code(desk.send("Ana").await), "SEND_FAILED");
        desk.shop.store.heal();
        assert_eq!(existing(desk.send("Ana").await), None);
        desk.shop.app().sending().recover().await.unwrap();
        desk.shop.kit().provider.otherwise(None);
        let again = desk.send("Ana").await;
        assert_eq!(again.is_err(), opens, "{failure:?}");
        if opens {
            assert!(existing(again).is_some());
        }
    }
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
    desk.shop.app().store().upkeep(desk.shop.now()).await.unwrap();
    assert!(existing(desk.send("Ana").await).is_some());
    desk.shop.advance(MILLISECOND);
    desk.shop.app().store().upkeep(desk.shop.now()).await.unwrap();
    assert_eq!(desk.shop.model.row_count(), rows - 1);
}

/// Dispatches the same `count` times at once, over some processes.
fn at_once(
    apps: &[Recado],
    admitted: &AdmittedTemplate,
    phone: &str,
    count: usize,
) -> FuturesUnordered<tokio::task::JoinHandle<Outcome>> {
    let start = |n: usize| {
        let (app, admitted) = (apps[n % apps.len()].clone(), admitted.clone());
        // Half of them write the number without its ninth digit.
        let phone =
            if n.is_multiple_of(2) { phone.to_owned() } else { phone.replacen("+55349", "34", 1) };
        tokio::spawn(async move { dispatch(&app, &admitted, &phone, "Ana").await })
    };
    (0..count).map(start).collect()
}

/// One round on a phone: a first dispatch of many at once, repeats inside the window, and one more
/// after it.
async fn round(shop: &Shop, apps: &[Recado], admitted: &AdmittedTemplate, n: usize, count: usize) {
    let phone = phone(n);
    let is_known = n.is_multiple_of(2);
    if is_known {
        create_phone(shop.kit(), &phone).await;
    }
    let (calls, made) = (shop.calls(), shop.count_events("contact.created"));
    let gate = shop.kit().provider.hold();
    let at = shop.now();
    let mut sends = at_once(apps, admitted, &phone, count);
    for _ in 1..count {
        let refused = sends.next().await.unwrap().unwrap();
        assert_eq!(existing(refused), None, "the one that sends is held back");
    }
    gate.reached(calls + 1).await;
    gate.open();
    let sent = sends.next().await.unwrap().unwrap().expect("one is sent");
    assert_eq!(shop.calls(), calls + 1);
    assert_eq!(shop.count_events("contact.created"), made + usize::from(!is_known));

    let known = sent_at(at, &sent, TEN_MINUTES);
    let mut sends = at_once(apps, admitted, &phone, count);
    while let Some(refused) = sends.next().await {
        assert_eq!(existing(refused.unwrap()), Some(known));
    }
    shop.kit().clock.set(known.next_eligible_at);
    let mut sends = at_once(apps, admitted, &phone, count);
    let mut again = None;
    while let Some(outcome) = sends.next().await {
        match outcome.unwrap() {
            Ok(sent) => assert!(again.replace(sent).is_none(), "two were sent"),
            refused => {
                existing(refused);
            }
        }
    }
    assert_eq!(again.expect("one is sent").contact_id, sent.contact_id);
    assert_eq!(shop.calls(), calls + 2);
}

/// 500 rounds: so many dispatches at once in each.
async fn rounds(processes: usize) {
    let plan = [(430, 2), (50, 10), (20, 100)];
    let counts: Vec<usize> =
        plan.iter().flat_map(|(rounds, count)| std::iter::repeat_n(*count, *rounds)).collect();
    assert_eq!(counts.len(), 500);
    for (seed, counts) in counts.chunks(50).enumerate() {
        let shop = Arc::new(Shop::seeded(seed as u64).await);
        let made = shop.template(utility()).await;
        let admitted = admit(&shop, &made).await;
        let apps: Vec<Recado> = shop.apps().into_iter().take(processes).cloned().collect();
        for (n, count) in counts.iter().enumerate() {
            round(&shop, &apps, &admitted, n, *count).await;
        }
    }
}

#[tokio::test]
async fn of_simultaneous_dispatches_in_one_process_one_is_sent_in_500_rounds() {
    rounds(1).await;
}

#[tokio::test]
async fn of_simultaneous_dispatches_in_two_processes_one_is_sent_in_500_rounds() {
    rounds(2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_simultaneous_dispatches_on_several_threads_one_is_sent() {
    let shop = Shop::new().await;
    let made = shop.template(utility()).await;
    let admitted = admit(&shop, &made).await;
    let apps: Vec<Recado> = shop.apps().into_iter().cloned().collect();
    for n in 0..60 {
        round(&shop, &apps, &admitted, n, [2, 10, 50][n % 3]).await;
    }
}
