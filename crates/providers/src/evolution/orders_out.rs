//! What is asked of the gateway for each kind of message (X10, X12, X13).

use recado_core::documents::StoredFile;
use recado_core::gateway::{
    Content, FileKind, InteractiveContent, MediaContent, MessageName, SendFailure,
};
use recado_core::messages::{DeliveryCode, Location, Offer, OfferHeader, OfferKind, SharedContact};
use serde_json::{Map, Value, json};

use super::names::InstanceNames;

/// The most options of a poll at the gateway.
const MAX_OPTIONS: usize = 10;

/// A request that sends: its operation and its fields, beside the recipient.
pub(super) struct OutgoingOrder {
    /// The operation in the area `message`.
    pub(super) operation: &'static str,
    /// The fields of the body.
    pub(super) fields: Map<String, Value>,
    /// The field that takes a file in base64, and the file.
    pub(super) file: Option<(&'static str, StoredFile)>,
    /// Whether it takes a recipient and a quoted message: a reaction names a message instead.
    pub(super) is_addressed: bool,
}

/// The refusal of what the gateway would refuse, or would send as something else.
fn refused(reason: &str) -> SendFailure {
    SendFailure::refused(DeliveryCode::ContentRejected, reason)
}

fn order(operation: &'static str, fields: Value) -> OutgoingOrder {
    let Value::Object(fields) = fields else {
        unreachable!("the fields of an order are an object")
    };
    OutgoingOrder { operation, fields, file: None, is_addressed: true }
}

/// What is asked for a message with this content.
///
/// # Errors
///
/// A refusal of what the gateway cannot send (R340).
pub(super) fn ordered(
    names: InstanceNames<'_>,
    content: &Content,
) -> Result<OutgoingOrder, SendFailure> {
    match content {
        Content::Text(text) => Ok(order("sendText", json!({ "text": text }))),
        Content::Template { .. } => Err(SendFailure::refused(
            DeliveryCode::TemplateRejected,
            "this gateway has no templates",
        )),
        Content::Media(media) => Ok(file_order(media)),
        Content::Interactive(content) => offer_order(content),
        Content::Location(place) => place_order(place),
        Content::Contacts(cards) => cards_order(cards),
        Content::Reaction(reaction) => {
            // The gateway takes nothing but emojis, so that it cannot withdraw one.
            let emoji = reaction.emoji.as_deref();
            let emoji = emoji.ok_or_else(|| refused("the gateway cannot withdraw a reaction"))?;
            let key = message_key(names, &reaction.target);
            let mut order = order("sendReaction", json!({"key": key, "reaction": emoji}));
            order.is_addressed = false;
            Ok(order)
        }
    }
}

/// The key of a message at the gateway.
pub(super) fn message_key(names: InstanceNames<'_>, name: &MessageName) -> Value {
    let mut key = json!({
        "id": name.provider_id.as_str(),
        "remoteJid": names.jid(&name.chat),
        "fromMe": name.is_ours,
    });
    if let Some(participant) = &name.participant {
        key["participant"] = json!(names.jid(participant));
    }
    key
}

fn file_order(media: &MediaContent) -> OutgoingOrder {
    let MediaContent { kind, file, caption, is_voice } = media;
    let mut asked = match kind {
        FileKind::Sticker => order("sendSticker", json!({})),
        // Without `encoding` the gateway would convert what is OGG with Opus already.
        FileKind::Audio if *is_voice => order("sendWhatsAppAudio", json!({"encoding": false})),
        FileKind::Audio | FileKind::Image | FileKind::Video | FileKind::Document => {
            let mut fields = json!({"mediatype": kind.as_str(), "mimetype": file.mimetype});
            if let Some(filename) = &file.filename {
                fields["fileName"] = json!(filename);
            }
            if let Some(caption) = caption {
                fields["caption"] = json!(caption);
            }
            order("sendMedia", fields)
        }
    };
    let field = match asked.operation {
        "sendSticker" => "sticker",
        "sendWhatsAppAudio" => "audio",
        _ => "media",
    };
    asked.file = Some((field, file.stored.clone()));
    asked
}

fn offer_order(content: &InteractiveContent) -> Result<OutgoingOrder, SendFailure> {
    if content.header_file.is_some() {
        return Err(refused("the gateway shows no file above an offer"));
    }
    let Offer { header, body, footer, .. } = &content.offer;
    let header = header.as_ref().and_then(|OfferHeader { text }| text.clone());
    let body = body.clone().unwrap_or_default();
    // The gateway writes a title above everything.
    let (title, description) = match header {
        Some(header) => (header, body),
        None => (body, String::new()),
    };
    let footer = footer.clone().unwrap_or_default();
    match content.offer.kind {
        OfferKind::Buttons => {
            let buttons: Vec<Value> = content
                .offer
                .buttons
                .iter()
                .flatten()
                .map(
                    |button| json!({"type": "reply", "displayText": button.title, "id": button.id}),
                )
                .collect();
            Ok(order(
                "sendButtons",
                json!({"title": title, "description": description, "footer": footer,
                    "buttons": buttons}),
            ))
        }
        OfferKind::CtaUrl => Ok(order(
            "sendButtons",
            json!({"title": title, "description": description, "footer": footer,
                "buttons": [{"type": "url", "displayText": content.offer.label,
                    "url": content.offer.url}]}),
        )),
        OfferKind::List => Ok(order(
            "sendList",
            json!({"title": title, "description": description, "footerText": footer,
                "buttonText": content.offer.button, "sections": sections(&content.offer)}),
        )),
        OfferKind::Poll => poll_order(&content.offer),
        OfferKind::LocationRequest
        | OfferKind::Product
        | OfferKind::ProductList
        | OfferKind::Other => Err(refused("the gateway has no such offer")),
    }
}

/// The sections of a list; the gateway needs a title for each.
fn sections(offer: &Offer) -> Vec<Value> {
    let untitled = offer.button.clone().unwrap_or_default();
    let section = |section: &recado_core::messages::ListSection| {
        let rows: Vec<Value> = section
            .rows
            .iter()
            .map(|row| {
                let mut shown = json!({"title": row.title, "rowId": row.id});
                // The gateway fails at a row without one.
                shown["description"] = json!(row.description.as_deref().unwrap_or(" "));
                shown
            })
            .collect();
        let title = section.title.clone().unwrap_or_else(|| untitled.clone());
        json!({"title": title, "rows": rows})
    };
    offer.sections.iter().flatten().map(section).collect()
}

fn poll_order(offer: &Offer) -> Result<OutgoingOrder, SendFailure> {
    let options: Vec<&str> = offer.options.iter().flatten().map(|o| o.option.as_str()).collect();
    if options.len() > MAX_OPTIONS {
        return Err(refused("the gateway takes at most ten options"));
    }
    let selectable = offer.selectable.unwrap_or(1);
    Ok(order(
        "sendPoll",
        json!({"name": offer.body, "selectableCount": selectable, "values": options}),
    ))
}

fn place_order(place: &Location) -> Result<OutgoingOrder, SendFailure> {
    let Location { latitude, longitude, name, address, .. } = place;
    // The gateway needs both texts, empty ones too.
    Ok(order(
        "sendLocation",
        json!({"latitude": latitude, "longitude": longitude,
            "name": name.as_deref().unwrap_or_default(),
            "address": address.as_deref().unwrap_or_default()}),
    ))
}

/// The gateway has one phone on each card: a card with several becomes several.
fn cards_order(cards: &[SharedContact]) -> Result<OutgoingOrder, SendFailure> {
    let mut contacts = Vec::new();
    for card in cards {
        for phone in &card.phones {
            let digits: String = phone.number.chars().filter(char::is_ascii_digit).collect();
            if phone.number.chars().count() < 10 || digits.len() < 10 {
                return Err(refused("the gateway takes phones of at least ten digits on cards"));
            }
            let mut contact = json!({"fullName": card.name, "wuid": digits,
                "phoneNumber": phone.number});
            if let Some(organization) = &card.organization {
                contact["organization"] = json!(organization);
            }
            if let Some(email) = card.emails.first() {
                contact["email"] = json!(email.email);
            }
            contacts.push(contact);
        }
    }
    Ok(order("sendContact", json!({ "contact": contacts })))
}
