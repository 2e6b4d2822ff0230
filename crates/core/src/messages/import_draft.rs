//! The body of the import of a message: the fields of 2.4.

use serde_json::Value;

use super::{
    DeliveryCode, Direction, ErrorType, Failure, Media, MessageStatus, MessageType, Participant,
    ProviderMessageId, SenderType, WrittenBy,
};
use crate::Timestamp;
use crate::body::{
    BodyField, Expected, IntoBody, NotAfterNow, Optional, Required, Unread, as_form, body,
};
use crate::contacts::Phone;
use crate::form::{Form, Text, component, is_blank_text, text_form};
use crate::ids::{ConnectionId, ContactId, LedgerLineId, MessageId};
use crate::input::Input;
#[cfg(feature = "openapi")]
use crate::openapi::{self, Property};
use crate::problems::Problems;
use crate::templates::{Category, TemplateCategory};

/// A text as long as that of a received message.
type LongText = Text<65_536>;
/// A provider's text, or an external id.
type Long = Text<1024>;
/// Most bytes of an address.
const URL_BYTES: usize = 2048;

/// The direction of the body that is being read.
fn direction(input: &mut Input<'_>) -> Direction {
    let sent = input.raw("direction").and_then(Value::as_str).and_then(Direction::parse);
    sent.unwrap_or(Direction::Inbound)
}

/// The status of a message of this direction for which none is reported.
const fn usual_status(direction: Direction) -> MessageStatus {
    match direction {
        Direction::Inbound => MessageStatus::Received,
        Direction::Outbound => MessageStatus::Delivered,
    }
}

/// The status. An inbound message is always `received`; an outbound one has any other status but
/// `pending`, as an import sends nothing.
pub(crate) struct Status;

impl BodyField for Status {
    type Value = Option<MessageStatus>;
    const NULLABLE: bool = true;

    fn read(input: &mut Input<'_>, name: &'static str) -> Option<Self::Value> {
        let direction = direction(input);
        let status = Optional::<MessageStatus>::read(input, name)?;
        let inbound = direction == Direction::Inbound;
        let is_wrong = |status: MessageStatus| {
            status == MessageStatus::Pending || (status == MessageStatus::Received) != inbound
        };
        if status.is_some_and(is_wrong) {
            let reason = if inbound {
                "must be received for an inbound message"
            } else {
                "must be sent, delivered, read or failed for an outbound message"
            };
            return input.refuse(name, reason);
        }
        Some(status)
    }

    as_form!(MessageStatus);
}

/// Who wrote the message: the contact if it is inbound, else the company.
pub(crate) struct Sender;

impl BodyField for Sender {
    type Value = Option<SenderType>;
    const NULLABLE: bool = true;

    fn read(input: &mut Input<'_>, name: &'static str) -> Option<Self::Value> {
        let inbound = direction(input) == Direction::Inbound;
        let sender = Optional::<SenderType>::read(input, name)?;
        if sender.is_some_and(|sender| (sender == SenderType::Contact) != inbound) {
            let reason = if inbound {
                "must be contact for an inbound message"
            } else {
                "must be system, agent, ai or campaign for an outbound message"
            };
            return input.refuse(name, reason);
        }
        Some(sender)
    }

    as_form!(SenderType);
}

/// A field that only a failed message has.
pub(crate) struct OfFailed<F>(std::marker::PhantomData<F>);

impl<F: Form> BodyField for OfFailed<F> {
    type Value = Option<F::Value>;
    const NULLABLE: bool = true;

    fn read(input: &mut Input<'_>, name: &'static str) -> Option<Self::Value> {
        let status = input.raw("status").and_then(Value::as_str);
        let read = Optional::<F>::read(input, name)?;
        if read.is_some() && status != Some(MessageStatus::Failed.as_str()) {
            return input.refuse(name, "goes with the status failed only");
        }
        Some(read)
    }

    as_form!(F);
}

/// An http or https address.
pub(crate) struct MediaUrl;

impl Form for MediaUrl {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        let text = value.as_str().ok_or("must be a string")?.trim();
        let is_url = text.starts_with("https://") || text.starts_with("http://");
        let fits = is_url && text.len() <= URL_BYTES && !text.chars().any(char::is_control);
        fits.then(|| text.to_owned()).ok_or_else(|| "must be an http or https address".to_owned())
    }

    fn is_blank(value: &Value) -> bool {
        is_blank_text(value)
    }

    #[cfg(feature = "openapi")]
    fn schema() -> Property {
        openapi::text(|text| text)
    }
}

