//! The contract of rate limiters (8, D12).

use std::time::Duration;

use recado_core::Timestamp;
use recado_core::access::{Gcra, Limiter, RateCheck, RateDecision, RateKey};
use recado_core::ids::KeyId;
use uuid::Uuid;

use super::LimiterHarness;
use super::scene::at;

fn key(n: u128) -> KeyId {
    KeyId::new(Uuid::from_u128(n))
}

fn calls(n: u128, rate: u32) -> RateCheck {
    RateCheck { key: RateKey::Calls(key(n)), allowance: Gcra::per_minute(rate) }
}

fn exports(n: u128, rate: u32) -> RateCheck {
    RateCheck { key: RateKey::Exports(key(n)), allowance: Gcra::per_minute(rate) }
}

async fn ask(limiter: &dyn Limiter, checks: &[RateCheck], now: Timestamp) -> RateDecision {
    limiter.check(checks, now).await.expect("the limiter works")
}

async fn passes(limiter: &dyn Limiter, checks: &[RateCheck], now: Timestamp) -> bool {
    ask(limiter, checks, now).await == RateDecision::Allowed
}

async fn wait(limiter: &dyn Limiter, checks: &[RateCheck], now: Timestamp) -> Duration {
    match ask(limiter, checks, now).await {
        RateDecision::Limited { retry_after } => retry_after,
        RateDecision::Allowed => panic!("a refusal was expected"),
    }
}

/// D12: a whole minute's worth may be used at once.
pub async fn a_whole_allowance_passes_at_once_and_not_one_more(harness: &dyn LimiterHarness) {
    let limiter = harness.limiter().await;
    for (n, rate) in [(1, 1), (2, 7), (3, 60)] {
        for call in 0..rate {
            assert!(passes(&*limiter, &[calls(n, rate)], at(0)).await, "call {call} of {rate}");
        }
        let named = wait(&*limiter, &[calls(n, rate)], at(0)).await;
        assert!(named > Duration::ZERO);
        assert!(named.as_micros() <= Gcra::per_minute(rate).interval_micros() as u128);
    }
}

/// It refills evenly.
pub async fn after_the_wait_that_was_named_one_call_passes(harness: &dyn LimiterHarness) {
    let limiter = harness.limiter().await;
    for _ in 0..60 {
        assert!(passes(&*limiter, &[calls(1, 60)], at(0)).await);
    }
    let named = wait(&*limiter, &[calls(1, 60)], at(0)).await;
    assert_eq!(named, Duration::from_secs(1));
    assert!(!passes(&*limiter, &[calls(1, 60)], at(999)).await);
    let later = at(0).plus(named);
    assert!(passes(&*limiter, &[calls(1, 60)], later).await);
    assert!(!passes(&*limiter, &[calls(1, 60)], later).await);
    // Long after, the whole allowance is there again, and no more than that.
    for _ in 0..60 {
        assert!(passes(&*limiter, &[calls(1, 60)], at(10_000_000)).await);
    }
    assert!(!passes(&*limiter, &[calls(1, 60)], at(10_000_000)).await);
}

/// D12: a call that is refused by one allowance uses none of the others.
pub async fn a_refusal_charges_no_allowance(harness: &dyn LimiterHarness) {
    let limiter = harness.limiter().await;
    let both = [calls(1, 5), exports(1, 2)];
    for _ in 0..2 {
        assert!(passes(&*limiter, &both, at(0)).await);
    }
    for _ in 0..10 {
        assert!(!passes(&*limiter, &both, at(0)).await);
    }
    // Three of five calls are left, whatever order the checks come in.
    assert!(!passes(&*limiter, &[exports(1, 2), calls(1, 5)], at(0)).await);
    for _ in 0..3 {
        assert!(passes(&*limiter, &[calls(1, 5)], at(0)).await);
    }
    assert!(!passes(&*limiter, &[calls(1, 5)], at(0)).await);
}

/// The wait after which the call passes, not the first that lapses.
pub async fn a_refusal_names_the_longest_wait(harness: &dyn LimiterHarness) {
    let limiter = harness.limiter().await;
    // First the calls are plenty and the exports few, then the other way round.
    for (slow, fast) in [(exports(1, 1), calls(1, 60)), (calls(2, 1), exports(2, 60))] {
        let both = [fast, slow];
        assert!(passes(&*limiter, &both, at(0)).await);
        for _ in 0..59 {
            assert!(passes(&*limiter, &[fast], at(0)).await);
        }
        assert_eq!(wait(&*limiter, &both, at(0)).await, Duration::from_secs(60));
        assert!(passes(&*limiter, &both, at(60_000)).await);
    }
}

/// An operator's change is no reset and holds at once.
pub async fn a_changed_rate_holds_from_the_next_call_on(harness: &dyn LimiterHarness) {
    let limiter = harness.limiter().await;
    for _ in 0..2 {
        assert!(passes(&*limiter, &[calls(1, 2)], at(0)).await);
    }
    assert!(!passes(&*limiter, &[calls(1, 2)], at(0)).await);
    // A second of a rate of 60 is one call; the minute that two calls of 2 used is used.
    let faster = wait(&*limiter, &[calls(1, 60)], at(0)).await;
    assert_eq!(faster, Duration::from_secs(1));
    assert!(passes(&*limiter, &[calls(1, 60)], at(1_000)).await);
    assert!(!passes(&*limiter, &[calls(1, 2)], at(1_000)).await);
}

/// One key's use is nobody else's.
pub async fn keys_and_kinds_have_allowances_of_their_own(harness: &dyn LimiterHarness) {
    let limiter = harness.limiter().await;
    for check in [calls(1, 1), exports(1, 1), calls(2, 1), exports(2, 1)] {
        assert!(passes(&*limiter, &[check], at(0)).await);
        assert!(!passes(&*limiter, &[check], at(0)).await);
    }
}

/// Calls of one key from many tasks, each asking for both allowances.
async fn hammer(limiters: Vec<std::sync::Arc<dyn Limiter>>) -> u32 {
    let mut workers = Vec::new();
    for worker in 0..8 {
        let limiter = limiters[worker % limiters.len()].clone();
        workers.push(tokio::spawn(async move {
            let mut passed = 0;
            for _ in 0..15 {
                let both = [calls(1, 1_000), exports(1, 40)];
                passed += u32::from(passes(&*limiter, &both, at(0)).await);
            }
            passed
        }));
    }
    let mut passed = 0;
    for worker in workers {
        passed += worker.await.expect("no panic");
    }
    passed
}

/// Exactly the allowance: none is lost, none is made.
pub async fn concurrent_calls_never_pass_more_than_the_allowance(harness: &dyn LimiterHarness) {
    let limiter = harness.limiter().await;
    assert_eq!(hammer(vec![limiter.clone()]).await, 40);
    for _ in 0..960 {
        assert!(passes(&*limiter, &[calls(1, 1_000)], at(0)).await, "a refusal was charged");
    }
    assert!(!passes(&*limiter, &[calls(1, 1_000)], at(0)).await);
}

/// Two processes share what they may.
pub async fn two_limiters_on_one_state_never_pass_more_than_the_allowance(
    harness: &dyn LimiterHarness,
) {
    let Some(second) = harness.second().await else { return };
    assert_eq!(hammer(vec![harness.limiter().await, second]).await, 40);
}
