//! Simultaneous dispatches, in one process and in two: one of them is sent (D50).

use std::sync::Arc;

use futures_util::stream::{FuturesUnordered, StreamExt};
use recado_core::Recado;
use recado_core::dispatches::AdmittedTemplate;

use super::create_phone;
use super::dispatch_windows::{TEN_MINUTES, existing, sent_at};
use super::dispatches::{Outcome, admit, dispatch, utility};
use super::shop::{Shop, phone};

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
