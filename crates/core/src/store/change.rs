//! Change sets: the writes of a decision, as owned data.

use super::{Row, RowKey, Stored, Version};
use crate::clock::Timestamp;
use crate::contacts::Contact;
use crate::events::Event;
use crate::ids::{CampaignId, CompanyId, ContactId, ListId, TagId};
use crate::messages::Message;

/// One write of one row. There are no blind updates: an update or delete carries the version that
/// was read, and only a [`Stored`] row can make one.
#[derive(Clone, Debug, PartialEq)]
pub struct Change(ChangeKind);

/// A record with rows that go with it, of which there may be very many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collection {
    /// A list; its rows are its members.
    List(ListId),
    /// A tag; its rows are those by which contacts have it.
    Tag(TagId),
    /// A campaign; its rows are its recipients.
    Campaign(CampaignId),
}

/// What an update changes of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdatedPart {
    /// Anything.
    Whole,
    /// No more than what messages change all the time: of a contact, when it had its first, its
    /// last and its last inbound message, and through which connection the last one; of a message,
    /// its status, its failure, the id and the time that the provider gave it, and who sends it
    /// (R466).
    Activity,
}

impl UpdatedPart {
    /// What differs between a row as it was read and as it will be.
    pub fn between(before: Row, after: &Row) -> Self {
        let is_activity = match (before, after) {
            (Row::Contact(before), Row::Contact(after)) => {
                let moved = Contact {
                    first_message_at: after.first_message_at,
                    last_message_at: after.last_message_at,
                    last_inbound_at: after.last_inbound_at,
                    last_connection_id: after.last_connection_id,
                    ..before
                };
                moved == *after
            }
            (Row::Message(before), Row::Message(after)) => {
                let moved = Message {
                    status: after.status,
                    failure: after.failure.clone(),
                    provider_id: after.provider_id.clone(),
                    sender: after.sender,
                    timestamp: after.timestamp,
                    ..before
                };
                moved == *after
            }
            _ => false,
        };
        if is_activity { Self::Activity } else { Self::Whole }
    }
}

/// The kinds of [`Change`]; stores match on them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ChangeKind {
    /// A new row, at version 1.
    Insert(Row),
    /// A row replaced, at the version after `read_at`.
    Update {
        /// The new content, all of it.
        row: Row,
        /// The version that was read.
        read_at: Version,
        /// What differs from the row that was read. A store need not write more than that.
        part: UpdatedPart,
    },
    /// A row removed.
    Delete {
        /// Which row.
        key: RowKey,
        /// The version that was read.
        read_at: Version,
    },
    /// Every contact that is in the list when this is applied becomes a recipient of the campaign,
    /// waiting, numbered from 1 in the order of the contacts' ids (D66). A recipient that is there
    /// already is [`Conflict::Taken`](super::Conflict::Taken).
    Enroll {
        /// The company of all.
        company: CompanyId,
        /// The campaign.
        campaign: CampaignId,
        /// The list.
        list: ListId,
    },
    /// Everything that belongs to the contact `from` belongs to the contact `into` from now on
    /// (D62): its messages, deals, documents, links and their clicks, aliases, ledger lines,
    /// dispatch windows, remembered calls, events, and its list memberships, campaign recipients
    /// and tags. Where both have the same tag or list, that of `into` stays. Of two windows with
    /// one key, and of two recipients of one campaign, the one stays that
    /// [`window_that_stays`](crate::contacts::window_that_stays) and
    /// [`recipient_that_stays`](crate::contacts::recipient_that_stays) name. The other window is
    /// deleted. The other recipient loses its contact; if it is waiting, the campaign skips it.
    /// Every changed row that has a version gets the next one. The contacts, their conversations
    /// and lead memories, and the deletion of `from`, are written by separate changes.
    Reassign {
        /// The company of both.
        company: CompanyId,
        /// The contact that the rows belong to.
        from: ContactId,
        /// The contact that they belong to afterwards.
        into: ContactId,
    },
    /// Keeps traces of the providers' ids of a contact's messages, also after the messages are
    /// deleted (R145): for each message of the contact that has an id there is a
    /// [reference](crate::messages::MessageRef) under the id's
    /// [trace](crate::messages::ProviderMessageId::trace) on the message's connection, with the
    /// target [`Forgotten`](crate::messages::RefTarget::Forgotten) until `expires_at`. An existing
    /// one is replaced, at its next version. In a change set it stands before the deletion of the
    /// contact, and it covers every message that is deleted with the contact.
    ForgetMessages {
        /// The company of all.
        company: CompanyId,
        /// The contact.
        contact: ContactId,
        /// From this time on the traces are ignored.
        expires_at: Timestamp,
    },
    /// A part of [`ChangeKind::Reassign`], as a step of a long one: of the messages, of the ledger
    /// lines, of the events with data and of the erased events of `from`, at most `most` each
    /// belong to `into` from now on. Which ones, the store chooses.
    ReassignSome {
        /// The company of both.
        company: CompanyId,
        /// The contact that the rows belong to.
        from: ContactId,
        /// The contact that they belong to afterwards.
        into: ContactId,
        /// The most rows of each kind.
        most: u32,
    },
    /// A part of a contact's deletion, as a step of a long one: at most `most` of its messages are
    /// deleted, with traces as [`ChangeKind::ForgetMessages`] keeps them, and at most `most` of its
    /// ledger lines lose the contact as its deletion makes them lose it. Which ones, the store
    /// chooses.
    RemoveSome {
        /// The company of all.
        company: CompanyId,
        /// The contact.
        contact: ContactId,
        /// From this time on the traces are ignored.
        expires_at: Timestamp,
        /// The most rows of each kind.
        most: u32,
    },
    /// A part of a deletion, as a step of a long one: at most `most` rows of a list, a tag or a
    /// campaign are deleted. Of a campaign they are those with the highest numbers, which are sent
    /// to last; of the others the store chooses.
    RemoveRows {
        /// The company.
        company: CompanyId,
        /// The record whose rows they are.
        of: Collection,
        /// The most rows.
        most: u32,
    },
}

