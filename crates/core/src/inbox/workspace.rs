//! The rows that a batch of events has read, changed event by event, and the writes that result.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use super::person::{Person, Tracked};
use super::{BatchFacts, EventOutcome, EventResult};
use crate::Timestamp;
use crate::campaigns::{Recipient, follow, is_withheld};
use crate::connections::Connection;
use crate::contacts::Alias;
use crate::events::Event;
use crate::gateway::Providers;
use crate::groups::{ConnectionGroup, GroupCode};
use crate::ids::{ContactId, LedgerLineId, MessageId};
use crate::jobs::{Job, JobKind};
use crate::messages::{Early, Message, MessageRef, ProviderMessageId, RefTarget};
use crate::prosas::LedgerLine;
use crate::sending::refunded_whole;
use crate::store::{Change, ChangeKind, ChangeSet, Precondition, Row, Stored};

/// How long a report that came before its message is kept (D28).
pub const REPORT_KEPT: Duration = Duration::from_secs(10 * 60);

/// The state a batch works on.
#[derive(Debug)]
pub(super) struct Workspace<'a> {
    pub(super) connection: &'a Connection,
    /// The gateways of this program.
    pub(super) gateways: &'a Providers,
    /// The time of this decision.
    pub(super) now: Timestamp,
    /// `None` when contacts could not be read.
    pub(super) people: Option<Vec<Person>>,
    messages: BTreeMap<MessageId, Tracked<Message>>,
    /// The recipients of campaigns, by message.
    recipients: BTreeMap<MessageId, Tracked<Recipient>>,
    /// The debits of those whose messages the channel may withhold.
    debits: Vec<Stored<LedgerLine>>,
    /// What is refunded of them.
    refunds: Vec<Change>,
    refs: HashMap<ProviderMessageId, Tracked<MessageRef>>,
    groups: Vec<GroupCode>,
    new_groups: Vec<GroupCode>,
    jobs: Vec<Job>,
    events: Vec<Event>,
    /// How far exports of the company have read (D25).
    pub(super) export_frontier: Option<Timestamp>,
    /// Whether the company erases what senders delete (X3).
    pub(super) erases: bool,
    /// The jobs that report messages whose content is late (X5).
    announcements: Vec<Stored<Job>>,
    /// Those of them that are not needed any more.
    ended_jobs: Vec<Stored<Job>>,
    /// The messages of which something was not reported because of such a job.
    relied_on: BTreeSet<MessageId>,
}

impl<'a> Workspace<'a> {
    pub(super) fn new(
        connection: &'a Connection,
        gateways: &'a Providers,
        facts: BatchFacts,
        now: Timestamp,
    ) -> Self {
        let mut messages = BTreeMap::new();
        let mut refs = HashMap::new();
        for referred in facts.referred {
            if let Some(message) = referred.message {
                messages.insert(message.id, Tracked::known(message));
            }
            let provider_id = referred.reference.provider_id.clone();
            refs.insert(provider_id, Tracked::known(referred.reference));
        }
        for message in facts.messages {
            messages.entry(message.id).or_insert_with(|| Tracked::known(message));
        }
        let recipients = facts.recipients.into_iter().filter_map(|recipient| {
            let message = recipient.message?;
            Some((message, Tracked::known(recipient)))
        });
        Self {
            connection,
            gateways,
            now,
            people: facts.people,
            messages,
            recipients: recipients.collect(),
            debits: facts.debits,
            refunds: Vec::new(),
            refs,
            groups: facts.groups,
            new_groups: Vec::new(),
            jobs: Vec::new(),
            events: Vec::new(),
            export_frontier: facts.export_frontier,
            erases: facts.erases,
            announcements: facts.announcements,
            ended_jobs: Vec::new(),
            relied_on: BTreeSet::new(),
        }
    }

    /// The message that a provider's id refers to.
    pub(super) fn message_of(&self, id: &ProviderMessageId) -> Option<MessageId> {
        match &self.refs.get(id)?.now.target {
            RefTarget::Message(message) => Some(*message),
            RefTarget::Early { .. } | RefTarget::Forgotten { .. } => None,
        }
    }

    /// The result of an event about a message that is not stored again: it is stored already, or
    /// was deleted with its contact (D31, R145).
    pub(super) fn repeated(&self, id: &ProviderMessageId) -> Option<EventResult> {
        match self.message_of(id) {
            Some(known) => Some(EventResult::about(EventOutcome::Duplicate, known)),
            None => self.is_forgotten(id).then(|| EventResult::of(EventOutcome::Duplicate)),
        }
    }

