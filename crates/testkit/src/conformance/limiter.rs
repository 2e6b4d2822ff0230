//! The contract of rate limiters (8, D12).

use std::collections::HashMap;
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use recado_core::Timestamp;
use recado_core::access::{
    ClientNet, Gcra, Limiter, RateCheck, RateDecision, RateKey, decide_rates,
};
use recado_core::ids::{CampaignId, InboundEndpointId, KeyId, TemplateId};
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

/// One call of a random sequence: how many milliseconds after the previous call it comes, and which
/// of three keys it uses with which allowance.
#[derive(Clone, Debug)]
struct Call {
    later: i64,
    allowances: [Option<Gcra>; 3],
}

fn allowance() -> impl Strategy<Value = Gcra> {
    prop_oneof![
        (1_u32..6).prop_map(Gcra::per_minute),
        (55_u32..62).prop_map(Gcra::per_minute),
        (1_u32..40).prop_map(Gcra::per_second),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    // Clocks are also set back, by a little and by more than any allowance holds.
    let later = prop_oneof![
        10 => 0_i64..50,
        5 => 50_i64..20_000,
        1 => 20_000_i64..200_000,
        1 => -500_i64..0,
        1 => -400_000_i64..-500,
    ];
    let allowances = std::array::from_fn(|_| proptest::option::of(allowance()));
    (later, allowances).prop_map(|(later, allowances)| Call { later, allowances })
}

/// GCRA is defined once, in the core: for all calls, times and rates, the limiter decides and
/// charges what [`decide_rates`] says.
pub async fn every_call_is_decided_as_the_core_defines(harness: &dyn LimiterHarness) {
    const RUNS: u128 = 24;
    let limiter = harness.limiter().await;
    let mut runner = TestRunner::default();
    let sequence = prop::collection::vec(call(), 1..60);
    for run in 0..RUNS {
        let calls = sequence.new_tree(&mut runner).expect("a sequence can be drawn").current();
        let (mut states, mut millis) = (HashMap::new(), 0);
        for (n, Call { later, allowances }) in calls.iter().enumerate() {
            millis += later;
            // Each run has keys of its own, because charges stay.
            let used = (run * 3..).zip(allowances);
            let checks: Vec<_> = used
                .filter_map(|(number, allowance)| {
                    Some(RateCheck { key: RateKey::Calls(key(number)), allowance: (*allowance)? })
                })
                .collect();
            let defined = match decide_rates(&checks, |key| states.get(key).copied(), at(millis)) {
                Ok(after) => {
                    states.extend(checks.iter().map(|check| check.key).zip(after));
                    RateDecision::Allowed
                }
                Err(retry_after) => RateDecision::Limited { retry_after },
            };
            let found = ask(&*limiter, &checks, at(millis)).await;
            assert_eq!(found, defined, "call {n} of {calls:#?}");
        }
    }
}

/// D12: the allowance of a whole minute may be used at once.
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

/// The allowance refills evenly.
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
    // Much later the whole allowance is available again, and no more than that.
    for _ in 0..60 {
        assert!(passes(&*limiter, &[calls(1, 60)], at(10_000_000)).await);
    }
    assert!(!passes(&*limiter, &[calls(1, 60)], at(10_000_000)).await);
}

/// D12: a call that one allowance refuses uses none of the others.
pub async fn a_refusal_charges_no_allowance(harness: &dyn LimiterHarness) {
    let limiter = harness.limiter().await;
    let both = [calls(1, 5), exports(1, 2)];
    for _ in 0..2 {
        assert!(passes(&*limiter, &both, at(0)).await);
    }
    for _ in 0..10 {
        assert!(!passes(&*limiter, &both, at(0)).await);
    }
    // Three of five calls are left, in whichever order the checks come.
    assert!(!passes(&*limiter, &[exports(1, 2), calls(1, 5)], at(0)).await);
    for _ in 0..3 {
        assert!(passes(&*limiter, &[calls(1, 5)], at(0)).await);
    }
    assert!(!passes(&*limiter, &[calls(1, 5)], at(0)).await);
}

