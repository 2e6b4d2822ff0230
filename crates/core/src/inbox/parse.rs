//! Reading neutral events from JSON (D67).

use serde_json::{Map, Value};

use crate::Timestamp;
use crate::connections::ConnectionStatus;
use crate::gateway::{
    Button, EventMedia, GatewayEvent, GatewayMessage, Incoming, Preference, PreferenceReport,
    StatusEvent,
};
use crate::groups::parse_groups;
use crate::ids::MessageId;
use crate::input::{read_bool, read_id, read_timestamp, read_word};
use crate::messages::{DeliveryCode, Failure, MessageStatus, MessageType, ProviderMessageId};
use crate::text;

/// Most characters of what a message says; far above what any channel carries.
const MAX_CONTENT: usize = 65_536;
/// Most characters of an address of a file.
const MAX_URL: usize = 4_096;
/// Most aliases of one person in one event.
const MAX_ALIASES: usize = 20;

/// Reads one event. `group_suffix` is what follows `@` in group codes (D2).
///
/// # Errors
///
/// Why it cannot be read, for people.
pub fn parse_event(value: &Value, group_suffix: &str) -> Incoming {
    let object = value.as_object().ok_or("an event must be an object")?;
    let fields = Fields { object };
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
        "status" => Ok(GatewayEvent::Status(fields.status()?)),
        "connection" => {
            let read = read_word(ConnectionStatus::parse, ConnectionStatus::WORDS);
            Ok(GatewayEvent::Connection(fields.required("status", read)?))
        }
        "groups" => {
            let groups = fields.required("groups", |value| {
                value.as_array().cloned().ok_or_else(|| "must be an array".to_owned())
            })?;
            Ok(GatewayEvent::Groups(parse_groups(&groups, group_suffix)?))
        }
        "preference" => Ok(GatewayEvent::Preference(PreferenceReport {
            peer: fields.required("from", channel_name)?,
            aliases: fields.aliases()?,
            preference: fields
                .required("preference", read_word(Preference::parse, Preference::WORDS))?,
            timestamp: fields.timestamp()?,
        })),
        _ => Err("kind is not known".to_owned()),
    }
}

/// The fields of one event.
struct Fields<'a> {
    object: &'a Map<String, Value>,
}

impl Fields<'_> {
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
            if names.len() > MAX_ALIASES {
                return Err(format!("may hold at most {MAX_ALIASES} names"));
            }
            names.iter().map(channel_name).collect()
        };
        Ok(self.optional("aliases", read)?.unwrap_or_default())
    }

    fn message(&self, peer: &str) -> Result<GatewayMessage, String> {
        let button = self.optional("button", button)?;
        let title = button.as_ref().and_then(|button| button.title.clone());
        let read_type = || read_word(MessageType::parse, MessageType::WORDS);
        Ok(GatewayMessage {
            provider_id: self.provider_id()?,
            peer: self.required(peer, channel_name)?,
            aliases: self.aliases()?,
            participant: self.optional("participant", channel_name)?,
            push_name: self.optional("push_name", short_text)?.filter(|name| !name.is_empty()),
            message_type: self.required("type", read_type())?,
            content: self
                .optional("content", |value| long_text(value, MAX_CONTENT))?
                .filter(|content| !content.is_empty())
                .or(title),
            media: self.optional("media", media)?,
            quoted: self.optional("quoted_provider_message_id", provider_id)?,
            quoted_content: self
                .optional("quoted_content", |value| long_text(value, MAX_CONTENT))?,
            quoted_type: self.optional("quoted_type", read_type())?,
            button,
            history: self.optional("history", read_bool)?.unwrap_or(false),
            timestamp: self.timestamp()?,
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

/// A text of the outside: control characters are dropped, not refused, as nobody can send it again.
fn long_text(value: &Value, max_chars: usize) -> Result<String, String> {
    let text = value.as_str().ok_or("must be a string")?;
    if text.chars().count() > max_chars {
        return Err(format!("must have at most {max_chars} characters"));
    }
    Ok(text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect())
}

/// A short text of the outside: cut to its limit.
fn short_text(value: &Value) -> Result<String, String> {
    let text = long_text(value, MAX_CONTENT)?;
    Ok(text.trim().chars().take(text::SHORT).collect())
}

fn button(value: &Value) -> Result<Button, String> {
    let fields = Fields { object: value.as_object().ok_or("must be an object")? };
    let text = |value: &Value| long_text(value, text::MESSAGE);
    Ok(Button {
        id: fields.optional("id", text)?,
        payload: fields.optional("payload", text)?,
        title: fields.optional("title", text)?,
    })
}

fn media(value: &Value) -> Result<EventMedia, String> {
    let fields = Fields { object: value.as_object().ok_or("must be an object")? };
    Ok(EventMedia {
        url: fields.optional("url", |value| long_text(value, MAX_URL))?,
        mimetype: fields.optional("mimetype", short_text)?,
        filename: fields.optional("filename", short_text)?,
        caption: fields.optional("caption", |value| long_text(value, MAX_CONTENT))?,
    })
}

/// Numeric codes are the official API's, textual ones the catalogue's (D67).
fn failure(value: &Value) -> Result<Failure, String> {
    let fields = Fields { object: value.as_object().ok_or("must be an object")? };
    let code = fields.optional("code", |value| match value {
        Value::Number(_) => Ok(value
            .as_u64()
            .and_then(|code| u32::try_from(code).ok())
            .map_or(DeliveryCode::Unknown, DeliveryCode::of_official)),
        Value::String(word) => Ok(DeliveryCode::parse(word)
            .or_else(|| word.parse().ok().map(DeliveryCode::of_official))
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
