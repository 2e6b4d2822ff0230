//! Rate limits: GCRA over a whole minute's allowance (8, D12).

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;

use super::{Caller, ClientNet};
use crate::Timestamp;
use crate::accounts::{AttemptSpan, LoginEmailHash, SignInStateHash};
use crate::ids::{CampaignId, ContactId, InboundEndpointId, KeyId, LinkId, TemplateId};
use crate::links::Clicker;
use crate::store::StoreError;

/// Microseconds in a minute: the state is kept in microseconds so that no rate is rounded away.
const MINUTE_MICROS: i64 = 60_000_000;
/// A state further in the future than this, and than twice the allowance, was written by a clock
/// that was ahead. Such a state is ignored, so that setting the clock
/// back does not lock a key out.
const IMPLAUSIBLE_MICROS: i64 = 2 * MINUTE_MICROS;

/// An allowance: so many calls may be used at once, then it refills evenly.
///
/// The state is one number, the theoretical arrival time (`tat`) in microseconds: the moment at
/// which the allowance will be whole again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gcra {
    interval_micros: i64,
    burst_micros: i64,
}

/// Microseconds in a second.
const SECOND_MICROS: i64 = 1_000_000;

/// How long one of `calls` in `span` takes, rounded up so that no more than the allowed rate ever
/// passes.
const fn interval(span: i64, calls: u32) -> i64 {
    let calls = calls as i64;
    (span + calls - 1) / calls
}

impl Gcra {
    /// A whole minute's worth at once, then evenly; a rate of 0 counts as 1 (D12).
    pub const fn per_minute(rate: u32) -> Self {
        let rate = if rate == 0 { 1 } else { rate };
        Self::new(interval(MINUTE_MICROS, rate), rate as i64)
    }

    /// Evenly over each second, a tenth of a second's worth at once; a rate of 0 counts as 1. For
    /// sends at an even pace, not only below a limit.
    pub const fn per_second(rate: u32) -> Self {
        let rate = if rate == 0 { 1 } else { rate };
        let burst = if rate < 10 { 1 } else { rate as i64 / 10 };
        Self::new(interval(SECOND_MICROS, rate), burst)
    }

    /// A whole span's worth at once, then evenly; 0 counts as 1. For few calls over long spans:
    /// two at least, in a month at most (R398).
    pub const fn over(span: Duration, calls: u32) -> Self {
        let calls = if calls == 0 { 1 } else { calls };
        Self::new(interval(span.as_secs() as i64 * SECOND_MICROS, calls), calls as i64)
    }

    const fn new(interval_micros: i64, burst: i64) -> Self {
        Self { interval_micros, burst_micros: interval_micros * burst }
    }

    /// The allowance for a call that passes only when one of this allowance would, and uses up
    /// nothing of it (R181).
    #[must_use]
    pub const fn uncounted(self) -> Self {
        Self { interval_micros: 0, burst_micros: self.burst_micros - self.interval_micros }
    }

    /// How long one call takes to refill, in microseconds.
    pub const fn interval_micros(self) -> i64 {
        self.interval_micros
    }

    /// How far the state may run ahead of the clock, in microseconds: the whole allowance.
    pub const fn burst_micros(self) -> i64 {
        self.burst_micros
    }

