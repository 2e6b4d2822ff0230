//! Recording that a message is about to be sent (D33–D36): the first of the three steps.

use async_trait::async_trait;

use super::claim::{ClaimFacts, Claimed};
use super::{Claim, NoConnection, Order, SendError, SendTarget, recipient_on};
use crate::Timestamp;
use crate::connections::Connection;
use crate::contacts::{
    Alias, ChannelKey, Contact, DraftQuery, Identifier, Platform, contact_created, creation_stamp,
};
use crate::conversations::{ChannelContact, ChannelQuery, Conversation, meant_by_phone, twins};
use crate::gateway::{Content, Providers};
use crate::groups::{ConnectionGroup, GroupCode, resolve_group};
use crate::halts::OnHold;
use crate::ids::{ConnectionId, ContactId, EventId, MessageId, WorkerId};
use crate::messages::{
    Direction, Message, MessageRef, MessageStatus, ProviderMessageId, RefTarget, Referred, Shown,
    touch_contact, touch_conversation,
};
use crate::problems::Problems;
use crate::store::{
    Change, ChangeSet, Decided, Precondition, Reads, RecordsExt, StoreError, Stored, Version,
};
use crate::uploads::{FileRefused, Upload, UploadState};
use crate::use_case::UseCase;

/// How many contacts of one channel a send reads for one form of a number: of the others that have
/// it too, none matters to the answer (R161).
const READ: u32 = 20;
/// How many contacts a refusal names.
const NAMED: usize = 20;

/// Ids for the records that an intent makes. They are made once, so that deciding again has the
/// same result.
#[derive(Clone, Copy, Debug)]
pub(super) struct IntentIds {
    pub(super) message: MessageId,
    pub(super) contact: ContactId,
    pub(super) created: EventId,
}

/// Decides whether a message is sent, through which connection and to whom, and stores it as
/// pending.
#[derive(Clone, Debug)]
pub(super) struct Intent<'a> {
    pub(super) order: &'a Order,
    pub(super) ids: IntentIds,
    pub(super) worker: WorkerId,
    /// The gateways of this program.
    pub(super) gateways: &'a Providers,
    /// Whether the installation is on hold (D75).
    pub(super) is_held: bool,
}

/// What an intent reads.
#[derive(Debug)]
pub(super) struct IntentFacts {
    pub(super) connections: Vec<Stored<Connection>>,
    pub(super) groups: Vec<Stored<ConnectionGroup>>,
    /// The group that would receive it, if the rows name it.
    group: Option<GroupCode>,
    /// `None` when contacts could not be read.
    contacts: Option<Vec<ChannelContact>>,
    /// Whether the company has the contact that was named beside the target.
    is_named_known: bool,
    /// Others that are the same person as the contact that is meant.
    twins: Vec<ChannelContact>,
    /// The upload that the message carries.
    upload: Option<Stored<Upload>>,
    /// The message of ours that is changed.
    again: Option<Stored<Message>>,
    /// What the id of our reaction to the message refers to, if anything.
    standing: Option<Referred>,
    export_frontier: Option<Timestamp>,
    claim: ClaimFacts,
}

/// A message that may be sent to its provider now.
#[derive(Clone, Debug)]
pub(super) struct Intended {
    pub(super) message: Message,
    pub(super) connection: Stored<Connection>,
    pub(super) recipient: String,
    pub(super) group: Option<GroupCode>,
    /// What is sent.
    pub(super) content: Content,
    /// The contact as it is once the intent is stored.
    pub(super) contact: ChannelContact,
    /// Whether it was made for the message.
    pub(super) is_new_contact: bool,
    /// What the intent has claimed.
    pub(super) claimed: Claimed,
    /// The message before this send, if the channel has accepted it: a reaction that is changed.
    pub(super) before: Option<Message>,
}

