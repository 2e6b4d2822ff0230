//! A recipient of a campaign and the status of its message (D58, D66).

use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::Timestamp;
use crate::ids::{CampaignId, CompanyId, ContactId, LedgerLineId, MessageId};
use crate::messages::{DeliveryCode, Failure, Message, MessageStatus};
use crate::prosas::LedgerTotals;
use crate::words::words;

words! {
    /// The status of a recipient's message (D58).
    RecipientStatus {
        /// Its message was not sent yet.
        Waiting = "waiting",
        /// Its message is being sent to the gateway.
        Sending = "sending",
        /// The gateway accepted it.
        Sent = "sent",
        /// It reached the contact's device.
        Delivered = "delivered",
        /// The contact has seen it.
        Read = "read",
        /// It will not arrive, or it is not known whether it did.
        Failed = "failed",
        /// There was a reason not to send it.
        Skipped = "skipped",
    }
}

words! {
    /// The state of the contact that prevented its message.
    ContactFault {
        /// It asked not to receive messages.
        OptedOut = "CONTACT_OPTED_OUT",
        /// The company blocked it.
        Blocked = "CONTACT_BLOCKED",
        /// It is a group.
        Group = "CONTACT_IS_GROUP",
        /// It was deleted.
        Deleted = "CONTACT_DELETED",
        /// Several connections can be used, and its last message was on none of them; or it has no
        /// phone, and the usable ones have no other name of it (D71).
        NoConnection = "CONNECTION_REQUIRED",
        /// A variable has a field that is empty for it and has no default (X16).
        EmptyVariable = "EMPTY_VARIABLE",
        /// With what it has in the fields, the text is longer than the channel allows.
        TextTooLong = "TEXT_TOO_LONG",
    }
}

/// Why a recipient's message was skipped or failed: `error_code` (R95).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecipientFault {
    /// Because of the state of its contact.
    Contact(ContactFault),
    /// Because of the outcome of its message.
    Delivery(DeliveryCode),
}

impl RecipientFault {
    /// The code as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Contact(fault) => fault.as_str(),
            Self::Delivery(code) => code.as_str(),
        }
    }

    /// Reads a code; `None` for any other word.
    pub fn parse(word: &str) -> Option<Self> {
        ContactFault::parse(word)
            .map(Self::Contact)
            .or_else(|| DeliveryCode::parse(word).map(Self::Delivery))
    }
}

impl From<ContactFault> for RecipientFault {
    fn from(fault: ContactFault) -> Self {
        Self::Contact(fault)
    }
}

impl Serialize for RecipientFault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The position of a recipient in its campaign, from 1: the order of sending and of listings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecipientNumber(pub u32);

/// When what became of a recipient's message was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutcomeTimes {
    /// That it reached the contact's device.
    pub delivered: Option<Timestamp>,
    /// That the contact has seen it.
    pub read: Option<Timestamp>,
    /// That it failed or was skipped.
    pub ended: Option<Timestamp>,
}

impl OutcomeTimes {
    /// R429. The times after a status was recorded at `now`. What was read was delivered, and what
    /// turns out to have arrived did not fail.
    #[must_use]
    pub fn after(self, status: RecipientStatus, now: Timestamp) -> Self {
        let delivered = self.delivered.or(Some(now));
        match status {
            RecipientStatus::Waiting | RecipientStatus::Sending => Self::default(),
            RecipientStatus::Sent => Self { ended: None, ..self },
            RecipientStatus::Delivered => Self { delivered, ended: None, ..self },
            RecipientStatus::Read => Self { delivered, read: self.read.or(Some(now)), ended: None },
            RecipientStatus::Failed | RecipientStatus::Skipped => {
                Self { ended: self.ended.or(Some(now)), ..self }
            }
        }
    }
}

/// A recipient of a campaign: made for every contact of the list when the campaign is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// The company.
    pub company: CompanyId,
    /// The campaign; the recipient is deleted with it.
    pub campaign: CampaignId,
    /// Its position.
    pub number: RecipientNumber,
    /// The contact; `None` once it was deleted (D26).
    pub contact: Option<ContactId>,
    /// Its status.
    pub status: RecipientStatus,
    /// Its message, once there is one. It is deleted with its contact.
    pub message: Option<MessageId>,
    /// The debit of its message.
    pub debit: Option<LedgerLineId>,
    /// Why it was skipped or failed.
    pub fault: Option<RecipientFault>,
    /// When the gateway's answer to its message was recorded, if that accepted it.
    pub sent_at: Option<Timestamp>,
    /// When the later outcomes of its message were recorded.
    pub outcomes: OutcomeTimes,
}

