//! What is kept of events that were not understood (X9, R105): in the commit that stores their
//! message, or on its own.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::facts::KeptFacts;
use super::people::Names;
use super::workspace::Workspace;
use super::{Batch, BatchFacts, EventIds, EventOutcome, EventResult, Inbox};
use crate::Timestamp;
use crate::connections::Connection;
use crate::error::{Error, NotFound};
use crate::gateway::{
    GatewayEvent, GatewayMessage, Identity, KEPT_OF_CONNECTION, KEPT_OF_KIND, Keep, KeptOrder,
    KeptQuery, UnknownEvent, UnknownForm, UnknownReason, kept_kind,
};
use crate::ids::{CompanyId, ConnectionId, ContactId, UnknownEventId};
use crate::messages::{Blocks, Message, MessageType};
use crate::store::{ChangeSet, Decided, Reads, RecordsExt, StoreError, Stored};

/// The kind of an unsupported message whose gateway names no type.
const UNNAMED: &str = "unsupported";
/// The kind of events that name several contacts.
const CONTRADICTING: &str = "contradicting_identities";
/// How many events give way in one commit at most.
const MOST_GIVE_WAY: u64 = 200;

/// The kind under which an unsupported message is kept.
fn kind_of(blocks: &Blocks) -> &str {
    blocks.unsupported.as_ref().and_then(|of| of.provider_type.as_deref()).unwrap_or(UNNAMED)
}

/// Whether a message that nobody can show comes again as another kind that nobody can show: late
/// content of an unknown kind.
fn is_of_another_kind(stored: &Message, event: &GatewayMessage) -> bool {
    let unsupported = MessageType::Unsupported;
    stored.message_type == unsupported
        && event.message_type == unsupported
        && kind_of(&stored.blocks) != kind_of(&event.blocks)
}

/// The id under which an unsupported message is kept.
pub(super) fn kept_of(message: &Message) -> Option<UnknownEventId> {
    let id = message.provider_id.as_ref()?;
    let is_kept = message.message_type == MessageType::Unsupported;
    is_kept.then(|| UnknownEvent::of_message(message.connection, kind_of(&message.blocks), id))
}

/// The oldest events, which give way to as many new ones of each kind: first those of the same
/// kind, so that a kind that comes often takes nothing from the others (R105).
async fn giving_way(
    store: &dyn Reads,
    company: CompanyId,
    connection: ConnectionId,
    new: &BTreeMap<String, u64>,
) -> Result<Vec<Stored<UnknownEvent>>, StoreError> {
    let mut found: Vec<Stored<UnknownEvent>> = Vec::new();
    let of_kinds = new.iter().map(|(kind, new)| (Some(kind.clone()), *new, KEPT_OF_KIND));
    let in_all = (None, new.values().sum(), KEPT_OF_CONNECTION);
    for (kind, new, most) in of_kinds.chain([in_all]) {
        let order = KeptOrder::OldestFirst { after: None };
        let query = KeptQuery { connection: Some(connection), kind, order, limit: 0 };
        let kept = store.unknown_events(company, &query).await?.total;
        let given = if query.kind.is_none() { found.len() as u64 } else { 0 };
        let over = (kept + new).saturating_sub(u64::from(most) + given).min(kept);
        let limit = u32::try_from(over.min(MOST_GIVE_WAY)).unwrap_or_default();
        if limit == 0 {
            continue;
        }
        let oldest = store.unknown_events(company, &KeptQuery { limit, ..query }).await?.events;
        let is_new = |one: &Stored<UnknownEvent>| found.iter().all(|known| known.id != one.id);
        let oldest: Vec<_> = oldest.into_iter().filter(is_new).collect();
        found.extend(oldest);
    }
    Ok(found)
}

/// The neutral form of a message, without what it says.
fn neutral(event: &GatewayMessage, is_echo: bool) -> Value {
    let (kind, peer) = if is_echo { ("echo", "to") } else { ("message", "from") };
    let mut form = json!({
        "kind": kind,
        "provider_message_id": event.provider_id.as_str(),
        "type": event.message_type,
        "aliases": event.aliases,
        "participant": event.participant,
        "timestamp": event.timestamp,
    });
    form[peer] = Value::from(event.peer.clone());
    if let Some(unsupported) = &event.blocks.unsupported {
        form["unsupported"] = json!(unsupported);
    }
    form
}

/// What is kept of a message, with its form: what its gateway wrote, or the neutral form.
fn body_of(event: &GatewayMessage, is_echo: bool) -> (String, UnknownForm) {
    let Some(raw) = &event.raw else {
        return (neutral(event, is_echo).to_string(), UnknownForm::Neutral);
    };
    // No gateway names ids as neutral events do.
    let is_neutral = raw["provider_message_id"].as_str() == Some(event.provider_id.as_str());
    let form = if is_neutral { UnknownForm::Neutral } else { UnknownForm::Gateway };
    (raw.to_string(), form)
}

