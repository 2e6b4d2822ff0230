//! The operator's import of one message: the fields of 2.4, no events unless they are asked for
//! (operator API, POST messages; D65).

use crate::body::IntoBody;
use crate::connections::Connection;
use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::import_draft::{CoveredBy, ImportedMessage, MessageDraft};
use super::{
    Blocks, ContactBrief, EarlyFacts, EventContact, MediaLinks, Message, MessageListItem,
    MessageRecord, MessageRef, MessageStatus, MessageType, Messages, Quoted, RefTarget, Referred,
    advance, message_received, message_sent, touch_contact, touch_conversation,
};
use crate::Timestamp;
use crate::code::Code;
use crate::contacts::Contact;
use crate::conversations::{ChannelContact, ChannelQuery, Conversation};
use crate::error::{Error, Rejection, object};
use crate::events::Event;
use crate::ids::{CompanyId, ConnectionId, ContactId, EventId, MessageId};
use crate::problems::Problems;
use crate::prosas::{LedgerLine, LineKind, Prosa};
use crate::store::{Change, ChangeSet, Decided, Reads, RecordsExt, StoreError, Stored};
use crate::use_case::UseCase;

/// Why a message was not imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportMessageError {
    /// The body is not acceptable; correct what it names.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// The message exists: its id, or its provider's id on the connection, is taken.
    #[error("the message is there already")]
    Exists {
        /// The existing message.
        message: MessageId,
    },
}

impl Rejection for ImportMessageError {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(problems) => problems.code(),
            Self::Exists { .. } => Code::MessageExists,
        }
    }

    fn details(&self) -> Option<Map<String, Value>> {
        match self {
            Self::Invalid(problems) => problems.details(),
            Self::Exists { .. } => None,
        }
    }

    fn extra(&self) -> Option<Map<String, Value>> {
        match self {
            Self::Invalid(_) => None,
            Self::Exists { message } => Some(object([("message_id", json!(message))])),
        }
    }
}

/// Imports one message (R52).
#[derive(Clone, Debug)]
struct ImportMessage {
    company: CompanyId,
    /// The id of the message, unless the body gives one.
    id: MessageId,
    draft: MessageDraft,
    /// What its event is made with, where that is asked for.
    event: Option<ImportEvent>,
}

/// What the event about an imported message is made with.
#[derive(Clone, Debug)]
struct ImportEvent {
    id: EventId,
    links: MediaLinks,
}

/// What an import reads.
#[derive(Clone, Debug)]
struct ImportFacts {
    contact: Option<ChannelContact>,
    connection: Option<Connection>,
    /// The message with the same id, and the quoted one.
    messages: Vec<Stored<Message>>,
    referred: Option<Referred>,
    early: EarlyFacts,
    debit: Option<LedgerLine>,
}

impl ImportMessage {
    fn id(&self) -> MessageId {
        self.draft.body.id.unwrap_or(self.id)
    }

    /// The problems of the body, and of the records that it names.
    fn problems(&self, facts: &ImportFacts) -> Problems {
        let (draft, mut problems) = (&self.draft, self.draft.problems.clone());
        let body = &draft.body;
        if body.contact.is_some() && facts.contact.is_none() {
            problems.add("contact_id", "names a contact that the company does not have");
        }
        let is_person = facts.contact.as_ref().is_some_and(|known| !known.contact.is_group);
        if body.participant.is_some() && is_person {
            problems.add("participant", "goes with a message in a group only");
        }
        if body.connection.is_some() && facts.connection.is_none() {
            problems.add("connection_id", "names a connection that the company does not have");
        }
        if body.quoted_message.is_some() && self.quoted(facts).is_none() {
            problems.add("quoted_message_id", "names a message that the company does not have");
        }
        if body.debit.is_some() && facts.debit.is_none() {
            problems.add("prosa", "names a debit that the company does not have");
        }
        problems
    }

