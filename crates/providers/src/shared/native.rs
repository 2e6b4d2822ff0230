//! Interactive messages of the newer kind ("native flow"), whose buttons and answers have their
//! details as JSON in a text: replies, pages, lists, payments, forms.

use recado_core::messages::{
    Answer, AnswerKind, Choice, ListRow, ListSection, Offer, OfferHeader, OfferKind, Order,
};
use serde_json::Value;

use super::proto::{first, plain, said, said_at, variant};
use super::{array, at, money, parse};

/// How many entries of a list are read at most.
pub(crate) const MAX_ENTRIES: usize = 1_000;
/// Names of choices of lists among the answers.
const CHOICES: [&str; 3] = ["menu_options", "single_select", "list_reply"];
/// Names of forms among them; they may have a field `id`.
const FORMS: [&str; 3] = ["flow", "galaxy_message", "address_message"];
/// Names of the answer whether the company may call.
const CALLS: [&str; 2] = ["call_permission_request", "call_permission_reply"];
/// Names of buttons with a bill.
const BILLS: [&str; 3] = ["review_and_pay", "order_details", "review_order"];

/// A button of any sort.
pub(crate) struct Pressable {
    /// What can be chosen.
    pub(crate) choice: Choice,
    /// The page that it opens.
    pub(crate) url: Option<String>,
    /// Whether it only answers.
    pub(crate) answers: bool,
}

/// What stands above the text.
pub(crate) fn header(text: Option<String>) -> Option<OfferHeader> {
    text.map(|text| OfferHeader { text: Some(text) })
}

/// The offer with these buttons: of one that opens a page it is the page.
pub(crate) fn with_buttons(offer: Offer, buttons: Vec<Pressable>) -> Offer {
    if let [Pressable { choice, url: url @ Some(_), .. }] = buttons.as_slice() {
        let (label, url) = (choice.title.clone(), url.clone());
        return Offer { kind: OfferKind::CtaUrl, label, url, ..offer };
    }
    if buttons.is_empty() {
        return offer;
    }
    let all_answer = buttons.iter().all(|button| button.answers);
    let kind = if all_answer { OfferKind::Buttons } else { OfferKind::Other };
    // A page that is one choice of several has no other place.
    let choices = buttons
        .into_iter()
        .map(|Pressable { choice, url, .. }| Choice { id: choice.id.or(url), title: choice.title });
    Offer { kind, buttons: Some(choices.collect()), ..offer }
}

/// What an interactive message offers, with the order that it asks to pay.
pub(crate) fn offered(message: &Value) -> (Offer, Option<Order>) {
    let [title, subtitle] = ["title", "subtitle"].map(|name| said_at(message, &["header", name]));
    let body = said_at(message, &["body", "text"]);
    let (title, body) = match body {
        Some(body) => (title.or(subtitle), Some(body)),
        None => (title, subtitle),
    };
    let offer = Offer {
        header: header(title),
        body,
        footer: said_at(message, &["footer", "text"]),
        ..Offer::new(OfferKind::Other)
    };
    if let Some(carousel) = variant(message, "carouselMessage") {
        return (of_cards(offer, carousel), None);
    }
    let read = buttons(message);
    match read.as_slice() {
        [("single_select", details)] => {
            let sections = array(details, "sections").iter().take(MAX_ENTRIES);
            let sections = sections.map(|each| section(each, "rows"));
            let offer = Offer {
                kind: OfferKind::List,
                button: said(details, &["title", "display_text"]),
                sections: Some(sections.collect()),
                ..offer
            };
            return (offer, None);
        }
        [("send_location", _)] => {
            return (Offer { kind: OfferKind::LocationRequest, ..offer }, None);
        }
        _ => {}
    }
    let mut bills = read.iter().filter(|(name, _)| BILLS.contains(name));
    let order = bills.find_map(|(_, details)| money::requested(details, offer.body.clone()));
    let buttons = read.iter().flat_map(|(name, details)| pressables(name, details)).collect();
    (with_buttons(offer, buttons), order)
}

/// The buttons of a message or of a card, by name, with their details.
fn buttons(message: &Value) -> Vec<(&str, Value)> {
    let flow = variant(message, "nativeFlowMessage");
    let native = flow.map_or(&[][..], |flow| array(flow, "buttons"));
    let read = native.iter().take(MAX_ENTRIES).filter_map(|button| {
        let details = first(button, &["buttonParamsJson", "buttonParamsJSON"]);
        let details = details.and_then(|json| parse(json.as_bytes())).unwrap_or_default();
        Some((first(button, &["name"])?, details))
    });
    read.collect()
}

