//! Counting the attempts at deliveries in the transport.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use metrics::{Unit, counter, describe_counter, describe_histogram, histogram};
use recado_core::transport::{
    OpenAnswer, OutboundRequest, OutboundResponse, Transport, TransportError,
};

use crate::traces::Traces;

const ATTEMPTS: &str = "recado_webhook_attempts_total";
const DURATION: &str = "recado_webhook_attempt_duration_seconds";

/// Registers descriptions of the metrics; a recorder has to be installed before.
pub(crate) fn describe() {
    describe_counter!(ATTEMPTS, Unit::Count, "Attempts at webhook deliveries, by outcome.");
    describe_histogram!(DURATION, Unit::Seconds, "How long attempts took, by outcome.");
    for outcome in ["delivered", "failed"] {
        counter!(ATTEMPTS, "outcome" => outcome).increment(0);
    }
}

/// A transport whose attempts at deliveries are counted, and whose calls have spans. Attempts are
/// the calls whose status line decides (D53).
pub(crate) struct CountedTransport(pub(crate) Arc<dyn Transport>, pub(crate) Traces);

/// The label under which an attempt is counted.
fn outcome(answer: &Result<OutboundResponse, TransportError>) -> &'static str {
    match answer {
        Ok(response) if (200..300).contains(&response.status) => "delivered",
        Ok(_) | Err(_) => "failed",
    }
}

#[async_trait]
impl Transport for CountedTransport {
    async fn send(&self, request: OutboundRequest) -> Result<OutboundResponse, TransportError> {
        if !request.status_decides {
            return self.1.outbound(&*self.0, request).await;
        }
        let begun = Instant::now();
        let answer = self.1.outbound(&*self.0, request).await;
        let labels = [("outcome", outcome(&answer))];
        counter!(ATTEMPTS, &labels).increment(1);
        histogram!(DURATION, &labels).record(begun.elapsed().as_secs_f64());
        answer
    }

    async fn open(
        &self,
        request: OutboundRequest,
        answer_within: Duration,
    ) -> Result<OpenAnswer, TransportError> {
        self.0.open(request, answer_within).await
    }

    async fn check(&self, url: &str) -> Result<(), TransportError> {
        self.0.check(url).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_answer_in_the_200s_is_delivered_and_everything_else_failed() {
        let answer = |status| Ok(OutboundResponse::new(status, Vec::new()));
        assert_eq!([200, 204, 299].map(answer).each_ref().map(outcome), ["delivered"; 3]);
        assert_eq!([199, 302, 404, 500].map(answer).each_ref().map(outcome), ["failed"; 4]);
        assert_eq!(outcome(&Err(TransportError::Refused)), "failed");
    }
}
