//! What one person does to a message once, and may change: a reaction, a vote (X6, X7).

use super::workspace::Workspace;
use super::{Batch, EventIds, EventOutcome, EventResult};
use crate::contacts::ChannelKey;
use crate::gateway::GatewayMessage;
use crate::ids::{ConnectionId, EventId};
use crate::messages::{
    Direction, Message, MessageType, OWN, ProviderMessageId, RefTarget, count_vote,
};

/// The id under which the reaction, or vote, of the person is found who sent this message; `None`
/// for any other message, and in a group where the gateway does not report who it was. In a chat
/// with one person it is the contact's or the company's own.
pub(super) fn standing_id(
    connection: ConnectionId,
    event: &GatewayMessage,
    direction: Direction,
    is_group: bool,
) -> Option<ProviderMessageId> {
    let word = if event.is_vote() {
        "vote"
    } else if event.message_type == MessageType::Reaction {
        "reaction"
    } else {
        return None;
    };
    let person = match direction {
        Direction::Outbound => OWN.to_owned(),
        Direction::Inbound if !is_group => "contact".to_owned(),
        Direction::Inbound => {
            let name = event.participant.as_deref()?;
            ChannelKey::parse(name).map_or_else(|| name.to_owned(), |key| key.as_str().to_owned())
        }
    };
    Some(event.target()?.standing(connection, word, &person))
}

impl Workspace<'_> {
    /// A reaction or a vote of somebody who has reacted to, or voted in, the same message before:
    /// it changes the message that is stored. Of several the one with the latest time counts, in
    /// whichever order they come. `None` if there is none yet.
    pub(super) fn take_again(
        &mut self,
        batch: &Batch,
        event: &GatewayMessage,
        direction: Direction,
        standing: &ProviderMessageId,
        ids: &EventIds,
    ) -> Option<EventResult> {
        let id = self.message_of(standing)?;
        let before = self.message(id)?.clone();
        let index = self
            .people
            .as_ref()?
            .iter()
            .position(|person| person.contact.now.id == before.contact)?;
        let said = self.compose(event, ids, index, direction);
        let early = self.early_of(&event.provider_id).cloned().unwrap_or_default();
        self.point(event.provider_id.clone(), RefTarget::Message(id));
        self.settle_names(id, &early.named_by);
        let latest = before.edited_at.unwrap_or(before.timestamp);
        let after = if said.timestamp >= latest {
            let edited_at = Some(said.timestamp);
            Message {
                content: said.content,
                blocks: said.blocks,
                quoted: said.quoted,
                // Our own that is being sent again has none (R321).
                provider_id: before.provider_id.clone().or(said.provider_id),
                edited_at,
                ..before.clone()
            }
        } else if said.timestamp < before.timestamp {
            // It was the first one, and came late.
            Message {
                timestamp: said.timestamp,
                provider_id: said.provider_id,
                quoted: said.quoted,
                edited_at: Some(latest),
                ..before.clone()
            }
        } else {
            before.clone()
        };
        if after == before {
            return Some(EventResult::about(EventOutcome::Duplicate, id));
        }
        // D65: what a history brings is not reported.
        if event.history {
            self.replace_message(after.clone());
        } else {
            self.update_message(batch, ids.events[1], after.clone());
        }
        self.count_in_poll(batch, event, Some(&before), &after, ids.events[4]);
        Some(EventResult::about(EventOutcome::Stored, id))
    }

    /// Counts a vote in its poll, if that is stored, in place of the person's vote before (X6).
    pub(super) fn count_in_poll(
        &mut self,
        batch: &Batch,
        event: &GatewayMessage,
        before: Option<&Message>,
        after: &Message,
        id: EventId,
    ) {
        let Some(chosen) = after.vote() else { return };
        let poll = event.target().and_then(|target| self.message_of(&target));
        let Some(mut poll) = poll.and_then(|poll| self.message(poll)).cloned() else { return };
        // A vote that came so early that it does not refer to the poll was not counted.
        let counted = before.filter(|before| before.quoted.message == Some(poll.id));
        let dropped = counted.and_then(Message::vote).unwrap_or_default();
        count_vote(&mut poll, &dropped, &chosen);
        if event.history {
            self.replace_message(poll);
        } else {
            self.update_message(batch, id, poll);
        }
    }
}
