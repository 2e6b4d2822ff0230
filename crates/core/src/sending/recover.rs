//! Recording what was left over (D36): outcomes that could not be recorded, and messages whose
//! process died.

use std::time::Duration;

use super::leftovers::{Leftover, TakenLeftover};
use super::record_outcome::{OutcomeIds, RecordOutcome, SendOutcome};
use super::{Claim, Sending};
use crate::error::Error;
use crate::ids::{CompanyId, MessageId};
use crate::messages::{DeliveryCode, Failure, Message, MessageStatus};
use crate::store::{StoreError, Stored};

/// How long a commit whose outcome is not known may still go on at the database.
const COMMIT_LASTS: Duration = Duration::from_secs(60);
/// How many abandoned messages are recorded in one go.
const SWEEP: u32 = 100;

impl Sending<'_> {
    /// Records what was left over: outcomes of this process that could not be recorded, and
    /// messages whose send was cut off or whose process died. Such messages become `failed` as
    /// uncertain and are never sent again automatically. Returns whether there may be more. Call it
    /// at start and every few seconds (R28).
    ///
    /// # Errors
    ///
    /// When the store fails; the next call continues.
    pub async fn recover(&self) -> Result<bool, StoreError> {
        self.record_leftovers().await?;
        let now = self.app.now();
        let abandoned = self.app.store().abandoned_messages(now, SWEEP).await?;
        let is_full = abandoned.len() == SWEEP as usize;
        let mut given_up = false;
        for message in abandoned {
            match self.give_up(message).await {
                Ok(()) => given_up = true,
                // That of a closed company waits; those of others do not wait for it (D76).
                Err(StoreError::Closed) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(is_full && given_up)
    }

    /// Fails as uncertain every message that this process still has in flight. Call it last before
    /// the process ends.
    ///
    /// # Errors
    ///
    /// When the store fails; another process, or the next one, records them.
    pub async fn abandon_own(&self) -> Result<(), StoreError> {
        self.record_leftovers().await?;
        loop {
            let own = self.app.workers().own_id();
            let in_flight = self.app.store().messages_in_flight(own, SWEEP).await?;
            if in_flight.is_empty() {
                return Ok(());
            }
            for message in in_flight {
                self.give_up(message).await?;
            }
        }
    }

    /// Records what this process could not record before, if there is anything (R26).
    pub(crate) async fn record_leftovers(&self) -> Result<(), StoreError> {
        for _ in 0..self.app.unrecorded().len() {
            let Some(mut taken) = TakenLeftover::of(self.app.unrecorded()) else { break };
            if let Some(leftover) = &taken.leftover {
                match self.record_leftover(leftover).await {
                    Ok(()) => {}
                    // It is kept, and the others do not wait for it (D76).
                    Err(StoreError::Closed) => continue,
                    Err(error) => return Err(error),
                }
            }
            taken.leftover = None;
        }
        Ok(())
    }

    async fn record_leftover(&self, leftover: &Leftover) -> Result<(), StoreError> {
        match leftover {
            Leftover::Outcome(recording) => self.record(recording).await,
            Leftover::NeverSent { company, message, since } => {
                let text = "the message was not handed to its provider".to_owned();
                let failure = Failure::new(DeliveryCode::Unknown, text);
                let is_stored = self.fail_if_stored(*company, *message, failure).await?;
                let may_come = self.app.now() < since.plus(COMMIT_LASTS);
                if !is_stored && may_come {
                    let (company, message, since) = (*company, *message, *since);
                    let leftover = Leftover::NeverSent { company, message, since };
                    self.app.unrecorded().push(leftover);
                }
                Ok(())
            }
            Leftover::Interrupted { company, message } => {
                let text = "the send was cut off before the provider answered".to_owned();
                let failure = Failure::uncertain(text);
                self.fail_if_stored(*company, *message, failure).await.map(|_| ())
            }
        }
    }

    /// Fails the message as uncertain if it is stored; returns whether it is (R27).
    async fn fail_if_stored(
        &self,
        company: CompanyId,
        message: MessageId,
        failure: Failure,
    ) -> Result<bool, StoreError> {
        match self.app.store().messages(company, &[message]).await?.pop() {
            Some(stored) => self.fail(stored, failure).await.map(|()| true),
            None => Ok(false),
        }
    }

    async fn give_up(&self, message: Stored<Message>) -> Result<(), StoreError> {
        let text = "the process that sent it ended before the provider answered".to_owned();
        self.fail(message, Failure::uncertain(text)).await
    }

    async fn fail(&self, message: Stored<Message>, failure: Failure) -> Result<(), StoreError> {
        if message.status != MessageStatus::Pending {
            return Ok(());
        }
        let OutcomeIds { refund, events, find } = self.outcome_ids();
        let recording = RecordOutcome {
            before: None,
            message: message.into_value(),
            outcome: SendOutcome::Failed(failure),
            act: None,
            turn: None,
            claim: Claim::Nothing,
            refund,
            events,
            find,
            links: self.app.media_links().await?,
            gateways: self.app.providers().clone(),
        };
        self.record(&recording).await
    }

    async fn record(&self, recording: &RecordOutcome) -> Result<(), StoreError> {
        match self.app.run(recording).await {
            // It was deleted with its contact: there is nothing to record.
            Ok(_) | Err(Error::Rejected(_) | Error::Denied(_)) => Ok(()),
            Err(Error::Busy) => Err(StoreError::Unavailable(None)),
            Err(Error::Store(error)) => Err(error),
        }
    }
}
