//! Content that comes after its message was stored as `unsupported` (X5).

use super::standing::standing_id;
use super::workspace::Workspace;
use super::{Batch, EventIds, EventOutcome, EventResult};
use crate::gateway::GatewayMessage;
use crate::messages::{
    Direction, EventContact, Message, add_vote, deleted, fetch_job, message_received, message_sent,
    wants_fetch,
};

impl Workspace<'_> {
    /// The content of a message that came as `unsupported`, or without its file, before: it
    /// replaces what was stored (X5). The first one has counted as unread and has reopened; a
    /// contact's request to stop in the text still counts. The event of the message is written now
    /// if it has waited for the content, else its change is reported. `None` if this is no such
    /// content.
    pub(super) fn take_late_content(
        &mut self,
        batch: &Batch,
        event: &GatewayMessage,
        direction: Direction,
        ids: &EventIds,
    ) -> Option<EventResult> {
        let id = self.message_of(&event.provider_id)?;
        let before = self.message(id)?.clone();
        let is_late =
            before.direction == direction && before.awaits_content() && event.has_content();
        if is_late && before.is_erased() {
            return Some(EventResult::ignored("the message was deleted"));
        }
        let index = self
            .people
            .as_ref()?
            .iter()
            .position(|person| is_late && person.contact.now.id == before.contact)?;
        let had_fetch = wants_fetch(&before);
        let content = self.compose(event, ids, index, direction);
        let mut message = with_content(before, content);
        let quoting = self.quoting(id);
        for vote in quoting.iter().filter_map(|quoting| self.message(*quoting)) {
            add_vote(&mut message, vote);
        }
        let stops = direction == Direction::Inbound
            && batch.names(event).is_some_and(|names| names.group.is_none())
            && batch.asks_to_stop(event);
        if stops && self.opt_out(index, event, &message) {
            self.report_opt_out(index, &message, ids);
        }
        // A job that fetches the file reads the message when it begins.
        if wants_fetch(&message) && !had_fetch {
            self.work(fetch_job(ids.job, &message, self.now));
        }
        if self.end_announcement(id) {
            self.announce(batch, &message, ids);
            self.replace_message(message.clone());
        } else {
            self.update_message(batch, ids.events[1], message.clone());
        }
        self.settle_names(id, &quoting);
        let is_group = batch.names(event).is_some_and(|names| names.group.is_some());
        let standing = standing_id(self.connection.id, event, direction, is_group);
        // Another message is the person's vote, or reaction, already.
        let is_taken = standing.as_ref().is_some_and(|id| self.message_of(id).is_some());
        if !is_taken {
            self.add_to_target(batch, event, &message, standing, ids);
        }
        Some(EventResult::about(EventOutcome::Stored, id))
    }

    /// Reports a message that has waited for its content: `message.received`, or `message.sent` of
    /// an echo.
    fn announce(&mut self, batch: &Batch, message: &Message, ids: &EventIds) {
        let Some(person) = self.person(message.contact) else { return };
        let (contact, id) = (EventContact::Known(&person.contact.now), ids.events[1]);
        let (connection, now, links) = (self.connection, self.now, &batch.links);
        let event = match message.direction {
            Direction::Inbound => message_received(id, message, contact, connection, now, links),
            Direction::Outbound => message_sent(id, message, contact, connection, now, links),
        };
        self.emit(event);
    }
}

/// The stored message with the content that came late. An edit and a deletion that came in between
/// stay.
fn with_content(before: Message, content: Message) -> Message {
    let edited = before.edited_at.and_then(|_| before.written().clone());
    let deleted_at = before.blocks.deleted_by_sender_at;
    let mut message = Message {
        message_type: content.message_type,
        content: content.content,
        media: content.media,
        blocks: content.blocks,
        quoted: content.quoted,
        ..before
    };
    if edited.is_some() {
        *message.written_mut() = edited;
    }
    match deleted_at {
        Some(at) => deleted(&message, at, false),
        None => message,
    }
}
