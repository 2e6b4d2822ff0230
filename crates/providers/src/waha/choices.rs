//! Sending buttons, lists and polls (X12).

use recado_core::gateway::{FileKind, InteractiveContent, SendFailure};
use recado_core::messages::{ListRow, ListSection, Offer, OfferKind};
use serde_json::{Value, json};

use super::orders::{Order, cannot, file_fields};

/// What stands for a title that WAHA asks for and the message does not have (R339).
const NO_TITLE: &str = " ";

/// The request that sends this offer.
pub(super) fn order(content: &InteractiveContent) -> Result<Order, SendFailure> {
    let InteractiveContent { offer, header_file } = content;
    match offer.kind {
        OfferKind::Buttons | OfferKind::CtaUrl => buttons(content),
        _ if header_file.is_some() => {
            Err(cannot("the gateway shows a file above the text of buttons only"))
        }
        OfferKind::List => Ok(list(offer)),
        OfferKind::Poll => poll(offer),
        _ => Err(cannot("the gateway has no such message")),
    }
}

fn text(text: Option<&str>) -> &str {
    text.unwrap_or_default()
}

fn header(offer: &Offer) -> Option<&str> {
    offer.header.as_ref()?.text.as_deref()
}

/// Buttons can neither quote nor have an id of ours.
fn buttons(content: &InteractiveContent) -> Result<Order, SendFailure> {
    let offer = &content.offer;
    let buttons: Vec<Value> = match offer.kind {
        OfferKind::CtaUrl => {
            let (label, url) = (text(offer.label.as_deref()), text(offer.url.as_deref()));
            vec![json!({"type": "url", "text": label, "url": url})]
        }
        _ => {
            let choices = offer.buttons.iter().flatten();
            let button = |id: Option<&str>, title: Option<&str>| json!({"type": "reply", "text": text(title), "id": text(id)});
            choices.map(|it| button(it.id.as_deref(), it.title.as_deref())).collect()
        }
    };
    let order = Order::new("sendButtons", json!({ "buttons": buttons }))
        .with_text("header", header(offer))
        .with_text("body", offer.body.as_deref())
        .with_text("footer", offer.footer.as_deref());
    let mut order = Order { takes_id: false, quotes: false, ..order };
    match &content.header_file {
        None => Ok(order),
        Some((FileKind::Image, file)) => {
            let fields = file_fields(file, &file.mimetype);
            order.fields.insert("headerImage".to_owned(), fields);
            Ok(order.with_file(&["headerImage", "data"], file))
        }
        Some(_) => Err(cannot("of files the gateway shows only a picture above buttons")),
    }
}

/// A list cannot have an id of ours.
fn list(offer: &Offer) -> Order {
    let sections: Vec<Value> = offer.sections.iter().flatten().map(section).collect();
    let mut message = json!({"title": header(offer).unwrap_or(NO_TITLE),
        "description": text(offer.body.as_deref()), "button": text(offer.button.as_deref()),
        "sections": sections});
    if let Some(footer) = &offer.footer {
        message["footer"] = footer.as_str().into();
    }
    Order { takes_id: false, ..Order::new("sendList", json!({ "message": message })) }
}

fn section(section: &ListSection) -> Value {
    let row = |row: &ListRow| {
        let mut fields =
            json!({"title": text(row.title.as_deref()), "rowId": text(row.id.as_deref())});
        if let Some(description) = &row.description {
            fields["description"] = description.as_str().into();
        }
        fields
    };
    let rows: Vec<Value> = section.rows.iter().map(row).collect();
    json!({"title": section.title.as_deref().unwrap_or(NO_TITLE), "rows": rows})
}

/// WAHA's polls let one option be chosen, or all: another number cannot be said.
fn poll(offer: &Offer) -> Result<Order, SendFailure> {
    let options: Vec<&str> = offer.options.iter().flatten().map(|it| &*it.option).collect();
    let all = u32::try_from(options.len()).unwrap_or(u32::MAX);
    let multiple = match offer.selectable.unwrap_or(1) {
        0 | 1 => false,
        many if many >= all => true,
        _ => return Err(cannot("a poll of the gateway lets one option be chosen, or all")),
    };
    if offer.header.is_some() || offer.footer.is_some() {
        return Err(cannot("a poll has nothing above or below its question"));
    }
    let poll = json!({"name": text(offer.body.as_deref()), "options": options,
        "multipleAnswers": multiple});
    Ok(Order::new("sendPoll", json!({ "poll": poll })))
}
