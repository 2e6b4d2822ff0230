//! Recording how a send ended (D28, D36, D38): the last of the three steps.

use async_trait::async_trait;

use super::claim::{Claim, Claimed, SendEnd};
use super::find_job::can_be_found;
use super::find_job::find_job;
use super::intent::{Intended, written};
use super::names::{LearntNames, reported_names};
use super::{Order, TurnDebit};
use crate::Timestamp;
use crate::connections::{Capability, Connection};
use crate::contacts::{ChannelKey, Contact};
use crate::conversations::{Act, ChannelContact, ChannelQuery, ConversationState};
use crate::error::NotFound;
use crate::gateway::{Accepted, Providers, SendResult};
use crate::ids::{EventId, JobId, LedgerLineId};
use crate::messages::steps;
use crate::messages::{
    DeliveryCode, Direction, EarlyFacts, EventContact, Failure, MediaLinks, Message, MessageRef,
    MessageStatus, OptOutSource, RefTarget, Referred, SenderType, StatusReport, StatusStep,
    advance, contact_opted_out, message_sent, reaction_updated, status_updated,
};
use crate::prosas::{LedgerLine, ProsaScope, Spent, debit_line};
use crate::store::{Change, ChangeSet, Decided, Reads, RecordsExt, StoreError, Stored, Version};
use crate::use_case::UseCase;

/// Records the outcome of a send. Idempotent: recording the same outcome again changes nothing.
#[derive(Clone, Debug)]
pub(crate) struct RecordOutcome {
    /// The message as it was stored before the call.
    pub(crate) message: Message,
    /// What it was before this send, if it is our reaction and the channel accepted it (R321).
    pub(crate) before: Option<Message>,
    /// How the call ended.
    pub(crate) outcome: SendOutcome,
    /// What an accepted message, or one that may have arrived, does to the conversation.
    pub(crate) act: Option<Act>,
    /// The turn it is a bubble of.
    pub(crate) turn: Option<TurnDebit>,
    /// What it has claimed, unless that is unknown after a crash.
    pub(crate) claim: Claim,
    /// The id of the refund of its debit, should there be one.
    pub(crate) refund: LedgerLineId,
    /// The ids of events: how the send ended, what was reported of it before, a block.
    pub(crate) events: [EventId; 3],
    /// The id of the job that searches for the message, if its outcome is unknown.
    pub(crate) find: JobId,
    pub(crate) links: MediaLinks,
    /// The gateways of this program.
    pub(crate) gateways: Providers,
}

/// Ids for the records that the recording may make. They are made once, so that deciding again has
/// the same result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutcomeIds {
    pub(crate) refund: LedgerLineId,
    pub(crate) events: [EventId; 3],
    pub(crate) find: JobId,
}

/// The outcome of a send for its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SendOutcome {
    /// The provider accepted it.
    Accepted(Accepted),
    /// It was not sent, or that is not known.
    Failed(Failure),
}

impl From<SendResult> for SendOutcome {
    fn from(result: SendResult) -> Self {
        match result {
            Ok(accepted) => Self::Accepted(accepted),
            Err(failure) => Self::Failed(failure.failure().clone()),
        }
    }
}

/// What the recording reads.
#[derive(Debug)]
pub(crate) struct OutcomeFacts {
    pub(super) message: Option<Stored<Message>>,
    connection: Option<Stored<Connection>>,
    referred: Option<Referred>,
    early: EarlyFacts,
    /// `None` when contacts could not be read: the outcome is recorded all the same (6.1).
    contacts: Option<Vec<ChannelContact>>,
    debit: Option<Stored<LedgerLine>>,
    pub(super) claimed: Claimed,
}