    /// Whether the message of a provider's id was deleted with its contact, its trace has not
    /// expired, and no message was imported under the id since.
    pub(super) fn is_forgotten(&self, id: &ProviderMessageId) -> bool {
        if self.message_of(id).is_some() {
            return false;
        }
        let trace = self.refs.get(&id.trace(self.connection.id));
        trace.is_some_and(|entry| match entry.now.target {
            RefTarget::Forgotten { expires_at } => expires_at > self.now,
            RefTarget::Message(_) | RefTarget::Early { .. } => false,
        })
    }

    /// What was reported of a message before it was known, unless that has expired.
    pub(super) fn early_of(&self, id: &ProviderMessageId) -> Option<&Early> {
        match &self.refs.get(id)?.now.target {
            RefTarget::Early { early, expires_at } if *expires_at > self.now => Some(early),
            _ => None,
        }
    }

    /// Keeps something more of a message that is not known, for another ten minutes (D28, X5).
    pub(super) fn keep_early(&mut self, id: &ProviderMessageId, add: impl FnOnce(&mut Early)) {
        let mut early = self.early_of(id).cloned().unwrap_or_default();
        add(&mut early);
        let expires_at = self.now.plus(REPORT_KEPT);
        self.point(id.clone(), RefTarget::Early { early, expires_at });
    }

    pub(super) fn message(&self, id: MessageId) -> Option<&Message> {
        Some(&self.messages.get(&id)?.now)
    }

    pub(super) fn all_messages(&self) -> impl Iterator<Item = &Message> {
        self.messages.values().map(|entry| &entry.now)
    }

    /// The messages of the batch that quote this one.
    pub(super) fn quoting(&self, id: MessageId) -> Vec<MessageId> {
        let quoting = self.all_messages().filter(|message| message.quoted.message == Some(id));
        quoting.map(|message| message.id).collect()
    }

    pub(super) fn message_mut(&mut self, id: MessageId) -> Option<&mut Message> {
        Some(&mut self.messages.get_mut(&id)?.now)
    }

    /// Whether the event of a message waits for its content (X5), so that nothing else is reported
    /// of it yet. The commit then requires that it waits still.
    pub(super) fn relies_on_announcement(&mut self, id: MessageId) -> bool {
        let waits = self.is_unannounced(id);
        if waits {
            self.relied_on.insert(id);
        }
        waits
    }

    fn is_unannounced(&self, id: MessageId) -> bool {
        self.jobs.iter().any(|job| announces(job, id))
            || self.announcements.iter().any(|job| announces(job, id))
    }

    /// Ends the wait of a message's event for its content; whether there was one.
    pub(super) fn end_announcement(&mut self, id: MessageId) -> bool {
        let waiting = self.is_unannounced(id);
        self.jobs.retain(|job| !announces(job, id));
        let ended = self.announcements.extract_if(.., |job| announces(job, id));
        self.ended_jobs.extend(ended);
        waiting
    }

    /// Replaces a message that changed, and updates its campaign recipient (D58).
    pub(super) fn replace_message(&mut self, message: Message) {
        if let Some(recipient) = self.recipients.get_mut(&message.id) {
            recipient.now = follow(&recipient.now, &message, self.now);
        }
        if let Some(entry) = self.messages.get_mut(&message.id) {
            entry.now = message;
        }
    }

    /// Refunds a campaign's message that the channel withholds, once (X16, R296).
    pub(super) fn refund_withheld(&mut self, message: MessageId, refund: LedgerLineId) {
        let failure = self.message(message).and_then(|message| message.failure.as_ref());
        let debit = self.recipients.get(&message).and_then(|recipient| recipient.now.debit);
        if let Some(debit) = debit.filter(|_| failure.is_some_and(is_withheld)) {
            let own = self.debits.iter().position(|line| line.id == debit);
            if let Some(line) = own.map(|at| self.debits.swap_remove(at)) {
                self.refunds.extend(refunded_whole(refund, &line, self.now));
            }
        }
    }

    /// Adds a message, and makes its provider's id refer to it. Messages that named it before refer
    /// to it now. Returns what else was reported of it before.
    pub(super) fn add_message(&mut self, message: Message) -> Early {
        let (id, provider_id) = (message.id, message.provider_id.clone());
        self.messages.insert(id, Tracked::new(message));
        let Some(provider_id) = provider_id else { return Early::default() };
        let early = self.early_of(&provider_id).cloned().unwrap_or_default();
        self.point(provider_id, RefTarget::Message(id));
        self.settle_names(id, &early.named_by);
        early
    }

