//! A send under way. If a panic or the end of the runtime stops it, it is left for
//! [`Sending::recover`](super::Sending::recover) to record, so that its message does not stay
//! pending as long as the process runs.

use super::leftovers::Leftover;
use super::record_outcome::RecordOutcome;
use crate::Recado;
use crate::ids::{CompanyId, MessageId};

/// The stage of a send.
enum SendStage {
    /// Its message may be stored; its provider was not called.
    Intending,
    /// Its provider is being called.
    Calling,
    /// The provider has answered.
    Recording(Box<RecordOutcome>),
    /// Nothing is left to be done.
    Ended,
}

/// A send that has not ended.
pub(super) struct InFlight<'a> {
    app: &'a Recado,
    company: CompanyId,
    message: MessageId,
    stage: SendStage,
}

impl<'a> InFlight<'a> {
    /// A send of which nothing is stored yet.
    pub(super) const fn new(app: &'a Recado, company: CompanyId, message: MessageId) -> Self {
        Self { app, company, message, stage: SendStage::Intending }
    }

    /// The provider is called next.
    pub(super) fn calling(&mut self) {
        self.stage = SendStage::Calling;
    }

    /// The provider has answered; `recording` is what has to be recorded.
    pub(super) fn record(&mut self, recording: RecordOutcome) {
        self.stage = SendStage::Recording(Box::new(recording));
    }

    /// What has to be recorded, once the provider has answered.
    pub(super) fn recording(&self) -> Option<&RecordOutcome> {
        match &self.stage {
            SendStage::Recording(recording) => Some(recording),
            SendStage::Intending | SendStage::Calling | SendStage::Ended => None,
        }
    }

    /// Nothing is left to be done.
    pub(super) fn end(&mut self) {
        self.stage = SendStage::Ended;
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let (company, message) = (self.company, self.message);
        let leftover = match std::mem::replace(&mut self.stage, SendStage::Ended) {
            SendStage::Intending => {
                let since = self.app.now();
                Leftover::NeverSent { company, message, since }
            }
            SendStage::Calling => Leftover::Interrupted { company, message },
            SendStage::Recording(recording) => Leftover::Outcome(recording),
            SendStage::Ended => return,
        };
        self.app.unrecorded().push(leftover);
    }
}
