//! Messages that their sender deleted for everybody (X3).

use super::{Blocks, Media, Message};
use crate::Timestamp;

/// The message once its sender has deleted it. The first deletion counts. With `erases` its
/// content goes: the text, the file with its caption, and the blocks. What it quotes is another
/// message's, and stays.
#[must_use]
pub(crate) fn deleted(message: &Message, at: Timestamp, erases: bool) -> Message {
    let mut after = message.clone();
    let since = after.blocks.deleted_by_sender_at.unwrap_or(at);
    after.blocks.deleted_by_sender_at = Some(since);
    if erases {
        after.content = None;
        after.media = Media::default();
        after.blocks =
            Blocks { deleted_by_sender_at: after.blocks.deleted_by_sender_at, ..Blocks::default() };
    }
    after
}

impl Message {
    /// Whether its sender has deleted it, and its content was erased (X3).
    pub fn is_erased(&self) -> bool {
        let deleted_by_sender_at = self.blocks.deleted_by_sender_at;
        let rest = Blocks { deleted_by_sender_at, ..Blocks::default() };
        self.is_deleted() && self.content.is_none() && self.media.is_empty() && self.blocks == rest
    }

    /// Whether its sender has deleted it (X3).
    pub const fn is_deleted(&self) -> bool {
        self.blocks.deleted_by_sender_at.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{at, message};
    use super::super::{Direction, Referral};
    use super::*;

    fn whole() -> Message {
        let mut message = message(Direction::Inbound, at(0));
        message.media.caption = Some("a caption".to_owned());
        message.blocks.referral = Some(Referral::default());
        message.quoted.content = Some("another message".to_owned());
        message
    }

    /// X3.
    #[test]
    fn a_deleted_message_keeps_its_content_and_says_when_it_was_deleted_first() {
        let once = deleted(&whole(), at(5), false);
        assert_eq!(once.blocks.deleted_by_sender_at, Some(at(5)));
        assert_eq!(once.content, whole().content);
        assert_eq!(deleted(&once, at(9), false), once);
    }

    /// X3.
    #[test]
    fn where_the_company_erases_deleted_messages_nothing_of_the_content_is_left() {
        let after = deleted(&whole(), at(5), true);
        assert_eq!((after.content.as_ref(), after.media.is_empty()), (None, true));
        let only = Blocks { deleted_by_sender_at: Some(at(5)), ..Blocks::default() };
        assert_eq!(after.blocks, only);
        assert_eq!(after.quoted.content.as_deref(), Some("another message"));
    }
}
