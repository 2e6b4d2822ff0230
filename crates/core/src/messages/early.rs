//! What gateways report about a message before the message is known (D28, X5). It is kept with the
//! provider's id for ten minutes.

use serde::{Deserialize, Serialize};

use super::deletion::deleted;
use super::votes::add_vote;
use super::{Failure, Message, MessageStatus, Quoted};
use crate::Timestamp;
use crate::ids::MessageId;
use crate::messages::Interactive;
use crate::secret::hides;

/// How many messages that name one unknown message are remembered.
const MAX_NAMED_BY: usize = 50;

/// A status report that came before its message was known (D28).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusReport {
    /// The furthest status reported so far.
    pub status: MessageStatus,
    /// Why, when it is failed.
    pub failure: Option<Failure>,
}

/// A change of a message's text that came before the message (X5).
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlyEdit {
    /// The new text, or caption.
    pub content: String,
    /// When it was changed.
    pub at: Timestamp,
}

hides! {
    EarlyEdit {
        shows { at }
        hides { content }
    }
}

/// What was reported about a message before it was known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Early {
    /// How far it got.
    #[serde(skip)]
    pub report: Option<StatusReport>,
    /// The newest change of its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit: Option<EarlyEdit>,
    /// When its sender deleted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
    /// The messages that answer it, react to it, or vote in it, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub named_by: Vec<MessageId>,
}

impl Early {
    /// A status report and nothing else.
    pub fn of_report(report: StatusReport) -> Self {
        Self { report: Some(report), ..Self::default() }
    }

    /// Whether there is more than a status report.
    pub const fn has_more(&self) -> bool {
        self.edit.is_some() || self.deleted_at.is_some() || !self.named_by.is_empty()
    }

    /// Adds a change of the text, unless a newer one is kept.
    pub(crate) fn add_edit(&mut self, edit: EarlyEdit) {
        if self.edit.as_ref().is_none_or(|kept| kept.at <= edit.at) {
            self.edit = Some(edit);
        }
    }

    /// Adds a message that names this one; only the first 50 are remembered.
    pub(crate) fn add_name(&mut self, message: MessageId) {
        if self.named_by.len() < MAX_NAMED_BY && !self.named_by.contains(&message) {
            self.named_by.push(message);
        }
    }

    /// The message with the edit, the votes and the deletion that came before it. `named` are the
    /// messages that name it; `erases` is whether the company erases what senders delete (X3).
    #[must_use]
    pub(crate) fn applied<'a>(
        &self,
        mut message: Message,
        named: impl IntoIterator<Item = &'a Message>,
        erases: bool,
    ) -> Message {
        if let Some(edit) = &self.edit {
            *message.written_mut() = Some(edit.content.clone());
            message.edited_at = Some(edit.at);
        }
        for vote in named {
            add_vote(&mut message, vote);
        }
        match self.deleted_at {
            Some(at) => deleted(&message, at, erases),
            None => message,
        }
    }
}

/// A message that named `target` before that was known, with what it says of it (D31a, X2).
#[must_use]
pub(crate) fn naming(message: &Message, target: &Message) -> Message {
    let mut message = message.clone();
    message.quoted = Quoted::of(target);
    if let Some(reaction) = &mut message.blocks.reaction {
        reaction.message_id = Some(target.id);
    }
    if let Some(Interactive::Answer(answer)) = &mut message.blocks.interactive {
        answer.in_reply_to = Some(target.id);
    }
    message
}

#[cfg(test)]
mod tests {
    use super::super::samples::{at, message};
    use super::super::{Answer, AnswerKind, Blocks, Direction, Offer, Reaction};
    use super::*;

    fn edit(content: &str, millis: i64) -> EarlyEdit {
        EarlyEdit { content: content.to_owned(), at: at(millis) }
    }

    /// X5.
    #[test]
    fn of_edits_that_come_before_their_message_the_newest_counts_in_any_order() {
        for order in [[1, 2], [2, 1]] {
            let mut early = Early::default();
            order.into_iter().for_each(|n| early.add_edit(edit(&n.to_string(), n)));
            let after = early.applied(message(Direction::Inbound, at(0)), [], false);
            assert_eq!((after.content.as_deref(), after.edited_at), (Some("2"), Some(at(2))));
        }
    }

    /// X3.
    #[test]
    fn a_deletion_that_comes_before_its_message_marks_it_and_erases_it_where_that_is_set() {
        let early = Early { deleted_at: Some(at(9)), ..Early::default() };
        let message = message(Direction::Inbound, at(0));
        let kept = early.applied(message.clone(), [], false);
        assert_eq!(kept.blocks.deleted_by_sender_at, Some(at(9)));
        assert_eq!(kept.content, message.content);
        assert_eq!(early.applied(message, [], true).content, None);
    }

    /// X6.
    #[test]
    fn votes_that_come_before_their_poll_are_counted_in_it() {
        let mut poll = message(Direction::Inbound, at(0));
        let offer = Offer::poll("?", ["a", "b"].map(str::to_owned));
        poll.blocks.interactive = Some(Interactive::Offer(Box::new(offer)));
        let mut vote = message(Direction::Inbound, at(1));
        let response = Some(serde_json::json!({"options": ["b"]}));
        let answer = Answer { response, ..Answer::new(AnswerKind::PollVote) };
        vote.blocks.interactive = Some(Interactive::Answer(answer));
        let counted = Early::default().applied(poll, [&vote], false);
        let Some(Interactive::Offer(offer)) = counted.blocks.interactive else {
            panic!("it is a poll")
        };
        let votes: Vec<u64> = offer.options.unwrap_or_default().iter().map(|o| o.votes).collect();
        assert_eq!(votes, [0, 1]);
    }

    /// D31a, X2.
    #[test]
    fn what_names_a_message_before_it_is_known_refers_to_it_afterwards() {
        let target = message(Direction::Outbound, at(0));
        let reaction = Reaction { message_id: None, ..Reaction::default() };
        let blocks = Blocks { reaction: Some(reaction), ..Blocks::default() };
        let early = Message { blocks, ..message(Direction::Inbound, at(1)) };
        let named = naming(&early, &target);
        assert_eq!(named.quoted, Quoted::of(&target));
        assert_eq!(named.blocks.reaction.and_then(|r| r.message_id), Some(target.id));
    }

    #[test]
    fn a_bounded_number_of_names_is_remembered_each_once() {
        let mut early = Early::default();
        for n in [1, 1].into_iter().chain(2..100) {
            early.add_name(MessageId::new(uuid::Uuid::from_u128(n)));
        }
        assert_eq!(early.named_by.len(), MAX_NAMED_BY);
        assert_eq!(early.named_by[1], MessageId::new(uuid::Uuid::from_u128(2)));
    }
}
