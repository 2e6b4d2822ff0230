//! The message that another one is about: quoted, or reacted to.

use super::address::address_of;
use super::{Order, SendError, Sending};
use crate::connections::Connection;
use crate::error::Error;
use crate::gateway::{Content, MessageName};
use crate::ids::{CompanyId, ConnectionId, ContactId, MessageId};
use crate::messages::{Direction, Message, ProviderMessageId, Quoted};
use crate::problems::Problems;
use crate::store::{RecordsExt, Stored};

/// A message that is stored and known at its channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotedMessage {
    /// Its id.
    pub id: MessageId,
    /// Its contact.
    pub contact: ContactId,
    /// Its connection.
    pub connection: ConnectionId,
    /// What a message that quotes it keeps of it.
    pub kept: Quoted,
    /// Its name at the channel.
    pub name: MessageName,
}

impl Order {
    /// The connection that was asked for; else that of the message it answers, as no other knows
    /// it.
    pub(super) fn wanted_connection(&self) -> Option<ConnectionId> {
        self.connection.or_else(|| self.quoted.as_ref().map(|quoted| quoted.connection))
    }

    /// What its message keeps of the one that it answers.
    pub(super) fn quoted_as_stored(&self) -> Quoted {
        self.quoted.as_ref().map(|quoted| quoted.kept.clone()).unwrap_or_default()
    }

    /// Refuses a quoted message of another contact, as if it did not exist.
    pub(super) fn check_quoted(&self, contact: ContactId) -> Result<(), SendError> {
        match &self.quoted {
            Some(quoted) if quoted.contact != contact => Err(SendError::MessageNotFound),
            _ => Ok(()),
        }
    }

    /// The connection and the id under which our reaction to a message is found (X7).
    pub(super) fn standing(&self) -> Option<(ConnectionId, ProviderMessageId)> {
        let Content::Reaction(reaction) = &self.content else { return None };
        let connection = self.connection?;
        Some((connection, reaction.target.provider_id.own_reaction(connection)))
    }
}

impl Sending<'_> {
    /// The message that `quoted_message_id` names, if it is given.
    ///
    /// # Errors
    ///
    /// As [`Sending::message_named`].
    pub(crate) async fn quoted(
        &self,
        company: CompanyId,
        id: Option<MessageId>,
    ) -> Result<Option<QuotedMessage>, Error<SendError>> {
        match id {
            Some(id) => {
                let (_, quoted) = self.message_named(company, id, "quoted_message_id").await?;
                Ok(Some(quoted))
            }
            None => Ok(None),
        }
    }

    /// A message by which another one is named: of this company, and known at its channel.
    ///
    /// # Errors
    ///
    /// [`SendError::MessageNotFound`]; what is wrong with `field` where the message never reached
    /// its channel.
    pub(super) async fn message_named(
        &self,
        company: CompanyId,
        id: MessageId,
        field: &'static str,
    ) -> Result<(Stored<Message>, QuotedMessage), Error<SendError>> {
        let store = self.app.store();
        let found = store.messages(company, &[id]).await?.into_iter().next();
        let message = found.ok_or(Error::Rejected(SendError::MessageNotFound))?;
        let Some(provider_id) = message.provider_id.clone() else {
            let problem = Problems::of(field, "names a message that its channel does not have");
            return Err(Error::Rejected(problem.into()));
        };
        let connection = store.get::<Connection>((company, message.connection)).await?;
        let address = match connection {
            Some(connection) => address_of(self.app, message.contact, &connection).await?,
            None => None,
        };
        let name = MessageName {
            provider_id,
            chat: address.map(|address| address.recipient).unwrap_or_default(),
            is_ours: message.direction == Direction::Outbound,
            participant: message.participant.as_ref().map(|wrote| wrote.identifier.clone()),
            content: message.written().clone(),
        };
        let quoted = QuotedMessage {
            id,
            contact: message.contact,
            connection: message.connection,
            kept: Quoted::of(&message),
            name,
        };
        Ok((message, quoted))
    }
}