impl Change {
    /// A new row.
    pub fn insert(row: impl Into<Row>) -> Self {
        Self(ChangeKind::Insert(row.into()))
    }

    /// A recipient for every contact of a list, in one step for any length.
    pub const fn enroll(company: CompanyId, campaign: CampaignId, list: ListId) -> Self {
        Self(ChangeKind::Enroll { company, campaign, list })
    }

    /// Everything of one contact becomes another's, in one step for any number of rows.
    pub const fn reassign(company: CompanyId, from: ContactId, into: ContactId) -> Self {
        Self(ChangeKind::Reassign { company, from, into })
    }

    /// Traces of the ids of a contact's messages are kept, in one step for any number of messages.
    pub const fn forget_messages(
        company: CompanyId,
        contact: ContactId,
        expires_at: Timestamp,
    ) -> Self {
        Self(ChangeKind::ForgetMessages { company, contact, expires_at })
    }

    /// Some rows of one contact become another's.
    pub const fn reassign_some(
        company: CompanyId,
        from: ContactId,
        into: ContactId,
        most: u32,
    ) -> Self {
        Self(ChangeKind::ReassignSome { company, from, into, most })
    }

    /// Some rows of a contact are deleted, or lose it.
    pub const fn remove_some(
        company: CompanyId,
        contact: ContactId,
        expires_at: Timestamp,
        most: u32,
    ) -> Self {
        Self(ChangeKind::RemoveSome { company, contact, expires_at, most })
    }

    /// Some rows of a list, a tag or a campaign are deleted.
    pub const fn remove_rows(company: CompanyId, of: Collection, most: u32) -> Self {
        Self(ChangeKind::RemoveRows { company, of, most })
    }

    /// What to apply.
    pub fn kind(&self) -> &ChangeKind {
        &self.0
    }

    /// What to apply, owned.
    pub fn into_kind(self) -> ChangeKind {
        self.0
    }
}

impl<T: Into<Row> + Clone> Stored<T> {
    /// Replaces the row that was read with `new`.
    pub fn update(&self, new: T) -> Change {
        let (row, read_at) = (new.into(), self.version());
        Change(ChangeKind::Update { row, read_at, part: UpdatedPart::Whole })
    }

    /// The same, of a row that is stored exactly as it was read: where only the activity differs,
    /// the change says so, and a store may leave the rest of the row alone.
    pub fn update_activity(&self, new: T) -> Change {
        let (row, read_at) = (new.into(), self.version());
        let part = UpdatedPart::between(self.value().clone().into(), &row);
        Change(ChangeKind::Update { row, read_at, part })
    }

    /// Removes the row that was read.
    pub fn delete(&self) -> Change {
        let row: Row = self.value().clone().into();
        Change(ChangeKind::Delete { key: row.key(), read_at: self.version() })
    }

    /// States that a decision relied on this row being as it was read.
    pub fn unchanged(&self) -> Precondition {
        let row: Row = self.value().clone().into();
        Precondition::Unchanged { key: row.key(), read_at: self.version() }
    }
}