impl OutcomeFacts {
    /// The state that the intent left in the store. Every version is known, so that a commit
    /// conflicts if something has changed since, and no read is needed.
    pub(super) fn untouched(intended: &Intended) -> Self {
        Self {
            message: Some(Stored::new(intended.message.clone(), Version::FIRST)),
            connection: Some(intended.connection.clone()),
            referred: None,
            early: EarlyFacts::default(),
            contacts: Some(vec![intended.contact.clone()]),
            debit: None,
            claimed: intended.claimed.clone(),
        }
    }
}

impl RecordOutcome {
    pub(crate) fn of_order(
        order: &Order,
        intended: &Intended,
        outcome: SendOutcome,
        ids: OutcomeIds,
        links: MediaLinks,
        gateways: Providers,
    ) -> Self {
        let (act, turn, claim) = (order.act, order.turn, order.claim);
        let (message, before) = (intended.message.clone(), intended.before.clone());
        let OutcomeIds { refund, events, find } = ids;
        Self { message, before, outcome, act, turn, claim, refund, events, find, links, gateways }
    }

    fn keys(&self) -> Vec<ChannelKey> {
        match &self.outcome {
            SendOutcome::Accepted(accepted) => reported_names(accepted),
            SendOutcome::Failed(_) => Vec::new(),
        }
    }