impl Intent<'_> {
    /// Which contacts to read. `group` is `None` for a group that was never reported; a contact may
    /// still have its code.
    fn query(&self, group: Option<&GroupCode>) -> ChannelQuery {
        match &self.order.target {
            SendTarget::Contact(id) => ChannelQuery { ids: vec![*id], ..ChannelQuery::default() },
            SendTarget::Phone(phone) | SendTarget::AnyWithPhone(phone) => ChannelQuery {
                ids: self.order.contact.into_iter().collect(),
                per_phone: Some(READ),
                ..ChannelQuery::of_phone(phone)
            },
            SendTarget::Group(code) => {
                let code = group.unwrap_or(code);
                ChannelQuery {
                    identifiers: Identifier::parse(code.as_str()).into_iter().collect(),
                    chats: vec![code.clone()],
                    ..ChannelQuery::default()
                }
            }
        }
    }

    /// The contacts that match, or the refusal (D33): if they could not be read, it is 503.
    fn contact<'f>(&self, facts: &'f IntentFacts) -> Result<Option<&'f ChannelContact>, SendError> {
        let found = facts.contacts.as_deref().ok_or(SendError::ContactStateUnavailable)?;
        if let Some(named) = self.order.contact {
            // D71: of several that share a phone it is the one that is named.
            let is_meant = |found: &&ChannelContact| found.contact.id == named && self.means(found);
            return match found.iter().find(is_meant) {
                Some(found) => Ok(Some(found)),
                None if facts.is_named_known => Err(two_contacts().into()),
                None => Err(SendError::ContactNotFound),
            };
        }
        match found {
            [] if matches!(self.order.target, SendTarget::Contact(_)) => {
                Err(SendError::ContactNotFound)
            }
            [] => Ok(None),
            [only] => Ok(Some(only)),
            several if matches!(self.order.target, SendTarget::AnyWithPhone(_)) => {
                Ok(meant_by_phone(several))
            }
            several => {
                let ids = several.iter().map(|found| found.contact.id).take(NAMED).collect();
                Err(SendError::AmbiguousContact(ids))
            }
        }
    }

    /// Whether the target may be this contact, which was read because it was named beside it.
    fn means(&self, named: &ChannelContact) -> bool {
        match &self.order.target {
            SendTarget::Phone(phone) | SendTarget::AnyWithPhone(phone) => {
                named.numbers().contains(&ChannelKey::of_phone(phone))
            }
            SendTarget::Group(_) | SendTarget::Contact(_) => true,
        }
    }

    /// Whoever asked to stop under one form of a number is stopped under all, also where two
    /// contacts have them (D15, R161). The refusal names the contact itself if it asked, else the
    /// other.
    fn check_twins(
        &self,
        found: &ChannelContact,
        twins: &[ChannelContact],
    ) -> Result<(), SendError> {
        let mut everybody = std::iter::once(found).chain(twins);
        match everybody.find(|one| one.contact.opted_out_at.is_some()) {
            Some(asked) if self.order.rules.heeds_opt_out => {
                Err(SendError::OptedOut { contact: Some(asked.contact.id) })
            }
            _ => Ok(()),
        }
    }

    /// The other contacts that are the person who is meant, where their wish to be left alone
    /// counts.
    async fn twins(
        &self,
        store: &dyn Reads,
        query: &ChannelQuery,
        facts: &IntentFacts,
    ) -> Result<Vec<ChannelContact>, StoreError> {
        let Some(found) = self.contact(facts).ok().flatten() else { return Ok(Vec::new()) };
        if !self.order.rules.heeds_opt_out {
            return Ok(Vec::new());
        }
        let unasked = ChannelQuery::of_numbers(&found.numbers(), query, READ);
        let mut others = facts.contacts.clone().unwrap_or_default();
        if !unasked.is_empty() {
            others.extend(store.channel_contacts(self.order.company, &unasked).await?);
        }
        Ok(twins(found, &others).cloned().collect())
    }

    /// The new contact for a phone or group that no contact has.
    fn new_contact(
        &self,
        platform: &Platform,
        group: Option<&GroupCode>,
        facts: &IntentFacts,
        now: Timestamp,
    ) -> Result<Contact, SendError> {
        let created_at = creation_stamp(now, facts.export_frontier);
        let phone = match &self.order.target {
            SendTarget::Phone(phone) | SendTarget::AnyWithPhone(phone) => Some(phone.clone()),
            SendTarget::Group(_) | SendTarget::Contact(_) => None,
        };
        let identifier = match (group, &phone) {
            (Some(code), _) => Identifier::parse(code.as_str()),
            (None, Some(phone)) => Some(Identifier::of_phone(phone)),
            (None, None) => None,
        };
        let (id, company) = (self.ids.contact, self.order.company);
        let identifier = identifier.ok_or(SendError::InvalidPhone)?;
        let mut contact =
            Contact::new(id, company, platform.clone(), identifier, phone, created_at);
        if let Some(code) = group {
            let of_group = facts.groups.iter().filter(|row| row.group.code == *code);
            let subject = of_group.filter_map(|row| row.group.subject.clone()).next();
            contact.is_group = true;
            contact.external_chat_id = Some(code.as_str().to_owned());
            contact.name = subject.unwrap_or_default();
            contact.derive();
        }
        Ok(contact)
    }

    fn message(
        &self,
        contact: &Contact,
        connection: &Connection,
        sent: &Content,
        now: Timestamp,
    ) -> Message {
        let shown = Shown::of(&self.order.content);
        let shown = match sent {
            Content::Text(text) if self.order.fallback.is_some() => shown.into_text(text.clone()),
            _ => shown,
        };
        Message {
            id: self.ids.message,
            company: self.order.company,
            contact: contact.id,
            connection: connection.id,
            direction: Direction::Outbound,
            message_type: shown.message_type,
            sender_type: self.order.sender,
            status: MessageStatus::Pending,
            failure: None,
            content: shown.content,
            media: shown.media,
            blocks: shown.blocks,
            provider_id: None,
            external_id: None,
            quoted: self.order.quoted_as_stored(),
            participant: None,
            template_category: self.order.category,
            prosa: None,
            is_history: false,
            edited_at: None,
            sender: Some(self.worker),
            created_at: now,
            timestamp: now,
        }
    }
}