    fn quoted<'a>(&self, facts: &'a ImportFacts) -> Option<&'a Message> {
        let id = self.draft.body.quoted_message?;
        facts.messages.iter().map(Stored::value).find(|message| message.id == id)
    }

    fn message(
        &self,
        contact: ContactId,
        connection: ConnectionId,
        facts: &ImportFacts,
    ) -> Message {
        let (draft, body) = (&self.draft, self.draft.body.clone());
        let quoted = self.quoted(facts);
        Message {
            id: self.id(),
            company: self.company,
            contact,
            connection,
            direction: draft.direction(),
            message_type: body.message_type.unwrap_or(MessageType::Text),
            sender_type: draft.sender_type(),
            status: draft.status(),
            failure: draft.failure(),
            content: body.content,
            media: draft.media(),
            provider_id: body.provider_id,
            external_id: body.external_id,
            blocks: Blocks::default(),
            quoted: Quoted {
                message: body.quoted_message,
                content: body.quoted_content.or_else(|| quoted.and_then(|q| q.content.clone())),
                message_type: body.quoted_type.or(quoted.map(|q| q.message_type)),
            },
            participant: draft.participant(),
            template_category: body.template_category,
            prosa: facts.debit.as_ref().map(|debit| Prosa {
                consumption_id: debit.id,
                prosas: debit.prosas,
                cost: debit.cost,
                scope: debit.scope,
            }),
            is_history: false,
            edited_at: draft.edited_at(),
            sender: None,
            created_at: draft.created_at(),
            timestamp: draft.timestamp(),
        }
    }
}

#[async_trait]
impl UseCase for ImportMessage {
    type Loaded = ImportFacts;
    type Output = MessageRecord;
    type Error = ImportMessageError;

    async fn load(&self, store: &dyn Reads) -> Result<ImportFacts, StoreError> {
        let (company, body) = (self.company, &self.draft.body);
        let contact = match body.contact {
            None => None,
            Some(id) => {
                let query = ChannelQuery { ids: vec![id], ..ChannelQuery::default() };
                store.channel_contacts(company, &query).await?.into_iter().next()
            }
        };
        let connection = match body.connection {
            None => None,
            Some(id) => store.get::<Connection>((company, id)).await?.map(Stored::into_value),
        };
        let ids: Vec<MessageId> = body.id.into_iter().chain(body.quoted_message).collect();
        let messages =
            if ids.is_empty() { Vec::new() } else { store.messages(company, &ids).await? };
        let referred = match (&body.provider_id, body.connection) {
            (Some(id), Some(connection)) => {
                store.referred(company, connection, std::slice::from_ref(id)).await?.pop()
            }
            _ => None,
        };
        let early = EarlyFacts::load(store, company, referred.as_ref()).await?;
        let debit = match body.debit {
            None => None,
            Some(CoveredBy { consumption_id: id }) => {
                store.get::<LedgerLine>((company, id)).await?.map(Stored::into_value)
            }
        };
        let debit = debit.filter(|line| line.kind == LineKind::Debit);
        Ok(ImportFacts { contact, connection, messages, referred, early, debit })
    }

    fn decide(
        &self,
        facts: ImportFacts,
        now: Timestamp,
    ) -> Result<Decided<MessageRecord>, ImportMessageError> {
        self.problems(&facts).into_result()?;
        let (Some(through), Some(known)) = (&facts.connection, &facts.contact) else {
            // If either is missing, the problems above name it.
            return Err(Problems::of("contact_id", "is required").into());
        };
        let taken = facts.messages.iter().any(|message| Some(message.id) == self.draft.body.id);
        if taken {
            return Err(ImportMessageError::Exists { message: self.id() });
        }
        let connection = through.id;
        let mut message = self.message(known.contact.id, connection, &facts);
        let kept = facts.referred.as_ref().map(|referred| &referred.reference);
        kept.map_or(Ok(()), is_free)?;
        message = facts.early.applied(message, now);
        let report = facts.early.early(now).and_then(|early| early.report.as_ref());
        if let Some(report) = report
            && let Some(step) = advance(message.status, message.failure.as_ref(), report)
        {
            message = step.apply(&message);
        }
        // The reference names the message, so it is inserted after it.
        let mut changes = touch(ChangeSet::new(), &message, known).insert(message.clone());
        if let Some(provider_id) = message.provider_id.clone() {
            let target = RefTarget::Message(message.id);
            let reference = MessageRef { company: self.company, connection, provider_id, target };
            changes = changes.with(match kept {
                None => Change::insert(reference),
                Some(kept) => kept.update(reference),
            });
        }
        for change in facts.early.changes(&message, now) {
            changes = changes.with(change);
        }
        if let Some(event) = &self.event {
            let contact = touch_contact(&known.contact, &message);
            changes.events.extend(event.about(&message, &contact, through, now));
        }
        let record = MessageRecord { contact: ContactBrief::of(&known.contact), message };
        Ok(Decided::new(changes, record))
    }
}

