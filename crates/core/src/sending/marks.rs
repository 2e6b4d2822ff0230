//! What is done about messages that are stored: marked as read, changed, taken back; and showing
//! that somebody types (X14).

use std::time::Duration;

use serde::Serialize;

use super::address::address_of;
use super::draft::Said;
use super::quoted::QuotedMessage;
use super::send_media::CAPTION;
use super::{SendError, SendRules, Sending};
use crate::access::{Caller, Gcra, RateCheck, RateDecision, RateKey, Scope};
use crate::body::{IntoBody, Optional, Required, body};
use crate::connections::Connection;
use crate::contacts::Contact;
use crate::error::Error;
use crate::gateway::{Edit, GatewayEvent, MessageKind, SendFailure, Typing, TypingIn};
use crate::halts::OnHold;
use crate::ids::{CompanyId, ConnectionId, ContactId, MessageId};
use crate::inbox::InboxError;
use crate::messages::{
    DeliveryCode, Direction, Failure, Message, MessageFilter, MessageListItem, MessageType,
};
use crate::page::PageRequest;
use crate::problems::Problems;
use crate::store::{RecordsExt, StoreError, Stored};
use crate::{Timestamp, text};

/// How long after it was sent a message may be changed (X14).
const EDITABLE: Duration = Duration::from_secs(15 * 60);
/// How long after it was sent a message may be taken back (X14).
const REVOCABLE: Duration = Duration::from_secs(48 * 60 * 60);

body! {
    /// A new text of a message.
    #[derive(Clone, PartialEq, Eq)]
    pub struct EditDraft as "EditMessage" {
        /// The text, or the caption of its file.
        message: String = Required<Said<{ text::MESSAGE }>>,
    }
}

body! {
    /// What a contact is shown of who writes.
    #[derive(Clone, PartialEq, Eq)]
    pub struct TypingDraft as "ShowTyping" {
        state: Typing = Required<Typing>,
        connection as "connection_id": Option<ConnectionId> = Optional<ConnectionId>,
    }
}

/// That a message was marked as read (X14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = MessageRead))]
#[non_exhaustive]
pub struct ReadMessageView {
    /// The message.
    pub message_id: MessageId,
    /// When it was marked.
    pub read_at: Timestamp,
}

/// Whether the channel was told (X14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = TypingShown))]
#[non_exhaustive]
pub struct TypedView {
    /// False where the gateway cannot show it, and where a second call came within a second.
    pub done: bool,
}

/// A message with what is needed to do something about it at its channel.
struct Subject {
    message: Stored<Message>,
    name: QuotedMessage,
    connection: Stored<Connection>,
}

fn refused(failure: SendError) -> Error<SendError> {
    Error::Rejected(failure)
}

fn invalid(problems: Problems) -> Error<SendError> {
    Error::Rejected(problems.into())
}

/// Refuses what was sent more than `within` ago. What was written on the paired phone, or came with
/// a history, was sent before it was stored.
///
/// # Errors
///
/// [`SendError::TooLate`] (X14).
pub(crate) fn check_age(
    message: &Message,
    within: Duration,
    now: Timestamp,
) -> Result<(), SendError> {
    match now.since(message.timestamp.min(message.created_at)) > within {
        true => Err(SendError::TooLate { within }),
        false => Ok(()),
    }
}

/// Whether a file of this type has a caption: sound and stickers have none (X10).
const fn shows_caption(message_type: MessageType) -> bool {
    matches!(message_type, MessageType::Image | MessageType::Video | MessageType::Document)
}

