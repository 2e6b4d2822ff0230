//! What a list of conversations says of each: its last message in brief, and how many are unread.

use super::handle::Messages;
use super::message::{Direction, Message, MessageType};
use crate::conversations::ChannelQuery;
use crate::ids::{CompanyId, ContactId};
use crate::secret::hides;
use crate::store::{Listing, Row, StoreError};

/// Conversations are read in brief at most so many at once.
pub const GLANCES_AT_ONCE: usize = 100;
/// The characters of an excerpt at most.
const EXCERPT: usize = 80;

/// A conversation in brief.
#[derive(Clone, PartialEq, Eq)]
pub struct Glance {
    /// The contact.
    pub contact: ContactId,
    /// Which way the last message went.
    pub direction: Direction,
    /// What it was.
    pub message_type: MessageType,
    /// The beginning of what it said, in one line; `None` if it said nothing.
    pub excerpt: Option<String>,
    /// How many messages are unread, on all connections.
    pub unread: u32,
}

hides! {
    Glance {
        shows { contact, direction, message_type, unread }
        hides { excerpt }
    }
}

impl Message {
    /// R422. The beginning of what the message says: its text or caption, the name of its file, or
    /// the emoji of a reaction.
    fn excerpt(&self) -> Option<String> {
        let reaction = self.blocks.reaction.as_ref().and_then(|it| it.emoji.as_deref());
        let media = &self.media;
        let said = [self.content.as_deref(), media.caption.as_deref(), reaction];
        let said = said.into_iter().chain([media.filename.as_deref()]).flatten();
        said.map(in_one_line).find(|text| !text.is_empty())
    }
}

/// The beginning of a text, with a space for each stretch of white space.
fn in_one_line(text: &str) -> String {
    let mut line = String::new();
    // A word is added only while there is room, so that a long text is not read to its end.
    for word in text.split_whitespace().take(EXCERPT) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().take(EXCERPT + 1));
        if line.chars().count() > EXCERPT {
            let cut: String = line.chars().take(EXCERPT - 1).collect();
            return format!("{}…", cut.trim_end());
        }
    }
    line
}

impl Messages<'_> {
    /// R422. Some conversations in brief, in any order: of the first 100 of these contacts, those
    /// that have a message. Each contact is given with whether it has unread messages.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn glances(
        &self,
        company: CompanyId,
        of: &[(ContactId, bool)],
    ) -> Result<Vec<Glance>, StoreError> {
        let of = &of[..of.len().min(GLANCES_AT_ONCE)];
        if of.is_empty() {
            return Ok(Vec::new());
        }
        let store = self.app.store();
        let contacts = of.iter().map(|(contact, _)| *contact).collect();
        let last = store.rows(Listing::LastMessages { company, contacts }).await?;
        let ids: Vec<ContactId> =
            of.iter().filter(|it| it.1).map(|(contact, _)| *contact).collect();
        let unread = match ids.is_empty() {
            true => Vec::new(),
            false => {
                let query = ChannelQuery { ids, ..ChannelQuery::default() };
                store.channel_contacts(company, &query).await?
            }
        };
        let unread_of = |id: ContactId| {
            let found = unread.iter().find(|found| found.contact.id == id);
            let each = found.into_iter().flat_map(|found| &found.conversations);
            each.fold(0, |sum: u32, conversation| sum.saturating_add(conversation.unread))
        };
        let glance = |message: &Message| Glance {
            contact: message.contact,
            direction: message.direction,
            message_type: message.message_type,
            excerpt: message.excerpt(),
            unread: unread_of(message.contact),
        };
        let messages = last.iter().filter_map(|row| match row.value() {
            Row::Message(message) => Some(message),
            _ => None,
        });
        Ok(messages.map(glance).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{at, message};
    use super::*;

    /// R422.
    #[test]
    fn an_excerpt_is_one_short_line_of_what_was_said() {
        let of = |content: Option<&str>, filename: Option<&str>| {
            let mut message = message(Direction::Inbound, at(0));
            message.content = content.map(str::to_owned);
            message.media.filename = filename.map(str::to_owned);
            message.excerpt()
        };
        assert_eq!(of(Some("  Oi,\n\n tudo\tbem? "), None).as_deref(), Some("Oi, tudo bem?"));
        assert_eq!(of(Some(" \n"), Some("nota.pdf")).as_deref(), Some("nota.pdf"));
        assert_eq!(of(None, None), None);
        let exact = "é".repeat(80);
        assert_eq!(of(Some(&exact), None), Some(exact));
        for long in ["é".repeat(10_000), "é ".repeat(10_000)] {
            let cut = of(Some(&long), None).expect("a text");
            assert!((79..=80).contains(&cut.chars().count()) && cut.ends_with('…'), "{cut}");
        }
    }
}