    fn learnt(&self, own: &ChannelContact) -> Option<LearntNames<'_>> {
        match &self.outcome {
            SendOutcome::Accepted(accepted) => Some(LearntNames::of(accepted, own)),
            SendOutcome::Failed(_) => None,
        }
    }

    /// Whether the answer has names that the recipient does not have yet, so that other contacts
    /// have to be read.
    pub(super) fn brings_news(&self, own: &ChannelContact) -> bool {
        self.learnt(own).is_some_and(|learnt| learnt.is_news(own))
    }

    /// Whether the message counts as sent for what follows from it.
    fn may_have_arrived(&self) -> bool {
        match &self.outcome {
            SendOutcome::Accepted(_) => true,
            SendOutcome::Failed(failure) => failure.is_uncertain(),
        }
    }

    /// Whether it is an agent's reply: nothing is unread after it (D44a).
    fn clears_unread(&self) -> bool {
        self.message.sender_type == SenderType::Agent && self.may_have_arrived()
    }

    /// Whether the outcome is certain.
    fn is_known(&self) -> bool {
        match &self.outcome {
            SendOutcome::Accepted(_) => true,
            SendOutcome::Failed(failure) => !failure.is_uncertain(),
        }
    }

    fn report(&self) -> StatusReport {
        match &self.outcome {
            SendOutcome::Accepted(_) => StatusReport { status: MessageStatus::Sent, failure: None },
            SendOutcome::Failed(failure) => {
                StatusReport { status: MessageStatus::Failed, failure: Some(failure.clone()) }
            }
        }
    }

    /// What is recorded of a message that was deleted with its contact: the status of its
    /// recipient, and the refund (R55).
    fn without_message(&self, facts: &OutcomeFacts, now: Timestamp) -> Decided<Message> {
        let mut message = Message { sender: None, ..self.message.clone() };
        match &self.outcome {
            SendOutcome::Accepted(accepted) => {
                message.provider_id = Some(accepted.provider_id.clone());
                message.status = MessageStatus::Sent;
            }
            SendOutcome::Failed(failure) => {
                message.failure = Some(failure.clone());
                message.status = MessageStatus::Failed;
            }
        }
        let ended = SendEnd { may_have_arrived: self.may_have_arrived(), is_news: true };
        let changes = facts.claimed.changes(&message, ended, self.refund, now);
        let changes = changes.into_iter().fold(ChangeSet::new(), ChangeSet::with);
        Decided::new(changes, message)
    }

    /// The contact after the outcome (R25, D39).
    fn contact_after(&self, own: &ChannelContact, now: Timestamp) -> Contact {
        let contact = own.contact.value();
        let mut after = match self.learnt(own) {
            Some(learnt) => learnt.learnt_by(contact, now),
            None => contact.clone(),
        };
        let accepted = matches!(self.outcome, SendOutcome::Accepted(_));
        // D51: only an accepted template reopens the conversation; an agent's act counts in any
        // case.
        let counts = |act: &Act| match act {
            Act::TemplateSent => accepted,
            _ => self.may_have_arrived(),
        };
        if let Some(act) = self.act.filter(counts) {
            let state = ConversationState::of(contact).after(act);
            after = after.changed(now, |contact| state.write_to(contact));
        }
        if accepted {
            after.last_connection_id = Some(self.message.connection);
        }
        if self.clears_unread() {
            after.has_unread = false;
        }
        after
    }

    /// The changes by the names that the channel reported, and by an agent's reply, which clears
    /// unread messages.
    fn contact_changes(
        &self,
        facts: &OutcomeFacts,
        before: &ChannelContact,
        after: &Contact,
        now: Timestamp,
    ) -> Vec<Change> {
        let mut changes = Vec::new();
        if after != before.contact.value() {
            changes.push(before.contact.update_activity(after.clone()));
        }
        let learnt = self.learnt(before);
        let everybody = facts.contacts.as_deref().unwrap_or_default();
        for known in &before.conversations {
            let mut conversation = known.value().clone();
            if self.clears_unread() {
                conversation.unread = 0;
            }
            if let (Some(learnt), true) = (&learnt, known.connection == self.message.connection)
                && let Some(name) = learnt.address(before, known, everybody)
            {
                conversation.identifier = name;
            }
            if conversation != *known.value() {
                changes.push(written(Some(known), conversation));
            }
        }
        if let Some(learnt) = learnt {
            changes.extend(learnt.others(before, everybody, now));
            changes.extend(learnt.aliases(before, everybody));
        }
        changes
    }

    /// The steps of the message's status, each with the message after it.
    fn moves(&self, message: Message, reports: &[StatusReport]) -> Vec<(StatusStep, Message)> {
        let mut moves: Vec<(StatusStep, Message)> = Vec::new();
        for report in reports {
            let current = moves.last().map_or(&message, |(_, after)| after);
            let Some(step) = advance(current.status, current.failure.as_ref(), report) else {
                continue;
            };
            let mut current = current.clone();
            for step in steps(step) {
                current = step.apply(&current);
                moves.push((step, current.clone()));
            }
        }
        moves
    }

    /// The reference of an accepted message, and the report that came before it.
    fn reference(
        &self,
        facts: &OutcomeFacts,
        accepted: &Accepted,
        now: Timestamp,
    ) -> (Vec<Change>, Option<StatusReport>) {
        let reference = MessageRef {
            company: self.message.company,
            connection: self.message.connection,
            provider_id: accepted.provider_id.clone(),
            target: RefTarget::Message(self.message.id),
        };
        let Some(known) = &facts.referred else { return (vec![Change::insert(reference)], None) };
        match &known.reference.target {
            RefTarget::Message(id) if *id == self.message.id => (Vec::new(), None),
            RefTarget::Message(_) => match &known.message {
                Some(other) if self.is_echo(other) => {
                    (vec![known.reference.update(reference), other.delete()], None)
                }
                // The provider gave the same id twice: the first message keeps it.
                _ => (Vec::new(), None),
            },
            RefTarget::Early { .. } => {
                let report = facts.early.early(now).and_then(|early| early.report.clone());
                (vec![known.reference.update(reference)], report)
            }
            RefTarget::Forgotten { .. } => (vec![known.reference.update(reference)], None),
        }
    }

    /// Whether another message is this one, which the gateway reported as an echo before it
    /// answered the send (R49).
    fn is_echo(&self, other: &Message) -> bool {
        other.direction == Direction::Outbound
            && other.sender_type == SenderType::Agent
            && other.contact == self.message.contact
            && other.created_at >= self.message.created_at
            && other.content == self.message.content
    }

    /// The debit of the turn, booked with its first bubble that the provider accepted.
    fn debit(&self, facts: &OutcomeFacts, now: Timestamp) -> Option<(LedgerLine, bool)> {
        let turn = self.turn.filter(|_| matches!(self.outcome, SendOutcome::Accepted(_)))?;
        if let Some(booked) = &facts.debit {
            return Some((booked.value().clone(), false));
        }
        let spent = Spent {
            company: self.message.company,
            scope: ProsaScope::Turn,
            prosas: turn.prosas,
            cost: turn.cost,
            contact: Some(self.message.contact),
            campaign: None,
            description: None,
        };
        Some((debit_line(turn.id, spent, now), true))
    }
}

