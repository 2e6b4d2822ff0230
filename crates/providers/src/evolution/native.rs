//! Messages of the newer interactive kind, whose buttons have parameters as JSON in a text:
//! replies, pages, lists, payments.

use recado_core::messages::{Choice, Offer, OfferKind};
use serde_json::Value;

use super::body::MessageContent;
use super::offers::{header, offered, offered_if_any, sections, some};
use super::orders;
use super::values::{filled, text_in};
use crate::shared::{at, listed, parse};

/// Buttons with payments.
const PAYMENTS: &[&str] = &["payment_info", "review_and_pay", "review_order"];

/// A button: its name in the protocol and its parameters.
struct NativeButton<'a> {
    name: &'a str,
    parameters: Value,
}

impl NativeButton<'_> {
    fn of(button: &Value) -> Option<NativeButton<'_>> {
        let written = filled(button, "buttonParamsJson");
        let parameters = written.and_then(|json| parse(json.as_bytes())).unwrap_or_default();
        Some(NativeButton { name: filled(button, "name")?, parameters })
    }

    fn text(&self, name: &str) -> Option<String> {
        text_in(&self.parameters, &[name])
    }

    fn label(&self) -> Option<String> {
        self.text("display_text").or_else(|| self.text("title"))
    }

    fn is_payment(&self) -> bool {
        PAYMENTS.contains(&self.name)
    }

    /// The button as it is shown: a payment by the key that it can be paid to.
    fn choice(&self) -> Choice {
        if !self.is_payment() {
            return Choice { id: self.text("id"), title: self.label() };
        }
        let title = pix(&self.parameters).or_else(|| self.label());
        Choice { id: self.text("reference_id"), title }
    }
}

/// The Brazilian payment key of a request for payment, with the name of its owner.
fn pix(request: &Value) -> Option<String> {
    let settings = listed(request, "payment_settings").iter();
    let codes = ["pix_static_code", "pix_dynamic_code"];
    let mut found = settings.filter_map(|one| codes.iter().find_map(|code| at(one, &[code])));
    found.find_map(|code| {
        let key = text_in(code, &["key"]).or_else(|| text_in(code, &["code"]))?;
        let owner = text_in(code, &["merchant_name"]).map(|name| format!(" ({name})"));
        Some(format!("Pix: {key}{}", owner.unwrap_or_default()))
    })
}

/// What the message offers; `None` if nothing of it is known.
pub(super) fn interactive(part: &Value) -> Option<MessageContent> {
    let flow = at(part, &["nativeFlowMessage"]).unwrap_or(&Value::Null);
    let buttons: Vec<NativeButton<'_>> =
        listed(flow, "buttons").iter().filter_map(NativeButton::of).collect();
    let title = text_in(part, &["header", "title"]);
    let texts = Offer {
        header: header(title.or_else(|| text_in(part, &["header", "subtitle"]))),
        body: text_in(part, &["body", "text"]),
        footer: text_in(part, &["footer", "text"]),
        ..Offer::new(OfferKind::Other)
    };
    let body = texts.body.clone();
    let requests = buttons.iter().filter(|button| button.name != "payment_info");
    let mut requests = requests.filter(|button| button.is_payment());
    let order = requests.find_map(|button| orders::requested(&button.parameters, body.clone()));
    let mut said = match buttons.as_slice() {
        [] => offered_if_any(texts)?,
        buttons => offered(with_buttons(texts, buttons)),
    };
    said.blocks.order = order;
    Some(said)
}

fn with_buttons(texts: Offer, buttons: &[NativeButton<'_>]) -> Offer {
    if let [button] = buttons {
        match button.name {
            "cta_url" => {
                let (label, url) = (button.label(), button.text("url"));
                return Offer { kind: OfferKind::CtaUrl, label, url, ..texts };
            }
            "single_select" => {
                let sections = some(sections(&button.parameters, "sections", "rows"));
                return Offer { kind: OfferKind::List, button: button.label(), sections, ..texts };
            }
            "send_location" => return Offer { kind: OfferKind::LocationRequest, ..texts },
            _ => {}
        }
    }
    let all_replies = buttons.iter().all(|button| button.name == "quick_reply");
    let kind = if all_replies { OfferKind::Buttons } else { OfferKind::Other };
    let choices = buttons.iter().map(NativeButton::choice).collect();
    Offer { kind, buttons: some(choices), ..texts }
}