#[async_trait]
impl UseCase for Intent<'_> {
    type Loaded = IntentFacts;
    type Output = Intended;
    type Error = SendError;

    async fn load(&self, store: &dyn Reads) -> Result<IntentFacts, StoreError> {
        let company = self.order.company;
        let connections = store.all_stored::<Connection>(company).await?;
        let mut groups = match &self.order.target {
            SendTarget::Group(code) => {
                store.groups_by_code(company, std::slice::from_ref(code)).await?
            }
            SendTarget::Phone(_) | SendTarget::AnyWithPhone(_) | SendTarget::Contact(_) => {
                Vec::new()
            }
        };
        let group = match &self.order.target {
            SendTarget::Group(code) => resolve_group(code, &groups, true).ok(),
            SendTarget::Phone(_) | SendTarget::AnyWithPhone(_) | SendTarget::Contact(_) => None,
        };
        // Some connections have the announcement group but not the community.
        if let (Some(resolved), SendTarget::Group(code)) = (&group, &self.order.target)
            && resolved != code
        {
            groups = store.groups_by_code(company, &[code.clone(), resolved.clone()]).await?;
        }
        let query = self.query(group.as_ref());
        let contacts = match store.channel_contacts(company, &query).await {
            Ok(contacts) => Some(contacts),
            Err(StoreError::Unavailable(_)) => None,
            Err(error) => return Err(error),
        };
        if let (SendTarget::Contact(_), Some([only])) = (&self.order.target, contacts.as_deref())
            && let Some(code) = group_of(&only.contact)
        {
            groups = store.groups_by_code(company, &[code]).await?;
        }
        let is_named_known = match self.order.contact {
            Some(named) => store.get::<Contact>((company, named)).await?.is_some(),
            None => false,
        };
        let export_frontier = match contacts.as_deref() {
            Some([]) => store.draft_facts(company, &DraftQuery::default()).await?.export_frontier,
            _ => None,
        };
        let mut facts = IntentFacts {
            connections,
            groups,
            group,
            contacts,
            is_named_known,
            twins: Vec::new(),
            upload: None,
            again: None,
            standing: None,
            export_frontier,
            claim: ClaimFacts::default(),
        };
        match self.twins(store, &query, &facts).await {
            Ok(twins) => facts.twins = twins,
            Err(StoreError::Unavailable(_)) => facts.contacts = None,
            Err(error) => return Err(error),
        }
        if let Some(file) = self.order.content.file() {
            facts.upload = store.get::<Upload>((company, file.upload)).await?;
        }
        if let Some(id) = self.order.again {
            facts.again = store.messages(company, &[id]).await?.into_iter().next();
        }
        if let Some((connection, standing)) = self.order.standing() {
            let known = store.referred(company, connection, &[standing]).await?;
            facts.standing = known.into_iter().next();
        }
        if self.order.claim != Claim::Nothing {
            let contact = self.contact(&facts).ok().flatten().map(|found| found.contact.id);
            facts.claim = self.order.claim.load(store, company, contact).await?;
        }
        Ok(facts)
    }

    fn decide(&self, facts: IntentFacts, now: Timestamp) -> Result<Decided<Intended>, SendError> {
        if let Some(wanted) = self.order.connection
            && !facts.connections.iter().any(|connection| connection.id == wanted)
        {
            return Err(SendError::ConnectionNotFound);
        }
        if let SendTarget::Group(code) = &self.order.target {
            let is_contact = facts.contacts.as_ref().is_none_or(|found| !found.is_empty());
            resolve_group(code, &facts.groups, is_contact).map_err(|_| SendError::GroupNotFound)?;
        }
        // D75: after what is wrong with the request, before the contact's state.
        if self.is_held {
            return Err(OnHold.into());
        }
        let found = self.contact(&facts)?;
        let group = match (&self.order.target, found) {
            (SendTarget::Group(code), _) => {
                Some(facts.group.clone().unwrap_or_else(|| code.clone()))
            }
            (SendTarget::Contact(_), Some(found)) => group_of(&found.contact),
            (SendTarget::Phone(_) | SendTarget::AnyWithPhone(_) | SendTarget::Contact(_), _) => {
                None
            }
        };
        if self.order.is_template() && found.is_some_and(|found| found.contact.is_group) {
            return Err(SendError::IsGroup);
        }
        self.order.check_quoted(found.map(|found| found.contact.id))?;
        if let Some(found) = found {
            self.check_twins(found, &facts.twins)?;
            self.order.rules.check(&found.contact, now)?;
        }
        self.order.claim.check(&facts.claim, found.map(|found| found.contact.value()), now)?;
        let (connection, content) = self.carried(&facts, group.as_ref(), found)?;

        let contact = match found {
            Some(found) => found.contact.value().clone(),
            None => self.new_contact(&connection.platform, group.as_ref(), &facts, now)?,
        };
        let message = self.message(&contact, connection, &content, now);
        let message = match &facts.again {
            Some(before) => changed_again(before, message)?,
            None => message,
        };
        let conversations = found.map_or(&[][..], |found| &found.conversations);
        let recipient = match (&group, found) {
            (Some(code), _) => Some(code.as_str().to_owned()),
            (None, Some(found)) => recipient_on(found, connection),
            (None, None) => contact.phone.as_ref().map(|phone| phone.digits().to_owned()),
        };
        let recipient = recipient.ok_or(NoConnection::Nameless)?;
        let mut touched = touch_contact(&contact, &message);
        // D35: the last connection is that of the last accepted message, not of the last attempt.
        touched.last_connection_id = contact.last_connection_id;
        let changes = ChangeSet::new().require(connection.unchanged());
        let changes =
            facts.twins.iter().fold(changes, |all, twin| all.require(twin.contact.unchanged()));
        let changes = match found {
            Some(found) => changes.with(found.contact.update_activity(touched.clone())),
            None => self.create(touched.clone(), changes),
        };
        let here = conversations.iter().find(|known| known.connection == connection.id);
        let conversation = touch_conversation(here.map(Stored::value), &message, &recipient);
        let changes = changes.with(written(here, conversation.clone()));
        let changes = match &facts.again {
            Some(before) => changes.with(before.update(message.clone())),
            None => changes.insert(message.clone()),
        };
        let changes = match content.file() {
            Some(file) if !file.is_pending() => hold(facts.upload.as_ref(), changes)?,
            _ => changes,
        };
        let changes = match self.order.standing() {
            Some((connection, id)) => self.stand(&facts, connection, id, changes)?,
            None => changes,
        };
        let (changes, claimed) = self.order.claim.win(&facts.claim, &message, changes);
        let contact = stored_after(found, touched, conversation);
        let intended = Intended {
            message,
            connection: connection.clone(),
            recipient,
            group,
            content,
            contact,
            is_new_contact: found.is_none(),
            claimed,
            before: facts.again.map(Stored::into_value).filter(was_accepted),
        };
        Ok(Decided::new(changes, intended))
    }
}

