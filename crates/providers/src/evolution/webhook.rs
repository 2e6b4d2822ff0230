//! The gateway's webhooks: the token of their address, their envelope, their events.

use recado_core::connections::{Connection, ConnectionStatus};
use recado_core::gateway::{
    GatewayEvent, Incoming, ProviderWebhook, Received, UnknownReport, WebhookRefused,
};
use recado_core::messages::ProviderMessageId;
use serde_json::{Map, Value, json};

use super::files::FileCache;
use super::message::{self, ParsedEvents};
use super::names::InstanceNames;
use super::values::message_id;
use super::{calls, groups, media, status};
use crate::shared::{array, parse, same, text};

/// The most characters of an event's name behind a token.
const MAX_EVENT: usize = 64;
/// Fields with the bytes of a file, or of the small picture of one.
const BYTES: [&str; 2] = ["base64", "jpegThumbnail"];

/// Verifies the token of the address: the gateway does not sign webhooks, so the address has to be
/// secret.
///
/// # Errors
///
/// When the token is missing, wrong, or there is more than one.
pub(super) fn verify(
    connection: &Connection,
    webhook: &ProviderWebhook,
) -> Result<(), WebhookRefused> {
    let expected = connection.settings.text("webhook_token").filter(|token| !token.is_empty());
    let mut given = webhook.query.iter().filter(|(name, _)| name == "token");
    let verified = match (given.next(), given.next(), expected) {
        (Some((_, token)), None, Some(expected)) => {
            // Gateways call the address as it was entered, where a `+` may mean a plus sign.
            let as_typed = expected.replace('+', " ");
            let bare = without_event(token);
            same(token, expected)
                | same(bare, expected)
                | same(token, &as_typed)
                | same(bare, &as_typed)
        }
        _ => false,
    };
    if verified { Ok(()) } else { Err(WebhookRefused::Unauthorized) }
}

/// A token without the name of an event. The gateway can be configured to append the event to the
/// address, after its query: `SECRET/messages-upsert`.
fn without_event(token: &str) -> &str {
    let is_name = |name: &str| {
        let letters = name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        (1..=MAX_EVENT).contains(&name.len()) && letters
    };
    token.rsplit_once('/').filter(|(_, name)| is_name(name)).map_or(token, |(bare, _)| bare)
}

/// Translates a webhook whose token was verified.
///
/// # Errors
///
/// When the body is not JSON.
pub(super) fn receive(
    connection: &Connection,
    names: InstanceNames<'_>,
    files: &FileCache,
    body: &[u8],
) -> Result<Vec<Received>, WebhookRefused> {
    let envelope = parse(body).ok_or(WebhookRefused::Malformed)?;
    let events = read(connection, names, Some(files), &envelope);
    Ok(events.into_iter().map(Received::here).collect())
}

/// The fields of a call that are around its items. The others are not used: the key is missing or
/// a secret, and the date is a local time marked as UTC, which only tells two calls apart.
pub(super) struct Envelope<'a> {
    event: &'a str,
    instance: Option<&'a str>,
    /// When the call was made, as the gateway writes it.
    pub(super) time: Option<&'a str>,
}

impl<'a> Envelope<'a> {
    /// The envelope of records that were requested.
    pub(super) fn of_history(connection: &'a Connection) -> Self {
        let instance = connection.settings.text("instance");
        Self { event: "messages.upsert", instance, time: None }
    }

    /// A call with this data, and with the time of this one, on which ids of votes depend.
    fn with(&self, data: Value) -> Value {
        let mut call = json!({"event": self.event, "instance": self.instance, "data": data});
        if let Some(time) = self.time {
            call["date_time"] = time.into();
        }
        call
    }

    /// A call that holds just this item, without the bytes of files. One that would be read as
    /// several is put into a list.
    pub(super) fn around(&self, item: &Value) -> Value {
        let bare = without_bytes(item);
        match items(item) {
            [one] if std::ptr::eq(one, item) => self.with(bare),
            _ => self.with(json!([bare])),
        }
    }

    /// An event of this kind that is not known.
    pub(super) fn unknown(
        &self,
        kind: String,
        item: &Value,
        provider_id: Option<ProviderMessageId>,
    ) -> GatewayEvent {
        let report = UnknownReport::new(kind, self.around(item));
        GatewayEvent::Unknown(UnknownReport { provider_id, ..report })
    }

    /// An item that cannot be read, for this reason: it is kept, as a person may have said it.
    pub(super) fn unreadable(&self, reason: String, item: &Value) -> GatewayEvent {
        let id = message_id(item, "keyId").or_else(|| message_id(item.get("key")?, "id"));
        self.unknown(reason, item, id)
    }
}

/// The item without the bytes of files and of small pictures, which are most of it and say nothing.
fn without_bytes(item: &Value) -> Value {
    match item {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| !BYTES.contains(&name.as_str()));
            let kept = kept.map(|(name, value)| (name.clone(), without_bytes(value)));
            Value::Object(kept.collect::<Map<String, Value>>())
        }
        Value::Array(items) => items.iter().map(without_bytes).collect(),
        other => other.clone(),
    }
}

