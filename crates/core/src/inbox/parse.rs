//! Reading neutral events from JSON (D67).

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::reported_type::read_type;
use super::tidy::{MAX_ALIASES, MAX_CONTENT, MAX_URL};
use crate::Timestamp;
use crate::connections::ConnectionStatus;
use crate::gateway::{
    Button, EventMedia, GatewayEvent, GatewayMessage, Incoming, Preference, PreferenceReport,
    StatusEvent,
};
use crate::groups::parse_groups;
use crate::ids::MessageId;
use crate::input::{Input, read_bool, read_id, read_timestamp, read_word};
use crate::messages::{
    Blocks, DeliveryCode, Failure, MessageStatus, MessageType, ProviderMessageId,
};
use crate::problems::Problems;
use crate::text;

/// The most events of one call (D67).
const MAX_EVENTS: usize = 1_000;

/// Reads the events of a call: each is read on its own, and one that cannot be is refused on its
/// own.
///
/// # Errors
///
/// When `events` is missing, is no array or has too many entries, or when there is another field.
pub fn parse_events(
    body: &Map<String, Value>,
    group_suffix: &str,
) -> Result<Vec<Incoming>, Problems> {
    let mut input = Input::new(body);
    let events = match input.raw("events").map(Value::as_array) {
        Some(Some(events)) if events.len() > MAX_EVENTS => {
            Err(format!("may hold at most {MAX_EVENTS} events"))
        }
        Some(Some(events)) => Ok(events.as_slice()),
        Some(None) => Err("must be an array of events".to_owned()),
        None => Err("is required".to_owned()),
    };
    let events = events.unwrap_or_else(|reason| {
        input.problem("events", reason);
        &[]
    });
    input.finish().into_result()?;
    Ok(events.iter().map(|event| parse_event(event, group_suffix)).collect())
}

/// Reads one event. `group_suffix` is what follows `@` in group codes (D2).
///
/// # Errors
///
/// Why it cannot be read, for people.
pub fn parse_event(value: &Value, group_suffix: &str) -> Incoming {
    let object = value.as_object().ok_or("an event must be an object")?;
    let fields = EventFields { object };
    let kind = fields.required("kind", |value| {
        value.as_str().map(str::to_owned).ok_or_else(|| "must be a string".to_owned())
    })?;
    match kind.as_str() {
        "message" => Ok(GatewayEvent::Message(fields.message("from")?)),
        "echo" => Ok(GatewayEvent::Echo(fields.message("to")?)),
        "edit" => Ok(GatewayEvent::Edit {
            provider_id: fields.provider_id()?,
            content: fields.required("content", |value| long_text(value, MAX_CONTENT))?,
            timestamp: fields.timestamp()?,
        }),
        "deleted" => Ok(GatewayEvent::Deleted {
            provider_id: fields.provider_id()?,
            timestamp: fields.timestamp()?,
        }),
        "status" => Ok(GatewayEvent::Status(fields.status()?)),
        "connection" => {
            let read = read_word(ConnectionStatus::parse, ConnectionStatus::WORDS);
            Ok(GatewayEvent::Connection(fields.required("status", read)?))
        }
        "groups" => {
            let groups = fields.required("groups", |value| {
                value.as_array().cloned().ok_or_else(|| "must be an array".to_owned())
            })?;
            Ok(GatewayEvent::Groups(parse_groups(&groups, group_suffix)?.into()))
        }
        "preference" => Ok(GatewayEvent::Preference(PreferenceReport {
            peer: fields.required("from", channel_name)?,
            aliases: fields.aliases()?,
            preference: fields
                .required("preference", read_word(Preference::parse, Preference::WORDS))?,
            timestamp: fields.timestamp()?,
            history: false,
        })),
        _ => Err("kind is not known".to_owned()),
    }
}

/// The fields of one event.
struct EventFields<'a> {
    object: &'a Map<String, Value>,
}