/// Something that a decision relied on but does not write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// The row still has the version that was read.
    Unchanged {
        /// Which row.
        key: RowKey,
        /// The version that was read.
        read_at: Version,
    },
    /// No export of the company has returned a position at or after `created_at` (D25): a contact
    /// made with that time will be in every export that is under way.
    NotExported {
        /// The company.
        company: CompanyId,
        /// The creation time of the contact that the change set inserts.
        created_at: Timestamp,
    },
    /// The company's [`Routes`](crate::webhooks::Routes) are still what was read when the set's
    /// events and deliveries were made (D52). Weaker than `Unchanged`, and checked without locks: a
    /// change of the routes that was committed before this commit began is noticed; a concurrent
    /// one may come before or after.
    Routed {
        /// The company.
        company: CompanyId,
        /// The version that was read; `None` when there was no row.
        read_at: Option<Version>,
    },
    /// Neither the installation nor any of these companies is closed (D76): there is no
    /// [`Halt`](crate::halts::Halt) of writing for them. A closure comes after every commit that
    /// was under way with this precondition.
    Open {
        /// The companies.
        companies: Vec<CompanyId>,
    },
    /// As many rows of a kind refer to the contact as were
    /// [counted](super::Records::count_about) (R412). It is checked before the changes of the set,
    /// and still holds when they are made if the set deletes the contact.
    Counted {
        /// The company.
        company: CompanyId,
        /// The kind of the rows.
        kind: super::RowKind,
        /// The contact.
        contact: crate::ids::ContactId,
        /// How many there were.
        count: u64,
    },
}

/// All writes of one decision, applied as a whole or not at all.
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct ChangeSet {
    /// The writes, in order.
    pub changes: Vec<Change>,
    /// What the decision relied on.
    pub requires: Vec<Precondition>,
    /// The events, for the outbox (D52).
    pub events: Vec<Event>,
}

impl ChangeSet {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a write.
    pub fn with(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }

    /// Adds a new row.
    pub fn insert(self, row: impl Into<Row>) -> Self {
        self.with(Change::insert(row))
    }

    /// Adds a precondition.
    pub fn require(mut self, precondition: Precondition) -> Self {
        self.requires.push(precondition);
        self
    }

    /// Adds an event.
    pub fn emit(mut self, event: Event) -> Self {
        self.events.push(event);
        self
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.events.is_empty()
    }
}

/// A decision: what to write, and what to answer once it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided<T> {
    /// What to write; may be empty.
    pub changes: ChangeSet,
    /// The answer.
    pub output: T,
}

impl<T> Decided<T> {
    /// A decision that writes.
    pub fn new(changes: ChangeSet, output: T) -> Self {
        Self { changes, output }
    }

    /// A decision that leaves everything as it is.
    pub fn unchanged(output: T) -> Self {
        Self { changes: ChangeSet::new(), output }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::strategies;

    /// The part that replacing one row with another changes.
    fn part<T: Into<Row> + Clone>(before: &T, after: &T) -> UpdatedPart {
        UpdatedPart::between(before.clone().into(), &after.clone().into())
    }

    proptest! {
        /// R466.
        #[test]
        fn a_contact_that_only_has_other_messages_has_another_activity(
            before in strategies::contacts(), other in strategies::contacts(),
        ) {
            let after = Contact {
                first_message_at: other.first_message_at,
                last_message_at: other.last_message_at,
                last_inbound_at: other.last_inbound_at,
                last_connection_id: other.last_connection_id,
                ..before.clone()
            };
            prop_assert_eq!(part(&before, &after), UpdatedPart::Activity);
            let renamed = Contact { name: format!("{} x", before.name), ..after.clone() };
            prop_assert_eq!(part(&before, &renamed), UpdatedPart::Whole);
            let unread = Contact { has_unread: !before.has_unread, ..after };
            prop_assert_eq!(part(&before, &unread), UpdatedPart::Whole);
        }

        /// R466.
        #[test]
        fn a_message_that_was_reported_has_another_activity(
            before in strategies::messages(), other in strategies::messages(),
        ) {
            let after = Message {
                status: other.status,
                failure: other.failure.clone(),
                provider_id: other.provider_id.clone(),
                sender: other.sender,
                timestamp: other.timestamp,
                ..before.clone()
            };
            prop_assert_eq!(part(&before, &after), UpdatedPart::Activity);
            let edited = Message { content: Some("edited".to_owned()), ..after };
            let is_edited = edited.content != before.content;
            let expected = if is_edited { UpdatedPart::Whole } else { UpdatedPart::Activity };
            prop_assert_eq!(part(&before, &edited), expected);
        }
    }
}
