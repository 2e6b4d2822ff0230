//! What is offered to choose from, as the API shows it (X12).

use recado_core::gateway::InteractiveContent;
use recado_core::messages::{Choice, ListRow, ListSection, Offer, OfferKind};
use serde_json::{Value, json};

use super::outbound::media_type;

/// Why the API cannot show an offer, if it cannot: lists have no file above them, and a request for
/// a place has nothing above or below it (R331).
pub(super) fn unable(offered: &InteractiveContent) -> Option<&'static str> {
    let offer = &offered.offer;
    let has_header = offered.header_file.is_some() || header_text(offer).is_some();
    match offer.kind {
        OfferKind::List if offered.header_file.is_some() => {
            Some("a list of the official API has no file above its text")
        }
        OfferKind::LocationRequest if has_header || offer.footer.is_some() => {
            Some("a request for a place has no header and no footer on the official API")
        }
        OfferKind::Buttons | OfferKind::List | OfferKind::CtaUrl | OfferKind::LocationRequest => {
            None
        }
        OfferKind::Poll => Some("the official API has no polls"),
        OfferKind::Product | OfferKind::ProductList | OfferKind::Other => {
            Some("this kind of offer is not sent")
        }
    }
}

/// The API's `interactive`. `file` is the id of the header's file.
pub(super) fn interactive(offered: &InteractiveContent, file: Option<&str>) -> Value {
    let offer = &offered.offer;
    let (kind, action) = action(offer);
    let body = offer.body.as_deref().unwrap_or_default();
    let mut object = json!({"type": kind, "body": {"text": body}, "action": action});
    if let Some((kind, _)) = &offered.header_file {
        let kind = media_type(*kind);
        object["header"] = json!({"type": kind, kind: {"id": file}});
    } else if let Some(text) = header_text(offer) {
        object["header"] = json!({"type": "text", "text": text});
    }
    if let Some(text) = &offer.footer {
        object["footer"] = json!({ "text": text });
    }
    object
}

fn header_text(offer: &Offer) -> Option<&str> {
    offer.header.as_ref()?.text.as_deref()
}

fn action(offer: &Offer) -> (&'static str, Value) {
    match offer.kind {
        OfferKind::List | OfferKind::Product | OfferKind::ProductList => {
            let sections = offer.sections.iter().flatten().map(section).collect::<Vec<_>>();
            ("list", json!({"button": offer.button, "sections": sections}))
        }
        OfferKind::CtaUrl => {
            let parameters = json!({"display_text": offer.label, "url": offer.url});
            ("cta_url", json!({"name": "cta_url", "parameters": parameters}))
        }
        OfferKind::LocationRequest => {
            ("location_request_message", json!({"name": "send_location"}))
        }
        OfferKind::Buttons | OfferKind::Poll | OfferKind::Other => {
            let buttons = offer.buttons.iter().flatten().map(button).collect::<Vec<_>>();
            ("button", json!({ "buttons": buttons }))
        }
    }
}

fn button(choice: &Choice) -> Value {
    json!({"type": "reply", "reply": {"id": choice.id, "title": choice.title}})
}

fn section(section: &ListSection) -> Value {
    let rows: Vec<Value> = section.rows.iter().map(row).collect();
    let mut object = json!({ "rows": rows });
    if let Some(title) = &section.title {
        object["title"] = json!(title);
    }
    object
}

fn row(row: &ListRow) -> Value {
    let mut object = json!({"id": row.id, "title": row.title});
    if let Some(description) = &row.description {
        object["description"] = json!(description);
    }
    object
}