    /// Decides one call at `now`: the state after it, or how long to wait.
    ///
    /// # Errors
    ///
    /// The wait after which one call will pass.
    pub fn decide(self, tat_micros: Option<i64>, now: Timestamp) -> Result<i64, Duration> {
        let now = now.millis() * 1000;
        let plausible = now + IMPLAUSIBLE_MICROS.max(2 * self.burst_micros());
        let tat = tat_micros.filter(|tat| *tat <= plausible).unwrap_or(now).max(now);
        let next = tat + self.interval_micros();
        let over = next - now - self.burst_micros();
        if over <= 0 {
            return Ok(next);
        }
        Err(Duration::from_micros(u64::try_from(over).unwrap_or(u64::MAX)))
    }
}

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RateKey {
    /// All calls of a key.
    Calls(KeyId),
    /// The export calls of a key.
    Exports(KeyId),
    /// Calls by one client of inbound endpoints that ask for a secret, and of unknown ones (D13).
    InboundClient(ClientNet),
    /// Calls of public inbound endpoints by one client (D13).
    PublicInboundClient(ClientNet),
    /// Calls of one inbound endpoint.
    Endpoint(InboundEndpointId),
    /// Calls of template dispatch by one client (D13).
    DispatchClient(ClientNet),
    /// Calls of one template's token.
    Token(TemplateId),
    /// The messages of a campaign.
    Campaign(CampaignId),
    /// Operator tokens that one client tries (R181).
    OperatorGuess(ClientNet),
    /// Wrong passwords for one address (R398).
    SignIn(LoginEmailHash, AttemptSpan),
    /// Wrong passwords by one client (R398).
    SignInClient(ClientNet),
    /// The answers of the provider to one sign-in (R432).
    SignInAnswer(SignInStateHash),
    /// The recorded visits of a link (R205).
    LinkClicks(LinkId),
    /// The recorded visits by one client (R205).
    Clicker(Clicker),
    /// The clicks of a link by one client, as a person (R206).
    PersonsClick(LinkId, Clicker),
    /// How often a contact is shown that somebody types (X14).
    Typing(ContactId),
}

impl std::fmt::Display for RateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Calls(key) => write!(f, "calls:{key}"),
            Self::Exports(key) => write!(f, "exports:{key}"),
            Self::InboundClient(client) => write!(f, "inbound-client:{client}"),
            Self::PublicInboundClient(client) => write!(f, "inbound-public-client:{client}"),
            Self::Endpoint(endpoint) => write!(f, "endpoint:{endpoint}"),
            Self::DispatchClient(client) => write!(f, "dispatch-client:{client}"),
            Self::Token(template) => write!(f, "token:{template}"),
            Self::Campaign(campaign) => write!(f, "campaign:{campaign}"),
            Self::OperatorGuess(client) => write!(f, "operator-guess:{client}"),
            Self::SignIn(email, span) => {
                write!(f, "sign-in:{}:{}", span.as_str(), email.to_text())
            }
            Self::SignInClient(client) => write!(f, "sign-in-client:{client}"),
            Self::SignInAnswer(state) => write!(f, "sign-in-answer:{}", state.to_text()),
            Self::LinkClicks(link) => write!(f, "link:{link}"),
            Self::Clicker(client) => write!(f, "clicker:{}", client.as_text()),
            Self::PersonsClick(link, client) => {
                write!(f, "click:{link}:{}", client.as_text())
            }
            Self::Typing(contact) => write!(f, "typing:{contact}"),
        }
    }
}

/// One allowance to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateCheck {
    /// Whose.
    pub key: RateKey,
    /// How much.
    pub allowance: Gcra,
}

/// Decides one call that uses several allowances, each as [`Gcra::decide`] does: the state of each
/// after it, or the longest wait among those that refuse. When one refuses, none is charged (D12).
/// `known` is the state of an allowance, if there is one.
///
/// # Errors
///
/// The wait after which the call will pass.
pub fn decide_rates(
    checks: &[RateCheck],
    known: impl Fn(&RateKey) -> Option<i64>,
    now: Timestamp,
) -> Result<Vec<i64>, Duration> {
    let mut after = Vec::with_capacity(checks.len());
    let mut longest = None;
    for check in checks {
        match check.allowance.decide(known(&check.key), now) {
            Ok(state) => after.push(state),
            Err(wait) => longest = longest.max(Some(wait)),
        }
    }
    longest.map_or(Ok(after), Err)
}