impl EventFields<'_> {
    fn optional<T>(
        &self,
        name: &str,
        read: impl FnOnce(&Value) -> Result<T, String>,
    ) -> Result<Option<T>, String> {
        match self.object.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => read(value).map(Some).map_err(|reason| format!("{name} {reason}")),
        }
    }

    fn required<T>(
        &self,
        name: &str,
        read: impl FnOnce(&Value) -> Result<T, String>,
    ) -> Result<T, String> {
        self.optional(name, read)?.ok_or_else(|| format!("{name} is required"))
    }

    fn timestamp(&self) -> Result<Option<Timestamp>, String> {
        self.optional("timestamp", read_timestamp)
    }

    fn provider_id(&self) -> Result<ProviderMessageId, String> {
        self.required("provider_message_id", provider_id)
    }

    fn aliases(&self) -> Result<Vec<String>, String> {
        let read = |value: &Value| {
            let names = value.as_array().ok_or("must be an array of strings")?;
            names.iter().take(MAX_ALIASES).map(channel_name).collect()
        };
        Ok(self.optional("aliases", read)?.unwrap_or_default())
    }

    fn message(&self, peer: &str) -> Result<GatewayMessage, String> {
        let button = self.optional("button", button)?;
        let title = button.as_ref().and_then(|button| button.title.clone());
        let (message_type, is_voice) = self.required("type", read_type)?;
        Ok(GatewayMessage {
            provider_id: self.provider_id()?,
            peer: self.required(peer, channel_name)?,
            aliases: self.aliases()?,
            participant: self.optional("participant", channel_name)?,
            push_name: self.optional("push_name", short_text)?.filter(|name| !name.is_empty()),
            message_type,
            content: self
                .optional("content", |value| long_text(value, MAX_CONTENT))?
                .filter(|content| !content.is_empty())
                .or(title),
            media: self.optional("media", media)?,
            blocks: self.blocks(is_voice)?,
            quoted: self.optional("quoted_provider_message_id", provider_id)?,
            quoted_content: self
                .optional("quoted_content", |value| long_text(value, MAX_CONTENT))?,
            quoted_type: self.optional("quoted_type", read_type)?.map(|(quoted, _)| quoted),
            button,
            history: self.optional("history", read_bool)?.unwrap_or(false),
            is_late: self.optional("is_late", read_bool)?.unwrap_or(false),
            timestamp: self.timestamp()?,
            raw: (message_type == MessageType::Unsupported)
                .then(|| Value::Object(self.object.clone())),
        })
    }

    /// What else the message holds (X2). The fields that refer to messages of Recado are ignored.
    fn blocks(&self, is_voice: bool) -> Result<Blocks, String> {
        Ok(Blocks {
            location: self.optional("location", block)?,
            shared_contacts: self.optional("shared_contacts", block)?,
            interactive: self.optional("interactive", block)?,
            order: self.optional("order", block)?,
            product: self.optional("product", block)?,
            referral: self.optional("referral", block)?,
            reaction: self.optional("reaction", block)?,
            system: self.optional("system", block)?,
            unsupported: self.optional("unsupported", block)?,
            forwarded: self.optional("forwarded", block)?,
            is_voice: self.optional("is_voice", read_bool)?.unwrap_or(false) || is_voice,
            deleted_by_sender_at: self.optional("deleted_by_sender_at", read_timestamp)?,
        })
    }

    fn status(&self) -> Result<StatusEvent, String> {
        let status = self.required("status", |value| {
            let reportable = [
                MessageStatus::Sent,
                MessageStatus::Delivered,
                MessageStatus::Read,
                MessageStatus::Failed,
            ];
            value
                .as_str()
                .and_then(MessageStatus::parse)
                .filter(|status| reportable.contains(status))
                .ok_or_else(|| "must be one of sent, delivered, read, failed".to_owned())
        })?;
        let failure = self.optional("error", failure)?;
        Ok(StatusEvent {
            provider_id: self.provider_id()?,
            reference: self.optional("reference", read_id(MessageId::parse))?,
            status,
            failure: (status == MessageStatus::Failed)
                .then(|| failure.unwrap_or_else(|| Failure::new(DeliveryCode::Unknown, None))),
            timestamp: self.timestamp()?,
            names: self.aliases()?,
        })
    }
}

fn provider_id(value: &Value) -> Result<ProviderMessageId, String> {
    value
        .as_str()
        .and_then(ProviderMessageId::parse)
        .ok_or_else(|| "must be 1 to 512 bytes without control characters".to_owned())
}

/// A name on the channel: of a person, a group or a member of one.
fn channel_name(value: &Value) -> Result<String, String> {
    let name = value.as_str().ok_or("must be a string")?.trim();
    let fits = !name.is_empty()
        && name.chars().count() <= text::SHORT
        && !name.chars().any(char::is_control);
    if fits {
        Ok(name.to_owned())
    } else {
        Err(format!("must have 1 to {} characters without control characters", text::SHORT))
    }
}

/// An external text: control characters are removed, and what is too long is cut, not refused, as
/// its author cannot correct it (R35, X2).
fn long_text(value: &Value, max_chars: usize) -> Result<String, String> {
    let text = value.as_str().ok_or("must be a string")?;
    Ok(text::kept(text, max_chars))
}

/// A short external text, cut to its limit.
fn short_text(value: &Value) -> Result<String, String> {
    let text = long_text(value, MAX_CONTENT)?;
    Ok(text.trim().chars().take(text::SHORT).collect())
}

fn block<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    T::deserialize(value).map_err(|error| format!("cannot be read: {error}"))
}

