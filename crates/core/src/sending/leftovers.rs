//! The sends of this process that could not be recorded yet (D36).

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use super::record_outcome::RecordOutcome;
use crate::Timestamp;
use crate::ids::{CompanyId, MessageId};

/// A send of this process whose outcome could not be recorded.
#[derive(Debug)]
pub(crate) enum Leftover {
    /// The provider answered, but the store failed.
    Outcome(Box<RecordOutcome>),
    /// It is unknown whether the message was stored; its provider was not called.
    NeverSent {
        /// Its company.
        company: CompanyId,
        /// The message.
        message: MessageId,
        /// When that happened: the commit may still go on at the database for a while.
        since: Timestamp,
    },
    /// The call of the provider was cut off: it is not known whether the message arrived.
    Interrupted {
        /// Its company.
        company: CompanyId,
        /// The message.
        message: MessageId,
    },
}

/// The sends of this process whose outcome could not be recorded, to be tried again.
#[derive(Debug, Default)]
pub(crate) struct Unrecorded(Mutex<VecDeque<Leftover>>);

impl Unrecorded {
    pub(super) fn push(&self, leftover: Leftover) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(leftover);
    }

    fn pop(&self) -> Option<Leftover> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    pub(super) fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// A leftover that is being recorded. Dropping it puts the leftover back, unless the recording was
/// completed.
pub(super) struct TakenLeftover<'a> {
    unrecorded: &'a Unrecorded,
    pub(super) leftover: Option<Leftover>,
}

impl<'a> TakenLeftover<'a> {
    pub(super) fn of(unrecorded: &'a Unrecorded) -> Option<Self> {
        unrecorded.pop().map(|leftover| Self { unrecorded, leftover: Some(leftover) })
    }
}

impl Drop for TakenLeftover<'_> {
    fn drop(&mut self) {
        if let Some(leftover) = self.leftover.take() {
            self.unrecorded.push(leftover);
        }
    }
}