/// The answer of a limiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateDecision {
    /// The call may proceed; every allowance was charged one call.
    Allowed,
    /// Too many; nothing was charged.
    Limited {
        /// The shortest wait until a call is allowed.
        retry_after: Duration,
    },
}

/// Keeps the state of allowances.
///
/// # Contract
///
/// - The decision equals that of [`decide_rates`], however the limiter is implemented.
/// - All checks of a call are decided before any is charged; if one refuses, none is charged (D12).
/// - Concurrent calls, in any process that shares the state, never pass more than the allowance.
/// - A refusal names the longest wait among those that refused.
/// - A changed rate applies from the next call on.
#[async_trait]
pub trait Limiter: Send + Sync {
    /// Decides and charges one call at `now`.
    ///
    /// # Errors
    ///
    /// When the shared state cannot be reached.
    async fn check(&self, checks: &[RateCheck], now: Timestamp)
    -> Result<RateDecision, StoreError>;
}

/// The allowances that a call of `caller` uses: all calls, and exports in addition (D12). The
/// program itself has none to use.
pub fn rate_checks(caller: &Caller, export: bool) -> Vec<RateCheck> {
    let Some(key) = caller.key() else { return Vec::new() };
    let mut checks = vec![RateCheck {
        key: RateKey::Calls(key),
        allowance: Gcra::per_minute(caller.rate_per_minute()),
    }];
    if export {
        checks.push(RateCheck {
            key: RateKey::Exports(key),
            allowance: Gcra::per_minute(caller.export_rate_per_minute()),
        });
    }
    checks
}

/// A limiter for one process. Its memory is bounded by the keys used within the last minute.
#[derive(Debug, Default)]
pub struct MemoryLimiter {
    state: Mutex<RateStates>,
}

/// How many entries may be kept at least before the lapsed ones are dropped.
const SWEEP_AT: usize = 10_000;

/// The state of allowances, and how many there were after the last sweep.
#[derive(Debug, Default)]
struct RateStates {
    tats: HashMap<RateKey, i64>,
    swept: usize,
}

