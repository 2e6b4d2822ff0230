//! The message that a send, or a mark, names.

use super::address::address_of;
use super::{QuotedMessage, SendError, Sending};
use crate::connections::Connection;
use crate::error::Error;
use crate::gateway::MessageName;
use crate::ids::{CompanyId, MessageId};
use crate::messages::{Direction, Message, Quoted};
use crate::problems::Problems;
use crate::store::{RecordsExt, Stored};

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
            Some(connection) => address_of(self.app.store(), message.contact, &connection).await?,
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
