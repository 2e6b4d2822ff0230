//! An outside world that answers what it was told to.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use recado_core::transport::{OutboundRequest, OutboundResponse, Transport, TransportError};

/// An answer of the outside.
pub type Answer = Result<OutboundResponse, TransportError>;

#[derive(Debug)]
struct Script {
    next: VecDeque<Answer>,
    otherwise: Answer,
    requests: Vec<OutboundRequest>,
}

/// A transport that answers from a script and keeps what it was sent. Clones share both.
#[derive(Clone, Debug)]
pub struct ScriptedTransport(Arc<Mutex<Script>>);

impl ScriptedTransport {
    /// A transport that refuses every connection until it is told otherwise.
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(Script {
            next: VecDeque::new(),
            otherwise: Err(TransportError::Refused),
            requests: Vec::new(),
        })))
    }

    /// Adds an answer: each is given once, in order.
    pub fn then(&self, answer: Answer) -> &Self {
        self.script().next.push_back(answer);
        self
    }

    /// Adds an answer with a status and a JSON body.
    pub fn then_json(&self, status: u16, body: &serde_json::Value) -> &Self {
        self.then(json_answer(status, body))
    }

    /// What is answered when the script has come to its end.
    pub fn otherwise(&self, answer: Answer) -> &Self {
        self.script().otherwise = answer;
        self
    }

    /// All requests so far, in order.
    pub fn requests(&self) -> Vec<OutboundRequest> {
        self.script().requests.clone()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for ScriptedTransport {
    fn default() -> Self {
        Self::new()
    }
}

/// An answer with a status and a JSON body.
pub fn json_answer(status: u16, body: &serde_json::Value) -> Answer {
    Ok(OutboundResponse { status, body: body.to_string().into_bytes() })
}

#[async_trait]
impl Transport for ScriptedTransport {
    async fn send(&self, request: OutboundRequest) -> Answer {
        let mut script = self.script();
        script.requests.push(request);
        script.next.pop_front().unwrap_or_else(|| script.otherwise.clone())
    }

    async fn check(&self, _: &str) -> Result<(), TransportError> {
        Ok(())
    }
}
