//! The body of the import of a message: the fields of 2.4.

use serde_json::{Map, Value};

use super::{
    DeliveryCode, Direction, ErrorType, Failure, Media, MessageStatus, MessageType,
    ProviderMessageId, Quoted, SenderType,
};
use crate::Timestamp;
use crate::ids::{ConnectionId, ContactId, LedgerLineId, MessageId};
use crate::input::{Input, read_bool, read_id, read_timestamp, read_word};
use crate::problems::Problems;
use crate::templates::{TemplateCategory, read_category};

/// Most characters of an imported text: what a received one may have.
const CONTENT_CHARS: usize = 65_536;
/// Most characters of an address.
const URL_CHARS: usize = 2048;
/// Most characters of a provider's text and of an id that others gave.
const LONG_CHARS: usize = 1024;

/// A body of the import, read. What it must not lack is optional here: a body without it has a
/// problem.
#[derive(Clone, Debug)]
pub(super) struct MessageDraft {
    pub(super) id: Option<MessageId>,
    pub(super) contact: Option<ContactId>,
    pub(super) connection: Option<ConnectionId>,
    pub(super) direction: Direction,
    pub(super) message_type: MessageType,
    pub(super) content: Option<String>,
    pub(super) media: Media,
    pub(super) status: MessageStatus,
    pub(super) failure: Option<Failure>,
    pub(super) sender_type: SenderType,
    pub(super) provider_id: Option<ProviderMessageId>,
    pub(super) external_id: Option<String>,
    pub(super) quoted: Quoted,
    pub(super) template_category: Option<TemplateCategory>,
    pub(super) debit: Option<LedgerLineId>,
    pub(super) edited_at: Option<Timestamp>,
    pub(super) created_at: Timestamp,
    pub(super) timestamp: Timestamp,
    pub(super) problems: Problems,
}

impl MessageDraft {
    /// Reads the fields of 2.4. Never fails: what is wrong is kept and answered by the use case.
    pub(super) fn parse(body: &Map<String, Value>, now: Timestamp) -> Self {
        let mut input = Input::new(body);
        // What the listing adds to a message may be sent along and says nothing new.
        input.ignore(&["contacts"]);
        let direction = input
            .required("direction", read_word(Direction::parse, Direction::WORDS))
            .unwrap_or(Direction::Inbound);
        let status = read_status(&mut input, direction);
        let created_at = input.given("created_at", read_timestamp).value().unwrap_or(now);
        if created_at > now {
            input.problem("created_at", "lies in the future");
        }
        let timestamp = input.given("timestamp", read_timestamp).value().unwrap_or(created_at);
        let draft = Self {
            id: input.given("id", read_id(MessageId::parse)).value(),
            contact: input.required("contact_id", read_id(ContactId::parse)),
            connection: input.required("connection_id", read_id(ConnectionId::parse)),
            direction,
            message_type: read_type(&mut input, "type").unwrap_or(MessageType::Text),
            content: input.given_text("content", CONTENT_CHARS).value(),
            media: read_media(&mut input),
            status,
            failure: read_failure(&mut input, status),
            sender_type: read_sender(&mut input, direction),
            provider_id: input
                .given_form("wamid", |text| {
                    ProviderMessageId::parse(text)
                        .ok_or("must be 1 to 512 bytes without control characters")
                })
                .value(),
            external_id: input.given_text("external_id", LONG_CHARS).value(),
            quoted: Quoted {
                message: input.given("quoted_message_id", read_id(MessageId::parse)).value(),
                content: input.given_text("quoted_content", CONTENT_CHARS).value(),
                message_type: read_type(&mut input, "quoted_type"),
            },
            template_category: input
                .given(
                    "official_template_category",
                    read_word(read_category, TemplateCategory::WORDS),
                )
                .value(),
            debit: read_debit(&mut input),
            edited_at: read_edited(&mut input, timestamp),
            created_at,
            timestamp,
            problems: Problems::new(),
        };
        if direction == Direction::Inbound {
            if draft.template_category.is_some() {
                input.problem("official_template_category", "does not go with an inbound message");
            }
            if draft.debit.is_some() {
                input.problem("prosa", "does not go with an inbound message");
            }
        }
        Self { problems: input.finish(), ..draft }
    }
}

fn read_type<'a>(input: &mut Input<'a>, name: &'a str) -> Option<MessageType> {
    input.given(name, read_word(MessageType::parse, MessageType::WORDS)).value()
}

/// Inbound messages are received and nothing else; outbound ones are on their way or failed, and an
/// import sends nothing.
fn read_status(input: &mut Input<'_>, direction: Direction) -> MessageStatus {
    let given = input.given("status", read_word(MessageStatus::parse, MessageStatus::WORDS));
    let (fallback, reason) = match direction {
        Direction::Inbound => (MessageStatus::Received, "must be received for an inbound message"),
        Direction::Outbound => (
            MessageStatus::Delivered,
            "must be sent, delivered, read or failed for an outbound message",
        ),
    };
    let status = given.value().unwrap_or(fallback);
    let inbound = direction == Direction::Inbound;
    if status == MessageStatus::Pending || (status == MessageStatus::Received) != inbound {
        input.problem("status", reason);
    }
    status
}

