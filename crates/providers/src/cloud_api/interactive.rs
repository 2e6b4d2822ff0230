//! Answers to what was offered, and what the operator offered on the phone (X2).

use recado_core::gateway::Button;
use recado_core::messages::{
    Answer, AnswerKind, Blocks, Choice, Interactive, ListRow, ListSection, MessageType, Offer,
    OfferHeader, OfferKind,
};
use recado_core::text::MESSAGE;
use serde_json::Value;

use super::commerce;
use super::content::{MessageContent, words};
use crate::shared::{at, listed, prose, text};

/// What the app shows for every form that was sent: no title that anybody gave.
const GENERIC_TITLE: &str = "Sent";

/// The press of a template's quick reply.
pub(super) fn quick_reply(body: &Value) -> Option<MessageContent> {
    let answer = Answer {
        title: words(body, "text"),
        payload: words(body, "payload"),
        ..Answer::new(AnswerKind::ButtonReply)
    };
    let button =
        Button { id: None, payload: pressed(body, "payload"), title: pressed(body, "text") };
    answered(answer, Some(button))
}

/// An answer, or what was offered; `None` if it is neither.
pub(super) fn read(body: &Value) -> Option<MessageContent> {
    let kind = text(body, "type")?;
    match kind {
        "button_reply" => choice(at(body, &[kind])?, AnswerKind::ButtonReply),
        "list_reply" => choice(at(body, &[kind])?, AnswerKind::ListReply),
        "nfm_reply" => form(at(body, &[kind])?),
        "call_permission_reply" => {
            let reply = at(body, &[kind])?;
            let answer = Answer {
                title: words(reply, "response"),
                response: Some(reply.clone()),
                ..Answer::new(AnswerKind::CallPermissionReply)
            };
            answered(answer, None)
        }
        _ => offered(kind, body),
    }
}

fn choice(reply: &Value, kind: AnswerKind) -> Option<MessageContent> {
    let answer = Answer {
        id: words(reply, "id"),
        title: words(reply, "title"),
        description: words(reply, "description"),
        ..Answer::new(kind)
    };
    let button = Button { id: pressed(reply, "id"), payload: None, title: pressed(reply, "title") };
    answered(answer, Some(button))
}

/// The answer of a form. The API writes it as JSON in a text.
fn form(reply: &Value) -> Option<MessageContent> {
    let response = match reply.get("response_json") {
        Some(Value::String(written)) => {
            let object = serde_json::from_str(written).ok().filter(Value::is_object);
            Some(object.unwrap_or_else(|| Value::String(written.clone())))
        }
        Some(Value::Null) | None => None,
        Some(other) => Some(other.clone()),
    };
    let answer = Answer {
        id: words(reply, "name"),
        title: words(reply, "body").filter(|title| title != GENERIC_TITLE),
        response,
        ..Answer::new(AnswerKind::FlowReply)
    };
    let button = Button {
        id: pressed(reply, "name"),
        payload: pressed(reply, "response_json"),
        title: pressed(reply, "body"),
    };
    answered(answer, Some(button))
}

/// The answer; `None` if nothing of it can be read.
fn answered(answer: Answer, button: Option<Button>) -> Option<MessageContent> {
    let texts = [&answer.id, &answer.title, &answer.description, &answer.payload];
    if texts.into_iter().all(Option::is_none) && answer.response.is_none() {
        return None;
    }
    let interactive = Some(Interactive::Answer(answer));
    let blocks = Blocks { interactive, ..Blocks::default() };
    Some(MessageContent { button, ..MessageContent::of(MessageType::Interactive, blocks) })
}

/// A part of a button that was pressed.
fn pressed(reply: &Value, name: &str) -> Option<String> {
    let kept: String = prose(text(reply, name)?).chars().take(MESSAGE).collect();
    (!kept.is_empty()).then_some(kept)
}

/// What was offered. Of a kind that is new, what has a text.
fn offered(kind: &str, body: &Value) -> Option<MessageContent> {
    let action = at(body, &["action"]).unwrap_or(&Value::Null);
    let mut offer = Offer::new(match kind {
        "button" => OfferKind::Buttons,
        "list" => OfferKind::List,
        "cta_url" => OfferKind::CtaUrl,
        "location_request_message" => OfferKind::LocationRequest,
        "product" => OfferKind::Product,
        "product_list" => OfferKind::ProductList,
        _ => OfferKind::Other,
    });
    let part = |name: &str| at(body, &[name]).and_then(|part| words(part, "text"));
    offer.header = part("header").map(|text| OfferHeader { text: Some(text) });
    offer.body = part("body");
    offer.footer = part("footer");
    match offer.kind {
        OfferKind::Buttons => {
            offer.buttons = Some(listed(action, "buttons").iter().map(button).collect());
        }
        OfferKind::List | OfferKind::ProductList => {
            offer.button = words(action, "button");
            offer.sections = Some(listed(action, "sections").iter().map(section).collect());
        }
        OfferKind::CtaUrl => {
            let parameters = at(action, &["parameters"]).unwrap_or(&Value::Null);
            offer.label = words(parameters, "display_text");
            offer.url = words(parameters, "url");
        }
        _ => {}
    }
    if offer.body.is_none() && (offer.kind == OfferKind::Other || action.is_null()) {
        return None;
    }
    let product = commerce::product(action).filter(|_| offer.kind == OfferKind::Product);
    let interactive = Some(Interactive::Offer(Box::new(offer)));
    let blocks = Blocks { interactive, product, ..Blocks::default() };
    Some(MessageContent::of(MessageType::Interactive, blocks))
}

/// Whether these blocks offer something of a kind that is new.
pub(super) fn is_other(blocks: &Blocks) -> bool {
    match &blocks.interactive {
        Some(Interactive::Offer(offer)) => offer.kind == OfferKind::Other,
        _ => false,
    }
}

fn button(button: &Value) -> Choice {
    let reply = at(button, &["reply"]).unwrap_or(button);
    Choice { id: words(reply, "id"), title: words(reply, "title") }
}

/// A section with its rows; of products each is a row with the product's id.
fn section(section: &Value) -> ListSection {
    let rows = listed(section, "rows").iter().map(|row| ListRow {
        id: words(row, "id"),
        title: words(row, "title"),
        description: words(row, "description"),
    });
    let products = listed(section, "product_items")
        .iter()
        .map(|item| ListRow { id: words(item, "product_retailer_id"), ..ListRow::default() });
    ListSection { title: words(section, "title"), rows: rows.chain(products).collect() }
}