impl ImportEvent {
    /// What is told of an imported message: `message.received` of an inbound one, `message.sent` of
    /// one that was sent, nothing of one that was not (D65).
    fn about(
        &self,
        message: &Message,
        contact: &Contact,
        connection: &Connection,
        now: Timestamp,
    ) -> Option<Event> {
        let contact = EventContact::Known(contact);
        match message.status {
            MessageStatus::Pending | MessageStatus::Failed => None,
            MessageStatus::Received => {
                Some(message_received(self.id, message, contact, connection, now, &self.links))
            }
            MessageStatus::Sent | MessageStatus::Delivered | MessageStatus::Read => {
                Some(message_sent(self.id, message, contact, connection, now, &self.links))
            }
        }
    }
}

/// Whether no message has the provider's id.
///
/// # Errors
///
/// [`ImportMessageError::Exists`] when one has.
fn is_free(reference: &Stored<MessageRef>) -> Result<(), ImportMessageError> {
    match &reference.target {
        RefTarget::Message(message) => Err(ImportMessageError::Exists { message: *message }),
        RefTarget::Early { .. } | RefTarget::Forgotten { .. } => Ok(()),
    }
}

/// Adds the changes that the message makes to its contact and conversation.
fn touch(mut changes: ChangeSet, message: &Message, known: &ChannelContact) -> ChangeSet {
    let contact: &Stored<Contact> = &known.contact;
    let touched = touch_contact(contact, message);
    if touched != *contact.value() {
        changes = changes.with(contact.update(touched));
    }
    let kept = known.conversations.iter().find(|kept| kept.connection == message.connection);
    let identifier = contact.identifier.as_str();
    let conversation: Conversation =
        touch_conversation(kept.map(Stored::value), message, identifier);
    match kept {
        None => changes.insert(conversation),
        Some(kept) if conversation != *kept.value() => changes.with(kept.update(conversation)),
        Some(_) => changes,
    }
}

impl Messages<'_> {
    /// Imports one message for the operator, without events. Its `created_at` moves the times of
    /// its contact and conversation as any message's does; the number of unread messages stays.
    ///
    /// # Errors
    ///
    /// [`ImportMessageError`]; nothing was stored.
    pub async fn import(
        &self,
        company: CompanyId,
        body: impl IntoBody<ImportedMessage>,
    ) -> Result<MessageListItem, Error<ImportMessageError>> {
        self.import_as(company, body, None).await
    }

    /// The same with the event about the message, for receivers that shall learn of it: that
    /// of its direction, none of a message that was not sent (D65). A message that was there before
    /// is refused, so a repeat fires no second event.
    ///
    /// # Errors
    ///
    /// As [`Messages::import`].
    pub async fn import_with_events(
        &self,
        company: CompanyId,
        body: impl IntoBody<ImportedMessage>,
    ) -> Result<MessageListItem, Error<ImportMessageError>> {
        let id = EventId::new(self.app.uuid(self.app.now()));
        let links = self.app.media_links().await?;
        self.import_as(company, body, Some(ImportEvent { id, links })).await
    }

    async fn import_as(
        &self,
        company: CompanyId,
        body: impl IntoBody<ImportedMessage>,
        event: Option<ImportEvent>,
    ) -> Result<MessageListItem, Error<ImportMessageError>> {
        let now = self.app.now();
        let id = MessageId::new(self.app.uuid(now));
        let draft = MessageDraft::parse(body, now);
        let record = self.app.run(&ImportMessage { company, id, draft, event }).await?;
        Ok(MessageListItem::new(&record, &self.app.media_links().await?))
    }
}
