//! Recording and showing the last calls of endpoints (R437).

use super::{CallOutcome, Inbound, InboundError, RecentCall, Upserted};
use crate::error::Error;
use crate::ids::InboundEndpointId;

/// What a call came to that ended so.
fn outcome(result: &Result<Upserted, Error<InboundError>>) -> CallOutcome {
    match result {
        Ok(done) => CallOutcome::Accepted { action: done.action, contact_id: done.contact_id },
        Err(Error::Rejected(refusal)) => CallOutcome::refused(refusal),
        Err(_) => CallOutcome::refused(&InboundError::ContactStateUnavailable),
    }
}

impl Inbound<'_> {
    /// The last calls that this process answered for an endpoint, newest first, at most 50; without
    /// their bodies (R437). Read the endpoint first: only a company's own ids may be asked for.
    pub fn recent_calls(&self, endpoint: InboundEndpointId) -> Vec<RecentCall> {
        self.app.recent_calls().of(endpoint)
    }

    pub(super) fn remember(
        &self,
        endpoint: InboundEndpointId,
        result: &Result<Upserted, Error<InboundError>>,
    ) {
        self.app.recent_calls().record(endpoint, outcome(result), self.app.now());
    }

    pub(super) fn remember_refused(&self, endpoint: InboundEndpointId, refusal: &InboundError) {
        let outcome = CallOutcome::refused(refusal);
        self.app.recent_calls().record(endpoint, outcome, self.app.now());
    }
}
