//! What can be answered: polls, buttons, lists, invitations (X2).

use recado_core::messages::{
    Blocks, Choice, Interactive, ListRow, ListSection, MessageType, Offer, OfferHeader, OfferKind,
};
use serde_json::Value;

use super::proto::{fields, first, variant, whole};
use super::{text, trade};
use crate::shared::{array, at, parse, text_at};

/// How many entries of a list are read at most.
const MAX_ENTRIES: usize = 100;

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

fn field(value: &Value, names: &[&str]) -> Option<String> {
    first(value, names).and_then(|text| text::long(text.trim()))
}

fn header(text: Option<String>) -> Option<OfferHeader> {
    text.map(|text| OfferHeader { text: Some(text) })
}

fn poll(payload: &Value, proto: Option<&Value>) -> Option<Offer> {
    let name = fields(proto).find(|name| name.starts_with("pollCreationMessage"));
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

/// A button of any sort.
struct Pressable {
    choice: Choice,
    /// The page that it opens.
    url: Option<String>,
    /// Whether it only answers.
    answers: bool,
}

/// The offer with these buttons: of one that opens a page it is the page.
fn with_buttons(offer: Offer, buttons: Vec<Pressable>) -> Offer {
    let all_answer = buttons.iter().all(|button| button.answers);
    match <[Pressable; 1]>::try_from(buttons) {
        Ok([Pressable { choice, url: url @ Some(_), .. }]) => {
            Offer { kind: OfferKind::CtaUrl, label: choice.title, url, ..offer }
        }
        Ok([one]) => listed(offer, vec![one], all_answer),
        Err(buttons) => listed(offer, buttons, all_answer),
    }
}

fn listed(offer: Offer, buttons: Vec<Pressable>, all_answer: bool) -> Offer {
    if buttons.is_empty() {
        return offer;
    }
    let kind = if all_answer { OfferKind::Buttons } else { OfferKind::Other };
    // A page that is one choice of several has no other place.
    let choices = buttons
        .into_iter()
        .map(|Pressable { choice, url, .. }| Choice { id: choice.id.or(url), title: choice.title });
    Offer { kind, buttons: Some(choices.collect()), ..offer }
}

fn interactive(reported: &Value) -> Blocks {
    let text_in = |path: &[&str]| text_at(reported, path).and_then(|text| text::long(text.trim()));
    let body = text_in(&["body", "text"]);
    let offer = Offer {
        header: header(text_in(&["header", "title"])),
        body: body.or_else(|| text_in(&["header", "subtitle"])),
        footer: text_in(&["footer", "text"]),
        ..Offer::new(OfferKind::Other)
    };
    if let Some(carousel) = variant(reported, "carouselMessage") {
        return with(Offer { body: carousel_text(offer.body.clone(), carousel), ..offer });
    }
    let flow = variant(reported, "nativeFlowMessage");
    let native = flow.map_or(&[][..], |flow| array(flow, "buttons"));
    let read = native.iter().take(MAX_ENTRIES).map(|button| {
        let details = first(button, &["buttonParamsJson", "buttonParamsJSON"]);
        let details = details.and_then(|json| parse(json.as_bytes())).unwrap_or_default();
        (first(button, &["name"]).unwrap_or_default(), details)
    });
    let read: Vec<(&str, Value)> = read.collect();
    if let [("single_select", details)] = read.as_slice() {
        let sections = array(details, "sections").iter().take(MAX_ENTRIES).map(section);
        return with(Offer {
            kind: OfferKind::List,
            button: field(details, &["title"]),
            sections: Some(sections.collect()),
            ..offer
        });
    }
    let order = read.iter().find_map(|(name, details)| {
        matches!(*name, "review_and_pay" | "order_details" | "review_order")
            .then(|| trade::to_pay(details, offer.body.as_deref()))?
    });
    let buttons = read.iter().flat_map(|(name, details)| pressables(name, details)).collect();
    Blocks { order, ..with(with_buttons(offer, buttons)) }
}

/// The texts of the cards, one beneath the other.
fn carousel_text(body: Option<String>, carousel: &Value) -> Option<String> {
    let cards = array(carousel, "cards").iter().take(MAX_ENTRIES).flat_map(|card| {
        let parts = [text_at(card, &["header", "title"]), text_at(card, &["body", "text"])];
        parts.into_iter().flatten().filter_map(|text| text::long(text.trim()))
    });
    let texts: Vec<String> = body.into_iter().chain(cards).collect();
    text::long(&texts.join("\n"))
}

/// The buttons of one of the newer kinds.
fn pressables(name: &str, details: &Value) -> Vec<Pressable> {
    let keys = array(details, "payment_settings").iter().take(MAX_ENTRIES).filter_map(|setting| {
        let pix = ["pix_static_code", "pix_dynamic_code"];
        let pix = pix.into_iter().find_map(|name| at(setting, &[name]))?;
        let id = field(pix, &["key", "code"])?;
        let title = match field(pix, &["merchant_name"]) {
            Some(name) => format!("Pix: {id} ({name})"),
            None => format!("Pix: {id}"),
        };
        let choice = Choice { id: Some(id), title: Some(title) };
        Some(Pressable { choice, url: None, answers: false })
    });
    let keys: Vec<Pressable> = keys.collect();
    if !keys.is_empty() {
        return keys;
    }
    let id = field(details, &["id", "copy_code", "phone_number", "reference_id"]);
    let title = field(details, &["display_text", "title"]);
    if id.is_none() && title.is_none() {
        return Vec::new();
    }
    let url = field(details, &["url"]).filter(|_| name == "cta_url");
    let answers = name == "quick_reply";
    vec![Pressable { choice: Choice { id, title }, url, answers }]
}

fn section(reported: &Value) -> ListSection {
    let rows = array(reported, "rows").iter().take(MAX_ENTRIES).map(|row| ListRow {
        id: field(row, &["rowId", "rowID", "id"]),
        title: field(row, &["title"]),
        description: field(row, &["description"]),
    });
    ListSection { title: field(reported, &["title"]), rows: rows.collect() }
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

fn list(reported: &Value) -> Offer {
    let sections = array(reported, "sections").iter().take(MAX_ENTRIES).map(section);
    Offer {
        header: header(field(reported, &["title"])),
        body: field(reported, &["description"]),
        footer: field(reported, &["footerText"]),
        button: field(reported, &["buttonText"]),
        sections: Some(sections.collect()),
        ..Offer::new(OfferKind::List)
    }
}

fn invitation(reported: &Value) -> Offer {
    Offer {
        header: header(field(reported, &["groupName"])),
        body: field(reported, &["caption"]),
        ..Offer::new(OfferKind::Other)
    }
}

fn event(reported: &Value) -> Offer {
    let place = at(reported, &["location"]);
    let place = place.and_then(|place| field(place, &["name", "address"]));
    Offer {
        header: header(field(reported, &["name"])),
        body: field(reported, &["description"]),
        footer: place,
        url: field(reported, &["joinLink"]),
        ..Offer::new(OfferKind::Other)
    }
}