/// States that a message has an upload: the first one writes it, the others rely on it (R348).
fn hold(upload: Option<&Stored<Upload>>, changes: ChangeSet) -> Result<ChangeSet, SendError> {
    let stored = upload.filter(|upload| upload.state == UploadState::Stored);
    let upload = stored.ok_or(SendError::File(FileRefused::NotFound))?;
    Ok(match upload.expires_at {
        Some(_) => changes.with(upload.update(upload.held())),
        None => changes.require(upload.unchanged()),
    })
}

/// Our reaction after it was changed: it is sent once more, and has no id of the provider until
/// that is accepted, so that a report about the one before says nothing of it (X7, R321). It counts
/// as changed only if the one before was accepted.
fn changed_again(before: &Message, message: Message) -> Result<Message, SendError> {
    if before.status == MessageStatus::Pending {
        return Err(SendError::ClaimLost);
    }
    Ok(Message {
        edited_at: was_accepted(before).then_some(message.created_at),
        created_at: before.created_at,
        timestamp: before.timestamp,
        ..message
    })
}

/// Whether the channel has accepted a reaction of ours, in this form or in one before.
const fn was_accepted(reaction: &Message) -> bool {
    reaction.provider_id.is_some() || reaction.edited_at.is_some()
}

/// The refusal of a `to` and a `contact_id` that mean two contacts (D71).
fn two_contacts() -> Problems {
    let mut problems = Problems::of("to", "does not mean the contact that contact_id names");
    problems.add("contact_id", "names another contact than to");
    problems
}

