//! Sending a text, as integrators ask for it (4.8).

use super::draft::SendMessage;
use super::handle::Sending;
use super::{Delivered, Order, SendError, SentView, TextDraft};
use crate::access::{Caller, Scope};
use crate::body::IntoBody;
use crate::error::Error;
use crate::groups::GroupCode;
use crate::messages::ProviderMessageId;

impl From<&Delivered> for SentView {
    fn from(delivered: &Delivered) -> Self {
        let wamid = delivered.message.provider_id.as_ref();
        Self {
            wamid: wamid.map(|id| ProviderMessageId::as_str(id).to_owned()),
            provider: delivered.kind,
            message_id: delivered.message.id,
            contact_id: delivered.message.contact,
            group_jid: delivered.group.as_ref().map(|group| GroupCode::as_str(group).to_owned()),
        }
    }
}

impl Sending<'_> {
    /// Sends a text to a phone, group or community, or to a contact by whatever name its channel
    /// knows (4.8, D71).
    ///
    /// A refusal before the provider was called stores nothing. An answer means that the message,
    /// its outcome and its events are durable; `message.sent` is fired once. It is completed also
    /// when this future is dropped.
    ///
    /// # Errors
    ///
    /// [`SendError`], in the order of D33.
    pub async fn send_text(
        &self,
        caller: &Caller,
        body: impl IntoBody<SendMessage>,
    ) -> Result<SentView, Error<SendError>> {
        caller.require(Scope::MessagesSend)?;
        let suffix = &self.app.settings().group_suffix;
        let draft = TextDraft::parse(body, suffix, caller.region()).map_err(Error::Rejected)?;
        let quoted = self.quoted(caller.company(), draft.quoted).await?;
        let (target, contact) = self.target(caller.company(), draft.to).await?;
        let order = Order::text(caller.company(), target, draft.connection, draft.message);
        let order = Order { contact, quoted, ..order };
        Ok(SentView::from(&self.deliver(order).await?))
    }
}
