//! Messages in webhooks and in the history.

use recado_core::Timestamp;
use recado_core::gateway::{
    GatewayEvent, GatewayMessage, Incoming, NamesReport, OwnSend, StatusEvent, UnknownReport,
};
use recado_core::messages::{AnswerKind, Interactive, MessageStatus, MessageType};
use serde_json::{Value, json};

use super::address::{ChatAddress, code_of};
use super::content::{self, MessageContent, Said};
use super::context;
use super::ids::{MessageKey, is_surely_ours, reference_of};
use super::own::Own;
use super::reports::{self, Ack};
use super::text;
use crate::shared::{boolean, own_content, text as text_of, text_at};

/// The context for reading a message.
pub(super) struct MessageContext<'a> {
    /// The own names of the session.
    pub(super) own: &'a Own,
    /// The suffix of group codes after `@`.
    pub(super) suffix: &'a str,
    /// Where the messages come from.
    origin: Origin<'a>,
}

/// Where messages come from.
enum Origin<'a> {
    /// A webhook, when it happened.
    Webhook(&'a Value),
    /// An answer to a request, through this session.
    List(&'a str),
}

impl<'a> MessageContext<'a> {
    /// The context of webhooks: `envelope` is the whole call.
    pub(super) const fn reported(own: &'a Own, suffix: &'a str, envelope: &'a Value) -> Self {
        Self { own, suffix, origin: Origin::Webhook(envelope) }
    }

    /// The context of answers to requests.
    pub(super) const fn asked(own: &'a Own, suffix: &'a str, session: &'a str) -> Self {
        Self { own, suffix, origin: Origin::List(session) }
    }

    /// When the call was made; `None` for an answer.
    pub(super) fn happened(&self) -> Option<Timestamp> {
        match self.origin {
            Origin::Webhook(envelope) => text::time(envelope.get("timestamp")),
            Origin::List(_) => None,
        }
    }

    const fn was_asked_for(&self) -> bool {
        matches!(self.origin, Origin::List(_))
    }

    /// A call that holds just this message.
    fn raw(&self, payload: &Value) -> Value {
        match self.origin {
            Origin::Webhook(envelope) => envelope.clone(),
            Origin::List(session) => json!({"event": "message.any", "session": session,
                "me": self.own.reported(), "payload": payload}),
        }
    }

    /// An event of this kind that is not known.
    pub(super) fn unknown(&self, kind: String, payload: &Value) -> GatewayEvent {
        let provider_id = payload.get("id").and_then(MessageKey::of).map(|key| key.raw);
        let report = UnknownReport::new(kind, self.raw(payload));
        GatewayEvent::Unknown(UnknownReport { provider_id, ..report })
    }
}

/// The events of one message; none if it is not relevant.
pub(super) fn events(payload: &Value, scene: &MessageContext<'_>) -> Vec<Incoming> {
    let timestamp = text::time(payload.get("timestamp"));
    let event = match content::read(payload) {
        Said::Content(said) => return events_of(payload, *said, scene),
        Said::Nothing => return Vec::new(),
        // Stories, channels and broadcasts are not used.
        _ if is_of_nobody(payload) => return Vec::new(),
        Said::NewName(known, new) => GatewayEvent::Names(NamesReport::new(known, vec![new])),
        Said::Edit { of, content } => GatewayEvent::Edit { provider_id: of, content, timestamp },
        Said::Deleted { of, is_now } => {
            GatewayEvent::Deleted { provider_id: of, timestamp: timestamp.filter(|_| is_now) }
        }
        Said::Unknown(kind) => scene.unknown(kind, payload),
    };
    vec![Ok(event)]
}

/// Whether a message is in a chat without another side, such as a broadcast.
pub(super) fn is_of_nobody(payload: &Value) -> bool {
    let chat = payload.get("id").and_then(MessageKey::of).and_then(|key| key.chat);
    let sides = [chat.as_deref(), text_of(payload, "from"), text_of(payload, "to")];
    sides.into_iter().flatten().any(|side| ChatAddress::parse(side) == Some(ChatAddress::Nobody))
}

/// The events of one message with this content.
pub(super) fn events_of(
    payload: &Value,
    said: MessageContent,
    scene: &MessageContext<'_>,
) -> Vec<Incoming> {
    match read(payload, said, scene) {
        Ok(events) => events.into_iter().map(Ok).collect(),
        // A person may have said it.
        Err(reason) => vec![Ok(scene.unknown(reason, payload))],
    }
}

fn read(
    payload: &Value,
    said: MessageContent,
    scene: &MessageContext<'_>,
) -> Result<Vec<GatewayEvent>, String> {
    let key = payload.get("id").and_then(MessageKey::of).ok_or("id is not one of a message")?;
    let from_me = boolean(payload, "fromMe").or(key.from_me).unwrap_or(false);
    let from_me = from_me && !said.is_of_channel();
    let Some(mut chat) = chat(payload, &key, from_me, scene)? else { return Ok(Vec::new()) };
    let names = if chat.is_group { Vec::new() } else { said.names.clone() };
    for name in names {
        if name != chat.peer && !chat.aliases.contains(&name) && !scene.own.has(&name) {
            chat.aliases.push(name);
        }
    }
    let learnt = (!said.names.is_empty() && !chat.aliases.is_empty())
        .then(|| NamesReport::new(chat.peer.clone(), chat.aliases.clone()));
    let message = compose(payload, &key, chat, said, from_me, scene);
    if from_me {
        return Ok(own(payload, message, scene));
    }
    let learnt = learnt.map(GatewayEvent::Names);
    Ok([GatewayEvent::Message(message)].into_iter().chain(learnt).collect())
}

/// The other side of a message.
struct Chat {
    peer: String,
    aliases: Vec<String>,
    is_group: bool,
}

/// The other side of a message; `None` for a chat without one, such as a broadcast, or with
/// oneself.
fn chat(
    payload: &Value,
    key: &MessageKey,
    from_me: bool,
    scene: &MessageContext<'_>,
) -> Result<Option<Chat>, String> {
    let side = if from_me { "to" } else { "from" };
    let written = [key.chat.as_deref(), text_of(payload, side)];
    for address in written.into_iter().flatten().filter_map(ChatAddress::parse) {
        match address {
            ChatAddress::Group(id) => {
                let peer = code_of(&id, scene.suffix).as_str().to_owned();
                return Ok(Some(Chat { peer, aliases: Vec::new(), is_group: true }));
            }
            ChatAddress::Nobody => return Ok(None),
            ChatAddress::Person(_) => {}
        }
    }
    let mut names: Vec<String> = Vec::new();
    let mut with_oneself = false;
    for name in
        names_in(payload, key, from_me).into_iter().flatten().filter_map(ChatAddress::person)
    {
        if scene.own.has(&name) {
            with_oneself = true;
        } else if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut names = names.into_iter();
    match names.next() {
        Some(peer) => Ok(Some(Chat { peer, aliases: names.collect(), is_group: false })),
        None if with_oneself => Ok(None),
        None => Err(format!("{side} is not a name of a contact")),
    }
}

/// All names of the other person, the preferred one first. For an own message, `to` is used only if
/// the id does not contain the chat, or if it has a LID and `to` the phone.
fn names_in<'a>(payload: &'a Value, key: &'a MessageKey, from_me: bool) -> Vec<Option<&'a str>> {
    let data = |path: &[&str]| text_at(payload.get("_data")?, path);
    let chat = key.chat.as_deref();
    let shared =
        [data(&["Info", "Chat"]), data(&["key", "remoteJid"]), data(&["key", "remoteJidAlt"])];
    let own = if from_me {
        let lid = chat.and_then(ChatAddress::person).is_some_and(|chat| chat.contains('@'));
        let is_phone = |to: &str| ChatAddress::person(to).is_some_and(|to| !to.contains('@'));
        let to = text_of(payload, "to").filter(|to| chat.is_none() || (lid && is_phone(to)));
        vec![chat, to, data(&["Info", "RecipientAlt"])]
    } else {
        vec![
            text_of(payload, "from"),
            chat,
            data(&["Info", "Sender"]),
            data(&["Info", "SenderAlt"]),
            data(&["key", "senderPn"]),
            data(&["key", "senderLid"]),
        ]
    };
    own.into_iter().chain(shared).collect()
}

fn compose(
    payload: &Value,
    key: &MessageKey,
    chat: Chat,
    said: MessageContent,
    from_me: bool,
    scene: &MessageContext<'_>,
) -> GatewayMessage {
    let quote = context::quote(payload);
    let inbound = !from_me;
    let raw = (said.message_type == MessageType::Unsupported).then(|| scene.raw(payload));
    let mut blocks = said.blocks;
    blocks.product = blocks.product.or(quote.product);
    GatewayMessage {
        provider_id: key.raw.clone(),
        peer: chat.peer,
        aliases: chat.aliases,
        participant: participant(payload, key).filter(|_| chat.is_group && inbound),
        push_name: push_name(payload).filter(|_| inbound),
        message_type: said.message_type,
        content: said.content,
        media: said.media,
        blocks,
        quoted: said.target.or(quote.id),
        quoted_content: quote.content,
        quoted_type: quote.message_type,
        button: said.button,
        history: false,
        is_late: said.is_late,
        timestamp: text::time(payload.get("timestamp")),
        raw,
    }
}

/// The author of a group's message: the phone if any field has it, else the LID.
fn participant(payload: &Value, key: &MessageKey) -> Option<String> {
    let data = |path: &[&str]| text_at(payload.get("_data")?, path);
    let written = [
        text_of(payload, "participant"),
        key.participant.as_deref(),
        data(&["Info", "Sender"]),
        data(&["Info", "SenderAlt"]),
        data(&["key", "participant"]),
        data(&["key", "participantAlt"]),
        data(&["key", "participantPn"]),
    ];
    let names: Vec<String> =
        written.into_iter().flatten().filter_map(ChatAddress::person).collect();
    names.iter().find(|name| !name.contains('@')).or(names.first()).cloned()
}

/// The name that the writer gave itself.
fn push_name(payload: &Value) -> Option<String> {
    let data = payload.get("_data")?;
    text_at(data, &["Info", "PushName"])
        .or_else(|| text_of(data, "pushName"))
        .or_else(|| text_of(data, "notifyName"))
        .and_then(text::short)
}

/// Whether a message is about another one: a reaction or a vote.
fn is_of_another_message(message: &GatewayMessage) -> bool {
    let is_vote = match &message.blocks.interactive {
        Some(Interactive::Answer(answer)) => answer.kind == AnswerKind::PollVote,
        _ => false,
    };
    is_vote || message.message_type == MessageType::Reaction
}

/// The events of an own message: a send of a program (this service or another), or an echo of the
/// operator's message on the phone; and its status.
fn own(payload: &Value, message: GatewayMessage, scene: &MessageContext<'_>) -> Vec<GatewayEvent> {
    let reference = reference_of(&message.provider_id);
    let at = message.timestamp;
    if message.message_type == MessageType::System {
        // The own call is noted too: it is nothing that an operator wrote.
        return Vec::new();
    }
    // The gateway remembers only for some time which messages programs sent; assigned ids show it
    // permanently.
    let ours = reference.is_some_and(|reference| is_surely_ours(reference, at));
    let source = text_of(payload, "source");
    let typed = source != Some("api") && !ours;
    if is_of_another_message(&message) {
        // It proves no send, whatever form its id has.
        return if typed { vec![GatewayEvent::Echo(message)] } else { Vec::new() };
    }
    let is_ours = reference;
    let reference = if typed { None } else { reference };
    let provider_id = message.provider_id.clone();
    let status = |status| {
        GatewayEvent::Status(StatusEvent {
            provider_id: provider_id.clone(),
            reference,
            status,
            failure: reports::failure_of(status),
            timestamp: at,
            names: Vec::new(),
        })
    };
    let ack = reports::ack(payload);
    let reached = match ack {
        Some(Ack::Reached(reached)) => Some(reached),
        Some(Ack::Pending) | None => None,
    };
    // D42a: an echo is `sent`; a later status is an event of its own, except for messages of the
    // past.
    let says_more = |reached: &MessageStatus| match reached {
        MessageStatus::Sent => false,
        MessageStatus::Failed => true,
        _ => !typed || scene.was_asked_for(),
    };
    let beyond = reached.filter(says_more).map(status);
    let first = if typed {
        // If a message does not name its source, only the id can prove that this service sent it;
        // otherwise it was typed.
        if source.is_none() && is_ours.is_some() {
            let sent = OwnSend {
                reference: is_ours,
                aliases: message.aliases.clone(),
                timestamp: at,
                ..OwnSend::new(message.provider_id.clone(), message.peer.clone())
            };
            let both = [GatewayEvent::OwnSend(sent), GatewayEvent::Echo(message)];
            return both.into_iter().chain(beyond).collect();
        }
        GatewayEvent::Echo(message)
    } else if let (Some(reached), true) = (reached, reference.is_some()) {
        return vec![status(reached)];
    } else if reached == Some(MessageStatus::Failed) {
        // A program's message of which only the failure is known.
        return beyond.into_iter().collect();
    } else {
        GatewayEvent::OwnSend(OwnSend {
            reference,
            message_type: Some(message.message_type),
            content: own_content(&message),
            aliases: message.aliases,
            timestamp: at,
            ..OwnSend::new(message.provider_id, message.peer)
        })
    };
    std::iter::once(first).chain(beyond).collect()
}