fn read_provider_id(text: &str) -> Result<ProviderMessageId, &'static str> {
    ProviderMessageId::parse(text).ok_or("must be 1 to 512 bytes without control characters")
}

text_form!(ProviderMessageId, read_provider_id, ProviderMessageId::as_str, blank is null, |text| text);

body! {
    /// Why a message failed; only `code` is read.
    #[derive(Clone, Copy, Debug)]
    pub struct ShownFailure as "DeliveryErrorBody" {
        code: DeliveryCode = Required<DeliveryCode>,
        description: () = Unread<LongText>,
    }
}

impl Form for ShownFailure {
    type Value = Self;

    fn read(value: &Value) -> Result<Self, String> {
        let read = value.as_object().and_then(|shown| Self::fields(&mut Input::new(shown)));
        read.ok_or_else(|| "must be an object with a code of the catalogue".to_owned())
    }

    component!();
}

body! {
    /// The debit that covers a message; its values are read from the ledger.
    #[derive(Clone, Copy, Debug)]
    pub struct CoveredBy as "CoveredBy" {
        consumption_id: LedgerLineId = Required<LedgerLineId>,
    }
}

impl Form for CoveredBy {
    type Value = Self;

    fn read(value: &Value) -> Result<Self, String> {
        let read = value.as_object().and_then(|shown| Self::fields(&mut Input::new(shown)));
        read.ok_or_else(|| "must be an object with the consumption_id of a debit".to_owned())
    }

    component!();
}

/// When the content was changed; not accepted together with `is_edited: false`.
pub(crate) struct EditedAt;

impl BodyField for EditedAt {
    type Value = Option<Timestamp>;
    const NULLABLE: bool = true;

    fn read(input: &mut Input<'_>, name: &'static str) -> Option<Self::Value> {
        let is_unedited = input.raw("is_edited") == Some(&Value::Bool(false));
        let edited_at = Optional::<Timestamp>::read(input, name)?;
        if edited_at.is_some() && is_unedited {
            return input.refuse(name, "does not go with is_edited false");
        }
        Some(edited_at)
    }

    as_form!(Timestamp);
}

body! {
    /// A message to be imported.
    #[derive(Clone, Debug)]
    pub struct ImportedMessage as "ImportMessage" partial {
        direction: Option<Direction> = Expected<Direction>,
        status: Option<MessageStatus> = Status,
        created_at: Option<Timestamp> = NotAfterNow,
        timestamp: Option<Timestamp> = Optional<Timestamp>,
        /// With an id, an import can be repeated: an id that exists is answered with 409.
        id: Option<MessageId> = Optional<MessageId>,
        contact as "contact_id": Option<ContactId> = Expected<ContactId>,
        connection as "connection_id": Option<ConnectionId> = Expected<ConnectionId>,
        message_type as "type": Option<MessageType> = Optional<MessageType>,
        content: Option<String> = Optional<LongText>,
        media_url: Option<String> = Optional<MediaUrl>,
        media_mimetype: Option<String> = Optional<Long>,
        media_filename: Option<String> = Optional<Long>,
        media_caption: Option<String> = Optional<LongText>,
        error_type: Option<ErrorType> = OfFailed<ErrorType>,
        error_message: Option<String> = OfFailed<LongText>,
        /// The same as `error_message`.
        failure_reason: Option<String> = OfFailed<LongText>,
        delivery_error: Option<ShownFailure> = OfFailed<ShownFailure>,
        sender_type: Option<SenderType> = Sender,
        /// Of a message in a group: who wrote it.
        participant: Option<WrittenBy> = Optional<WrittenBy>,
        provider_id as "wamid": Option<ProviderMessageId> = Optional<ProviderMessageId>,
        external_id: Option<String> = Optional<Long>,
        quoted_message as "quoted_message_id": Option<MessageId> = Optional<MessageId>,
        quoted_content: Option<String> = Optional<LongText>,
        quoted_type: Option<MessageType> = Optional<MessageType>,
        template_category as "official_template_category": Option<TemplateCategory>
            = Optional<Category>,
        debit as "prosa": Option<CoveredBy> = Optional<CoveredBy>,
        is_edited: Option<bool> = Optional<bool>,
        edited_at: Option<Timestamp> = EditedAt,
    }
    check |input| if direction.flatten() != Some(Direction::Outbound) {
        let reason = "does not go with an inbound message";
        if template_category.flatten().is_some() {
            input.problem("official_template_category", reason);
        }
        if debit.flatten().is_some() {
            input.problem("prosa", reason);
        }
    };
}

