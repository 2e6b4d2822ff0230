//! Places and address cards (X2).

use recado_core::messages::{Location, SharedContact};
use serde_json::{Number, Value};

use super::proto::first;
use super::text;
use crate::shared::{array, at, boolean, card, text as text_of};

/// How many cards are read at most.
const MAX_CARDS: usize = 100;

/// The place in a message.
pub(super) fn location(payload: &Value, proto: Option<&Value>) -> Option<Location> {
    let own = at(payload, &["location"]).and_then(|place| read(place, false));
    let of_channel = |name| at(proto?, &[name]);
    own.or_else(|| read(of_channel("locationMessage")?, false))
        .or_else(|| read(of_channel("liveLocationMessage")?, true))
}

fn read(place: &Value, is_live: bool) -> Option<Location> {
    let number = |names: [&str; 2]| {
        names.iter().find_map(|name| match place.get(name)? {
            Value::Number(number) => Some(number.clone()),
            Value::String(text) => degrees(text.trim()),
            _ => None,
        })
    };
    // Engines that drive a browser write the name and the address as lines of one text.
    let described = || first(place, &["description", "caption", "comment"]);
    let field = |names: &[&str]| first(place, names).and_then(|text| text::long(text.trim()));
    let name = field(&["name", "title"]);
    let lines = described().filter(|_| name.is_none()).map(|text| {
        let (name, address) = text.trim().split_once('\n').unwrap_or((text, ""));
        (text::long(name.trim()), text::long(address.trim()))
    });
    let (first_line, rest) = lines.unwrap_or_default();
    let live = ["live", "isLive"].iter().any(|name| boolean(place, name) == Some(true));
    Some(Location {
        latitude: number(["latitude", "degreesLatitude"])?,
        longitude: number(["longitude", "degreesLongitude"])?,
        name: name.or(first_line),
        address: field(&["address"]).or(rest),
        url: field(&["url", "URL"]),
        is_live: is_live || live,
    })
}

/// Degrees that are written as text, as they are written if that is a number of JSON.
fn degrees(text: &str) -> Option<Number> {
    text.parse().ok().or_else(|| Number::from_f64(text.parse().ok()?))
}

/// The address cards in a message; `None` if it has none.
pub(super) fn cards(payload: &Value, proto: Option<&Value>) -> Option<Vec<SharedContact>> {
    let own = array(payload, "vCards").iter().chain(array(payload, "vcards"));
    let own: Vec<SharedContact> = own.take(MAX_CARDS).map(one).collect();
    if !own.is_empty() {
        return Some(own);
    }
    let single = proto.and_then(|proto| at(proto, &["contactMessage"]));
    let several = proto.and_then(|proto| at(proto, &["contactsArrayMessage"]));
    let several = several.map_or(&[][..], |several| array(several, "contacts"));
    let cards = single.into_iter().chain(several).take(MAX_CARDS);
    let cards: Vec<SharedContact> = cards.map(one).collect();
    (!cards.is_empty()).then_some(cards)
}

fn one(reported: &Value) -> SharedContact {
    let vcard = reported.as_str().or_else(|| first(reported, &["vcard", "vCard"]));
    let read = vcard.map(card).unwrap_or_default();
    let name = || text_of(reported, "displayName").and_then(text::short);
    SharedContact { name: read.name.clone().or_else(name), ..read }
}
