//! Sending (4.8, 7.1, D33–D39): record the intent, call the provider, record the outcome.
//!
//! [`Sending::send_text`] is what integrators call; replies, AI turns and templates go the same way
//! with other [rules](SendRules). A message is stored as pending before its provider is called and
//! settled after; whatever a process leaves pending becomes `failed` as uncertain and is never sent
//! again by itself.

mod choose;
mod claim;
mod deliver;
mod draft;
mod error;
mod find;
mod in_flight;
mod intent;
mod names;
mod order;
mod record_outcome;
mod recover;
mod template;

pub(crate) use choose::keeps_number;
pub use choose::{NoConnection, choose_for_person, recipient_on};
pub use claim::Claim;
pub(crate) use draft::{MessageText, require};
pub use draft::{SendMessage, SendRecipient, TextDraft};
pub use error::{Cause, SendError};
pub(crate) use find::find_sent_job;
pub use order::{Delivered, Order, SendRules, SendTarget, TurnDebit};
pub(crate) use record_outcome::asks_to_stop;
pub(crate) use recover::Unrecorded;
pub(crate) use template::Variables;
pub use template::{SendTemplate, SendTemplateDraft, TemplateSentView};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::Recado;
use crate::access::{Caller, Scope};
use crate::connections::ConnectionKind;
use crate::error::Error;
use crate::groups::GroupCode;
use crate::ids::{ContactId, MessageId};
use crate::messages::ProviderMessageId;

/// The use cases on sending. Made by [`Recado::sending`].
#[derive(Clone, Copy, Debug)]
pub struct Sending<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Sending messages.
    pub fn sending(&self) -> Sending<'_> {
        Sending { app: self }
    }
}

/// The answer to a send (4.8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SentView {
    /// The provider's id of the message.
    pub wamid: Option<String>,
    /// The kind of the connection it went through (D61).
    pub provider: ConnectionKind,
    /// The message.
    pub message_id: MessageId,
    /// The contact it went to.
    pub contact_id: ContactId,
    /// The group that received it; of a community, its announcement group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_jid: Option<String>,
}

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
    /// Sends a text to a phone, group or community (4.8).
    ///
    /// A refusal before the provider was called leaves nothing behind. An answer means that the
    /// message, its outcome and its events are durable; `message.sent` is told once. A future
    /// that is dropped half-way leaves the message to [`Sending::recover`], which can only call it
    /// uncertain: run it to its end.
    ///
    /// # Errors
    ///
    /// [`SendError`], in the order of D33.
    pub async fn send_text(
        &self,
        caller: &Caller,
        body: &Map<String, Value>,
    ) -> Result<SentView, Error<SendError>> {
        caller.require(Scope::MessagesSend)?;
        let suffix = &self.app.settings().group_suffix;
        let draft = TextDraft::parse(body, suffix, caller.region()).map_err(Error::Rejected)?;
        let target = match draft.to {
            SendRecipient::Phone(phone) => SendTarget::Phone(phone),
            SendRecipient::Group(code) => SendTarget::Group(code),
        };
        let order = Order::text(caller.company(), target, draft.connection, draft.message);
        Ok(SentView::from(&self.deliver(order).await?))
    }
}
