//! The answer to a send (4.8).

use serde::Serialize;

use super::Delivered;
use crate::connections::ConnectionKind;
use crate::ids::{ContactId, MessageId};
use crate::messages::MessageType;

/// The answer to a send (4.8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
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

/// The answer to a send of another kind than text and template (X10–X13).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct KindSentView {
    /// What every send answers.
    #[serde(flatten)]
    pub sent: SentView,
    /// What the message is.
    #[serde(rename = "type")]
    pub message_type: MessageType,
}

impl From<&Delivered> for KindSentView {
    fn from(delivered: &Delivered) -> Self {
        Self { sent: SentView::from(delivered), message_type: delivered.message.message_type }
    }
}
