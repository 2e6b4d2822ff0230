//! The last calls of each endpoint, kept in this process (R437).

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use super::{InboundError, UpsertAction};
use crate::Timestamp;
use crate::code::Code;
use crate::error::Rejection;
use crate::ids::{ContactId, InboundEndpointId};

/// How many calls of an endpoint are kept.
const CALLS: usize = 50;
/// Of how many endpoints.
const ENDPOINTS: usize = 1_000;

/// What a call came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// A contact was made or brought up to date.
    Accepted {
        /// Which of the two.
        action: UpsertAction,
        /// The contact.
        contact_id: ContactId,
    },
    /// It was refused, or it failed.
    Refused {
        /// The code of the answer.
        code: Code,
        /// Why, in English; without anything of the body.
        message: String,
    },
}

impl CallOutcome {
    pub(super) fn refused(refusal: &InboundError) -> Self {
        Self::Refused { code: refusal.code(), message: refusal.to_string() }
    }
}

/// A call, or several one after another that were refused for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecentCall {
    /// When; of several, the last one.
    pub at: Timestamp,
    /// How many.
    pub times: u64,
    /// What it came to.
    pub outcome: CallOutcome,
}

/// The last calls, newest first, after one more. What is refused again for the same reason is
/// counted, so that a stranger's calls do not push all others out (R437).
fn with(calls: &mut VecDeque<RecentCall>, outcome: CallOutcome, at: Timestamp) {
    if let Some(newest) = calls.front_mut()
        && matches!(outcome, CallOutcome::Refused { .. })
        && newest.outcome == outcome
    {
        (newest.at, newest.times) = (at, newest.times + 1);
        return;
    }
    calls.truncate(CALLS - 1);
    calls.push_front(RecentCall { at, times: 1, outcome });
}

/// The last calls by endpoint.
#[derive(Debug, Default)]
pub(crate) struct RecentCalls(Mutex<BTreeMap<InboundEndpointId, VecDeque<RecentCall>>>);

impl RecentCalls {
    pub(super) fn record(&self, endpoint: InboundEndpointId, outcome: CallOutcome, at: Timestamp) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= ENDPOINTS && !known.contains_key(&endpoint) {
            let newest = |calls: &VecDeque<RecentCall>| calls.front().map(|call| call.at);
            let oldest = known.iter().min_by_key(|(_, calls)| newest(calls)).map(|(id, _)| *id);
            oldest.and_then(|id| known.remove(&id));
        }
        with(known.entry(endpoint).or_default(), outcome, at);
    }

    pub(super) fn of(&self, endpoint: InboundEndpointId) -> Vec<RecentCall> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&endpoint).map(|calls| calls.iter().cloned().collect()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn endpoint(n: u128) -> InboundEndpointId {
        InboundEndpointId::new(Uuid::from_u128(n))
    }

    fn accepted(n: u128) -> CallOutcome {
        let contact_id = ContactId::new(Uuid::from_u128(n));
        CallOutcome::Accepted { action: UpsertAction::Created, contact_id }
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    /// R437.
    #[test]
    fn what_is_refused_again_for_one_reason_is_counted_and_pushes_nothing_out() {
        let calls = RecentCalls::default();
        calls.record(endpoint(1), accepted(1), at(1));
        for n in 2..1_000 {
            calls.record(endpoint(1), CallOutcome::refused(&InboundError::InvalidSecret), at(n));
        }
        let kept = calls.of(endpoint(1));
        assert_eq!(kept.len(), 2);
        assert_eq!((kept[0].times, kept[0].at), (998, at(999)));
        assert_eq!(kept[1], RecentCall { at: at(1), times: 1, outcome: accepted(1) });
    }

    /// R437.
    #[test]
    fn the_last_calls_of_each_endpoint_are_kept_and_no_more() {
        let calls = RecentCalls::default();
        for n in 0..120 {
            calls.record(endpoint(1), accepted(n), at(n as i64));
        }
        let kept = calls.of(endpoint(1));
        assert_eq!(kept.len(), CALLS);
        assert_eq!((&kept[0].outcome, &kept[49].outcome), (&accepted(119), &accepted(70)));
        assert_eq!(calls.of(endpoint(2)), []);
        for n in 2..=1_001 {
            calls.record(endpoint(n), accepted(1), at(1_000 + n as i64));
        }
        assert_eq!(calls.of(endpoint(1)), [], "the endpoint that was quiet for the longest time");
        assert_eq!(calls.of(endpoint(2)).len(), 1);
    }
}
