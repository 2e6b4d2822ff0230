//! Invitations to an event.

use recado_core::Timestamp;
use recado_core::messages::{Offer, OfferKind};
use serde_json::Value;

use super::body::MessageContent;
use super::offers::{header, offered_if_any};
use super::values::{text_in, time};
use crate::shared::at;

/// An event: its name above, and when and where it is behind its description.
pub(super) fn event(part: &Value) -> Option<MessageContent> {
    let start = time(part, "startTime").map(|at| format!("Início: {}", written(at)));
    let place = at(part, &["location"]).and_then(place).map(|place| format!("Local: {place}"));
    let said = [text_in(part, &["description"]), start, place];
    let body = said.into_iter().flatten().collect::<Vec<_>>().join("\n");
    offered_if_any(Offer {
        header: header(text_in(part, &["name"])),
        body: (!body.is_empty()).then_some(body),
        url: text_in(part, &["joinLink"]),
        ..Offer::new(OfferKind::Other)
    })
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
    let names = [text_in(part, &["name"]), text_in(part, &["address"])];
    let names = names.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let degrees = |name| part.get(name).and_then(Value::as_number);
    let point = degrees("degreesLatitude").zip(degrees("degreesLongitude"));
    let point = || point.map(|(latitude, longitude)| format!("{latitude},{longitude}"));
    (!names.is_empty()).then_some(names).or_else(point)
}
