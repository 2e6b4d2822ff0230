//! Content that comes after its message was stored as `unsupported` (X5).

use super::workspace::Workspace;
use super::{Batch, EventIds, EventOutcome, EventResult};
use crate::gateway::GatewayMessage;
use crate::messages::{
    Blocks, Direction, Message, MessageType, SystemKind, fetch_job, wants_fetch,
};

impl Workspace<'_> {
    /// The content of a message that came as `unsupported`, or without its file, before: it
    /// replaces what was stored (X5). The first one has counted as unread and has reopened; a
    /// contact's request to stop in the text still counts. `None` if this is no such content.
    pub(super) fn take_late_content(
        &mut self,
        batch: &Batch,
        event: &GatewayMessage,
        direction: Direction,
        ids: &EventIds,
    ) -> Option<EventResult> {
        let id = self.message_of(&event.provider_id)?;
        let before = self.message(id)?.clone();
        let is_late = before.direction == direction
            && (before.message_type == MessageType::Unsupported || is_file_missing(&before.blocks))
            && event.message_type != MessageType::Unsupported
            && !is_file_missing(&event.blocks);
        let index = self
            .people
            .as_ref()?
            .iter()
            .position(|person| is_late && person.contact.now.id == before.contact)?;
        let content = self.compose(event, ids, index, direction);
        let message = Message {
            message_type: content.message_type,
            content: content.content,
            media: content.media,
            blocks: content.blocks,
            quoted: content.quoted,
            ..before
        };
        let stops = direction == Direction::Inbound
            && batch.names(event).is_some_and(|names| names.group.is_none())
            && batch.asks_to_stop(event);
        if stops && self.opt_out(index, event, &message) {
            self.report_opt_out(index, &message, ids);
        }
        if wants_fetch(&message) {
            self.work(fetch_job(ids.job, &message, self.now));
        }
        self.replace_message(message);
        Some(EventResult::about(EventOutcome::Stored, id))
    }
}

fn is_file_missing(blocks: &Blocks) -> bool {
    blocks.system.as_ref().is_some_and(|notice| notice.kind == SystemKind::FileMissing)
}
