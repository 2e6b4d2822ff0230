//! What can be answered: polls, buttons, lists, invitations (X2).

use recado_core::messages::{Blocks, Choice, Interactive, MessageType, Offer, OfferKind};
use serde_json::Value;

use super::proto::{fields, first, variant, whole};
use super::text;
use crate::shared::native::{self, MAX_ENTRIES, Pressable, header, with_buttons};
use crate::shared::offers::{event, list};
use crate::shared::proto::is_poll;
use crate::shared::{array, at, text_at};

/// The offer in a message, with its type.
pub(super) fn offer(payload: &Value, proto: Option<&Value>) -> Option<(MessageType, Blocks)> {
    if let Some(poll) = poll(payload, proto) {
        return Some((MessageType::Poll, with(poll)));
    }
    let proto = proto?;
    let of = |name| at(proto, &[name]);
    let blocks = of("interactiveMessage")
        .map(interactive)
        .or_else(|| of("templateMessage").map(template))
        .or_else(|| of("buttonsMessage").map(buttons).map(with))
        .or_else(|| of("listMessage").map(list).map(with))
        .or_else(|| of("groupInviteMessage").map(invitation).map(with))
        .or_else(|| of("eventMessage").map(event).map(with))?;
    Some((MessageType::Interactive, blocks))
}

fn with(offer: Offer) -> Blocks {
    Blocks { interactive: Some(Interactive::Offer(Box::new(offer))), ..Blocks::default() }
}

/// Whether an offer holds anything to show.
pub(super) fn says_any(blocks: &Blocks) -> bool {
    let kind = match &blocks.interactive {
        Some(Interactive::Offer(offer)) => Some(offer.kind),
        _ => None,
    };
    blocks.content().is_some() || kind == Some(OfferKind::LocationRequest)
}

fn field(value: &Value, names: &[&str]) -> Option<String> {
    first(value, names).and_then(|text| text::long(text.trim()))
}

fn poll(payload: &Value, proto: Option<&Value>) -> Option<Offer> {
    let name = fields(proto).find(|name| is_poll(name));
    let (reported, options) = match name {
        Some(name) => {
            let reported = at(proto?, &[name])?;
            (reported, array(reported, "options"))
        }
        None => {
            let is_poll = |it: &&Value| {
                first(it, &["pollName"]).is_some()
                    || text_at(it, &["type"]) == Some("poll_creation")
            };
            let reported =
                [Some(payload), payload.get("_data")].into_iter().flatten().find(is_poll)?;
            (reported, array(reported, "pollOptions"))
        }
    };
    let question = field(reported, &["name", "pollName"]).or_else(|| field(payload, &["body"]));
    let options: Vec<String> = options
        .iter()
        .take(MAX_ENTRIES)
        .filter_map(|option| {
            let plain = || option.as_str().and_then(|text| text::long(text.trim()));
            field(option, &["optionName", "name"]).or_else(plain)
        })
        .collect();
    let many = ["selectableOptionsCount", "selectableOptionCount", "pollSelectableOptionsCount"]
        .into_iter()
        .find_map(|name| whole(reported, name));
    // None stands for any number of them.
    let selectable = many.and_then(|many| match many {
        0 => u32::try_from(options.len()).ok(),
        many => u32::try_from(many).ok(),
    });
    let says_any = question.is_some() || !options.is_empty();
    says_any.then(|| Offer { selectable, ..Offer::poll(question.unwrap_or_default(), options) })
}

fn interactive(reported: &Value) -> Blocks {
    let (offer, order) = native::offered(reported);
    Blocks { order, ..with(offer) }
}

fn template(reported: &Value) -> Blocks {
    let filled = ["hydratedTemplate", "hydratedFourRowTemplate"]
        .into_iter()
        .find_map(|name| variant(reported, name));
    let Some(filled) = filled else {
        let newer = variant(reported, "interactiveMessageTemplate");
        return newer.map_or_else(|| with(Offer::new(OfferKind::Other)), interactive);
    };
    let title = variant(filled, "hydratedTitleText").and_then(Value::as_str);
    let buttons = array(filled, "hydratedButtons").iter().take(MAX_ENTRIES);
    let offer = Offer {
        header: header(title.and_then(|title| text::long(title.trim()))),
        body: field(filled, &["hydratedContentText"]),
        footer: field(filled, &["hydratedFooterText"]),
        ..Offer::new(OfferKind::Other)
    };
    with(with_buttons(offer, buttons.filter_map(hydrated).collect()))
}

fn hydrated(button: &Value) -> Option<Pressable> {
    let (name, reported) = ["quickReplyButton", "urlButton", "callButton"]
        .into_iter()
        .find_map(|name| Some((name, variant(button, name)?)))?;
    let id = field(reported, &["id", "ID", "phoneNumber"]);
    let choice = Choice { id, title: field(reported, &["displayText"]) };
    let url = field(reported, &["url", "URL"]);
    Some(Pressable { choice, url, answers: name == "quickReplyButton" })
}

fn buttons(reported: &Value) -> Offer {
    let title = variant(reported, "text").and_then(Value::as_str);
    let choices = array(reported, "buttons").iter().take(MAX_ENTRIES).map(|button| {
        let title = text_at(button, &["buttonText", "displayText"]);
        let title = title.and_then(|title| text::long(title.trim()));
        Choice { id: field(button, &["buttonId", "buttonID"]), title }
    });
    Offer {
        header: header(title.and_then(|title| text::long(title.trim()))),
        body: field(reported, &["contentText"]),
        footer: field(reported, &["footerText"]),
        buttons: Some(choices.collect()),
        ..Offer::new(OfferKind::Buttons)
    }
}

fn invitation(reported: &Value) -> Offer {
    Offer {
        header: header(field(reported, &["groupName"])),
        body: field(reported, &["caption"]),
        ..Offer::new(OfferKind::Other)
    }
}