/// A parsed body of the import, with the values of fields that it lacks.
#[derive(Clone, Debug)]
pub(super) struct MessageDraft {
    pub(super) body: ImportedMessage,
    pub(super) problems: Problems,
    now: Timestamp,
}

impl MessageDraft {
    /// Reads the fields of 2.4. Never fails: problems are kept, and the use case answers them.
    pub(super) fn parse(body: impl IntoBody<ImportedMessage>, now: Timestamp) -> Self {
        let body = body.into_map();
        let mut input = Input::new(&body).at(now);
        // Fields that the listing adds to a message may be sent and are ignored.
        input.ignore(["contacts"]);
        let read = ImportedMessage::fields(&mut input);
        Self { body: read, problems: input.finish(), now }
    }

    pub(super) fn direction(&self) -> Direction {
        self.body.direction.unwrap_or(Direction::Inbound)
    }

    pub(super) fn status(&self) -> MessageStatus {
        self.body.status.unwrap_or(usual_status(self.direction()))
    }

    pub(super) fn sender_type(&self) -> SenderType {
        let usual = match self.direction() {
            Direction::Inbound => SenderType::Contact,
            Direction::Outbound => SenderType::Agent,
        };
        self.body.sender_type.unwrap_or(usual)
    }

    /// Who of a group wrote it (D72).
    pub(super) fn participant(&self) -> Option<Participant> {
        let WrittenBy { identifier, phone, name } = self.body.participant.clone()?;
        let phone = phone.and_then(|phone| Phone::from_stored(phone).ok());
        Some(Participant { identifier, phone, name })
    }

    pub(super) fn media(&self) -> Media {
        let body = self.body.clone();
        Media {
            url: body.media_url,
            source: None,
            document: None,
            upload: None,
            mimetype: body.media_mimetype,
            filename: body.media_filename,
            caption: body.media_caption,
        }
    }

    /// The failure; `Some` exactly if the status is failed.
    pub(super) fn failure(&self) -> Option<Failure> {
        if self.status() != MessageStatus::Failed {
            return None;
        }
        let body = self.body.clone();
        let code = body.delivery_error.map(|shown| shown.code);
        let code = code.unwrap_or_else(|| body.error_type.map_or(DeliveryCode::Unknown, code_of));
        let error_type = body.error_type.unwrap_or_else(|| code.error_type());
        Some(Failure { error_type, code, message: body.error_message.or(body.failure_reason) })
    }

    pub(super) fn created_at(&self) -> Timestamp {
        self.body.created_at.unwrap_or(self.now)
    }

    pub(super) fn timestamp(&self) -> Timestamp {
        self.body.timestamp.unwrap_or_else(|| self.created_at())
    }

    /// When the content was changed; an edit without a time has the time of the message.
    pub(super) fn edited_at(&self) -> Option<Timestamp> {
        let unknown = self.body.is_edited.filter(|is_edited| *is_edited).map(|_| self.timestamp());
        self.body.edited_at.or(unknown)
    }
}