/// The answer is the wait after which the call passes, which is the longest one.
pub async fn a_refusal_names_the_longest_wait(harness: &dyn LimiterHarness) {
    let limiter = harness.limiter().await;
    // First there are many calls and few exports, then the reverse.
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

/// A change of the rate does not reset what was used, and applies at once.
pub async fn a_changed_rate_holds_from_the_next_call_on(harness: &dyn LimiterHarness) {
    let limiter = harness.limiter().await;
    for _ in 0..2 {
        assert!(passes(&*limiter, &[calls(1, 2)], at(0)).await);
    }
    assert!(!passes(&*limiter, &[calls(1, 2)], at(0)).await);
    // At a rate of 60, one call refills per second. What two calls used at a rate of 2 stays used.
    let faster = wait(&*limiter, &[calls(1, 60)], at(0)).await;
    assert_eq!(faster, Duration::from_secs(1));
    assert!(passes(&*limiter, &[calls(1, 60)], at(1_000)).await);
    assert!(!passes(&*limiter, &[calls(1, 2)], at(1_000)).await);
}

/// Each key and kind has its own allowance.
pub async fn keys_and_kinds_have_allowances_of_their_own(harness: &dyn LimiterHarness) {
    let limiter = harness.limiter().await;
    for check in [calls(1, 1), exports(1, 1), calls(2, 1), exports(2, 1)] {
        assert!(passes(&*limiter, &[check], at(0)).await);
        assert!(!passes(&*limiter, &[check], at(0)).await);
    }
}

/// D13, D48, R181: clients, endpoints, tokens and campaigns are distinguished from each other and
/// from API keys, even if their ids are equal.
pub async fn what_is_limited_has_an_allowance_of_its_own(harness: &dyn LimiterHarness) {
    let limiter = harness.limiter().await;
    let clients = ["203.0.113.7", "203.0.113.70", "::", "2001:db8:ffff:ffff::", "fe80::1"];
    let clients = clients.map(|address| ClientNet::of(address.parse().expect("an address")));
    let mut keys: Vec<RateKey> = clients
        .iter()
        .flat_map(|client| {
            [
                RateKey::InboundClient(*client),
                RateKey::PublicInboundClient(*client),
                RateKey::DispatchClient(*client),
                RateKey::OperatorGuess(*client),
            ]
        })
        .collect();
    for uuid in [Uuid::nil(), Uuid::from_u128(1), Uuid::max()] {
        keys.extend([
            RateKey::Calls(KeyId::new(uuid)),
            RateKey::Exports(KeyId::new(uuid)),
            RateKey::Endpoint(InboundEndpointId::new(uuid)),
            RateKey::Token(TemplateId::new(uuid)),
            RateKey::Campaign(CampaignId::new(uuid)),
        ]);
    }
    let checks = keys.into_iter().map(|key| RateCheck { key, allowance: Gcra::per_minute(1) });
    let checks: Vec<RateCheck> = checks.collect();
    for check in &checks {
        assert!(passes(&*limiter, &[*check], at(0)).await, "{:?} was used by another", check.key);
    }
    for check in &checks {
        assert!(!passes(&*limiter, &[*check], at(0)).await, "{:?} is not limited", check.key);
    }
}

/// D13: the allowances of a client and of what it calls are charged together or not at all.
pub async fn a_client_and_what_it_calls_are_charged_together(harness: &dyn LimiterHarness) {
    let limiter = harness.limiter().await;
    let client = |n: u8| RateCheck {
        key: RateKey::InboundClient(ClientNet::of([203, 0, 113, n].into())),
        allowance: Gcra::per_minute(2),
    };
    let endpoint = RateCheck {
        key: RateKey::Endpoint(InboundEndpointId::new(Uuid::from_u128(1))),
        allowance: Gcra::per_minute(3),
    };
    // The client alone is charged for a call that is refused in any case; the endpoint is not.
    for _ in 0..2 {
        assert!(passes(&*limiter, &[client(1)], at(0)).await);
    }
    for _ in 0..5 {
        assert!(!passes(&*limiter, &[client(1), endpoint], at(0)).await);
    }
    for n in [2, 2, 3] {
        assert!(passes(&*limiter, &[client(n), endpoint], at(0)).await);
    }
    assert!(!passes(&*limiter, &[client(3), endpoint], at(0)).await, "the endpoint's are used up");
    assert!(passes(&*limiter, &[client(3)], at(0)).await, "the refusal charged no client");
}

/// D66: a rate per second is even; at most a tenth of a second's calls pass at once.
pub async fn a_pace_by_the_second_is_kept(harness: &dyn LimiterHarness) {
    let limiter = harness.limiter().await;
    let pace = |n: u128, rate| RateCheck {
        key: RateKey::Campaign(CampaignId::new(Uuid::from_u128(n))),
        allowance: Gcra::per_second(rate),
    };
    for (n, rate, burst) in [(1, 1, 1), (2, 10, 1), (3, 80, 8), (4, 500, 50)] {
        let mut passed = 0;
        // In two seconds no more calls pass than the rate allows, at whatever times they come.
        for asked in 0..100 {
            while passes(&*limiter, &[pace(n, rate)], at(asked * 20)).await {
                passed += 1;
            }
            assert!(asked > 0 || passed == burst, "{passed} at once, of {rate} a second");
        }
        let allowed = burst + rate * 2;
        assert!(passed <= allowed && passed + rate / 20 + 1 >= allowed, "{passed} of {allowed}");
    }
}

/// Makes calls with one key from many tasks. Each call needs both allowances.
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

/// Exactly as many calls pass as the allowance has.
pub async fn concurrent_calls_never_pass_more_than_the_allowance(harness: &dyn LimiterHarness) {
    let limiter = harness.limiter().await;
    assert_eq!(hammer(vec![limiter.clone()]).await, 40);
    for _ in 0..960 {
        assert!(passes(&*limiter, &[calls(1, 1_000)], at(0)).await, "a refusal was charged");
    }
    assert!(!passes(&*limiter, &[calls(1, 1_000)], at(0)).await);
}

/// Two processes share one allowance.
pub async fn two_limiters_on_one_state_never_pass_more_than_the_allowance(
    harness: &dyn LimiterHarness,
) {
    let Some(second) = harness.second().await else { return };
    assert_eq!(hammer(vec![harness.limiter().await, second]).await, 40);
}