impl MemoryLimiter {
    /// A limiter in which no allowance has been used.
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl Limiter for MemoryLimiter {
    async fn check(
        &self,
        checks: &[RateCheck],
        now: Timestamp,
    ) -> Result<RateDecision, StoreError> {
        let mut kept = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Only when their number has doubled, so that on average a call examines a few entries, not
        // all.
        if kept.tats.len() >= SWEEP_AT.max(2 * kept.swept) {
            kept.tats.retain(|_, tat| *tat > now.millis() * 1000);
            kept.swept = kept.tats.len();
        }
        match decide_rates(checks, |key| kept.tats.get(key).copied(), now) {
            Ok(after) => {
                kept.tats.extend(checks.iter().map(|check| check.key).zip(after));
                Ok(RateDecision::Allowed)
            }
            Err(retry_after) => Ok(RateDecision::Limited { retry_after }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use futures_util::FutureExt;
    use proptest::prelude::*;

    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn a_whole_minutes_allowance_passes_at_once_and_not_one_more() {
        for rate in [1, 7, 60, 600, 999] {
            let gcra = Gcra::per_minute(rate);
            let mut tat = None;
            for _ in 0..rate {
                tat = Some(gcra.decide(tat, at(5_000)).expect("within the allowance"));
            }
            let wait = gcra.decide(tat, at(5_000)).expect_err("one too many");
            assert!(wait <= Duration::from_micros(gcra.interval_micros() as u64));
        }
    }

    proptest! {
        /// R181.
        #[test]
        fn an_uncounted_call_waits_like_a_counted_one_and_uses_up_nothing(
            rate in 1_u32..100, ahead in 0_i64..70_000, now in 100_000_i64..200_000,
        ) {
            let (gcra, tat) = (Gcra::per_minute(rate), Some((now + ahead) * 1000));
            let uncounted = gcra.uncounted().decide(tat, at(now));
            prop_assert_eq!(uncounted.err(), gcra.decide(tat, at(now)).err());
            prop_assert!(uncounted.is_err() || uncounted == Ok((now + ahead) * 1000));
        }
    }

    #[test]
    fn after_the_wait_that_was_named_exactly_one_call_passes() {
        let gcra = Gcra::per_minute(60);
        let mut tat = None;
        for _ in 0..60 {
            tat = gcra.decide(tat, at(0)).ok();
        }
        let wait = gcra.decide(tat, at(0)).expect_err("used up");
        let later = at(0).plus(wait);
        tat = Some(gcra.decide(tat, later).expect("refilled one"));
        assert!(gcra.decide(tat, later).is_err());
    }

    /// R97: a tenth of a second's worth, and one at least.
    #[test]
    fn a_rate_per_second_passes_a_tenth_of_a_second_at_once() {
        for (rate, at_once) in [(1, 1), (9, 1), (10, 1), (19, 1), (20, 2), (80, 8)] {
            let gcra = Gcra::per_second(rate);
            assert_eq!(gcra.burst_micros(), gcra.interval_micros() * at_once, "{rate}");
        }
    }

    #[test]
    fn a_clock_that_is_set_back_locks_nobody_out() {
        let gcra = Gcra::per_minute(2);
        let tat = gcra.decide(None, at(3_600_000)).ok();
        assert!(gcra.decide(tat, at(0)).is_ok());
    }

    proptest! {
        #[test]
        fn no_span_of_time_passes_more_than_burst_plus_refill(
            rate in 1u32..2000,
            gaps in prop::collection::vec(0i64..500, 1..400),
        ) {
            let gcra = Gcra::per_minute(rate);
            let (mut tat, mut now, mut passed) = (None, 0i64, 0i64);
            for gap in gaps {
                now += gap;
                if let Ok(next) = gcra.decide(tat, at(now)) {
                    tat = Some(next);
                    passed += 1;
                }
            }
            let allowed = i64::from(rate) + now * 1000 / gcra.interval_micros() + 1;
            prop_assert!(passed <= allowed, "{passed} passed, {allowed} allowed");
        }
    }

    impl MemoryLimiter {
        /// Charges one call of each of these clients; every allowance lapses after a second.
        fn charge(&self, clients: std::ops::Range<usize>, now: Timestamp) {
            for n in clients {
                let address = Ipv4Addr::from_bits(u32::try_from(n).expect("few"));
                let key = RateKey::InboundClient(ClientNet::of(IpAddr::V4(address)));
                let check = RateCheck { key, allowance: Gcra::per_minute(60) };
                let decision = self.check(&[check], now).now_or_never().expect("it does not wait");
                assert_eq!(decision.expect("memory"), RateDecision::Allowed);
            }
        }

        fn kept(&self) -> usize {
            self.state.lock().expect("nobody panicked").tats.len()
        }
    }

    #[test]
    fn lapsed_allowances_are_dropped_when_there_are_many() {
        let limiter = MemoryLimiter::new();
        limiter.charge(0..SWEEP_AT, at(0));
        assert_eq!(limiter.kept(), SWEEP_AT);
        limiter.charge(SWEEP_AT..SWEEP_AT + 1, at(1_000));
        assert_eq!(limiter.kept(), 1);
    }

    #[test]
    fn after_a_search_for_lapsed_allowances_the_next_waits_until_there_are_twice_as_many() {
        let limiter = MemoryLimiter::new();
        // The last of these calls searches and finds none.
        limiter.charge(0..SWEEP_AT + 1, at(0));
        limiter.charge(SWEEP_AT + 1..2 * SWEEP_AT, at(1_000));
        assert_eq!(limiter.kept(), 2 * SWEEP_AT);
        limiter.charge(2 * SWEEP_AT..2 * SWEEP_AT + 1, at(1_000));
        assert_eq!(limiter.kept(), SWEEP_AT);
    }
}