impl Batch {
    /// The event that is kept of an unsupported message. Content that is announced is no more
    /// than awaited, unless the gateway wrote something to read again.
    fn unsupported(
        &self,
        event: &GatewayMessage,
        is_echo: bool,
        now: Timestamp,
    ) -> Option<UnknownEvent> {
        let is_unsupported = event.message_type == MessageType::Unsupported;
        if !is_unsupported || event.is_late && event.raw.is_none() {
            return None;
        }
        let (body, form) = body_of(event, is_echo);
        let keep = Keep {
            kind: kind_of(&event.blocks),
            reason: UnknownReason::Unsupported,
            form,
            provider_id: Some(&event.provider_id),
            body: &body,
            identity: Identity::Message(&event.provider_id),
        };
        Some(UnknownEvent::new(self.company, self.connection, &keep, now))
    }

    /// The event that is kept of a message whose names contradict each other, once for the names.
    /// What the message says is not kept with it: the message is stored.
    fn contradicting(&self, event: &GatewayMessage, is_echo: bool, now: Timestamp) -> UnknownEvent {
        let mut names = event.aliases.clone();
        names.push(event.peer.clone());
        names.sort();
        let body = neutral(event, is_echo).to_string();
        let keep = Keep {
            kind: CONTRADICTING,
            reason: UnknownReason::ContradictingIdentities,
            form: UnknownForm::Neutral,
            provider_id: Some(&event.provider_id),
            body: &body,
            identity: Identity::Text(&names.join("\n")),
        };
        UnknownEvent::new(self.company, self.connection, &keep, now)
    }

    /// Reads what is kept of these events already, and what gives way to them. For messages that
    /// are understood, nothing is read.
    pub(super) async fn kept(
        &self,
        store: &dyn Reads,
        connection: &Connection,
        facts: &BatchFacts,
    ) -> Result<KeptFacts, StoreError> {
        let mut kept = KeptFacts::default();
        let mut new: BTreeMap<UnknownEventId, String> = BTreeMap::new();
        let people = facts.people.as_deref().unwrap_or_default();
        for (event, _) in &self.events {
            let (event, is_echo) = match event {
                Ok(GatewayEvent::Message(event)) => (event, false),
                Ok(GatewayEvent::Echo(event)) => (event, true),
                _ => continue,
            };
            let stored = facts.referred.iter().find_map(|referred| {
                let is_it = referred.reference.provider_id == event.provider_id;
                referred.message.as_ref().filter(|_| is_it)
            });
            if let Some(stored) = stored {
                if let Some(late) = self.awaiting(store, stored, event).await? {
                    kept.late.insert(event.provider_id.clone(), late);
                }
                if !is_of_another_kind(stored, event) {
                    continue;
                }
            }
            let contradicts = self
                .names(event)
                .is_some_and(|names| names.contradict(people, &connection.platform));
            let now = Timestamp::MIN;
            let odd = contradicts.then(|| self.contradicting(event, is_echo, now));
            for keep in self.unsupported(event, is_echo, now).into_iter().chain(odd) {
                match store.get::<UnknownEvent>((self.company, keep.id)).await? {
                    Some(known) => drop(kept.known.insert(keep.id, known)),
                    None => drop(new.insert(keep.id, keep.kind)),
                }
            }
        }
        if !new.is_empty() {
            let mut of_kinds: BTreeMap<String, u64> = BTreeMap::new();
            for kind in new.into_values() {
                *of_kinds.entry(kind).or_default() += 1;
            }
            kept.giving_way = giving_way(store, self.company, self.connection, &of_kinds).await?;
        }
        Ok(kept)
    }

    /// What is kept of a stored message that had no content, if this event has it (X5).
    async fn awaiting(
        &self,
        store: &dyn Reads,
        stored: &Message,
        event: &GatewayMessage,
    ) -> Result<Option<Stored<UnknownEvent>>, StoreError> {
        let is_content = stored.message_type == MessageType::Unsupported
            && event.message_type != MessageType::Unsupported;
        if !is_content {
            return Ok(None);
        }
        let kind = kind_of(&stored.blocks);
        let id = UnknownEvent::of_message(self.connection, kind, &event.provider_id);
        store.get::<UnknownEvent>((self.company, id)).await
    }
}

/// The events that a batch keeps, and those that it removes.
#[derive(Debug, Default)]
pub(super) struct Keeping {
    facts: KeptFacts,
    new: BTreeMap<UnknownEventId, UnknownEvent>,
    gone: Vec<Stored<UnknownEvent>>,
}

