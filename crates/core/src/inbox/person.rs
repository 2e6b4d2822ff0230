//! A row of a batch as it was read and as it is now, and the person an event is about.

use crate::Timestamp;
use crate::contacts::{ChannelKey, Contact};
use crate::conversations::{Conversation, numbers};
use crate::messages::SenderType;
use crate::store::{Change, Precondition, Row, Stored};

/// A row as it was read, if it was there, and as it is now.
#[derive(Clone, Debug)]
pub(super) struct Tracked<T> {
    read: Option<Stored<T>>,
    pub(super) now: T,
}

impl<T: Clone + PartialEq + Into<Row>> Tracked<T> {
    pub(super) fn known(read: Stored<T>) -> Self {
        Self { now: read.value().clone(), read: Some(read) }
    }

    pub(super) const fn new(now: T) -> Self {
        Self { read: None, now }
    }

    /// The write that brings the store to `now`, if one is needed.
    pub(super) fn change(self) -> Option<Change> {
        match self.read {
            None => Some(Change::insert(self.now)),
            Some(read) if *read.value() == self.now => None,
            Some(read) => Some(read.update_activity(self.now)),
        }
    }
}

/// A contact with its aliases, conversations and newest messages.
#[derive(Clone, Debug)]
pub(super) struct Person {
    pub(super) contact: Tracked<Contact>,
    /// Its aliases, and which of them are new.
    pub(super) aliases: Vec<(ChannelKey, bool)>,
    pub(super) conversations: Vec<Tracked<Conversation>>,
    /// The provider's time of its newest inbound message that is not from a history (D42a).
    pub(super) newest_inbound: Option<Timestamp>,
    /// The sender type of its newest outbound message that is not from a history (D43).
    pub(super) newest_outbound: Option<SenderType>,
}

impl Person {
    pub(super) fn is_new(&self) -> bool {
        self.contact.read.is_none()
    }

    /// The numbers that it is known by (D15).
    pub(super) fn numbers(&self) -> Vec<ChannelKey> {
        numbers(&self.contact.now, self.aliases.iter().map(|(key, _)| key))
    }

    /// A precondition that the contact is unchanged, if a new conversation is written but the
    /// contact is not. Without it, a concurrent merge or deletion of the contact would miss the
    /// conversation.
    pub(super) fn relied_on(&self) -> Option<Precondition> {
        let read = self.contact.read.as_ref()?;
        let is_new_here = self.conversations.iter().any(|known| known.read.is_none());
        (is_new_here && *read.value() == self.contact.now).then(|| read.unchanged())
    }

    /// Writes on the contact whether its conversations have unread messages (D77).
    pub(super) fn note_unread(&mut self) {
        self.contact.now.has_unread = self.conversations.iter().any(|known| known.now.unread > 0);
    }

    /// Sets the unread messages of all conversations to zero (D44a, R36).
    pub(super) fn clear_unread(&mut self) {
        for conversation in &mut self.conversations {
            conversation.now.unread = 0;
        }
    }
}
