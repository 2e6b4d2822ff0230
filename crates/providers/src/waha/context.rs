//! What a message says of others: whether it was forwarded, and what it answers (X2, X3).

use recado_core::messages::{Forwarded, MessageType, Product, ProviderMessageId, Referral};
use serde_json::Value;

use super::content::{by_mimetype, file_in, file_type_in_browser};
use super::ids::MessageKey;
use super::proto::{context, fields, first, proto, unwrapped, whole};
use super::{text, trade};
use crate::shared::proto::is_poll;
use crate::shared::{at, boolean, referral, text as text_of, text_at};

/// From how many times on the channel says that a message was forwarded often.
const OFTEN: i64 = 5;

/// Whether a message was forwarded.
pub(super) fn forwarded(payload: &Value) -> Option<Forwarded> {
    let of_channel = proto(payload).and_then(context);
    let marks = [of_channel, payload.get("_data"), Some(payload)];
    marks.into_iter().flatten().find_map(|marks| {
        let score = ["forwardingScore", "forwardsCount"].iter().find_map(|name| whole(marks, name));
        let often = score.is_some_and(|score| score >= OFTEN);
        let once = boolean(marks, "isForwarded") == Some(true) || score.is_some_and(|it| it > 0);
        if often { Some(Forwarded::Often) } else { once.then_some(Forwarded::Once) }
    })
}

/// The advertisement or post that led to a message. Engines that drive a browser report it in a
/// field of its own.
pub(super) fn referral(payload: &Value) -> Option<Referral> {
    let of_channel = proto(payload).and_then(context).and_then(referral::referral);
    of_channel.or_else(|| {
        let ad = at(payload, &["_data", "ctwaContext"])?;
        let click_id = first(ad, &["ctwaClid", "clickId"]).and_then(text::long);
        referral::read(ad, click_id)
    })
}

/// What a message answers.
#[derive(Default)]
pub(super) struct Quote {
    /// Its id.
    pub(super) id: Option<ProviderMessageId>,
    /// Its text.
    pub(super) content: Option<String>,
    /// Its type.
    pub(super) message_type: Option<MessageType>,
    /// The product in it.
    pub(super) product: Option<Product>,
}

/// What a message answers. Not every engine reports a `replyTo` for a message without a text, but
/// each has the answered message in what it has of its own.
pub(super) fn quote(payload: &Value) -> Quote {
    let reply = at(payload, &["replyTo"]);
    let context = proto(payload).and_then(context);
    let in_browser = |name: &str| at(payload.get("_data")?, &[name]);
    let told = reply.and_then(|reply| reply.get("id")).and_then(MessageKey::of);
    let of_channel = || {
        let written = context.and_then(|context| first(context, &["stanzaId", "stanzaID"]));
        let written = written.or_else(|| in_browser("quotedStanzaID")?.as_str());
        written.and_then(ProviderMessageId::parse)
    };
    let messages = [
        reply.and_then(|reply| at(reply, &["_data"])),
        context.and_then(|context| at(context, &["quotedMessage"])),
    ];
    let quoted = || messages.into_iter().flatten().map(unwrapped);
    let quoted_in_browser = in_browser("quotedMsg");
    let media = reply.and_then(|reply| at(reply, &["media"])).filter(|media| media.is_object());
    let message_type = quoted()
        .find_map(type_of)
        .or_else(|| quoted_in_browser.and_then(type_in_browser))
        .or_else(|| media.map(|media| by_mimetype(text_of(media, "mimetype"))));
    let content = reply.and_then(|reply| text_of(reply, "body")).and_then(text::long);
    Quote {
        id: told.map(|key| key.raw).or_else(of_channel),
        content: content.or_else(|| quoted().find_map(text_in)),
        message_type,
        product: quoted().find_map(|message| trade::product(&Value::Null, Some(message))),
    }
}

/// The type of a message in the channel's own form.
fn type_of(message: &Value) -> Option<MessageType> {
    if let Some((_, kind)) = file_in(message) {
        return Some(kind);
    }
    fields(Some(message)).find_map(|name| {
        Some(match name {
            "conversation" | "extendedTextMessage" | "productMessage" => MessageType::Text,
            "locationMessage" | "liveLocationMessage" => MessageType::Location,
            "contactMessage" | "contactsArrayMessage" => MessageType::Contacts,
            "orderMessage" => MessageType::Order,
            "interactiveMessage"
            | "interactiveResponseMessage"
            | "templateMessage"
            | "templateButtonReplyMessage"
            | "buttonsMessage"
            | "buttonsResponseMessage"
            | "listMessage"
            | "listResponseMessage"
            | "groupInviteMessage"
            | "eventMessage" => MessageType::Interactive,
            name if is_poll(name) => MessageType::Poll,
            _ => return None,
        })
    })
}

fn type_in_browser(message: &Value) -> Option<MessageType> {
    let kind = text_of(message, "type")?;
    file_type_in_browser(kind).or(match kind {
        "chat" | "product" => Some(MessageType::Text),
        "location" => Some(MessageType::Location),
        "vcard" | "multi_vcard" => Some(MessageType::Contacts),
        "order" => Some(MessageType::Order),
        "poll_creation" => Some(MessageType::Poll),
        _ => None,
    })
}

/// The text of a message in the channel's own form, or its caption.
pub(super) fn text_in(message: &Value) -> Option<String> {
    let plain = text_of(message, "conversation");
    let said = plain.or_else(|| text_at(message, &["extendedTextMessage", "text"]));
    let caption = || file_in(message).and_then(|(file, _)| text_of(file, "caption"));
    said.or_else(caption).and_then(text::long)
}