/// The code that an error type stands for when no code is reported.
const fn code_of(error_type: ErrorType) -> DeliveryCode {
    match error_type {
        ErrorType::Network => DeliveryCode::Network,
        ErrorType::ConnectionOffline => DeliveryCode::ConnectionOffline,
        ErrorType::Config => DeliveryCode::Configuration,
        ErrorType::DeliveryUncertain => DeliveryCode::DeliveryUncertain,
        ErrorType::Provider | ErrorType::Unknown => DeliveryCode::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::super::samples::at;
    use super::*;

    fn parse(extra: Value) -> MessageDraft {
        let id = "00000000-0000-0000-0000-000000000001";
        let mut body = json!({ "contact_id": id, "connection_id": id, "direction": "outbound" });
        for (name, value) in extra.as_object().cloned().unwrap_or_default() {
            body[name] = value;
        }
        MessageDraft::parse(body.as_object().expect("an object"), at(0))
    }

    fn fields(draft: &MessageDraft) -> Vec<&str> {
        draft.problems.fields().collect()
    }

    #[test]
    fn what_is_not_reported_follows_from_the_direction() {
        let outbound = parse(json!({}));
        assert!(outbound.problems.is_empty(), "{:?}", outbound.problems);
        assert_eq!(
            (outbound.status(), outbound.sender_type(), outbound.body.message_type),
            (MessageStatus::Delivered, SenderType::Agent, None)
        );
        assert_eq!((outbound.created_at(), outbound.timestamp()), (at(0), at(0)));
        let inbound = parse(json!({ "direction": "inbound" }));
        assert!(inbound.problems.is_empty(), "{:?}", inbound.problems);
        assert_eq!(
            (inbound.status(), inbound.sender_type()),
            (MessageStatus::Received, SenderType::Contact)
        );
    }

    /// R52.
    #[test]
    fn what_contradicts_itself_is_refused_by_name() {
        for (body, field) in [
            (json!({ "direction": "inbound", "status": "delivered" }), "status"),
            (json!({ "direction": "inbound", "status": "pending" }), "status"),
            (json!({ "status": "received" }), "status"),
            (json!({ "status": "pending" }), "status"),
            (json!({ "status": "arrived" }), "status"),
            (json!({ "direction": "inbound", "sender_type": "agent" }), "sender_type"),
            (json!({ "sender_type": "contact" }), "sender_type"),
            (json!({ "error_type": "network" }), "error_type"),
            (json!({ "error_message": "x" }), "error_message"),
            (json!({ "failure_reason": "x" }), "failure_reason"),
            (json!({ "delivery_error": { "code": "MEDIA" } }), "delivery_error"),
            (json!({ "status": "failed", "delivery_error": { "code": "x" } }), "delivery_error"),
            (json!({ "is_edited": false, "edited_at": at(0) }), "edited_at"),
            (json!({ "created_at": at(1) }), "created_at"),
            (json!({ "media_url": "javascript:alert(1)" }), "media_url"),
            (json!({ "wamid": "a\u{1}b" }), "wamid"),
            (json!({ "prosa": { "prosas": 1 } }), "prosa"),
            (json!({ "participant": "x" }), "participant"),
            (json!({ "participant": {} }), "participant"),
            (json!({ "participant": {"identifier": " "} }), "participant"),
            (json!({ "participant": {"identifier": "1@lid", "phone": "x"} }), "participant"),
            (json!({ "participant": {"identifier": "1@lid", "key": 1} }), "participant"),
            (
                json!({ "direction": "inbound", "official_template_category": "UTILITY" }),
                "official_template_category",
            ),
        ] {
            assert_eq!(fields(&parse(body.clone())), [field], "{body}");
        }
    }

    #[test]
    fn every_missing_field_is_named_at_once() {
        let draft = MessageDraft::parse(&Map::new(), at(0));
        assert_eq!(fields(&draft), ["direction", "contact_id", "connection_id"]);
    }

    #[test]
    fn a_failure_is_read_from_whatever_reports_it() {
        let failure = |extra: Value| {
            let mut body = json!({ "status": "failed" });
            for (name, value) in extra.as_object().cloned().unwrap_or_default() {
                body[name] = value;
            }
            let draft = parse(body);
            assert!(draft.problems.is_empty(), "{:?}", draft.problems);
            draft.failure().expect("a failed message has a failure")
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(failure(json!({})), Failure::new(DeliveryCode::Unknown, None));
        assert_eq!(
            failure(json!({ "error_type": "delivery_uncertain", "error_message": "lost" })),
            Failure::uncertain(text("lost"))
        );
        assert_eq!(
            failure(json!({ "error_type": "provider", "failure_reason": "no" })),
            Failure {
                error_type: ErrorType::Provider,
                code: DeliveryCode::Unknown,
                message: text("no"),
            }
        );
        let shown = json!({ "code": "MEDIA", "description": "whatever" });
        assert_eq!(
            failure(json!({ "delivery_error": shown })),
            Failure::new(DeliveryCode::Media, None)
        );
    }

    #[test]
    fn an_edit_of_an_unknown_time_counts_from_the_messages_own() {
        let draft = parse(json!({ "is_edited": true, "timestamp": at(-5) }));
        assert_eq!(draft.edited_at(), Some(at(-5)));
        assert_eq!(parse(json!({ "edited_at": at(-2) })).edited_at(), Some(at(-2)));
        assert_eq!(parse(json!({ "is_edited": false })).edited_at(), None);
    }

    #[test]
    fn a_blank_address_of_a_file_is_none() {
        for blank in [json!(null), json!(""), json!("  ")] {
            let draft = parse(json!({ "media_url": blank }));
            assert!(draft.problems.is_empty(), "{:?}", draft.problems);
            assert_eq!(draft.body.media_url, None);
        }
    }
}
