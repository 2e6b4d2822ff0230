//! Messages and echoes, edits and requests to stop (2.4, 3.1, 3.4, D31, D31a, D41–D43, D65, D72).

use super::people::{Matched, Names};
use super::standing::standing_id;
use super::workspace::Workspace;
use super::{Batch, EventIds, EventOutcome, EventResult};
use crate::Timestamp;
use crate::connections::ConnectionKind;
use crate::contacts::{ChannelKey, Contact};
use crate::conversations::{Act, ConversationState, echo_is_reply};
use crate::gateway::GatewayMessage;
use crate::ids::MessageId;
use crate::messages::{
    Direction, EventContact, Media, Message, MessageStatus, OptOutSource, Participant,
    ProviderMessageId, Quoted, RefTarget, SenderType, announce_job, contact_opted_out, deleted,
    fetch_job, message_received, message_sent, touch_contact, touch_conversation, wants_fetch,
};

/// Contacts could not be read although the event needs them; never answered, as such a batch fails
/// as a whole.
pub(super) const UNREADABLE: &str = "the contact could not be read";

impl Workspace<'_> {
    /// A message from a contact.
    pub(super) fn take_message(
        &mut self,
        batch: &Batch,
        event: &GatewayMessage,
        ids: &EventIds,
    ) -> EventResult {
        if let Some(late) = self.take_late_content(batch, event, Direction::Inbound, ids) {
            return late;
        }
        if let Some(deleted) = self.take_deletion_of_known(batch, event, ids) {
            return deleted;
        }
        if let Some(repeated) = self.repeated(&event.provider_id) {
            return repeated;
        }
        let Some(names) = batch.names(event) else {
            return EventResult::refused("from is not a name of a contact");
        };
        let Some(matched) = self.match_or_create(&names, ids) else {
            return EventResult::refused(UNREADABLE);
        };
        if let Some(group) = &names.group {
            self.add_group(group.clone());
        }
        let index = matched.index();
        let is_group = names.group.is_some();
        let standing = standing_id(self.connection.id, event, Direction::Inbound, is_group);
        let again = standing
            .as_ref()
            .and_then(|id| self.take_again(batch, event, Direction::Inbound, id, ids));
        if let Some(again) = again {
            return again;
        }
        let participant = participant(event, &names);
        let message =
            Message { participant, ..self.compose(event, ids, index, Direction::Inbound) };
        self.record(index, &names, &message);
        if !event.history {
            self.apply_inbound(index, event, &message, names.group.is_some());
        }
        let stops = names.group.is_none() && batch.asks_to_stop(event);
        let announced = stops && self.opt_out(index, event, &message);
        self.report_received(batch, matched, event, &message, ids, announced);
        if wants_fetch(&message) {
            self.work(fetch_job(ids.job, &message, self.now));
        }
        self.ask_names(index, &names.peer, &message, ids.names_job);
        let id = message.id;
        self.add_message(message.clone());
        self.add_to_target(batch, event, &message, standing, ids);
        EventResult::about(EventOutcome::Stored, id)
    }

    /// A message that the operator wrote on the paired phone (D42a).
    pub(super) fn take_echo(
        &mut self,
        batch: &Batch,
        event: &GatewayMessage,
        ids: &EventIds,
    ) -> EventResult {
        if let Some(late) = self.take_late_content(batch, event, Direction::Outbound, ids) {
            return late;
        }
        if let Some(deleted) = self.take_deletion_of_known(batch, event, ids) {
            return deleted;
        }
        if let Some(repeated) = self.repeated(&event.provider_id) {
            return repeated;
        }
        let Some(names) = batch.names(event) else {
            return EventResult::refused("to is not a name of a contact");
        };
        let Some(matched) = self.match_or_create(&names, ids) else {
            return EventResult::refused(UNREADABLE);
        };
        let index = matched.index();
        let is_group = names.group.is_some();
        let standing = standing_id(self.connection.id, event, Direction::Outbound, is_group);
        let again = standing
            .as_ref()
            .and_then(|id| self.take_again(batch, event, Direction::Outbound, id, ids));
        if let Some(again) = again {
            return again;
        }
        let participant = participant(event, &names);
        let message =
            Message { participant, ..self.compose(event, ids, index, Direction::Outbound) };
        self.record(index, &names, &message);
        if !event.history {
            let now = self.now;
            if let Some(person) = self.people.as_mut().and_then(|people| people.get_mut(index)) {
                let is_reply = echo_is_reply(message.timestamp, person.newest_inbound);
                person.contact.now = moved(&person.contact.now, Act::Echoed { is_reply }, now);
                person.newest_outbound = Some(SenderType::Agent);
                // Messages that came after the operator's reply are still unread (D44a).
                if person.newest_inbound.is_none_or(|inbound| message.timestamp >= inbound) {
                    person.clear_unread();
                }
                let contact = EventContact::Known(&person.contact.now);
                let (id, through) = (ids.events[1], self.connection);
                let sent = message_sent(id, &message, contact, through, now, &batch.links);
                if event.is_late {
                    self.work(announce_job(ids.job, &message, now));
                } else {
                    self.emit(sent);
                }
            }
        }
        let id = message.id;
        if wants_fetch(&message) {
            self.work(fetch_job(ids.job, &message, self.now));
        }
        self.ask_names(index, &names.peer, &message, ids.names_job);
        let early = self.add_message(message.clone());
        self.add_to_target(batch, event, &message, standing, ids);
        if let Some(report) = early.report {
            let events = [ids.events[2], ids.events[3]];
            self.advance_message(batch, id, &report, self.now, ids, events);
        }
        EventResult::about(EventOutcome::Stored, id)
    }

    pub(super) fn compose(
        &self,
        event: &GatewayMessage,
        ids: &EventIds,
        index: usize,
        direction: Direction,
    ) -> Message {
        let contact = self.people.as_ref().map(|people| people[index].contact.now.id);
        let media = event.media.clone().unwrap_or_default();
        let inbound = direction == Direction::Inbound;
        let quoted = self.quoted(event);
        let blocks = event.all_blocks().resolved(quoted.message, |id| self.message_of(id));
        let message = Message {
            id: ids.message,
            company: self.connection.company,
            contact: contact.unwrap_or(ids.contact),
            connection: self.connection.id,
            direction,
            message_type: event.message_type,
            sender_type: if inbound { SenderType::Contact } else { SenderType::Agent },
            status: if inbound { MessageStatus::Received } else { MessageStatus::Sent },
            failure: None,
            content: event.content.clone().or_else(|| blocks.content_of(event.message_type)),
            blocks,
            media: Media {
                url: None,
                source: media.url,
                document: None,
                upload: None,
                mimetype: media.mimetype,
                filename: media.filename,
                caption: media.caption,
            },
            provider_id: Some(event.provider_id.clone()),
            external_id: None,
            quoted,
            participant: None,
            template_category: None,
            prosa: None,
            is_history: event.history,
            edited_at: None,
            sender: None,
            created_at: self.now,
            timestamp: event.timestamp.unwrap_or(self.now),
        };
        let message = match self.early_of(&event.provider_id) {
            Some(early) => {
                let named = early.named_by.iter().filter_map(|id| self.message(*id));
                early.applied(message, named, self.erases)
            }
            None => message,
        };
        match message.blocks.deleted_by_sender_at {
            Some(at) => deleted(&message, at, self.erases),
            None => message,
        }
    }

    /// Adds a new message to what it answers, reacts to, or votes in.
    pub(super) fn add_to_target(
        &mut self,
        batch: &Batch,
        event: &GatewayMessage,
        message: &Message,
        standing: Option<ProviderMessageId>,
        ids: &EventIds,
    ) {
        if let Some(standing) = standing {
            self.point(standing, RefTarget::Message(message.id));
        }
        self.remember_target(event, message.id);
        self.count_in_poll(batch, event, None, message, ids.events[4]);
    }

    /// Remembers that a message names one that is not known yet (X5).
    fn remember_target(&mut self, event: &GatewayMessage, id: MessageId) {
        let target = event.target().filter(|target| *target != event.provider_id);
        if let Some(target) = target.filter(|target| self.message_of(target).is_none()) {
            self.keep_early(&target, |early| early.add_name(id));
        }
    }

    /// The quoted message as it is stored; else as the gateway reports it (D31a).
    fn quoted(&self, event: &GatewayMessage) -> Quoted {
        let ours = event.target().and_then(|id| self.message_of(&id));
        match ours.and_then(|id| self.message(id)) {
            Some(quoted) => Quoted::of(quoted),
            None => Quoted {
                message: None,
                content: event.quoted_content.clone(),
                message_type: event.quoted_type,
            },
        }
    }

    /// Updates the times of the contact and of its conversation on this connection.
    fn record(&mut self, index: usize, names: &Names, message: &Message) {
        if let Some(conversation) = self.conversation(index, &names.peer) {
            *conversation = touch_conversation(Some(conversation), message, &names.peer);
        }
        if let Some(person) = self.people.as_mut().and_then(|people| people.get_mut(index)) {
            person.contact.now = touch_contact(&person.contact.now, message);
        }
    }

    /// The changes by a contact's new message, apart from the times (3.1).
    fn apply_inbound(
        &mut self,
        index: usize,
        event: &GatewayMessage,
        message: &Message,
        group: bool,
    ) {
        let (now, connection) = (self.now, self.connection.id);
        let Some(person) = self.people.as_mut().and_then(|people| people.get_mut(index)) else {
            return;
        };
        person.newest_inbound = Some(message.timestamp);
        let mut contact = person.contact.now.clone();
        if message.asks_for_attention() {
            let here = person.conversations.iter_mut().find(|c| c.now.connection == connection);
            if let Some(conversation) = here {
                conversation.now.unread = conversation.now.unread.saturating_add(1);
            }
            contact = moved(&contact, Act::CustomerWrote, now);
        }
        // In a group the name is the participant's, not the group's.
        if let (Some(name), false) = (&event.push_name, group) {
            contact = contact.changed(now, |c| c.wa_push_name = Some(name.clone()));
        }
        person.contact.now = contact;
    }

    /// Blocks a contact that asked for it, and returns whether that is new.
    pub(super) fn opt_out(
        &mut self,
        index: usize,
        event: &GatewayMessage,
        message: &Message,
    ) -> bool {
        let now = self.now;
        let act = Act::OptedOut { at: message.timestamp };
        let Some(person) = self.people.as_mut().and_then(|people| people.get_mut(index)) else {
            return false;
        };
        let contact = &person.contact.now;
        // D70: a request from before the last opt-in that turns up in a history has no effect.
        if event.history && contact.opted_in_at.is_some_and(|since| message.timestamp <= since) {
            return false;
        }
        let announces = ConversationState::of(contact).announces_opt_out(&act);
        person.contact.now = moved(contact, act, now);
        announces
    }

    fn report_received(
        &mut self,
        batch: &Batch,
        matched: Matched,
        event: &GatewayMessage,
        message: &Message,
        ids: &EventIds,
        opted_out: bool,
    ) {
        let Some(person) = self.people.as_ref().and_then(|people| people.get(matched.index()))
        else {
            return;
        };
        let contact = &person.contact.now;
        let (id, known) = (ids.events[1], EventContact::Known(contact));
        let received =
            message_received(id, message, known, self.connection, self.now, &batch.links);
        if event.is_late && !event.history {
            self.work(announce_job(ids.job, message, self.now));
        } else if !event.history {
            self.emit(received);
        }
        if opted_out {
            self.report_opt_out(matched.index(), message, ids);
        }
    }

    /// Reports the block that a message asked for (6.1).
    pub(super) fn report_opt_out(&mut self, index: usize, message: &Message, ids: &EventIds) {
        let Some(person) = self.people.as_ref().and_then(|people| people.get(index)) else {
            return;
        };
        let source = self.opt_out_source(message, person.newest_outbound);
        let (contact, connection) = (&person.contact.now, Some(self.connection.id));
        let event = contact_opted_out(ids.events[3], contact, connection, source, self.now);
        self.emit(event);
    }

    /// Where a request came from (6.1, D43): a reply to a campaign if it quotes a campaign's
    /// message, or if the newest outbound message is a campaign's; for messages of a history, only
    /// if it quotes one.
    fn opt_out_source(
        &self,
        message: &Message,
        newest_outbound: Option<SenderType>,
    ) -> OptOutSource {
        let quoted = message.quoted.message.and_then(|id| self.message(id));
        let quotes = quoted.is_some_and(|quoted| quoted.sender_type == SenderType::Campaign);
        let follows = !message.is_history && newest_outbound == Some(SenderType::Campaign);
        if quotes || follows {
            return OptOutSource::CampaignReply;
        }
        match self.connection.kind {
            ConnectionKind::Qr => OptOutSource::QrInbound,
            ConnectionKind::OfficialCloud => OptOutSource::OfficialCloudInbound,
        }
    }
}

/// Who of a group wrote a message, as the gateway reports it with the message (D72).
fn participant(event: &GatewayMessage, names: &Names) -> Option<Participant> {
    names.group.as_ref()?;
    let identifier = event.participant.clone()?;
    Some(Participant {
        phone: ChannelKey::parse(&identifier).and_then(|key| key.phone()),
        name: event.push_name.clone(),
        identifier,
    })
}

/// The contact after an act.
pub(super) fn moved(contact: &Contact, act: Act, now: Timestamp) -> Contact {
    let after = ConversationState::of(contact).after(act);
    contact.changed(now, |contact| after.write_to(contact))
}
