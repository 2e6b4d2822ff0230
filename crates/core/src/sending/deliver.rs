//! From an order to its outcome.

use super::error::SendError;
use super::intent::{Intended, Intent, IntentIds};
use super::recover::Leftover;
use super::settle::{Outcome, Settle, SettleFacts};
use super::{Delivered, Order, Sending};
use crate::app::UseCase;
use crate::error::{Error, NotFound};
use crate::gateway::{Outgoing, SendFailure, SendResult};
use crate::ids::{ContactId, EventId, MessageId};
use crate::messages::{DeliveryCode, Failure, Message, MessageStatus};
use crate::store::StoreError;

/// How often an outcome is tried to be recorded before it is left to [`Sending::recover`].
const RECORD_TRIES: u32 = 3;

impl Sending<'_> {
    /// Sends one message: records the intent, calls the provider once, records the outcome.
    ///
    /// # Errors
    ///
    /// [`SendError`]. Once the provider was called, a failure to record its answer counts as an
    /// uncertain outcome: the message is settled later by [`Sending::recover`] and must not be sent
    /// again.
    pub async fn deliver(&self, order: Order) -> Result<Delivered, Error<SendError>> {
        self.app.workers().ensure_alive().await?;
        let links = self.app.media_links().await?.clone();
        let intended = self.intend(&order).await?;
        let result = self.call(&order, &intended).await;
        let events = self.event_ids();
        let settle =
            Settle::of_order(&order, intended.message.clone(), result.into(), events, links);
        let recorded = self.record_now(&settle, &intended).await;
        let Intended { message, connection, group, .. } = intended;
        match recorded {
            Ok(message) => answer(message, connection.kind, group),
            // Deleted with its contact while it was sent: what the provider said still stands.
            Err(Error::Rejected(_)) => match settle.outcome {
                Outcome::Accepted(accepted) => {
                    let provider_id = Some(accepted.provider_id);
                    let message = Message { provider_id, status: MessageStatus::Sent, ..message };
                    answer(message, connection.kind, group)
                }
                Outcome::Failed(failure) => Err(Error::Rejected(SendError::of_failure(
                    connection.kind,
                    message.id,
                    message.contact,
                    failure,
                ))),
            },
            Err(Error::Busy | Error::Denied(_) | Error::Store(_)) => {
                self.app.unsettled().push(Leftover::Outcome(Box::new(settle)));
                let failure =
                    Failure::uncertain("the outcome could not be recorded yet".to_owned());
                let (id, contact) = (message.id, message.contact);
                Err(Error::Rejected(SendError::of_failure(connection.kind, id, contact, failure)))
            }
        }
    }

    /// Records an outcome: first as if nothing had happened since the intent, which needs no read
    /// and is what mostly is; else on what is there now. Again after a failure of the store: what
    /// the provider did cannot be asked for a second time.
    async fn record_now(
        &self,
        settle: &Settle,
        intended: &Intended,
    ) -> Result<Message, Error<NotFound>> {
        if settle.turn.is_none() {
            let facts = SettleFacts::untouched(intended);
            let decided = settle.decide(facts, self.app.now()).map_err(Error::Rejected)?;
            if let Ok(Some(message)) = self.app.settle(decided).await {
                return Ok(message);
            }
        }
        for _ in 1..RECORD_TRIES {
            match self.app.run(settle).await {
                Err(Error::Busy | Error::Store(_)) => {}
                answer => return answer,
            }
        }
        self.app.run(settle).await
    }

    async fn intend(&self, order: &Order) -> Result<Intended, Error<SendError>> {
        let now = self.app.now();
        let ids = IntentIds {
            message: MessageId::new(self.app.uuid(now)),
            contact: ContactId::new(self.app.uuid(now)),
            created: EventId::new(self.app.uuid(now)),
        };
        let intent = Intent { order, ids, worker: self.app.workers().own_id() };
        let intended = self.app.run(&intent).await;
        if let Err(Error::Store(StoreError::OutcomeUnknown(_))) = &intended {
            // It may be stored as pending; nobody will call its provider.
            let (company, message) = (order.company, ids.message);
            self.app.unsettled().push(Leftover::NeverSent { company, message });
        }
        intended
    }

    async fn call(&self, order: &Order, intended: &Intended) -> SendResult {
        let Some(provider) = self.app.provider(intended.connection.gateway) else {
            let gateway = intended.connection.gateway;
            let text = format!("this installation has no adapter for the gateway {gateway}");
            return Err(SendFailure::Connection(Failure::new(DeliveryCode::Configuration, text)));
        };
        let outgoing = Outgoing {
            reference: intended.message.id,
            recipient: intended.recipient.clone(),
            group: intended.group.clone(),
            content: order.content.clone(),
        };
        provider.send(self.app.transport(), &intended.connection, &outgoing).await
    }

    pub(super) fn event_ids(&self) -> [EventId; 3] {
        let now = self.app.now();
        [(); 3].map(|()| EventId::new(self.app.uuid(now)))
    }
}

/// What the caller is told of a settled message.
fn answer(
    message: Message,
    kind: crate::connections::ConnectionKind,
    group: Option<crate::groups::GroupCode>,
) -> Result<Delivered, Error<SendError>> {
    match (message.status, message.failure.clone()) {
        // A report may have failed it since; the provider accepted it all the same.
        (MessageStatus::Failed, Some(failure)) if message.provider_id.is_none() => {
            let (id, contact) = (message.id, message.contact);
            Err(Error::Rejected(SendError::of_failure(kind, id, contact, failure)))
        }
        _ => Ok(Delivered { message, kind, group }),
    }
}