/// A row after it was written, given how it was read.
fn after<T>(read: Option<&Stored<T>>, now: T) -> Stored<T> {
    Stored::new(now, read.map_or(Version::FIRST, |read| read.version().next()))
}

/// The contact as the store has it after the intent's commit.
fn stored_after(
    found: Option<&ChannelContact>,
    contact: Contact,
    conversation: Conversation,
) -> ChannelContact {
    let known = found.map_or(&[][..], |found| &found.conversations);
    let is_here = |other: &&Stored<Conversation>| other.connection == conversation.connection;
    let here = known.iter().find(is_here);
    let mut conversations: Vec<_> = known.iter().filter(|other| !is_here(other)).cloned().collect();
    conversations.push(after(here, conversation));
    let aliases = match found {
        Some(found) => found.aliases.clone(),
        None => contact.phone.iter().map(ChannelKey::of_phone).collect(),
    };
    let contact = after(found.map(|found| &found.contact), contact);
    ChannelContact { contact, aliases, conversations }
}

impl Intent<'_> {
    /// Makes our reaction known under the id that stands for it (X7, R321).
    fn stand(
        &self,
        facts: &IntentFacts,
        connection: ConnectionId,
        id: ProviderMessageId,
        changes: ChangeSet,
    ) -> Result<ChangeSet, SendError> {
        let target = RefTarget::Message(self.ids.message);
        match &facts.standing {
            Some(known) if known.reference.target == target => Ok(changes),
            // Another call has reacted meanwhile.
            Some(Referred { message: Some(_), .. }) => Err(SendError::ClaimLost),
            Some(known) => {
                let reference = MessageRef { target, ..known.reference.value().clone() };
                Ok(changes.with(known.reference.update(reference)))
            }
            None => {
                let company = self.order.company;
                Ok(changes.insert(MessageRef { company, connection, provider_id: id, target }))
            }
        }
    }

    fn create(&self, contact: Contact, changes: ChangeSet) -> ChangeSet {
        let (company, id) = (contact.company, contact.id);
        let platform = contact.source_platform.clone();
        let key = contact.phone.as_ref().map(ChannelKey::of_phone);
        let changes = changes
            .require(Precondition::NotExported { company, created_at: contact.created_at })
            .emit(contact_created(self.ids.created, &contact))
            .insert(contact);
        match key {
            Some(key) => changes.insert(Alias { company, platform, key, contact: id }),
            None => changes,
        }
    }
}

/// The write of a conversation that was read or is new.
pub(super) fn written(read: Option<&Stored<Conversation>>, now: Conversation) -> Change {
    match read {
        Some(read) => read.update(now),
        None => Change::insert(now),
    }
}

/// The group that a contact is.
fn group_of(contact: &Contact) -> Option<GroupCode> {
    let code = || contact.identifier.as_str().to_owned();
    contact
        .is_group
        .then(|| GroupCode::from_stored(contact.external_chat_id.clone().unwrap_or_else(code)))
}
