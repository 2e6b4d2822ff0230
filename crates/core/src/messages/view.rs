//! The forms in which messages are shown (2.4, 4.6, 4.7).

use serde::Serialize;

use super::{
    ContactBrief, DeliveryCode, Direction, ErrorType, Failure, MediaLinks, Message, MessageRecord,
    MessageStatus, MessageType, SenderType,
};
use crate::Timestamp;
use crate::contacts::Contact;
use crate::ids::{ConnectionId, ContactId, LedgerLineId, MessageId};
use crate::prosas::{Brl, Prosa, ProsaScope, Prosas};
use crate::templates::TemplateCategory;

/// Why a message failed, as it is shown: a code for machines, a Portuguese text for people (D30).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeliveryError {
    code: DeliveryCode,
    description: &'static str,
}

impl From<&Failure> for DeliveryError {
    fn from(failure: &Failure) -> Self {
        Self { code: failure.code, description: failure.code.description() }
    }
}

/// The debit that covers a message, as it is shown (2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProsaView {
    consumption_id: LedgerLineId,
    prosas: Prosas,
    cost_brl: Brl,
    scope: ProsaScope,
}

impl From<Prosa> for ProsaView {
    fn from(prosa: Prosa) -> Self {
        Self {
            consumption_id: prosa.consumption_id,
            prosas: prosa.prosas,
            cost_brl: prosa.cost,
            scope: prosa.scope,
        }
    }
}

/// A message as the listing of its contact shows it (4.7).
#[derive(Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[allow(clippy::allow_attributes, missing_docs, reason = "the fields are those of 2.4")]
pub struct MessageView {
    pub id: MessageId,
    pub direction: Direction,
    #[serde(rename = "type")]
    pub message_type: MessageType,
    pub content: Option<String>,
    pub media_url: Option<String>,
    pub media_mimetype: Option<String>,
    pub media_filename: Option<String>,
    pub media_caption: Option<String>,
    pub status: MessageStatus,
    pub error_type: Option<ErrorType>,
    pub error_message: Option<String>,
    pub failure_reason: Option<String>,
    pub delivery_error: Option<DeliveryError>,
    pub sender_type: SenderType,
    pub wamid: Option<String>,
    pub quoted_message_id: Option<MessageId>,
    pub quoted_content: Option<String>,
    pub quoted_type: Option<MessageType>,
    pub connection_id: ConnectionId,
    pub is_edited: bool,
    pub edited_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub timestamp: Timestamp,
    pub official_template_category: Option<TemplateCategory>,
    pub prosa: Option<ProsaView>,
}

impl std::fmt::Debug for MessageView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MessageView")
            .field("id", &self.id)
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

/// Where the file of a message can be read: the address that an import gave, or our link to the
/// copy once there is one (D31a).
pub(super) fn media_url(message: &Message, links: &MediaLinks) -> Option<String> {
    let copy = message.media.document.map(|document| links.link(message.company, document));
    message.media.url.clone().or(copy)
}

impl MessageView {
    /// Shows a message.
    pub fn new(message: &Message, links: &MediaLinks) -> Self {
        let failure = message.failure.as_ref();
        let error_message = failure.and_then(|failure| failure.message.clone());
        Self {
            id: message.id,
            direction: message.direction,
            message_type: message.message_type,
            content: message.content.clone(),
            media_url: media_url(message, links),
            media_mimetype: message.media.mimetype.clone(),
            media_filename: message.media.filename.clone(),
            media_caption: message.media.caption.clone(),
            status: message.status,
            error_type: failure.map(|failure| failure.error_type),
            error_message: error_message.clone(),
            failure_reason: error_message,
            delivery_error: failure.map(DeliveryError::from),
            sender_type: message.sender_type,
            wamid: message.provider_id.as_ref().map(|id| id.as_str().to_owned()),
            quoted_message_id: message.quoted.message,
            quoted_content: message.quoted.content.clone(),
            quoted_type: message.quoted.message_type,
            connection_id: message.connection,
            is_edited: message.edited_at.is_some(),
            edited_at: message.edited_at,
            created_at: message.created_at,
            timestamp: message.timestamp,
            official_template_category: message.template_category,
            prosa: message.prosa.map(ProsaView::from),
        }
    }
}

/// A message as the general listing shows it (4.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MessageListItem {
    /// What both listings show.
    #[serde(flatten)]
    pub message: MessageView,
    /// The contact.
    pub contact_id: ContactId,
    /// The id that an import gave it.
    pub external_id: Option<String>,
    /// The contact, in brief.
    pub contacts: ContactBrief,
}

impl MessageListItem {
    /// Shows a message with its contact.
    pub fn new(record: &MessageRecord, links: &MediaLinks) -> Self {
        let MessageRecord { message, contact } = record;
        Self {
            message: MessageView::new(message, links),
            contact_id: message.contact,
            external_id: message.external_id.clone(),
            contacts: contact.clone(),
        }
    }
}

impl ContactBrief {
    /// The brief form of a contact.
    pub fn of(contact: &Contact) -> Self {
        Self {
            id: contact.id,
            phone: contact.shown_phone().to_owned(),
            name: contact.name.clone(),
            display_name: contact.display_name.clone(),
            source_platform: contact.source_platform.as_str().to_owned(),
        }
    }
}