impl Keeping {
    pub(super) fn new(facts: KeptFacts) -> Self {
        Self { facts, ..Self::default() }
    }

    /// Takes a message or an echo, and keeps what is not understood of it.
    pub(super) fn take(
        &mut self,
        workspace: &mut Workspace<'_>,
        batch: &Batch,
        event: &GatewayMessage,
        is_echo: bool,
        ids: &EventIds,
    ) -> EventResult {
        let now = workspace.now;
        let platform = &workspace.connection.platform;
        let people = workspace.people.as_deref().unwrap_or_default();
        let contradicts =
            batch.names(event).is_some_and(|names| names.contradict(people, platform));
        let stored = workspace.message_of(&event.provider_id).and_then(|id| workspace.message(id));
        let is_another = stored.is_some_and(|stored| is_of_another_kind(stored, event));
        let mut result = match is_echo {
            false => workspace.take_message(batch, event, ids),
            true => workspace.take_echo(batch, event, ids),
        };
        if result.result != EventOutcome::Stored && !is_another {
            return result;
        }
        if event.message_type != MessageType::Unsupported {
            self.gone.extend(self.facts.late.remove(&event.provider_id));
            self.new.retain(|_, kept| {
                kept.reason != UnknownReason::Unsupported
                    || kept.provider_id.as_ref() != Some(&event.provider_id)
            });
        }
        let message = result.message_id.and_then(|id| workspace.message(id));
        if message.is_some_and(Message::is_erased) {
            return result;
        }
        let contact = message.map(|message| message.contact);
        let odd = contradicts.then(|| batch.contradicting(event, is_echo, now));
        for keep in batch.unsupported(event, is_echo, now).into_iter().chain(odd) {
            if let Some(kept) = self.keep(keep, contact) {
                result.kept = Some(kept.into());
            }
        }
        result
    }

    /// Keeps an event, unless it is kept already.
    fn keep(&mut self, keep: UnknownEvent, contact: Option<ContactId>) -> Option<&UnknownEvent> {
        let id = keep.id;
        if self.facts.known.contains_key(&id) || self.new.contains_key(&id) {
            return None;
        }
        Some(self.new.entry(id).or_insert(UnknownEvent { contact, ..keep }))
    }

    /// The changes of the batch with those of kept events.
    pub(super) fn into_changes(self, mut changes: ChangeSet) -> ChangeSet {
        let mut gone = self.gone;
        if !self.new.is_empty() {
            gone.extend(self.facts.giving_way);
        }
        gone.sort_by_key(|event| event.id);
        gone.dedup_by_key(|event| event.id);
        for event in gone {
            changes = changes.with(event.delete());
        }
        for event in self.new.into_values() {
            changes = changes.insert(event);
        }
        changes
    }
}

impl Names {
    /// Whether the names are those of different contacts: two of them are known, and nobody has
    /// both. Several contacts of one number are no contradiction (R161).
    pub(super) fn contradict(
        &self,
        people: &[super::person::Person],
        platform: &crate::contacts::Platform,
    ) -> bool {
        let known = self.known_by(people, platform);
        known.iter().enumerate().any(|(at, one)| {
            known[at + 1..].iter().any(|other| one.iter().all(|index| !other.contains(index)))
        })
    }
}

impl Inbox<'_> {
    /// Keeps an event that is about no message.
    ///
    /// # Errors
    ///
    /// [`NotFound`] when the company has no such connection. [`Error::Busy`] and a failure of the
    /// store: the gateway has to repeat it.
    pub(super) async fn keep(
        &self,
        company: CompanyId,
        connection: ConnectionId,
        keep: &Keep<'_>,
    ) -> Result<EventResult, Error<NotFound>> {
        let store = self.app.store();
        let new = &BTreeMap::from([(kept_kind(keep.kind), 1)]);
        let decide = |now| async move {
            let event = UnknownEvent::new(company, connection, keep, now);
            if store.get::<UnknownEvent>((company, event.id)).await?.is_some() {
                return Ok(Decided::unchanged(EventResult::of(EventOutcome::Duplicate)));
            }
            if store.get::<Connection>((company, connection)).await?.is_none() {
                return Err(Error::Rejected(NotFound));
            }
            let mut changes = ChangeSet::new();
            for oldest in giving_way(store, company, connection, new).await? {
                changes = changes.with(oldest.delete());
            }
            let stored = EventResult::of(EventOutcome::Stored);
            let result = EventResult { kept: Some((&event).into()), ..stored };
            Ok(Decided::new(changes.insert(event), result))
        };
        self.app.decide(decide).await
    }
}