    /// Makes a provider's id refer to `target`.
    pub(super) fn point(&mut self, id: ProviderMessageId, target: RefTarget) {
        match self.refs.get_mut(&id) {
            Some(entry) => entry.now.target = target,
            None => {
                let reference = MessageRef {
                    company: self.connection.company,
                    connection: self.connection.id,
                    provider_id: id.clone(),
                    target,
                };
                self.refs.insert(id, Tracked::new(reference));
            }
        }
    }

    /// Stores the group for this connection, unless it is stored (R32).
    pub(super) fn add_group(&mut self, code: GroupCode) {
        if !self.groups.contains(&code) {
            self.groups.push(code.clone());
            self.new_groups.push(code);
        }
    }

    pub(super) fn emit(&mut self, event: Event) {
        self.events.push(event);
    }

    pub(super) fn work(&mut self, job: Job) {
        self.jobs.push(job);
    }

    /// The jobs that were added.
    pub(super) fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    pub(super) fn person(&self, id: ContactId) -> Option<&Person> {
        self.people.as_ref()?.iter().find(|person| person.contact.now.id == id)
    }

    /// Everything that has to be written: rows that change, in the order of their kinds and keys,
    /// then new rows, before those that refer to them, each kind together. Stores write changes of
    /// one kind in order with fewer statements.
    pub(super) fn into_changes(self) -> ChangeSet {
        let company = self.connection.company;
        let mut changes = ChangeSet::new();
        let mut people: Vec<Person> = self.people.into_iter().flatten().collect();
        people.sort_by_key(|person| person.contact.now.id);
        let (mut contacts, mut aliases, mut conversations) = (Vec::new(), Vec::new(), Vec::new());
        for mut person in people {
            person.note_unread();
            let contact = &person.contact.now;
            let (id, platform) = (contact.id, contact.source_platform.clone());
            if person.is_new() {
                let created_at = contact.created_at;
                changes = changes.require(Precondition::NotExported { company, created_at });
            }
            if let Some(unchanged) = person.relied_on() {
                changes = changes.require(unchanged);
            }
            contacts.push(person.contact);
            for (key, _) in person.aliases.into_iter().filter(|(_, is_new)| *is_new) {
                let platform = platform.clone();
                aliases.push(Change::insert(Alias { company, platform, key, contact: id }));
            }
            let mut own = person.conversations;
            own.sort_by_key(|conversation| conversation.now.connection);
            conversations.extend(own);
        }
        let connection = self.connection.id;
        let groups = self.new_groups.into_iter().map(|code| {
            let group = crate::groups::Group::seen(code);
            Change::insert(ConnectionGroup { company, connection, group })
        });
        let mut refs: Vec<_> = self.refs.into_iter().collect();
        refs.sort_by(|(one, _), (other, _)| one.cmp(other));
        let (contacts, new_contacts) = parted(contacts);
        let (conversations, new_conversations) = parted(conversations);
        let (refs, new_refs) = parted(refs.into_iter().map(|(_, entry)| entry));
        let (messages, new_messages) = parted(self.messages.into_values());
        let mut recipients: Vec<_> = self.recipients.into_values().collect();
        recipients.sort_by_key(|recipient| (recipient.now.campaign, recipient.now.number));
        let (recipients, _) = parted(recipients);
        changes.changes.extend(contacts.into_iter().chain(conversations).chain(messages));
        changes.changes.extend(recipients);
        changes.changes.extend(new_contacts.into_iter().chain(aliases).chain(new_conversations));
        changes.changes.extend(self.refunds);
        // A reference that held a report may refer to a new message now.
        changes.changes.extend(groups.chain(new_messages).chain(refs).chain(new_refs));
        for job in self.announcements {
            if self.relied_on.iter().any(|id| announces(&job, *id)) {
                changes = changes.require(job.unchanged());
            }
        }
        for ended in self.ended_jobs {
            changes = changes.with(ended.delete());
        }
        for job in self.jobs {
            changes = changes.insert(job);
        }
        for event in self.events {
            changes = changes.emit(event);
        }
        changes
    }
}

/// Whether a job reports this message.
fn announces(job: &Job, id: MessageId) -> bool {
    matches!(job.kind, JobKind::AnnounceLate { message } if message == id)
}

/// The necessary writes: those of existing rows, and those of new ones.
fn parted<T: Clone + PartialEq + Into<Row>>(
    entries: impl IntoIterator<Item = Tracked<T>>,
) -> (Vec<Change>, Vec<Change>) {
    let changes = entries.into_iter().filter_map(Tracked::change);
    changes.partition(|change| !matches!(change.kind(), ChangeKind::Insert(_)))
}