#[async_trait]
impl UseCase for RecordOutcome {
    type Loaded = OutcomeFacts;
    type Output = Message;
    type Error = NotFound;

    async fn load(&self, store: &dyn Reads) -> Result<OutcomeFacts, StoreError> {
        let company = self.message.company;
        let message = store.messages(company, &[self.message.id]).await?.pop();
        let connection = store.get::<Connection>((company, self.message.connection)).await?;
        let referred = match &self.outcome {
            SendOutcome::Accepted(accepted) => {
                let ids = std::slice::from_ref(&accepted.provider_id);
                store.referred(company, self.message.connection, ids).await?.pop()
            }
            SendOutcome::Failed(_) => None,
        };
        let early = EarlyFacts::load(store, company, referred.as_ref()).await?;
        // This may be another contact than at the intent, as contacts may have been merged since.
        let contact = message.as_ref().map_or(self.message.contact, |message| message.contact);
        let mut query = ChannelQuery {
            platform: connection.as_ref().map(|connection| connection.platform.clone()),
            ids: vec![contact],
            ..ChannelQuery::default()
        };
        for key in self.keys() {
            query.add_forms(&key.forms(), key.phone().is_some());
        }
        let contacts = match store.channel_contacts(company, &query).await {
            Ok(contacts) => Some(contacts),
            Err(StoreError::Unavailable(_)) => None,
            Err(error) => return Err(error),
        };
        let debit = match self.turn {
            Some(turn) => store.get::<LedgerLine>((company, turn.id)).await?,
            None => None,
        };
        let current = message.as_ref().map_or(&self.message, Stored::value);
        let claimed = Claimed::load(store, current, self.claim).await?;
        Ok(OutcomeFacts { message, connection, referred, early, contacts, debit, claimed })
    }

