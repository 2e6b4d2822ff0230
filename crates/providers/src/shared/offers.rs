//! Invitations to events, and lists, as the channel writes them (X2).

use recado_core::Timestamp;
use recado_core::messages::{Offer, OfferKind};
use serde_json::Value;

use super::native::{MAX_ENTRIES, header, section};
use super::proto::{said, time};
use super::{array, at};

/// An event: its name above, and when and where it is behind its description.
pub(crate) fn event(part: &Value) -> Offer {
    let start = time(part, "startTime").map(|at| format!("Início: {}", written(at)));
    let place = at(part, &["location"]).and_then(place).map(|place| format!("Local: {place}"));
    let lines = [said(part, &["description"]), start, place];
    let body = lines.into_iter().flatten().collect::<Vec<_>>().join("\n");
    Offer {
        header: header(said(part, &["name"])),
        body: (!body.is_empty()).then_some(body),
        url: said(part, &["joinLink"]),
        ..Offer::new(OfferKind::Other)
    }
}

/// `day/month/year hour:minute (UTC)`: the zone of the reader is not known here.
fn written(at: Timestamp) -> String {
    let iso = at.to_string();
    let parts = (iso.get(0..4), iso.get(5..7), iso.get(8..10), iso.get(11..16));
    match parts {
        (Some(year), Some(month), Some(day), Some(clock)) => {
            format!("{day}/{month}/{year} {clock} (UTC)")
        }
        _ => iso,
    }
}

/// The names of a place, or else its coordinates.
fn place(part: &Value) -> Option<String> {
    let names = [said(part, &["name"]), said(part, &["address"])];
    let names = names.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let degrees = |name| part.get(name).and_then(Value::as_number);
    let point = degrees("degreesLatitude").zip(degrees("degreesLongitude"));
    let point = || point.map(|(latitude, longitude)| format!("{latitude},{longitude}"));
    (!names.is_empty()).then_some(names).or_else(point)
}

/// A list, or a list of products.
pub(crate) fn list(part: &Value) -> Offer {
    let read = |of: &Value, sections: &str, rows: &str| {
        let sections = array(of, sections).iter().take(MAX_ENTRIES);
        sections.map(|each| section(each, rows)).collect::<Vec<_>>()
    };
    let (kind, sections) = match at(part, &["productListInfo"]) {
        Some(products) => (OfferKind::ProductList, read(products, "productSections", "products")),
        None => (OfferKind::List, read(part, "sections", "rows")),
    };
    Offer {
        header: header(said(part, &["title"])),
        body: said(part, &["description"]),
        footer: said(part, &["footerText"]),
        button: said(part, &["buttonText"]),
        sections: (!sections.is_empty()).then_some(sections),
        ..Offer::new(kind)
    }
}