impl Recipient {
    /// A recipient that waits for its message.
    pub fn waiting(
        company: CompanyId,
        campaign: CampaignId,
        number: RecipientNumber,
        contact: ContactId,
    ) -> Self {
        Self {
            company,
            campaign,
            number,
            contact: Some(contact),
            status: RecipientStatus::Waiting,
            message: None,
            debit: None,
            fault: None,
            sent_at: None,
            outcomes: OutcomeTimes::default(),
        }
    }

    /// What happened to its message, and when.
    pub fn happened(&self) -> impl Iterator<Item = (RecipientStatus, Timestamp)> {
        let ended = match self.status {
            RecipientStatus::Failed | RecipientStatus::Skipped => self.outcomes.ended,
            _ => None,
        };
        let times = [
            (RecipientStatus::Sent, self.sent_at),
            (RecipientStatus::Delivered, self.outcomes.delivered),
            (RecipientStatus::Read, self.outcomes.read),
            (self.status, ended),
        ];
        times.into_iter().filter_map(|(status, at)| Some((status, at?)))
    }
}

/// Equal steps of time, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeSteps {
    /// Where the first begins.
    pub from: Timestamp,
    /// How long each lasts: at least a millisecond.
    pub step: Duration,
    /// How many there are.
    pub count: u32,
}

impl TimeSteps {
    /// How long each lasts, in milliseconds.
    pub fn millis(&self) -> i64 {
        i64::try_from(self.step.as_millis()).unwrap_or(i64::MAX).max(1)
    }

    /// Where the last ends.
    pub fn end(&self) -> Timestamp {
        let all = self.millis().saturating_mul(i64::from(self.count));
        Timestamp::from_millis(self.from.millis().saturating_add(all))
    }

    /// The step of a time, from 0.
    pub fn of(&self, at: Timestamp) -> Option<u32> {
        let behind = at.millis().checked_sub(self.from.millis()).filter(|behind| *behind >= 0)?;
        u32::try_from(behind / self.millis()).ok().filter(|step| *step < self.count)
    }
}

/// To how many messages of a campaign something happened in a step of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StepCount {
    /// The step, from 0.
    pub step: u32,
    /// What happened.
    pub status: RecipientStatus,
    /// To how many.
    pub count: u64,
}

/// Whether the channel keeps a campaign's message from this person for now, as the official API
/// does with marketing messages (131049): it counts as skipped, not as failed, and is refunded
/// whenever that is reported (X16, R296).
pub fn is_withheld(failure: &Failure) -> bool {
    failure.code == DeliveryCode::MarketingLimited
}

/// Whether the channel refused a campaign's message for its rate: its recipient waits again, in its
/// place (X16, R294).
pub fn is_put_off(failure: &Failure) -> bool {
    failure.code == DeliveryCode::RateLimitedByProvider
}

/// The recipient with the status of its message (D58: by current status; R96).
#[must_use]
pub fn follow(recipient: &Recipient, message: &Message, now: Timestamp) -> Recipient {
    let status = match message.status {
        MessageStatus::Pending | MessageStatus::Received => RecipientStatus::Sending,
        MessageStatus::Sent => RecipientStatus::Sent,
        MessageStatus::Delivered => RecipientStatus::Delivered,
        MessageStatus::Read => RecipientStatus::Read,
        MessageStatus::Failed if message.failure.as_ref().is_some_and(is_withheld) => {
            RecipientStatus::Skipped
        }
        MessageStatus::Failed => RecipientStatus::Failed,
    };
    // A report may say that a message failed before the gateway's answer to it is recorded.
    let was_sent = message.provider_id.is_some()
        || matches!(
            status,
            RecipientStatus::Sent | RecipientStatus::Delivered | RecipientStatus::Read
        );
    Recipient {
        status,
        fault: message.failure.as_ref().map(|failure| RecipientFault::Delivery(failure.code)),
        sent_at: recipient.sent_at.or(was_sent.then_some(now)),
        outcomes: recipient.outcomes.after(status, now),
        ..recipient.clone()
    }
}

/// How many recipients have which status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecipientCounts {
    by_status: [u64; RecipientStatus::ALL.len()],
}

impl RecipientCounts {
    /// How many have a status.
    pub fn of(&self, status: RecipientStatus) -> u64 {
        self.by_status[status as usize]
    }

    /// Adds `count` to those of a status.
    pub fn add(&mut self, status: RecipientStatus, count: u64) {
        self.by_status[status as usize] += count;
    }

    /// How many there are in all.
    pub fn total(&self) -> u64 {
        self.by_status.iter().sum()
    }
}

/// What is counted and summed of a campaign (D58).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CampaignTotals {
    /// Its recipients by status.
    pub counts: RecipientCounts,
    /// Its debits less their refunds, of contacts that were deleted too.
    pub consumption: LedgerTotals,
    /// What happened in the steps that were asked for, where anything did, by step and status.
    pub steps: Vec<StepCount>,
}