    fn decide(&self, facts: OutcomeFacts, now: Timestamp) -> Result<Decided<Message>, NotFound> {
        if let Some(put_off) = self.put_off(&facts, now) {
            return Ok(put_off);
        }
        let Some(stored) = facts.message.as_ref() else {
            return Ok(self.without_message(&facts, now));
        };
        let connection = facts.connection.as_ref().ok_or(NotFound)?;
        let mut message = stored.value().clone();
        let mut changes = ChangeSet::new();

        // An unknown outcome does not replace the status of an earlier report.
        let is_news = self.is_known() || stored.status == MessageStatus::Pending;
        let mut reports: Vec<_> = is_news.then(|| self.report()).into_iter().collect();
        let mut references = Vec::new();
        if let SendOutcome::Accepted(accepted) = &self.outcome {
            message.provider_id = Some(accepted.provider_id.clone());
            let (written, reported) = self.reference(&facts, accepted, now);
            references = written;
            reports.extend(reported);
            message = facts.early.applied(message, now);
            references.extend(facts.early.changes(&message, now));
        }
        let debit = self.debit(&facts, now);
        if let Some((line, _)) = &debit {
            message.prosa = Some(line.prosa());
        }
        let moves = self.moves(message.clone(), &reports);
        if let Some((_, last)) = moves.last() {
            message = last.clone();
        }

        let own = facts
            .contacts
            .as_ref()
            .and_then(|contacts| contacts.iter().find(|found| found.contact.id == message.contact));
        let mut after = own.map(|own| self.contact_after(own, now));
        let stops = moves.iter().any(|(step, _)| asks_to_stop(step, connection, &self.gateways));
        let stopped = after.as_mut().is_some_and(|after| stops && opt_out(after, now));
        if let (Some(own), Some(after)) = (own, &after) {
            if after == own.contact.value() {
                // The events contain the contact.
                changes = changes.require(own.contact.unchanged());
            }
            for change in self.contact_changes(&facts, own, after, now) {
                changes = changes.with(change);
            }
        }
        // The message comes before what refers to it.
        if message != *stored.value() {
            changes = changes.with(stored.update_activity(message.clone()));
        } else if facts.claimed.recipient.is_some() {
            // The recipient's status follows the message's, and a report may have changed both
            // since the read.
            changes = changes.require(stored.unchanged());
        }
        for change in references {
            changes = changes.with(change);
        }
        if let Some((line, true)) = debit {
            changes = changes.insert(line);
        }
        let [first, second, block] = self.events;
        let reported = moves.iter().filter(|(step, _)| step.is_reported());
        for ((step, message), id) in reported.zip([first, second]) {
            let contact = after
                .as_ref()
                .map_or(EventContact::Unreadable(message.contact), EventContact::Known);
            let is_sent =
                (step.previous, step.status) == (MessageStatus::Pending, MessageStatus::Sent);
            let links = &self.links;
            let event = match (is_sent, &self.before) {
                (true, Some(before)) if is_repeated(before, message) => continue,
                (true, Some(_)) => reaction_updated(id, message, contact, connection, now, links),
                (true, None) => message_sent(id, message, contact, connection, now, links),
                (false, _) => status_updated(id, message, step.previous, contact, connection, now),
            };
            changes = changes.emit(event);
        }
        if let (Some(after), true) = (&after, stopped) {
            let (source, through) = (OptOutSource::OfficialCloudInbound, Some(connection.id));
            changes = changes.emit(contact_opted_out(block, after, through, source, now));
        }
        if message.status != stored.status && can_be_found(connection, &message, &self.gateways) {
            changes = changes.insert(find_job(self.find, &message, now));
        }
        let ended = SendEnd {
            // A report may have proved that the message arrived although the gateway's answer was a
            // failure (R112).
            may_have_arrived: self.may_have_arrived() || message.status != MessageStatus::Failed,
            // Another process may have failed it as uncertain before its outcome was known here.
            is_news: stored.failure.as_ref().is_none_or(Failure::is_uncertain),
        };
        for change in facts.claimed.changes(&message, ended, self.refund, now) {
            changes = changes.with(change);
        }
        Ok(Decided::new(changes, message))
    }
}

/// Whether a message fails because its recipient opted out on the channel itself. From gateways
/// that report this, such as the official API, it counts as the contact's own opt-out (D43, R114).
pub(crate) fn asks_to_stop(
    step: &StatusStep,
    connection: &Connection,
    gateways: &Providers,
) -> bool {
    let refused = |failure: &Failure| failure.code == DeliveryCode::RecipientOptedOut;
    gateways.can(connection, Capability::OptOuts) && step.failure.as_ref().is_some_and(refused)
}

/// Whether a reaction of ours was sent again as the channel has it, which nobody is told (R353).
fn is_repeated(before: &Message, now: &Message) -> bool {
    before.provider_id.is_some() && (&before.content, &before.blocks) == (&now.content, &now.blocks)
}

/// Blocks a contact, and returns whether an event has to be sent.
fn opt_out(contact: &mut Contact, now: Timestamp) -> bool {
    let state = ConversationState::of(contact);
    let act = Act::OptedOut { at: now };
    let announces = state.announces_opt_out(&act);
    *contact = contact.changed(now, |contact| state.after(act).write_to(contact));
    announces
}
