//! Changes of messages that are stored: edits and deletions by their senders (D31a, X3, X5a).

use super::keep::kept_of;
use super::workspace::Workspace;
use super::{Batch, EventIds, EventOutcome, EventResult};
use crate::Timestamp;
use crate::gateway::GatewayMessage;
use crate::ids::{EventId, MessageId};
use crate::jobs::{Job, JobKind};
use crate::messages::{
    EarlyEdit, EventContact, Message, ProviderMessageId, deleted, message_updated,
};

impl Workspace<'_> {
    /// The text of a message, or the caption of its file, was changed (D31a, R48). A change of an
    /// unknown message waits for it (X5).
    pub(super) fn take_edit(
        &mut self,
        batch: &Batch,
        provider_id: &ProviderMessageId,
        content: &str,
        at: Option<Timestamp>,
        ids: &EventIds,
    ) -> EventResult {
        let edit = EarlyEdit { content: content.to_owned(), at: at.unwrap_or(self.now) };
        let Some(id) = self.message_of(provider_id) else {
            let kept = self.early_of(provider_id).and_then(|early| early.edit.as_ref());
            if self.is_forgotten(provider_id) || kept.is_some_and(|kept| *kept == edit) {
                return EventResult::of(EventOutcome::Duplicate);
            }
            self.keep_early(provider_id, |early| early.add_edit(edit));
            return EventResult::of(EventOutcome::Stored);
        };
        match self.message(id) {
            None => EventResult::ignored("no such message"),
            // The same text at a later time: an edit in between that comes later is older.
            Some(message) if message.written().as_deref() == Some(content) => {
                let latest = message.edited_at.unwrap_or(message.timestamp);
                if at.is_none_or(|at| at <= latest) || message.is_erased() {
                    return EventResult::about(EventOutcome::Duplicate, id);
                }
                self.replace_message(Message { edited_at: at, ..message.clone() });
                EventResult::about(EventOutcome::Stored, id)
            }
            // Edits may arrive in any order: an older one does not undo a newer one.
            Some(message) if at.is_some() && message.edited_at > at => {
                EventResult::ignored("the message was edited later")
            }
            Some(message) if message.is_erased() => EventResult::ignored("the message was deleted"),
            Some(message) => {
                let mut after = message.clone();
                *after.written_mut() = Some(edit.content);
                after.edited_at = Some(edit.at);
                self.update_message(batch, ids.events[1], after);
                EventResult::about(EventOutcome::Stored, id)
            }
        }
    }

    /// A message was deleted by its sender (X3). The deletion of an unknown message waits for it.
    pub(super) fn take_deletion(
        &mut self,
        batch: &Batch,
        provider_id: &ProviderMessageId,
        at: Option<Timestamp>,
        ids: &EventIds,
    ) -> EventResult {
        let at = at.unwrap_or(self.now);
        let Some(id) = self.message_of(provider_id) else {
            let kept = self.early_of(provider_id).and_then(|early| early.deleted_at);
            if self.is_forgotten(provider_id) || kept.is_some() {
                return EventResult::of(EventOutcome::Duplicate);
            }
            self.keep_early(provider_id, |early| early.deleted_at = Some(at));
            return EventResult::of(EventOutcome::Stored);
        };
        let Some(message) = self.message(id).cloned() else {
            return EventResult::ignored("no such message");
        };
        if message.is_deleted() {
            return EventResult::about(EventOutcome::Duplicate, id);
        }
        if self.erases {
            let (document, upload) = (message.media.document, message.media.upload);
            let kept = kept_of(&message);
            let kind = JobKind::EraseMessage { message: id, document, upload, kept };
            self.work(Job::due_now(ids.job, message.company, kind, self.now));
        }
        self.update_message(batch, ids.events[1], deleted(&message, at, self.erases));
        EventResult::about(EventOutcome::Stored, id)
    }

    /// A message that is stored comes again, and was deleted since (X3).
    pub(super) fn take_deletion_of_known(
        &mut self,
        batch: &Batch,
        event: &GatewayMessage,
        ids: &EventIds,
    ) -> Option<EventResult> {
        let at = event.blocks.deleted_by_sender_at?;
        let known = self.message_of(&event.provider_id)?;
        let is_news = self.message(known).is_some_and(|message| !message.is_deleted());
        is_news.then(|| self.take_deletion(batch, &event.provider_id, Some(at), ids))
    }

    /// Replaces a message whose content changed, and reports it (X5a). Nothing is reported of a
    /// message that no event has reported yet: one of a history (D65), or one whose content is
    /// late, which is reported with all changes once.
    pub(super) fn update_message(&mut self, batch: &Batch, id: EventId, after: Message) {
        let silent = after.is_history || self.relies_on_announcement(after.id);
        if let (Some(before), false) = (self.message(after.id), silent) {
            let contact = self
                .person(after.contact)
                .map_or(EventContact::Unreadable(after.contact), |person| {
                    EventContact::Known(&person.contact.now)
                });
            let (connection, now) = (self.connection, self.now);
            let event = message_updated(id, before, &after, contact, connection, now, &batch.links);
            if let Some(event) = event {
                self.emit(event);
            }
        }
        self.replace_message(after);
    }

    /// Makes the messages that named a message before it was known refer to it (X5).
    pub(super) fn settle_names(&mut self, id: MessageId, named_by: &[MessageId]) {
        let Some(target) = self.message(id).cloned() else { return };
        for named in named_by {
            if let Some(message) = self.message(*named) {
                let after = crate::messages::naming(message, &target);
                self.replace_message(after);
            }
        }
    }
}
