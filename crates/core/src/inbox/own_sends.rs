//! Messages that a gateway reports having sent for a program (D28, D42a). If the gateway accepts no
//! reference, they prove sends with an unknown outcome.

use std::time::Duration;

use super::people::Names;
use super::workspace::Workspace;
use super::{Batch, BatchFacts, EventIds, EventOutcome, EventResult, Inbox};
use crate::Timestamp;
use crate::gateway::{GatewayEvent, Incoming, OwnSend, StatusEvent};
use crate::ids::{ConnectionId, ContactId, MessageId};
use crate::messages::{Direction, Failure, Message, MessageFilter, MessageStatus};
use crate::page::PageRequest;
use crate::store::{Reads, StoreError, Stored};

/// How much later than this server's time of a message the gateway's time may be.
const LATER: Duration = Duration::from_secs(10 * 60);
/// How much earlier it may be, as clocks differ. An earlier one is a different message.
const EARLIER: Duration = Duration::from_secs(60);
/// How old a reported message may be: a little more than the history that is pulled, and far more
/// than the time for which a gateway repeats a webhook.
const REPORTED_WITHIN: Duration = Duration::from_secs(4 * 24 * 60 * 60);
/// How far the clock of a gateway may be ahead of this server's.
const AHEAD: Duration = Duration::from_secs(24 * 60 * 60);
/// How many of a contact's newest messages in a status are searched.
const NEWEST: u32 = 20;

/// Whether it is still unknown that this message was sent.
fn is_open(message: &Message) -> bool {
    let uncertain = message.failure.as_ref().is_some_and(Failure::is_uncertain);
    let open = message.status == MessageStatus::Pending || uncertain;
    open && message.provider_id.is_none() && message.direction == Direction::Outbound
}

/// The reported time of the gateway's send, if it is plausible for a report of now: some gateways
/// report constant or wrong times.
fn reported_time(sent: &OwnSend, now: Timestamp) -> Option<Timestamp> {
    sent.timestamp.filter(|at| at.plus(REPORTED_WITHIN) > now && *at < now.plus(AHEAD))
}

/// Whether an event has neither a reference nor a plausible time, so that its arrival counts as the
/// time of the send.
fn proves_by_arrival(event: &Incoming, now: Timestamp) -> bool {
    matches!(event, Ok(GatewayEvent::OwnSend(sent))
        if sent.reference.is_none() && reported_time(sent, now).is_none())
}

/// Whether the reported send may be this message: a file is known by its caption (R111,
/// R341).
fn may_be(
    message: &Message,
    sent: &OwnSend,
    contact: ContactId,
    connection: ConnectionId,
    now: Timestamp,
) -> bool {
    let at = reported_time(sent, now).unwrap_or(now);
    let in_time = message.created_at <= at.plus(EARLIER) && at <= message.created_at.plus(LATER);
    let of_its_type = sent.message_type.is_none_or(|known| known == message.message_type);
    let said = message.written();
    is_open(message)
        && message.contact == contact
        && message.connection == connection
        && of_its_type
        && said.is_some()
        && *said == sent.content
        && in_time
}

impl Inbox<'_> {
    /// The events of a gateway's answer that may be handled like those of a webhook. Events whose
    /// arrival would count as the time of the send are left out, as an answer may be about any
    /// time.
    pub(crate) fn asked_for(&self, mut events: Vec<Incoming>) -> Vec<Incoming> {
        let now = self.app.now();
        events.retain(|event| !proves_by_arrival(event, now));
        events
    }
}

impl Batch {
    /// Messages with an unknown outcome to the recipients of reported sends whose ids are not
    /// known.
    pub(super) async fn unexplained(
        &self,
        store: &dyn Reads,
        facts: &BatchFacts,
    ) -> Result<Vec<Stored<Message>>, StoreError> {
        let mut found = Vec::new();
        for (event, _) in &self.events {
            let Ok(GatewayEvent::OwnSend(sent)) = event else { continue };
            let by_id = facts.referred.iter().any(|referred| {
                referred.reference.provider_id == sent.provider_id && referred.message.is_some()
            });
            let by_reference = facts.messages.iter().any(|m| Some(m.id) == sent.reference);
            if by_id || by_reference {
                continue;
            }
            let named = Names::new(&sent.peer, &sent.aliases, &self.group_suffix);
            let Some((names, people)) = named.zip(facts.people.as_ref()) else { continue };
            for person in people.iter().filter(|person| names.fits(person)) {
                self.open_messages(store, person.contact.now.id, &mut found).await?;
            }
        }
        let known = |message: &Stored<Message>| facts.messages.iter().any(|m| m.id == message.id);
        found.retain(|message| !known(message));
        Ok(found)
    }

    async fn open_messages(
        &self,
        store: &dyn Reads,
        contact: ContactId,
        found: &mut Vec<Stored<Message>>,
    ) -> Result<(), StoreError> {
        let mut ids: Vec<MessageId> = Vec::new();
        for status in [MessageStatus::Pending, MessageStatus::Failed] {
            let filter = MessageFilter {
                contact: Some(contact),
                connection: Some(self.connection),
                direction: Some(Direction::Outbound),
                status: Some(status),
                ..MessageFilter::default()
            };
            let page = store.message_page(self.company, &filter, PageRequest::first(NEWEST));
            let page = page.await?;
            let open = page.items.iter().map(|record| &record.message).filter(|m| is_open(m));
            ids.extend(open.map(|message| message.id));
        }
        ids.retain(|id| found.iter().all(|message| message.id != *id));
        if !ids.is_empty() {
            found.extend(store.messages(self.company, &ids).await?);
        }
        Ok(())
    }
}

impl Workspace<'_> {
    /// A message that the gateway sent for a program. If it is one of this server's, it proves that
    /// send.
    pub(super) fn take_own_send(
        &mut self,
        batch: &Batch,
        sent: &OwnSend,
        ids: &EventIds,
    ) -> EventResult {
        if self.is_forgotten(&sent.provider_id) {
            return EventResult::of(EventOutcome::Duplicate);
        }
        let known = self.message_of(&sent.provider_id).is_some()
            || sent.reference.is_some_and(|reference| self.message(reference).is_some());
        let reference = if known { sent.reference } else { self.explained(batch, sent) };
        if !known
            && reference.is_none()
            && self.early_of(&sent.provider_id).is_some_and(|early| early.report.is_some())
        {
            return EventResult::ignored("no message of ours is known by this id");
        }
        let status = StatusEvent {
            provider_id: sent.provider_id.clone(),
            reference,
            status: MessageStatus::Sent,
            failure: None,
            timestamp: sent.timestamp,
            names: Vec::new(),
        };
        self.take_status(batch, &status, ids)
    }

    /// The message that it can be; none if there are several and one of them is still being sent
    /// (R111).
    fn explained(&self, batch: &Batch, sent: &OwnSend) -> Option<MessageId> {
        let names = Names::new(&sent.peer, &sent.aliases, &batch.group_suffix)?;
        let contact = self.people.as_ref()?[self.find(&names)?].contact.now.id;
        let (connection, now) = (self.connection.id, self.now);
        let fits = |message: &&Message| may_be(message, sent, contact, connection, now);
        let mut fitting: Vec<&Message> = self.all_messages().filter(fits).collect();
        fitting.sort_by_key(|message| (message.created_at, message.id));
        match fitting.as_slice() {
            [only] => Some(only.id),
            // Several failed as uncertain: it was one of them, and the oldest is taken.
            [oldest, ..] if fitting.iter().all(|m| m.status == MessageStatus::Failed) => {
                Some(oldest.id)
            }
            _ => None,
        }
    }
}
