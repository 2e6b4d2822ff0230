//! A batch of events as one use case: everything that they concern is read at once, they are
//! decided one after the other, and committed together.

use std::collections::BTreeSet;

use async_trait::async_trait;

use super::facts::{Batch, BatchFacts, KeptFacts};
use super::keep::Keeping;
use super::people::Names;
use super::person::{Person, Tracked};
use super::workspace::Workspace;
use super::{EventIds, EventResult, InboxError};
use crate::access::Company;
use crate::campaigns::is_withheld;
use crate::connections::Connection;
use crate::contacts::{ChannelKey, DraftQuery};
use crate::conversations::{ChannelContact, ChannelQuery};
use crate::gateway::{GatewayEvent, GatewayMessage, Incoming, Preference};
use crate::groups::GroupCode;
use crate::ids::{CompanyId, ConnectionId, ContactId, MessageId};
use crate::messages::{DeliveryCode, MediaLinks, RefTarget};
use crate::prosas::LedgerLine;
use crate::store::{Decided, Reads, RecordsExt, StoreError, Stored};
use crate::use_case::UseCase;
use crate::{Recado, Timestamp};

/// How many contacts of one form of a number have their block lifted together.
const LIFTED: u32 = 1_000;

impl Batch {
    pub(super) fn new(
        app: &Recado,
        company: CompanyId,
        connection: ConnectionId,
        links: MediaLinks,
        events: Vec<Incoming>,
    ) -> Self {
        let now = app.now();
        let settings = app.settings();
        Self {
            company,
            connection,
            events: events.into_iter().map(|event| (event, EventIds::new(app, now))).collect(),
            stop_words: settings.stop_words.clone(),
            group_suffix: settings.group_suffix.clone(),
            gateways: app.providers().clone(),
            links,
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.events.len()
    }

    /// Batches of one event each; the events are moved, not copied.
    pub(super) fn into_singles(mut self) -> impl Iterator<Item = Self> {
        let events = std::mem::take(&mut self.events);
        events.into_iter().map(move |event| Self { events: vec![event], ..self.clone() })
    }

    pub(super) fn names(&self, message: &GatewayMessage) -> Option<Names> {
        Names::new(&message.peer, &message.aliases, &self.group_suffix)
    }

    pub(super) fn readable(&self) -> impl Iterator<Item = &GatewayEvent> {
        self.events.iter().filter_map(|(event, _)| event.as_ref().ok())
    }

    /// Messages and echoes.
    pub(super) fn reported(&self) -> impl Iterator<Item = &GatewayMessage> {
        self.readable().filter_map(|event| match event {
            GatewayEvent::Message(message) | GatewayEvent::Echo(message) => Some(message),
            _ => None,
        })
    }

    /// All persons and groups that the events name.
    fn everybody(&self) -> Vec<Names> {
        let named = self.readable().filter_map(|event| match event {
            GatewayEvent::Message(message) | GatewayEvent::Echo(message) => self.names(message),
            GatewayEvent::Preference(report) => {
                Names::new(&report.peer, &report.aliases, &self.group_suffix)
            }
            GatewayEvent::OwnSend(sent) => {
                Names::new(&sent.peer, &sent.aliases, &self.group_suffix)
            }
            GatewayEvent::Names(report) => {
                Names::new(&report.peer, &report.aliases, &self.group_suffix)
            }
            _ => None,
        });
        named.collect()
    }

    /// Whether a message failed because its recipient opted out, which the contact must record.
    fn stops_somebody(&self) -> bool {
        let failures = self.readable().filter_map(|event| match event {
            GatewayEvent::Status(status) => status.failure.as_ref(),
            _ => None,
        });
        failures.into_iter().any(|failure| failure.code == DeliveryCode::RecipientOptedOut)
    }

    /// The debits of the recipients whose messages the channel withholds (X16).
    async fn debits(
        &self,
        store: &dyn Reads,
        facts: &BatchFacts,
    ) -> Result<Vec<Stored<LedgerLine>>, StoreError> {
        let early = facts.referred.iter().filter_map(|known| match &known.reference.target {
            RefTarget::Early { early, .. } => early.report.as_ref()?.failure.as_ref(),
            RefTarget::Message(_) | RefTarget::Forgotten { .. } => None,
        });
        let told = self.readable().filter_map(|event| match event {
            GatewayEvent::Status(status) => status.failure.as_ref(),
            _ => None,
        });
        if !early.chain(told).any(is_withheld) {
            return Ok(Vec::new());
        }
        let mut debits = Vec::new();
        for debit in facts.recipients.iter().filter_map(|recipient| recipient.debit) {
            debits.extend(store.get::<LedgerLine>((self.company, debit)).await?);
        }
        Ok(debits)
    }

    async fn groups(&self, store: &dyn Reads) -> Result<Vec<GroupCode>, StoreError> {
        let codes: BTreeSet<GroupCode> =
            self.reported().filter_map(|m| GroupCode::parse(&m.peer, &self.group_suffix)).collect();
        if codes.is_empty() {
            return Ok(Vec::new());
        }
        let codes: Vec<GroupCode> = codes.into_iter().collect();
        let known = store.groups_by_code(self.company, &codes).await?;
        let here = known.into_iter().filter(|group| group.connection == self.connection);
        Ok(here.map(|group| group.into_value().group.code).collect())
    }

    /// Reads the contacts that events name or whose messages they are about.
    async fn people(
        &self,
        store: &dyn Reads,
        connection: &Connection,
        ids: Vec<ContactId>,
    ) -> Result<Option<Vec<Person>>, StoreError> {
        let everybody = self.everybody();
        let mut query = ChannelQuery {
            platform: Some(connection.platform.clone()),
            ids,
            ..ChannelQuery::default()
        };
        let recipients = self.readable().filter_map(|event| match event {
            GatewayEvent::Status(status) => self.recipient_names(&status.names),
            _ => None,
        });
        for names in everybody.iter().cloned().chain(recipients) {
            names.ask(&mut query);
        }
        let found = match store.channel_contacts(self.company, &query).await {
            Ok(found) => found,
            Err(StoreError::Unavailable(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut people: Vec<Person> = found.into_iter().map(Person::known).collect();
        match self.doubles(store, &query, &people).await {
            Ok(doubles) => people.extend(doubles),
            Err(StoreError::Unavailable(_)) => return Ok(None),
            Err(error) => return Err(error),
        }
        for person in &mut people {
            self.recall(store, person).await?;
        }
        Ok(Some(people))
    }

    /// The other contacts of those who accept messages again: they are known by one of their
    /// numbers, which the event need not have named (R161).
    async fn doubles(
        &self,
        store: &dyn Reads,
        asked: &ChannelQuery,
        people: &[Person],
    ) -> Result<Vec<Person>, StoreError> {
        let resumed: Vec<Names> = self
            .readable()
            .filter_map(|event| match event {
                GatewayEvent::Preference(report) if report.preference == Preference::Resume => {
                    Names::new(&report.peer, &report.aliases, &self.group_suffix)
                }
                _ => None,
            })
            .collect();
        let is_resumed = |person: &&Person| resumed.iter().any(|names| names.fits(person));
        let numbers: Vec<ChannelKey> =
            people.iter().filter(is_resumed).flat_map(Person::numbers).collect();
        let query = ChannelQuery::of_numbers(&numbers, asked, LIFTED);
        if query.is_empty() {
            return Ok(Vec::new());
        }
        let found = store.channel_contacts(self.company, &query).await?;
        let is_new = |found: &ChannelContact| {
            people.iter().all(|person| person.contact.now.id != found.contact.id)
        };
        Ok(found.into_iter().filter(is_new).map(Person::known).collect())
    }

    /// Reads the data of a contact that only echoes and opt-outs need.
    async fn recall(&self, store: &dyn Reads, person: &mut Person) -> Result<(), StoreError> {
        let id = person.contact.now.id;
        let is_it =
            |message: &GatewayMessage| self.names(message).is_some_and(|names| names.fits(person));
        let echoes = self.readable().any(|event| match event {
            GatewayEvent::Echo(message) => !message.history && is_it(message),
            _ => false,
        });
        let stops = self.readable().any(|event| match event {
            GatewayEvent::Message(message) => self.asks_to_stop(message) && is_it(message),
            _ => false,
        });
        if echoes {
            person.newest_inbound = store.newest_inbound_at(self.company, id).await?;
        }
        if stops {
            person.newest_outbound = store.newest_outbound_sender(self.company, id).await?;
        }
        Ok(())
    }
}

impl Person {
    fn known(found: ChannelContact) -> Self {
        Self {
            contact: Tracked::known(found.contact),
            aliases: found.aliases.into_iter().map(|key| (key, false)).collect(),
            conversations: found.conversations.into_iter().map(Tracked::known).collect(),
            newest_inbound: None,
            newest_outbound: None,
        }
    }
}

#[async_trait]
impl UseCase for Batch {
    type Loaded = BatchFacts;
    type Output = Vec<EventResult>;
    type Error = InboxError;

    async fn load(&self, store: &dyn Reads) -> Result<BatchFacts, StoreError> {
        let connection = store.get::<Connection>((self.company, self.connection)).await?;
        let mut facts = BatchFacts {
            connection,
            referred: Vec::new(),
            messages: Vec::new(),
            recipients: Vec::new(),
            debits: Vec::new(),
            people: Some(Vec::new()),
            groups: Vec::new(),
            export_frontier: None,
            erases: false,
            announcements: Vec::new(),
            kept: KeptFacts::default(),
        };
        let Some(connection) = facts.connection.clone() else { return Ok(facts) };
        let provider_ids = self.provider_ids();
        if !provider_ids.is_empty() {
            facts.referred = store.referred(self.company, self.connection, &provider_ids).await?;
        }
        let mut references = self.references();
        references.extend(self.named_before(&facts.referred));
        references.extend(self.naming_late(store, &facts.referred).await?);
        if !references.is_empty() {
            facts.messages = store.messages(self.company, &references).await?;
        }
        if self.deletes(&facts.referred) {
            let company = store.get::<Company>(self.company).await?;
            facts.erases = company.is_some_and(|company| company.erase_deleted_messages);
        }
        facts.announcements = self.announcements(store, &facts.referred).await?;
        let known = facts.referred.iter().filter_map(|referred| referred.message.as_ref());
        let of_campaigns: BTreeSet<MessageId> = known
            .chain(&facts.messages)
            .filter(|message| message.is_of_campaign())
            .map(|message| message.id)
            .collect();
        if !of_campaigns.is_empty() {
            let of_campaigns: Vec<MessageId> = of_campaigns.into_iter().collect();
            facts.recipients = store.recipients_of(self.company, &of_campaigns).await?;
            facts.debits = self.debits(store, &facts).await?;
        }
        let known = facts.referred.iter().filter_map(|referred| referred.message.as_ref());
        let ids: BTreeSet<ContactId> =
            known.chain(&facts.messages).map(|message| message.contact).collect();
        facts.people = self.people(store, &connection, ids.into_iter().collect()).await?;
        facts.groups = self.groups(store).await?;
        facts.kept = self.kept(store, &connection, &facts).await?;
        let unexplained = self.unexplained(store, &facts).await?;
        facts.messages.extend(unexplained);
        let unknown = facts.people.as_ref().is_some_and(|people| {
            let matches = |names: &Names| people.iter().any(|person| names.fits(person));
            self.everybody().iter().any(|names| !matches(names))
        });
        if unknown {
            let frontier = store.draft_facts(self.company, &DraftQuery::default()).await?;
            facts.export_frontier = frontier.export_frontier;
        }
        Ok(facts)
    }

    fn decide(
        &self,
        mut facts: BatchFacts,
        now: Timestamp,
    ) -> Result<Decided<Vec<EventResult>>, InboxError> {
        let connection = facts.connection.take().ok_or(InboxError::NotFound)?;
        // 6.1: status reports, which need the contact only for their events, are handled without
        // it; other events cannot be.
        if facts.people.is_none() && (!self.everybody().is_empty() || self.stops_somebody()) {
            return Err(InboxError::ContactStateUnavailable);
        }
        let mut keeping = Keeping::new(std::mem::take(&mut facts.kept));
        let mut workspace = Workspace::new(&connection, &self.gateways, facts, now);
        let mut results = Vec::with_capacity(self.events.len());
        for (event, ids) in &self.events {
            results.push(match event {
                Err(reason) => EventResult::refused(reason.clone()),
                Ok(GatewayEvent::Message(message)) => {
                    keeping.take(&mut workspace, self, message, false, ids)
                }
                Ok(GatewayEvent::Echo(message)) => {
                    keeping.take(&mut workspace, self, message, true, ids)
                }
                Ok(GatewayEvent::Edit { provider_id, content, timestamp }) => {
                    workspace.take_edit(self, provider_id, content, *timestamp, ids)
                }
                Ok(GatewayEvent::Deleted { provider_id, timestamp }) => {
                    workspace.take_deletion(self, provider_id, *timestamp, ids)
                }
                Ok(GatewayEvent::Status(status)) => workspace.take_status(self, status, ids),
                Ok(GatewayEvent::Preference(report)) => {
                    workspace.take_preference(self, report, ids)
                }
                Ok(GatewayEvent::OwnSend(sent)) => workspace.take_own_send(self, sent, ids),
                Ok(GatewayEvent::Names(report)) => workspace.take_names(self, report),
                Ok(
                    GatewayEvent::Connection(_)
                    | GatewayEvent::Groups(_)
                    | GatewayEvent::GroupsChanged
                    | GatewayEvent::StateDoubtful
                    | GatewayEvent::Template(_)
                    | GatewayEvent::Unknown(_)
                    | GatewayEvent::NotOurs(_),
                ) => EventResult::ignored("is taken on its own"),
            });
        }
        Ok(Decided::new(keeping.into_changes(workspace.into_changes()), results))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use uuid::Uuid;

    use super::*;
    use crate::conversations::StopWords;
    use crate::gateway::Providers;
    use crate::ids::{EventId, JobId, LedgerLineId};
    use crate::secret::SecretBytes;

    fn ids(n: u128) -> EventIds {
        let id = Uuid::from_u128(n);
        EventIds {
            contact: ContactId::new(id),
            message: MessageId::new(id),
            job: JobId::new(id),
            names_job: JobId::new(id),
            events: [EventId::new(id); 5],
            refund: LedgerLineId::new(id),
        }
    }

    /// The address in memory of each event's text, and its number.
    fn whereabouts(batch: &Batch) -> Vec<(*const u8, u128)> {
        let address = |(event, ids): &(Incoming, EventIds)| {
            let text = event.as_ref().expect_err("only texts are taken here");
            (text.as_ptr(), ids.message.uuid().as_u128())
        };
        batch.events.iter().map(address).collect()
    }

    #[test]
    fn a_batch_is_taken_apart_in_order_without_a_copy_of_an_event() {
        let batch = Batch {
            company: CompanyId::new(Uuid::nil()),
            connection: ConnectionId::new(Uuid::nil()),
            events: (0..100).map(|n| (Err(format!("event {n}")), ids(n))).collect(),
            stop_words: StopWords::default(),
            group_suffix: "g.us".to_owned(),
            gateways: Providers::none(),
            links: MediaLinks::new(
                "https://example.com",
                SecretBytes::new(*b"k"),
                Timestamp::MIN,
                Duration::ZERO,
            ),
        };
        let before = whereabouts(&batch);
        let singles: Vec<Batch> = batch.into_singles().collect();
        assert!(singles.iter().all(|single| single.len() == 1));
        assert_eq!(singles.iter().flat_map(whereabouts).collect::<Vec<_>>(), before);
    }
}