/// The texts of cards, one beneath the other, and their buttons.
fn of_cards(offer: Offer, carousel: &Value) -> Offer {
    let cards = || array(carousel, "cards").iter().take(MAX_ENTRIES);
    let texts = cards().flat_map(|card| {
        let paths: [&[&str]; 4] =
            [&["header", "title"], &["header", "subtitle"], &["body", "text"], &["footer", "text"]];
        paths.into_iter().filter_map(|path| said_at(card, path)).collect::<Vec<_>>()
    });
    let texts: Vec<String> = offer.body.iter().cloned().chain(texts).collect();
    let pressed = cards().flat_map(|card| {
        let read = buttons(card);
        read.iter().flat_map(|(name, details)| pressables(name, details)).collect::<Vec<_>>()
    });
    let pressed: Vec<Pressable> = pressed.take(MAX_ENTRIES).collect();
    let offer = with_buttons(Offer { body: plain(&texts.join("\n")), ..offer }, pressed);
    Offer { kind: OfferKind::Other, ..offer }
}

/// The choices of a button: the keys of Pix of a request for payment, else itself.
fn pressables(name: &str, details: &Value) -> Vec<Pressable> {
    let keys = array(details, "payment_settings").iter().take(MAX_ENTRIES).filter_map(|setting| {
        let pix = ["pix_static_code", "pix_dynamic_code"];
        let pix = pix.into_iter().find_map(|name| at(setting, &[name]))?;
        let id = said(pix, &["key", "code"])?;
        let title = match said(pix, &["merchant_name"]) {
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
    let id = said(details, &["id", "copy_code", "phone_number", "reference_id"]);
    let title = said(details, &["display_text", "title"]);
    if id.is_none() && title.is_none() {
        return Vec::new();
    }
    let url = said(details, &["url"]).filter(|_| name == "cta_url");
    vec![Pressable { choice: Choice { id, title }, url, answers: name == "quick_reply" }]
}

/// A section of a list with these rows, which differ in the name of their id.
pub(crate) fn section(section: &Value, rows: &str) -> ListSection {
    let rows = array(section, rows).iter().take(MAX_ENTRIES).map(|row| ListRow {
        id: said(row, &["rowId", "rowID", "id", "productId", "productID"]),
        title: said(row, &["title"]),
        description: said(row, &["description"]),
    });
    ListSection { title: said(section, &["title"]), rows: rows.collect() }
}

/// An answer of the newer kind.
#[cfg_attr(not(feature = "evolution"), expect(dead_code, reason = "WAHA reads the answer alone"))]
pub(crate) struct NativeReply<'a> {
    /// What was answered.
    pub(crate) answer: Answer,
    /// The name of the answer in the protocol.
    pub(crate) name: Option<&'a str>,
    /// Its details, as they are written.
    pub(crate) written: Option<&'a str>,
}

/// The answer in a message.
pub(crate) fn reply(message: &Value) -> NativeReply<'_> {
    let details = variant(message, "nativeFlowResponseMessage").unwrap_or(&Value::Null);
    let name = first(details, &["name"]);
    let written = first(details, &["paramsJson", "paramsJSON"]);
    let read = written.and_then(|json| parse(json.as_bytes())).unwrap_or_default();
    let (id, named) = (said(&read, &["id"]), said(&read, &["title", "display_text"]));
    let body = said_at(message, &["body", "text"]);
    let says_more = match read.as_object() {
        Some(fields) => !fields.is_empty() && named.is_none(),
        None => written.is_some(),
    };
    let is = |names: &[&str]| name.is_some_and(|name| names.contains(&name));
    let description = said(&read, &["description"]);
    let response = match &read {
        Value::Object(_) => Some(read),
        _ => written.and_then(plain).map(Value::String),
    };
    let answer = if is(&CALLS) {
        Answer { id, title: body, response, ..Answer::new(AnswerKind::CallPermissionReply) }
    } else if is(&FORMS) || (id.is_none() && says_more) {
        Answer { title: body, response, ..Answer::new(AnswerKind::FlowReply) }
    } else {
        let kind = if is(&CHOICES) { AnswerKind::ListReply } else { AnswerKind::ButtonReply };
        let (id, title) = (id.or_else(|| name.and_then(plain)), body.or(named));
        Answer { id, title, description: description.filter(|_| is(&CHOICES)), ..Answer::new(kind) }
    };
    NativeReply { answer, name, written }
}
