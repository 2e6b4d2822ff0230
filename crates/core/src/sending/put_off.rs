//! A campaign's message that the channel refused for its rate (X16, R294).

use super::Claim;
use super::record_outcome::{OutcomeFacts, RecordOutcome, SendOutcome};
use crate::Timestamp;
use crate::campaigns::is_put_off;
use crate::messages::{Message, MessageStatus};
use crate::store::{ChangeSet, Decided, Stored};

impl RecordOutcome {
    /// What is recorded when the channel refused a campaign's message for its rate: there is no
    /// message, and its recipient waits again (R294). `None` if that was not so, or if anything
    /// else was reported of the message meanwhile.
    pub(super) fn put_off(&self, facts: &OutcomeFacts, now: Timestamp) -> Option<Decided<Message>> {
        let SendOutcome::Failed(failure) = &self.outcome else { return None };
        if !matches!(self.claim, Claim::Recipient { .. }) || !is_put_off(failure) {
            return None;
        }
        let stored = facts.message.as_ref();
        let is_untouched = |message: &&Stored<Message>| {
            message.status == MessageStatus::Pending && message.provider_id.is_none()
        };
        if stored.is_some() && stored.filter(is_untouched).is_none() {
            return None;
        }
        let mut changes = ChangeSet::new();
        for change in facts.claimed.put_off(self.refund, now)? {
            changes = changes.with(change);
        }
        if let Some(stored) = stored {
            changes = changes.with(stored.delete());
        }
        let (status, failure) = (MessageStatus::Failed, Some(failure.clone()));
        let message = Message { status, failure, sender: None, ..self.message.clone() };
        Some(Decided::new(changes, message))
    }
}
