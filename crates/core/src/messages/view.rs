//! The forms in which messages are shown (2.4, 4.6, 4.7).

use serde::Serialize;

use super::{
    Blocks, ContactBrief, DeliveryCode, Direction, ErrorType, Failure, MediaLinks, Message,
    MessageRecord, MessageStatus, MessageType, ParticipantView, SenderType,
};
use crate::Timestamp;
use crate::contacts::Contact;
use crate::ids::{ConnectionId, ContactId, LedgerLineId, MessageId};
use crate::prosas::{Brl, Prosa, ProsaScope, Prosas};
use crate::templates::TemplateCategory;

/// Why a message failed, as it is shown: a code for machines, a Portuguese text for people (D30).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = DeliveryError))]
#[non_exhaustive]
pub struct FailureView {
    /// The code.
    pub code: DeliveryCode,
    /// The text for people, in Portuguese.
    pub description: &'static str,
}

impl From<&Failure> for FailureView {
    fn from(failure: &Failure) -> Self {
        Self { code: failure.code, description: failure.code.description() }
    }
}

/// The debit that covers a message, as it is shown (2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct ProsaView {
    /// The debit.
    pub consumption_id: LedgerLineId,
    /// How many prosas.
    pub prosas: Prosas,
    /// What it cost.
    pub cost_brl: Brl,
    /// What it covers.
    pub scope: ProsaScope,
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
#[non_exhaustive]
pub struct MessageView {
    /// Its id.
    pub id: MessageId,
    /// Which way it goes.
    pub direction: Direction,
    /// What kind of message it is.
    #[serde(rename = "type")]
    pub message_type: MessageType,
    /// Its text, or for other types what stands for it; null if there is none (D31a).
    pub content: Option<String>,
    /// A link to its file, from the first moment on; null if there is none (D31a).
    pub media_url: Option<String>,
    /// The media type of its file.
    pub media_mimetype: Option<String>,
    /// The name of its file.
    pub media_filename: Option<String>,
    /// What is written below its file.
    pub media_caption: Option<String>,
    /// How far it has come.
    pub status: MessageStatus,
    /// What kind of failure it was; null if it did not fail (D30).
    pub error_type: Option<ErrorType>,
    /// What the provider said of the failure, as it came (D30).
    pub error_message: Option<String>,
    /// The same as `error_message`, kept for compatibility (D30).
    pub failure_reason: Option<String>,
    /// Why it failed, for machines and people; null if it did not fail.
    pub delivery_error: Option<FailureView>,
    /// Who wrote it.
    pub sender_type: SenderType,
    /// Who of a group wrote it; null elsewhere (D72).
    pub participant: Option<ParticipantView>,
    /// The provider's id of it; null until there is one (D30).
    pub wamid: Option<String>,
    /// The message that it answers, if that is stored.
    pub quoted_message_id: Option<MessageId>,
    /// The text of the message that it answers.
    pub quoted_content: Option<String>,
    /// The type of the message that it answers.
    pub quoted_type: Option<MessageType>,
    /// What else it holds; null and false where it does not apply (X2, X3).
    #[serde(flatten)]
    pub blocks: Blocks,
    /// The connection it came or went through.
    pub connection_id: ConnectionId,
    /// Whether its text was edited on the channel.
    pub is_edited: bool,
    /// When it was last edited; null if it was not.
    pub edited_at: Option<Timestamp>,
    /// When it was stored.
    pub created_at: Timestamp,
    /// The provider's time of it.
    pub timestamp: Timestamp,
    /// The category of the template behind it; null if there is none.
    pub official_template_category: Option<TemplateCategory>,
    /// The debit that covers it; null if there is none.
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

/// Where the file of a message can be read: the address that an import gave, or the link of Recado,
/// from the first moment until the file is given up (D31a).
pub(super) fn media_url(message: &Message, links: &MediaLinks) -> Option<String> {
    let media = &message.media;
    let is_ours = media.document.is_some() || media.upload.is_some() || media.source.is_some();
    media.url.clone().or_else(|| is_ours.then(|| links.link(message.company, message.id)))
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
            delivery_error: failure.map(FailureView::from),
            sender_type: message.sender_type,
            participant: message.participant.as_ref().map(ParticipantView::from),
            wamid: message.provider_id.as_ref().map(|id| id.as_str().to_owned()),
            quoted_message_id: message.quoted.message,
            quoted_content: message.quoted.content.clone(),
            quoted_type: message.quoted.message_type,
            blocks: message.blocks.clone(),
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
#[non_exhaustive]
pub struct MessageListItem {
    /// The fields of both listings.
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use uuid::Uuid;

    use super::super::samples::{at, company, contact, links, message, no_blocks};
    use super::*;
    use crate::ids::DocumentId;

    fn shown(message: &Message) -> Value {
        serde_json::to_value(MessageView::new(message, &links())).expect("a view is JSON")
    }

    #[test]
    fn the_contacts_listing_shows_these_fields_and_no_other() {
        let mut expected = json!({
            "id": "00000000-0000-0000-0000-000000000004",
            "direction": "inbound",
            "type": "text",
            "content": "Olá",
            "media_url": null,
            "media_mimetype": null,
            "media_filename": null,
            "media_caption": null,
            "status": "received",
            "error_type": null,
            "error_message": null,
            "failure_reason": null,
            "delivery_error": null,
            "sender_type": "contact",
            "participant": null,
            "wamid": null,
            "quoted_message_id": null,
            "quoted_content": null,
            "quoted_type": null,
            "connection_id": "00000000-0000-0000-0000-000000000003",
            "is_edited": false,
            "edited_at": null,
            "created_at": "2025-11-13T02:13:20.000Z",
            "timestamp": "2025-11-13T02:13:20.000Z",
            "official_template_category": null,
            "prosa": null,
        });
        expected.as_object_mut().expect("an object").extend(no_blocks());
        assert_eq!(shown(&message(Direction::Inbound, at(0))), expected);
    }

    #[test]
    fn debug_output_reports_which_message_it_is_and_not_what_it_says() {
        let message = message(Direction::Inbound, at(0));
        let id = message.id.to_string();
        let view = MessageView::new(&message, &links());
        for shown in [format!("{message:?}"), format!("{view:?}")] {
            assert!(shown.contains(&id) && shown.contains("Received"), "{shown}");
            assert!(!shown.contains("Olá"), "{shown}");
        }
    }

    #[test]
    fn the_general_listing_adds_the_contact_and_the_external_id() {
        let mut message = message(Direction::Inbound, at(0));
        message.external_id = Some("crm-9".to_owned());
        message.prosa = Some(Prosa {
            consumption_id: LedgerLineId::new(Uuid::from_u128(9)),
            prosas: Prosas::from_units(1_500),
            cost: Brl::from_units(250_000),
            scope: ProsaScope::Turn,
        });
        let view = shown(&message);
        let record = MessageRecord { message, contact: ContactBrief::of(&contact()) };
        let item = serde_json::to_string(&MessageListItem::new(&record, &links()));
        let item: Value = serde_json::from_str(&item.expect("an item is JSON")).expect("JSON");
        let mut expected = view.as_object().cloned().expect("an object");
        let contact_id = "00000000-0000-0000-0000-000000000002";
        expected.insert("contact_id".to_owned(), json!(contact_id));
        expected.insert("external_id".to_owned(), json!("crm-9"));
        expected.insert(
            "contacts".to_owned(),
            json!({
                "id": contact_id,
                "phone": "+5511987654321",
                "name": "Ana",
                "display_name": "Ana",
                "source_platform": "whatsapp",
            }),
        );
        assert_eq!(item, Value::Object(expected));
        let (prosas, cost) = (item["prosa"]["prosas"].to_string(), &item["prosa"]["cost_brl"]);
        assert_eq!((prosas.as_str(), cost.to_string().as_str()), ("1.5", "0.25"));
    }

    /// D30.
    #[test]
    fn a_failed_message_reports_why_in_every_field_of_its_own() {
        let mut message = message(Direction::Outbound, at(0));
        message.status = MessageStatus::Failed;
        message.failure = Some(Failure::new(DeliveryCode::Media, "no such file".to_owned()));
        let view = shown(&message);
        assert_eq!(view["error_type"], "provider");
        assert_eq!(view["error_message"], "no such file");
        assert_eq!(view["failure_reason"], "no such file");
        assert_eq!(
            view["delivery_error"],
            json!({ "code": "MEDIA", "description": DeliveryCode::Media.description() })
        );
    }

    /// D31a.
    #[test]
    fn a_file_has_one_link_from_the_first_moment_and_never_that_of_the_gateway() {
        let mut message = message(Direction::Inbound, at(0));
        assert_eq!(shown(&message)["media_url"], Value::Null);
        let link = links().link(company(), message.id);
        message.media.source = Some("http://gateway.internal/file".to_owned());
        assert_eq!(shown(&message)["media_url"], link);
        message.media.document = Some(DocumentId::new(Uuid::from_u128(5)));
        assert_eq!(shown(&message)["media_url"], link);
        message.media.source = None;
        assert_eq!(shown(&message)["media_url"], link);
        message.media.url = Some("https://cdn.example/file".to_owned());
        assert_eq!(shown(&message)["media_url"], "https://cdn.example/file");
    }

    #[test]
    fn an_edited_message_says_so() {
        let mut message = message(Direction::Inbound, at(0));
        message.edited_at = Some(at(5));
        let view = shown(&message);
        assert_eq!((&view["is_edited"], &view["edited_at"]), (&json!(true), &json!(at(5))));
    }
}