impl Sending<'_> {
    /// Marks an inbound message, and what came before it, as read: at the channel, then here (X14).
    /// Safe to repeat, so what failed is never uncertain (R361).
    ///
    /// # Errors
    ///
    /// [`SendError`]: no such message, no inbound one, nothing to reach it by; what the gateway
    /// refused.
    pub async fn mark_read(
        &self,
        company: CompanyId,
        id: MessageId,
    ) -> Result<ReadMessageView, Error<SendError>> {
        let subject = self.subject(company, id, MessageKind::Read, Direction::Inbound).await?;
        self.check_hold(company).await?;
        let Subject { message, name, connection } = &subject;
        let provider = self.app.provider(&connection.gateway).ok_or_else(not_served)?;
        let told = provider.mark_read(self.app.gateway_transport(), connection, &name.name).await;
        if let Err(error) = told {
            // Nothing is sent by it, and it may be repeated: there is nothing uncertain about it.
            let failure = Failure::new(DeliveryCode::Unknown, error.to_string());
            return Err(refused(self.failed(&subject, SendFailure::Refused(failure))));
        }
        self.app.conversations().read_up_to(company, message).await?;
        Ok(ReadMessageView { message_id: id, read_at: self.app.now() })
    }

    /// [`Sending::mark_read`] for a key.
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn mark_read_by(
        &self,
        caller: &Caller,
        id: MessageId,
    ) -> Result<ReadMessageView, Error<SendError>> {
        caller.require(Scope::MessagesSend)?;
        self.mark_read(caller.company(), id).await
    }

    /// Changes the text of a message that was sent, or the caption of its file, at most fifteen
    /// minutes ago (X14). `message.updated` says so. Safe to repeat.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub async fn edit(
        &self,
        company: CompanyId,
        id: MessageId,
        rules: SendRules,
        body: impl IntoBody<EditDraft>,
    ) -> Result<MessageListItem, Error<SendError>> {
        let EditDraft { message: text } = EditDraft::parse(body).map_err(invalid)?;
        let subject = self.subject(company, id, MessageKind::Edit, Direction::Outbound).await?;
        let message = subject.message.value();
        let has_caption = shows_caption(message.message_type);
        if !(has_caption || message.message_type.is_text()) || message.is_deleted() {
            return Err(invalid(Problems::of("message", "this message has no text to change")));
        }
        if has_caption && text.chars().count() > CAPTION {
            let reason = format!("must have at most {CAPTION} characters below a file");
            return Err(invalid(Problems::of("message", reason)));
        }
        let now = self.app.now();
        check_age(message, EDITABLE, now).map_err(refused)?;
        self.check_hold(company).await?;
        let contact = self.app.store().get::<Contact>((company, message.contact)).await?;
        let contact = contact.ok_or_else(|| refused(SendError::ContactNotFound))?;
        rules.check(&contact, now).map_err(refused)?;
        let edit = Edit { text: text.clone(), is_caption: has_caption };
        let connection = subject.connection.value();
        let provider = self.app.provider(&connection.gateway).ok_or_else(not_served)?;
        let transport = self.app.gateway_transport();
        let told = provider.edit(transport, connection, &subject.name.name, &edit).await;
        told.map_err(|failure| refused(self.failed(&subject, failure)))?;
        let provider_id = subject.name.name.provider_id.clone();
        let timestamp = Some(self.app.now());
        let event = GatewayEvent::Edit { provider_id, content: text, timestamp };
        self.told(&subject, event).await
    }

    /// [`Sending::edit`] for a key.
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn edit_by(
        &self,
        caller: &Caller,
        id: MessageId,
        body: impl IntoBody<EditDraft>,
    ) -> Result<MessageListItem, Error<SendError>> {
        caller.require(Scope::MessagesSend)?;
        self.edit(caller.company(), id, SendRules::FREE_TEXT, body).await
    }

    /// Takes back a message that was sent at most 48 hours ago (X14). `message.updated` says so.
    /// Safe to repeat: one that was taken back is answered as it is.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub async fn revoke(
        &self,
        company: CompanyId,
        id: MessageId,
    ) -> Result<MessageListItem, Error<SendError>> {
        let subject = self.subject(company, id, MessageKind::Revoke, Direction::Outbound).await?;
        if subject.message.is_deleted() {
            return self.shown(company, id).await;
        }
        check_age(&subject.message, REVOCABLE, self.app.now()).map_err(refused)?;
        self.check_hold(company).await?;
        let connection = subject.connection.value();
        let provider = self.app.provider(&connection.gateway).ok_or_else(not_served)?;
        let transport = self.app.gateway_transport();
        let told = provider.revoke(transport, connection, &subject.name.name).await;
        told.map_err(|failure| refused(self.failed(&subject, failure)))?;
        let provider_id = subject.name.name.provider_id.clone();
        let timestamp = Some(self.app.now());
        self.told(&subject, GatewayEvent::Deleted { provider_id, timestamp }).await
    }

    /// [`Sending::revoke`] for a key.
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn revoke_by(
        &self,
        caller: &Caller,
        id: MessageId,
    ) -> Result<MessageListItem, Error<SendError>> {
        caller.require(Scope::MessagesSend)?;
        self.revoke(caller.company(), id).await
    }

    /// Shows a contact that somebody writes, or does not any more (X14): at best effort, once a
    /// second.
    ///
    /// # Errors
    ///
    /// What is wrong with the body; no such contact or connection.
    pub async fn show_typing(
        &self,
        company: CompanyId,
        contact: ContactId,
        body: impl IntoBody<TypingDraft>,
    ) -> Result<TypedView, Error<SendError>> {
        let TypingDraft { state, connection } = TypingDraft::parse(body).map_err(invalid)?;
        let store = self.app.store();
        let found = store.get::<Contact>((company, contact)).await?;
        let found = found.ok_or_else(|| refused(SendError::ContactNotFound))?;
        let (wanted, last) = (connection, found.last_connection_id);
        let connection = match wanted.or(last) {
            Some(id) => store.get::<Connection>((company, id)).await?,
            None => None,
        };
        let Some(connection) = connection else {
            return match wanted {
                Some(_) => Err(refused(SendError::ConnectionNotFound)),
                None => Ok(TypedView { done: false }),
            };
        };
        let check = RateCheck { key: RateKey::Typing(contact), allowance: Gcra::per_second(1) };
        if self.app.limiter().check(&[check], self.app.now()).await? != RateDecision::Allowed {
            return Ok(TypedView { done: false });
        }
        let done = self.tell_typing(&found, &connection, state).await?;
        Ok(TypedView { done })
    }

    /// [`Sending::show_typing`] for a key.
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn show_typing_by(
        &self,
        caller: &Caller,
        contact: ContactId,
        body: impl IntoBody<TypingDraft>,
    ) -> Result<TypedView, Error<SendError>> {
        caller.require(Scope::MessagesSend)?;
        self.show_typing(caller.company(), contact, body).await
    }

    /// Whether the channel was told.
    async fn tell_typing(
        &self,
        contact: &Contact,
        connection: &Connection,
        state: Typing,
    ) -> Result<bool, Error<SendError>> {
        let company = contact.company;
        let is_held = self.app.halts().current().await?.is_held_for(company);
        let may_write = contact.opted_out_at.is_none() && !contact.is_blocked && !is_held;
        let can = self.app.providers().kinds(connection).contains(&MessageKind::Typing);
        if !may_write || !can || !connection.is_usable() {
            return Ok(false);
        }
        let Some(provider) = self.app.provider(&connection.gateway) else { return Ok(false) };
        let Some(address) = address_of(self.app.store(), contact.id, connection).await? else {
            return Ok(false);
        };
        let newest = self.newest_inbound(contact, connection).await?;
        let last_inbound = match newest {
            Some(id) => self.message_named(company, id, "contact_id").await.ok(),
            None => None,
        };
        let whose = TypingIn {
            recipient: address.recipient,
            group: address.group,
            last_inbound: last_inbound.map(|(_, quoted)| quoted.name),
        };
        let transport = self.app.gateway_transport();
        Ok(provider.typing(transport, connection, &whose, state).await.is_ok())
    }

    /// The newest message that came from a contact on a connection.
    async fn newest_inbound(
        &self,
        contact: &Contact,
        connection: &Connection,
    ) -> Result<Option<MessageId>, StoreError> {
        let filter = MessageFilter {
            contact: Some(contact.id),
            connection: Some(connection.id),
            direction: Some(Direction::Inbound),
            ..MessageFilter::default()
        };
        let page = PageRequest::first(1);
        let page = self.app.store().message_page(contact.company, &filter, page).await?;
        Ok(page.items.first().map(|record| record.message.id))
    }

    /// The message that something is done about, and its connection, which can do it.
    async fn subject(
        &self,
        company: CompanyId,
        id: MessageId,
        kind: MessageKind,
        direction: Direction,
    ) -> Result<Subject, Error<SendError>> {
        let known = self.app.store().messages(company, &[id]).await?.into_iter().next();
        let known = known.ok_or_else(|| refused(SendError::MessageNotFound))?;
        if known.direction != direction {
            let reason = match direction {
                Direction::Inbound => "names a message that we sent",
                Direction::Outbound => "names a message that we did not send",
            };
            return Err(invalid(Problems::of("id", reason)));
        }
        let (message, name) = self.message_named(company, id, "id").await?;
        let connection = self.app.store().get::<Connection>((company, message.connection)).await?;
        let connection = connection.ok_or_else(|| refused(SendError::ConnectionNotFound))?;
        if !connection.is_usable() || !self.app.providers().serves(&connection) {
            return Err(refused(super::NoConnection::NotUsable.into()));
        }
        let supported = self.app.providers().kinds(&connection);
        if !supported.contains(&kind) {
            let provider = connection.kind;
            return Err(refused(SendError::NotSupported { kind, provider, supported }));
        }
        Ok(Subject { message, name, connection })
    }

    async fn check_hold(&self, company: CompanyId) -> Result<(), Error<SendError>> {
        match self.app.halts().current().await?.is_held_for(company) {
            true => Err(refused(OnHold.into())),
            false => Ok(()),
        }
    }

    fn failed(&self, subject: &Subject, failure: SendFailure) -> SendError {
        let Subject { message, connection, .. } = subject;
        let failure = failure.with_text(|text| self.app.masked(connection, &text));
        let (kind, fault) = (connection.kind, failure.fault());
        SendError::of_failure(kind, message.id, message.contact, failure.failure().clone(), fault)
    }

    /// Records what the channel was told, as its own report of it would be (R322).
    async fn told(
        &self,
        subject: &Subject,
        event: GatewayEvent,
    ) -> Result<MessageListItem, Error<SendError>> {
        let Message { company, connection, id, .. } = *subject.message.value();
        match self.app.inbox().receive(company, connection, vec![Ok(event)]).await {
            Ok(_) => self.shown(company, id).await,
            Err(Error::Rejected(InboxError::NotFound)) => {
                Err(refused(SendError::ConnectionNotFound))
            }
            Err(Error::Rejected(InboxError::ContactStateUnavailable)) => {
                Err(refused(SendError::ContactStateUnavailable))
            }
            Err(Error::Denied(denied)) => Err(Error::Denied(denied)),
            Err(Error::Busy) => Err(Error::Busy),
            Err(Error::Store(error)) => Err(Error::Store(error)),
        }
    }

    /// The message as listings show it, which name its contact (R361).
    async fn shown(
        &self,
        company: CompanyId,
        id: MessageId,
    ) -> Result<MessageListItem, Error<SendError>> {
        let shown = self.app.messages().get(company, id).await;
        shown.map_err(|error| error.map(|_| SendError::MessageNotFound))
    }
}

/// The refusal where the program has no adapter for the connection.
fn not_served() -> Error<SendError> {
    refused(super::NoConnection::NotUsable.into())
}
