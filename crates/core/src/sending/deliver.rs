//! From an order to its outcome.

use std::sync::atomic::{AtomicBool, Ordering};

use super::error::{Cause, SendError};
use super::in_flight::InFlight;
use super::intent::{Intended, Intent, IntentIds};
use super::record_outcome::{OutcomeFacts, OutcomeIds, RecordOutcome, SendOutcome};
use super::{Delivered, Order, Sending};
use crate::connections::{Capability, ConnectionKind};
use crate::error::{Error, NotFound};
use crate::gateway::{Fault, Outgoing, SendFailure, SendResult};
use crate::ids::{ContactId, EventId, JobId, LedgerLineId, MessageId};
use crate::messages::{DeliveryCode, Failure, Message, MessageStatus};
use crate::remembered_opt_outs::is_remembered;
use crate::store::StoreError;
use crate::use_case::UseCase;

impl Sending<'_> {
    /// Sends one message: records the intent, calls the provider once, records the outcome. All
    /// sends go through this. It is completed also when this future is dropped.
    ///
    /// # Errors
    ///
    /// [`SendError`]. Once the provider was called, a failure to record its answer counts as an
    /// uncertain outcome: the outcome is recorded later by [`Sending::recover`] and must not be
    /// sent again.
    pub async fn deliver(&self, order: Order) -> Result<Delivered, Error<SendError>> {
        let app = self.app.clone();
        let sent =
            self.app.tasks().run(async move { app.sending().deliver_attached(order).await }).await;
        // The process is ending: the next one records the outcome.
        sent.unwrap_or_else(|cut_off| Err(Error::Store(StoreError::outcome_unknown(cut_off))))
    }

    /// [`Sending::deliver`], but dropping this future stops it, as the end of the process would.
    async fn deliver_attached(&self, order: Order) -> Result<Delivered, Error<SendError>> {
        self.app.workers().ensure_alive().await?;
        let links = self.app.media_links().await?;
        let is_held = self.app.halts().current().await?.is_held_for(order.company);
        let ids = IntentIds {
            message: order.again.unwrap_or_else(|| MessageId::new(self.app.uuid(self.app.now()))),
            ..self.intent_ids()
        };
        let mut in_flight = InFlight::new(self.app, order.company, ids.message);
        let intended = self.intend(&order, ids, is_held, &mut in_flight).await?;
        let result = match order.claim.is_late(intended.message.created_at, self.app.now()) {
            // The window could lapse, and another dispatch begin, before this call ended.
            true => Err(SendFailure::TryLater {
                failure: Failure::new(
                    DeliveryCode::Unknown,
                    "storing the message took too long; it was not sent".to_owned(),
                ),
                wait: None,
            }),
            false => {
                in_flight.calling();
                self.call(&order, &intended).await
            }
        };
        let blames = matches!(&result, Err(SendFailure::Connection(_)));
        let fault = result.as_ref().err().map_or(Fault::Message, SendFailure::fault);
        let outcome = SendOutcome::from(result);
        let (ids, gateways) = (self.outcome_ids(), self.app.providers().clone());
        let record =
            RecordOutcome::of_order(&order, &intended, outcome.clone(), ids, links, gateways);
        in_flight.record(record);
        let recorded = match in_flight.recording() {
            Some(record) => self.record_now(record, &intended).await,
            None => Err(Error::Busy),
        };
        let Intended { message, connection, group, is_new_contact, .. } = intended;
        if blames && self.app.providers().can(&connection, Capability::State) {
            // If this fails, the regular check finds the state.
            let _ = self.app.connections().check_soon(order.company, connection.id).await;
        }
        match recorded {
            Ok(message) => {
                in_flight.end();
                match message.failure.clone() {
                    // A report may have failed it since; the provider accepted it all the same.
                    Some(failure) if message.provider_id.is_none() => {
                        Err(refusal(&message, connection.kind, failure, fault))
                    }
                    _ => Ok(Delivered { message, kind: connection.kind, group, is_new_contact }),
                }
            }
            // The message was deleted with its contact while it was sent: the provider's answer is
            // returned all the same.
            Err(Error::Rejected(_)) => {
                in_flight.end();
                match outcome {
                    SendOutcome::Accepted(accepted) => {
                        let provider_id = Some(accepted.provider_id);
                        let status = MessageStatus::Sent;
                        let message = Message { provider_id, status, ..message };
                        Ok(Delivered { message, kind: connection.kind, group, is_new_contact })
                    }
                    SendOutcome::Failed(failure) => {
                        Err(refusal(&message, connection.kind, failure, fault))
                    }
                }
            }
            Err(Error::Busy | Error::Denied(_) | Error::Store(_)) => {
                let text = "the outcome could not be recorded yet".to_owned();
                let failure = Failure::uncertain(text);
                Err(refusal(&message, connection.kind, failure, Fault::Message))
            }
        }
    }

    /// Records an outcome. It first commits as if nothing had changed since the intent, which needs
    /// no read and mostly succeeds. If that conflicts, or if the answer has new names, which may be
    /// another contact's, it reads first. It tries again after a failure of the store, as the
    /// provider's answer cannot be requested a second time.
    async fn record_now(
        &self,
        record: &RecordOutcome,
        intended: &Intended,
    ) -> Result<Message, Error<NotFound>> {
        // The call that began the send is logged with the intent (R385).
        let process = self.app.as_system();
        // A new contact may have been stored opted out, because its number is remembered (R415).
        let is_as_stored = !intended.is_new_contact || !self.app.settings().remember_opt_outs;
        if is_as_stored && record.turn.is_none() && !record.brings_news(&intended.contact) {
            let facts = OutcomeFacts::untouched(intended);
            let decided = record.decide(facts, self.app.now()).map_err(Error::Rejected)?;
            if let Ok(true) = process.commit_once(decided.changes).await {
                return Ok(decided.output);
            }
        }
        process.record(record).await
    }

    /// What the intent of an order would be: every refusal that needs no file and no gateway (X10).
    /// Nothing is stored.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub(super) async fn preview(&self, order: &Order) -> Result<Intended, Error<SendError>> {
        self.app.workers().ensure_alive().await?;
        let is_held = self.app.halts().current().await?.is_held_for(order.company);
        let intent = Intent {
            order,
            ids: self.intent_ids(),
            worker: self.app.workers().own_id(),
            gateways: self.app.providers(),
            is_held,
        };
        let facts = intent.load(self.app.store()).await?;
        let decided = intent.decide(facts, self.app.now()).map_err(Error::Rejected)?;
        self.check_remembered(order, &decided.output).await?;
        Ok(decided.output)
    }

    /// Refuses a message to a number that had asked to stop before its contact was deleted. The
    /// contact is not made.
    ///
    /// R415.
    async fn check_remembered(
        &self,
        order: &Order,
        intended: &Intended,
    ) -> Result<(), Error<SendError>> {
        let contact = intended.contact.contact.value();
        let asks = intended.is_new_contact && order.rules.heeds_opt_out;
        match asks && is_remembered(self.app, contact).await? {
            true => Err(Error::Rejected(SendError::OptedOut { contact: None })),
            false => Ok(()),
        }
    }

    async fn intend(
        &self,
        order: &Order,
        ids: IntentIds,
        is_held: bool,
        in_flight: &mut InFlight<'_>,
    ) -> Result<Intended, Error<SendError>> {
        let intent = Intent {
            order,
            ids,
            worker: self.app.workers().own_id(),
            gateways: self.app.providers(),
            is_held,
        };
        let (intended, is_unknown) = self.decide(&intent).await;
        // Unless it is certain that the message was not stored, it stays in flight, so that
        // `recover` fails it.
        if intended.is_err() && !is_unknown {
            in_flight.end();
        }
        intended
    }

    /// Decides and stores, again after a conflict; returns also whether it is unknown that it was
    /// stored.
    async fn decide(&self, intent: &Intent<'_>) -> (Result<Intended, Error<SendError>>, bool) {
        let is_decided = &AtomicBool::new(false);
        let decide = |now| async move {
            is_decided.store(false, Ordering::Relaxed);
            let facts = intent.load(self.app.store()).await?;
            let decided = intent.decide(facts, now).map_err(Error::Rejected)?;
            self.check_remembered(intent.order, &decided.output).await?;
            is_decided.store(true, Ordering::Relaxed);
            Ok(decided)
        };
        match self.app.decide(decide).await {
            Err(Error::Store(StoreError::Closed)) => (Err(Error::Store(StoreError::Closed)), false),
            Err(Error::Store(error)) if is_decided.load(Ordering::Relaxed) => {
                let is_unknown = matches!(error, StoreError::OutcomeUnknown(_));
                (Err(Error::Rejected(SendError::NotStored(Cause::of(&error)))), is_unknown)
            }
            answer => (answer, false),
        }
    }

    fn intent_ids(&self) -> IntentIds {
        let now = self.app.now();
        IntentIds {
            message: MessageId::new(self.app.uuid(now)),
            contact: ContactId::new(self.app.uuid(now)),
            created: EventId::new(self.app.uuid(now)),
        }
    }

    async fn call(&self, order: &Order, intended: &Intended) -> SendResult {
        let Some(provider) = self.app.provider(&intended.connection.gateway) else {
            let gateway = &intended.connection.gateway;
            let text = format!("this installation has no adapter for the gateway {gateway}");
            return Err(SendFailure::Connection(Failure::new(DeliveryCode::Configuration, text)));
        };
        let outgoing = Outgoing {
            reference: intended.message.id,
            recipient: intended.recipient.clone(),
            group: intended.group.clone(),
            content: intended.content.clone(),
            quoted: order.quoted.as_ref().map(|quoted| quoted.name.clone()),
        };
        let connection = intended.connection.value();
        let sent = provider.send(self.app.gateway_transport(), connection, &outgoing).await;
        let masked = |text: String| self.app.masked(connection, &text);
        sent.map_err(|failure| failure.with_text(masked))
    }

    pub(super) fn outcome_ids(&self) -> OutcomeIds {
        let now = self.app.now();
        OutcomeIds {
            refund: LedgerLineId::new(self.app.uuid(now)),
            events: [(); 3].map(|()| EventId::new(self.app.uuid(now))),
            find: JobId::new(self.app.uuid(now)),
        }
    }
}

fn refusal(
    message: &Message,
    kind: ConnectionKind,
    failure: Failure,
    fault: Fault,
) -> Error<SendError> {
    Error::Rejected(SendError::of_failure(kind, message.id, message.contact, failure, fault))
}