fn read_sender(input: &mut Input<'_>, direction: Direction) -> SenderType {
    let given = input.given("sender_type", read_word(SenderType::parse, SenderType::WORDS));
    let inbound = direction == Direction::Inbound;
    let fallback = if inbound { SenderType::Contact } else { SenderType::Agent };
    let sender = given.value().unwrap_or(fallback);
    if (sender == SenderType::Contact) != inbound {
        let reason = if inbound {
            "must be contact for an inbound message"
        } else {
            "must be system, agent, ai or campaign for an outbound message"
        };
        input.problem("sender_type", reason);
    }
    sender
}

fn read_media(input: &mut Input<'_>) -> Media {
    let url = input
        .given_form("media_url", |text| {
            let text = text.trim();
            let is_url = text.starts_with("https://") || text.starts_with("http://");
            let fits = is_url && text.len() <= URL_CHARS && !text.chars().any(char::is_control);
            fits.then(|| text.to_owned()).ok_or("must be an http or https address")
        })
        .value();
    Media {
        url,
        source: None,
        document: None,
        mimetype: input.given_text("media_mimetype", LONG_CHARS).value(),
        filename: input.given_text("media_filename", LONG_CHARS).value(),
        caption: input.given_text("media_caption", CONTENT_CHARS).value(),
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

/// Why the message failed: there exactly when it did.
fn read_failure(input: &mut Input<'_>, status: MessageStatus) -> Option<Failure> {
    let error_type =
        input.given("error_type", read_word(ErrorType::parse, ErrorType::WORDS)).value();
    let message = input.given_text("error_message", CONTENT_CHARS).value();
    let repeated = input.given_text("failure_reason", CONTENT_CHARS).value();
    let code = input
        .given("delivery_error", |value| {
            let code = value.get("code").and_then(Value::as_str).and_then(DeliveryCode::parse);
            code.ok_or_else(|| "must be an object with a code of the catalogue".to_owned())
        })
        .value();
    if status != MessageStatus::Failed {
        let named = [
            ("error_type", error_type.is_some()),
            ("error_message", message.is_some()),
            ("failure_reason", repeated.is_some()),
            ("delivery_error", code.is_some()),
        ];
        for (name, _) in named.into_iter().filter(|(_, given)| *given) {
            input.problem(name, "goes with the status failed only");
        }
        return None;
    }
    let code = code.unwrap_or_else(|| error_type.map_or(DeliveryCode::Unknown, code_of));
    let error_type = error_type.unwrap_or_else(|| code.error_type());
    Some(Failure { error_type, code, message: message.or(repeated) })
}

/// The debit that covers the message: its values are those of the ledger, whatever is sent along.
fn read_debit(input: &mut Input<'_>) -> Option<LedgerLineId> {
    let read = |value: &Value| {
        let id = value.get("consumption_id").and_then(Value::as_str).and_then(LedgerLineId::parse);
        id.ok_or_else(|| "must be an object with the consumption_id of a debit".to_owned())
    };
    input.given("prosa", read).value()
}

/// When the content was changed; an edit without a time counts from the message's own.
fn read_edited(input: &mut Input<'_>, timestamp: Timestamp) -> Option<Timestamp> {
    let is_edited = input.given("is_edited", read_bool).value();
    let edited_at = input.given("edited_at", read_timestamp).value();
    match (is_edited, edited_at) {
        (Some(false), Some(_)) => {
            input.problem("edited_at", "does not go with is_edited false");
            None
        }
        (Some(true), None) => Some(timestamp),
        (_, edited_at) => edited_at,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
            (outbound.status, outbound.sender_type, outbound.message_type),
            (MessageStatus::Delivered, SenderType::Agent, MessageType::Text)
        );
        assert_eq!((outbound.created_at, outbound.timestamp), (at(0), at(0)));
        let inbound = parse(json!({ "direction": "inbound" }));
        assert!(inbound.problems.is_empty(), "{:?}", inbound.problems);
        assert_eq!(
            (inbound.status, inbound.sender_type),
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
    fn a_failure_is_read_from_whatever_tells_of_it() {
        let failure = |extra: Value| {
            let mut body = json!({ "status": "failed" });
            for (name, value) in extra.as_object().cloned().unwrap_or_default() {
                body[name] = value;
            }
            let draft = parse(body);
            assert!(draft.problems.is_empty(), "{:?}", draft.problems);
            draft.failure.expect("a failed message has a failure")
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
        assert_eq!(draft.edited_at, Some(at(-5)));
        assert_eq!(parse(json!({ "edited_at": at(-2) })).edited_at, Some(at(-2)));
        assert_eq!(parse(json!({ "is_edited": false })).edited_at, None);
    }
}
