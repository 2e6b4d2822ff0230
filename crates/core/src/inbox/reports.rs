//! Status reports (3.2, D28).

use super::messages::moved;
use super::workspace::Workspace;
use super::{Batch, EventIds, EventOutcome, EventResult};
use crate::Timestamp;
use crate::conversations::{Act, ConversationState};
use crate::gateway::StatusEvent;
use crate::ids::{EventId, MessageId};
use crate::messages::{
    Direction, EventContact, Message, MessageStatus, OptOutSource, ProviderMessageId, RefTarget,
    StatusReport, StatusStep, advance, contact_opted_out, merge_reports, message_sent,
    reaction_updated, status_updated, steps,
};
use crate::sending::asks_to_stop;

impl Workspace<'_> {
    /// A status report: it changes the message, or is kept until the message is known (R30).
    pub(super) fn take_status(
        &mut self,
        batch: &Batch,
        event: &StatusEvent,
        ids: &EventIds,
    ) -> EventResult {
        let report = StatusReport { status: event.status, failure: event.failure.clone() };
        let by_id = self.message_of(&event.provider_id);
        if self.is_forgotten(&event.provider_id) {
            return EventResult::of(EventOutcome::Duplicate);
        }
        let by_reference = event.reference.filter(|id| {
            self.message(*id).is_some_and(|message| message.connection == self.connection.id)
        });
        let Some(id) = by_id.or(by_reference) else {
            self.keep(event, report);
            return EventResult::of(EventOutcome::Stored);
        };
        let Some(message) = self.message_mut(id) else {
            return EventResult::ignored("no such message");
        };
        if message.direction == Direction::Inbound {
            return EventResult::ignored("inbound messages have no progress");
        }
        if by_id.is_some() && message.is_changed_reaction() && message.provider_id.is_none() {
            // R321: the id is that of the reaction before, and its report says nothing of this one.
            let late = EventResult::ignored("the reaction was changed since");
            return EventResult { message_id: Some(id), ..late };
        }
        if by_id.is_none()
            && message.status == MessageStatus::Pending
            && report.status == MessageStatus::Failed
        {
            // The message is still being sent: the answer to the send decides whether it was sent,
            // and its event comes first. The report is kept until then.
            self.keep(event, report);
            self.learn_recipient(batch, id, &event.names);
            return EventResult::about(EventOutcome::Stored, id);
        }
        let mut reports = vec![report];
        if by_id.is_none() && message.provider_id.is_none() {
            message.provider_id = Some(event.provider_id.clone());
            self.add_kept(event, &mut reports);
            self.take_early(batch, id, &event.provider_id, ids);
        }
        let current = self.message(id).map(|message| message.status);
        let [_, first, second, ..] = ids.events;
        let at = event.timestamp.unwrap_or(self.now);
        let mut moved = self.learn_recipient(batch, id, &event.names);
        for (report, events) in reports.iter().zip([[first, second], [second, second]]) {
            moved |= self.advance_message(batch, id, report, at, ids, events);
        }
        if moved {
            EventResult::about(EventOutcome::Stored, id)
        } else if current == Some(event.status) {
            EventResult::about(EventOutcome::Duplicate, id)
        } else {
            let late = EventResult::ignored("the message is further on");
            EventResult { message_id: Some(id), ..late }
        }
    }

    /// Adds the report that was kept for the id of this message. A failure is reported after
    /// `message.sent`.
    fn add_kept(&self, event: &StatusEvent, reports: &mut Vec<StatusReport>) {
        let kept = self.early_of(&event.provider_id).and_then(|early| early.report.as_ref());
        let Some(kept) = kept else { return };
        if kept.status == MessageStatus::Failed {
            reports.push(kept.clone());
        } else {
            for report in reports {
                *report = merge_reports(kept.clone(), report);
            }
        }
    }

    fn keep(&mut self, event: &StatusEvent, report: StatusReport) {
        self.keep_early(&event.provider_id, |early| {
            early.report = Some(match early.report.take() {
                Some(kept) => merge_reports(kept, &report),
                None => report,
            });
        });
    }

    /// Makes the provider's id refer to a message that was sent, which gets what came before:
    /// edits, a deletion, messages that name it (X5).
    fn take_early(
        &mut self,
        batch: &Batch,
        id: MessageId,
        provider_id: &ProviderMessageId,
        ids: &EventIds,
    ) {
        let early = self.early_of(provider_id).cloned().unwrap_or_default();
        self.point(provider_id.clone(), RefTarget::Message(id));
        if let (Some(message), true) = (self.message(id).cloned(), early.has_more()) {
            let named: Vec<Message> =
                early.named_by.iter().filter_map(|id| self.message(*id).cloned()).collect();
            let is_reported = message.status != MessageStatus::Pending;
            let after = early.applied(message, &named, self.erases);
            // `message.sent` of a pending message has the change.
            if is_reported {
                self.update_message(batch, ids.events[4], after);
            } else {
                self.replace_message(after);
            }
            self.settle_names(id, &early.named_by);
        }
    }

    /// The names of the recipient that a status of a message reports are its contact's (X8), unless
    /// it is a group, where they are a participant's. No contact is made. Returns whether one is
    /// new.
    fn learn_recipient(&mut self, batch: &Batch, id: MessageId, names: &[String]) -> bool {
        let Some(names) = batch.recipient_names(names) else { return false };
        let Some(contact) = self.message(id).map(|message| message.contact) else { return false };
        let index = self
            .people
            .as_ref()
            .and_then(|people| people.iter().position(|person| person.contact.now.id == contact));
        index.is_some_and(|index| {
            let is_group =
                self.people.as_ref().is_some_and(|people| people[index].contact.now.is_group);
            !is_group && self.learn(&names, index)
        })
    }

    /// Changes a message's status by a report of `at` and adds the events; false if the report
    /// changes nothing. A pending message becomes sent first, which adds `message.sent`.
    pub(super) fn advance_message(
        &mut self,
        batch: &Batch,
        id: MessageId,
        report: &StatusReport,
        at: Timestamp,
        ids: &EventIds,
        events: [EventId; 2],
    ) -> bool {
        let Some(message) = self.message(id) else { return false };
        let Some(step) = advance(message.status, message.failure.as_ref(), report) else {
            return false;
        };
        let mut message = message.clone();
        let stopped = self.follow_up(&message, &step, at);
        for (step, event) in steps(step).into_iter().zip(events) {
            message = step.apply(&message);
            if !step.is_reported() {
                continue;
            }
            let person = self.person(message.contact);
            let contact = person.map_or(EventContact::Unreadable(message.contact), |person| {
                EventContact::Known(&person.contact.now)
            });
            let (now, links) = (self.now, &batch.links);
            let is_sent =
                (step.previous, step.status) == (MessageStatus::Pending, MessageStatus::Sent);
            let reported = match is_sent {
                true if message.is_changed_reaction() => {
                    reaction_updated(event, &message, contact, self.connection, now, links)
                }
                true => message_sent(event, &message, contact, self.connection, now, links),
                false => {
                    let (previous, connection) = (step.previous, self.connection);
                    status_updated(event, &message, previous, contact, connection, now)
                }
            };
            // D65: no event is sent for a message of a history. X5: the first event of a message
            // whose content is late has its status.
            if !message.is_history && !self.relies_on_announcement(message.id) {
                self.emit(reported);
            }
        }
        if let (Some(person), true) = (self.person(message.contact), stopped) {
            let (contact, source) = (&person.contact.now, OptOutSource::OfficialCloudInbound);
            let through = Some(self.connection.id);
            let reported = contact_opted_out(ids.events[3], contact, through, source, self.now);
            self.emit(reported);
        }
        self.replace_message(message);
        self.refund_withheld(id, ids.refund);
        true
    }

    /// The effect of a status step of `message` on its contact. Proof that it was sent has the
    /// effect of the gateway's acceptance (3.1, D35), unless there are newer messages. A failure
    /// because the recipient opted out blocks the contact (R114); returns whether that has to be
    /// announced.
    fn follow_up(&mut self, message: &Message, step: &StatusStep, at: Timestamp) -> bool {
        let now = self.now;
        let stops = asks_to_stop(step, self.connection, self.gateways);
        let everybody = self.people.iter_mut().flatten();
        let Some(person) = everybody.into_iter().find(|p| p.contact.now.id == message.contact)
        else {
            return false;
        };
        let contact = &mut person.contact.now;
        if stops {
            let act = Act::OptedOut { at };
            let announces = ConversationState::of(contact).announces_opt_out(&act);
            *contact = moved(contact, act, now);
            return announces;
        }
        let was_open = matches!(step.previous, MessageStatus::Pending | MessageStatus::Failed);
        if !was_open || step.status == MessageStatus::Failed || message.is_history {
            return false;
        }
        if contact.last_message_at.is_none_or(|last| last <= message.created_at) {
            contact.last_connection_id = Some(message.connection);
        }
        let reopens = message.template_category.is_some() || message.is_of_campaign();
        if reopens && contact.last_closed_at.is_none_or(|closed| closed <= message.created_at) {
            *contact = moved(contact, Act::TemplateSent, now);
        }
        false
    }
}