/// The events of a call that was verified, or of one that was kept because it was not understood.
/// Files are kept only of the first.
pub(super) fn read(
    connection: &Connection,
    names: InstanceNames<'_>,
    files: Option<&FileCache>,
    envelope: &Value,
) -> Vec<Incoming> {
    let Some(event) = text(envelope, "event") else {
        return vec![Err("the envelope names no event".to_owned())];
    };
    let kind = canonical(event);
    if means_nothing(&kind) {
        return Vec::new();
    }
    let instance = text(envelope, "instance");
    if instance != connection.settings.text("instance") {
        let reason = "the event is of another instance".to_owned();
        return vec![Ok(GatewayEvent::NotOurs(reason))];
    }
    let data = envelope.get("data").unwrap_or(&Value::Null);
    let envelope = Envelope { event, instance, time: text(envelope, "date_time") };
    let each = |read: &dyn Fn(&Value) -> ParsedEvents| -> Vec<Incoming> {
        let items = items(data).iter().flat_map(|item| match read(item) {
            Ok(events) => events.into_iter().map(Ok).collect(),
            Err(reason) => vec![Ok(envelope.unreadable(reason, item))],
        });
        items.collect()
    };
    let changed = |event| vec![Ok(event)];
    match kind.as_str() {
        "messages.upsert" => each(&|item| {
            let read = message::read(item, names, false, &envelope);
            if let (Ok(events), Some(files)) = (&read, files) {
                events.iter().for_each(|event| keep_file(connection, files, item, event));
            }
            read
        }),
        "messages.set" => each(&|item| message::read(item, names, true, &envelope)),
        "send.message" | "send.message.update" => {
            each(&|item| message::own_send(item, names, &envelope))
        }
        "messages.update" => each(&|item| status::read(item, names, &envelope)),
        "messages.edited" => each(&|item| Ok(message::edited(item, &envelope))),
        "messages.delete" => each(&status::deleted),
        "call" => items(data).iter().flat_map(|it| calls::step(it, names, &envelope)).collect(),
        "connection.update" => connection_update(data).into_iter().map(Ok).collect(),
        "logout.instance" | "remove.instance" => {
            changed(GatewayEvent::Connection(ConnectionStatus::Disconnected))
        }
        "status.instance" => changed(GatewayEvent::StateDoubtful),
        // There are codes only while no phone is paired, whatever other events reported.
        "qrcode.updated" => changed(GatewayEvent::StateDoubtful),
        "groups.upsert" => {
            let reported = groups::reported(names, items(data));
            let reported =
                (!reported.groups.is_empty()).then_some(Ok(GatewayEvent::Groups(reported)));
            // Missing details and other changes are requested from the gateway.
            reported.into_iter().chain([Ok(GatewayEvent::GroupsChanged)]).collect()
        }
        "groups.update" | "group.update" | "group.participants.update" => {
            changed(GatewayEvent::GroupsChanged)
        }
        _ => {
            let id = data.get("key").and_then(|key| message_id(key, "id"));
            let report = UnknownReport::new(event, envelope.with(data.clone()));
            changed(GatewayEvent::Unknown(UnknownReport { provider_id: id, ..report }))
        }
    }
}

/// Keeps a file that came with its message until it is fetched.
fn keep_file(connection: &Connection, files: &FileCache, record: &Value, event: &GatewayEvent) {
    let (GatewayEvent::Message(message) | GatewayEvent::Echo(message)) = event else { return };
    let source = message.media.as_ref().and_then(|media| media.url.as_deref());
    let Some(source) = source.filter(|source| source.starts_with(media::SOURCE)) else { return };
    if let Some(bytes) = media::enclosed(record) {
        files.keep(connection.id, source, bytes);
    }
}

/// An event's name in one form for comparisons: webhooks use `messages.upsert`, settings and some
/// versions `MESSAGES_UPSERT`.
fn canonical(event: &str) -> String {
    event.to_lowercase().replace(['_', '-'], ".")
}

/// Known events that are ignored, for any instance: nobody says anything in them.
fn means_nothing(kind: &str) -> bool {
    const IGNORED: [&str; 16] = [
        "application.startup",
        "chats.set",
        "chats.upsert",
        "chats.update",
        "chats.delete",
        "contacts.set",
        "contacts.upsert",
        "contacts.update",
        "instance.create",
        "instance.delete",
        "labels.edit",
        "labels.association",
        "messaging.history.set",
        "presence.update",
        "typebot.start",
        "typebot.change.status",
    ];
    IGNORED.contains(&kind)
}

/// The items of an event that may come one by one, as a list, or as a list in an object.
fn items(data: &Value) -> &[Value] {
    match data {
        Value::Array(items) => items,
        Value::Object(_) if data.get("key").is_none() && !array(data, "messages").is_empty() => {
            array(data, "messages")
        }
        Value::Null => &[],
        one => std::slice::from_ref(one),
    }
}

fn connection_update(data: &Value) -> Option<GatewayEvent> {
    match text(data, "state") {
        Some("open") => Some(GatewayEvent::Connection(ConnectionStatus::Connected)),
        Some("close" | "refused") => Some(GatewayEvent::Connection(ConnectionStatus::Disconnected)),
        // It reconnects automatically, and reports the result.
        Some("connecting") => None,
        _ => Some(GatewayEvent::StateDoubtful),
    }
}
