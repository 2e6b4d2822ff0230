//! A transport between the adapter and its gateway that can change requests and answers.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use recado_core::transport::{OutboundRequest, OutboundResponse, Transport, TransportError};

use super::ProviderCase;
use crate::transport::ScriptedAnswer;

/// How a request is handled.
pub(super) enum Act {
    /// The gateway answers it.
    Pass,
    /// The request gets this answer and does not reach the gateway.
    Instead(ScriptedAnswer),
    /// The gateway handles the request, and its answer is replaced.
    After(Box<dyn FnOnce(OutboundResponse) -> ScriptedAnswer + Send>),
}

type Decide = dyn Fn(&OutboundRequest, bool) -> Act + Send + Sync;

pub(super) struct Between<'a> {
    case: &'a ProviderCase,
    decide: Box<Decide>,
    seen: Mutex<Vec<(OutboundRequest, bool)>>,
}

impl<'a> Between<'a> {
    pub(super) fn new(
        case: &'a ProviderCase,
        decide: impl Fn(&OutboundRequest, bool) -> Act + Send + Sync + 'static,
    ) -> Self {
        Self { case, decide: Box::new(decide), seen: Mutex::default() }
    }

    /// The requests, and for each whether it sends a message.
    pub(super) fn requests(self) -> Vec<(OutboundRequest, bool)> {
        self.seen.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Transport for Between<'_> {
    async fn send(&self, request: OutboundRequest) -> Result<OutboundResponse, TransportError> {
        let sends = (self.case.sends)(&request);
        let limit = request.answer_limit;
        let act = (self.decide)(&request, sends);
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push((request.clone(), sends));
        let mut answer = match act {
            Act::Pass => self.case.gateway.send(request).await,
            Act::Instead(answer) => answer,
            Act::After(replace) => replace(self.case.gateway.send(request).await?),
        }?;
        answer.body.truncate(limit);
        Ok(answer)
    }

    async fn check(&self, _url: &str) -> Result<(), TransportError> {
        Ok(())
    }

    fn elapsed(&self) -> Option<Duration> {
        Some(Duration::ZERO)
    }
}