fn button(value: &Value) -> Result<Button, String> {
    let fields = EventFields { object: value.as_object().ok_or("must be an object")? };
    let text = |value: &Value| long_text(value, text::MESSAGE);
    Ok(Button {
        id: fields.optional("id", text)?,
        payload: fields.optional("payload", text)?,
        title: fields.optional("title", text)?,
    })
}

fn media(value: &Value) -> Result<EventMedia, String> {
    let fields = EventFields { object: value.as_object().ok_or("must be an object")? };
    Ok(EventMedia {
        // A part of an address leads nowhere: one that is too long is left out.
        url: fields.optional("url", |value| long_text(value, MAX_URL + 1))?,
        mimetype: fields.optional("mimetype", short_text)?,
        filename: fields.optional("filename", short_text)?,
        caption: fields.optional("caption", |value| long_text(value, MAX_CONTENT))?,
    })
}

/// Numeric codes are those of the official API, textual ones those of the catalogue (D67).
fn failure(value: &Value) -> Result<Failure, String> {
    let fields = EventFields { object: value.as_object().ok_or("must be an object")? };
    let code = fields.optional("code", |value| match value {
        Value::Number(_) => Ok(value
            .as_u64()
            .and_then(|code| u32::try_from(code).ok())
            .map_or(DeliveryCode::Unknown, DeliveryCode::of_official_report)),
        Value::String(word) => Ok(DeliveryCode::parse(word)
            .or_else(|| word.parse().ok().map(DeliveryCode::of_official_report))
            .unwrap_or(DeliveryCode::Unknown)),
        _ => Err("must be a number or a string".to_owned()),
    })?;
    let text = |value: &Value| long_text(value, text::MESSAGE);
    let title = fields.optional("title", text)?;
    let details = fields.optional("details", text)?;
    let message = match (title, details) {
        (Some(title), Some(details)) if title != details => Some(format!("{title}: {details}")),
        (title, details) => title.or(details),
    };
    Ok(Failure::new(code.unwrap_or(DeliveryCode::Unknown), message))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::tidy::tidy;
    use super::*;

    fn failed(error: Value) -> Failure {
        let event = json!({
            "kind": "status", "provider_message_id": "m", "status": "failed", "error": error,
        });
        match parse_event(&event, "g.us") {
            Ok(GatewayEvent::Status(status)) => status.failure.expect("a failed message says why"),
            other => panic!("not a status: {other:?}"),
        }
    }

    #[test]
    fn a_call_holds_at_most_1000_events_and_nothing_else() {
        let call = |body: Value| {
            let parsed = parse_events(body.as_object().expect("an object"), "g.us");
            parsed.map_err(|problems| problems.fields().map(str::to_owned).collect::<Vec<_>>())
        };
        let events = |count: usize| json!({"events": vec![json!({}); count]});
        assert_eq!(call(events(1_000)).map(|events| events.len()), Ok(1_000));
        assert_eq!(call(events(0)), Ok(Vec::new()));
        for body in [events(1_001), json!({}), json!({"events": {}}), json!({"events": null})] {
            assert_eq!(call(body), Err(vec!["events".to_owned()]));
        }
        assert_eq!(call(json!({"events": [], "more": 1})), Err(vec!["more".to_owned()]));
    }

    #[test]
    fn numbers_are_the_official_codes_and_words_the_catalogues() {
        assert_eq!(failed(json!({"code": 131_047})).code, DeliveryCode::OutsideServiceWindow);
        assert_eq!(failed(json!({"code": "131026"})).code, DeliveryCode::RecipientUnreachable);
        assert_eq!(failed(json!({"code": "MEDIA"})).code, DeliveryCode::Media);
        assert_eq!(failed(json!({"code": "something new"})).code, DeliveryCode::Unknown);
        assert_eq!(failed(json!({})).code, DeliveryCode::Unknown);
    }

    #[test]
    fn a_reported_failure_is_certain_whatever_its_number() {
        for code in [1, 2, 131_000, 131_016] {
            assert!(!failed(json!({ "code": code })).is_uncertain(), "{code}");
        }
    }

    #[test]
    fn title_and_details_are_one_text() {
        let failure = failed(json!({"code": 1, "title": "A", "details": "B"}));
        assert_eq!(failure.message.as_deref(), Some("A: B"));
    }

    #[test]
    fn a_button_without_content_says_its_title() {
        let event = json!({
            "kind": "message", "provider_message_id": "m", "from": "5511987654321",
            "type": "interactive", "button": {"id": "1", "title": "Sim"},
        });
        match parse_event(&event, "g.us") {
            Ok(GatewayEvent::Message(message)) => {
                assert_eq!(message.content.as_deref(), Some("Sim"));
            }
            other => panic!("not a message: {other:?}"),
        }
    }

    /// R35.
    #[test]
    fn what_is_missing_or_malformed_is_named() {
        let long = "a".repeat(513);
        for (event, name) in [
            (json!({"from": "1"}), "kind"),
            (json!({"kind": "message", "from": "1", "type": "text"}), "provider_message_id"),
            (json!({"kind": "message", "provider_message_id": "m", "type": "text"}), "from"),
            (json!({"kind": "status", "provider_message_id": "m", "status": "received"}), "status"),
            (json!({"kind": "connection", "status": "lost"}), "status"),
            (json!({"kind": "edit", "provider_message_id": "m", "content": 1}), "content"),
            (
                json!({"kind": "edit", "provider_message_id": long, "content": "x"}),
                "provider_message_id",
            ),
        ] {
            let reason = parse_event(&event, "g.us").expect_err("refused");
            assert!(reason.starts_with(name), "{reason}");
        }
    }

    /// R35, X2: what a gateway sends is not refused for its size.
    #[test]
    fn what_is_too_long_is_cut() {
        let long = "é".repeat(70_000);
        let event = json!({
            "kind": "message", "provider_message_id": "m", "from": "5511987654321",
            "type": "image", "content": long, "push_name": long, "quoted_content": long,
            "aliases": vec!["1@lid"; 21], "button": {"id": long, "title": long},
            "media": {"url": long, "mimetype": long, "filename": long, "caption": long},
        });
        let Ok(GatewayEvent::Message(message)) = tidy(parse_event(&event, "g.us").expect("read"))
        else {
            panic!("no message")
        };
        let chars = |text: Option<String>| text.map(|text| text.chars().count());
        assert_eq!(chars(message.content), Some(65_536));
        assert_eq!(chars(message.push_name), Some(200));
        assert_eq!(chars(message.quoted_content), Some(65_536));
        assert_eq!(message.aliases.len(), 20);
        let button = message.button.expect("a button");
        assert_eq!((chars(button.id), chars(button.title)), (Some(4_096), Some(4_096)));
        let media = message.media.expect("a file");
        assert_eq!((media.url, chars(media.caption)), (None, Some(65_536)));
        assert_eq!((chars(media.mimetype), chars(media.filename)), (Some(200), Some(200)));
        let failure = failed(json!({"code": 1, "title": long}));
        assert_eq!(chars(failure.message), Some(4_096));
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(2, 12, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z_]{1,8}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_event_makes_it_panic(
            kind in prop::sample::select(vec![
                "message", "echo", "edit", "status", "connection", "groups", "preference", "x",
            ]),
            fields in prop::collection::btree_map(
                prop::sample::select(vec![
                    "provider_message_id", "timestamp", "from", "to", "aliases", "participant",
                    "push_name", "type", "content", "media", "quoted_provider_message_id", "button",
                    "history", "status", "error", "groups", "preference", "reference",
                ]),
                values(),
                0..10,
            ),
        ) {
            let mut event = json!({ "kind": kind });
            for (name, value) in fields {
                event[name] = value;
            }
            let _ = parse_event(&event, "g.us");
        }

        /// X2: whatever has the form of blocks is within limits, is stored as it is, and has a
        /// text.
        #[test]
        fn blocks_of_any_texts_are_stored_as_they_are_shown(
            words in prop::collection::vec(".{0,40}", 4),
            response in values(),
            (latitude, longitude) in (-90.0..90.0_f64, -180.0..180.0_f64),
            (cents, quantity) in (any::<i64>(), any::<u64>()),
        ) {
            let price = json!({"amount": (cents as f64 / 100.0).to_string(), "currency": words[0]});
            let event = json!({
                "kind": "message", "provider_message_id": "m", "from": "5511987654321",
                "type": "text",
                "location": {"latitude": latitude, "longitude": longitude, "name": words[0]},
                "shared_contacts": [{"name": words[1], "phones": [{"number": words[2]}]}],
                "interactive": {"kind": "flow_reply", "title": words[3], "response": response},
                "order": {"items": [{"name": words[1], "quantity": quantity, "price": price}]},
                "system": {"kind": "number_changed", "to": words[2], "text": words[3]},
            });
            let Ok(GatewayEvent::Message(message)) = parse_event(&event, "g.us").and_then(tidy)
            else {
                return Err(TestCaseError::fail("a text is no reason to refuse"));
            };
            let written = serde_json::to_string(&message.blocks).expect("blocks are JSON");
            let read: Blocks = serde_json::from_str(&written).expect("blocks");
            prop_assert_eq!(serde_json::to_string(&read).expect("blocks are JSON"), written);
            prop_assert!(message.blocks.content().is_some());
        }
    }
}
