//! The ids that one gateway event may need, made before it is decided.

use crate::ids::{ContactId, EventId, JobId, LedgerLineId, MessageId};
use crate::{Recado, Timestamp};

/// Ids for the records that one event may make. They are made once, so that deciding again has the
/// same result.
#[derive(Clone, Copy, Debug)]
pub struct EventIds {
    /// Of a contact.
    pub contact: ContactId,
    /// Of a message.
    pub message: MessageId,
    /// Of the job that fetches a file.
    pub job: JobId,
    /// Of the job that asks the gateway for a sender's phone.
    pub names_job: JobId,
    /// Of events: the contact's creation, what happened to the message, its second step, a block,
    /// what happened to another message.
    pub events: [EventId; 5],
    /// Of the refund of a campaign's message.
    pub refund: LedgerLineId,
}

impl EventIds {
    pub(crate) fn new(app: &Recado, now: Timestamp) -> Self {
        let event = || EventId::new(app.uuid(now));
        Self {
            contact: ContactId::new(app.uuid(now)),
            message: MessageId::new(app.uuid(now)),
            job: JobId::new(app.uuid(now)),
            names_job: JobId::new(app.uuid(now)),
            events: [event(), event(), event(), event(), event()],
            refund: LedgerLineId::new(app.uuid(now)),
        }
    }
}
