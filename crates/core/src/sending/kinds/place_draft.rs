//! Reading a place (X13).

use serde_json::{Number as JsonNumber, Value};

use super::declare::sent_content;
use super::forms::nested;
use crate::body::{Optional, Required};
use crate::form::{Form, Text, component};
use crate::gateway::Content;
use crate::messages::{Location, rounded};

/// The most characters of a place's name and of its address.
const PLACE: usize = 1_000;

/// Degrees from `-MOST` to `MOST`, kept with as many decimals as those of received places (X2).
pub(crate) struct Degrees<const MOST: u8>;

impl<const MOST: u8> Form for Degrees<MOST> {
    type Value = JsonNumber;

    fn read(value: &Value) -> Result<JsonNumber, String> {
        let refused = || format!("must be a number from -{MOST} to {MOST}");
        let Value::Number(number) = value else { return Err(refused()) };
        let degrees = number.as_f64().filter(|degrees| degrees.abs() <= f64::from(MOST));
        degrees.map(|_| rounded(number)).ok_or_else(refused)
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::number("")
    }
}

crate::form::to_json!(JsonNumber, |number| Value::Number(number.clone()));

sent_content! {
    /// A place.
    SendLocation as "SendLocation", PlaceDraft as "Place" {
        /// Degrees north of the equator, from -90 to 90.
        latitude: JsonNumber = Required<Degrees<90>>,
        /// Degrees east of Greenwich, from -180 to 180.
        longitude: JsonNumber = Required<Degrees<180>>,
        /// The place's name.
        name: Option<String> = Optional<Text<PLACE>>,
        /// Its address.
        address: Option<String> = Optional<Text<PLACE>>,
    }
    names: latitude longitude name address
}

nested!(PlaceDraft);

impl PlaceDraft {
    /// The message's content.
    pub(crate) fn content(self) -> Content {
        Content::Location(self.location())
    }

    /// The place.
    pub(crate) fn location(self) -> Location {
        Location {
            latitude: self.latitude,
            longitude: self.longitude,
            name: self.name,
            address: self.address,
            url: None,
            is_live: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn is_read(body: Value) -> bool {
        PlaceDraft::parse(body.as_object().expect("an object")).is_ok()
    }

    /// X13.
    #[test]
    fn a_place_lies_on_the_earth() {
        for (latitude, longitude, fits) in [
            (json!(90), json!(-180), true),
            (json!(-23.5614), json!(-46.6559), true),
            (json!(90.01), json!(0), false),
            (json!(0), json!(180.5), false),
            (json!("0"), json!(0), false),
            (json!(null), json!(0), false),
        ] {
            assert_eq!(
                is_read(json!({"latitude": latitude, "longitude": longitude})),
                fits,
                "{latitude} {longitude}"
            );
        }
    }

    /// X2, X13.
    #[test]
    fn degrees_are_kept_with_nine_decimals() {
        let body = json!({"latitude": -23.561_412_345_678_9, "longitude": 1e-300});
        let draft = PlaceDraft::parse(body.as_object().expect("an object")).expect("read");
        let place = draft.location();
        assert_eq!(
            (json!(place.latitude), json!(place.longitude)),
            (json!(-23.561_412_346), json!(0.0))
        );
    }

    /// X13.
    #[test]
    fn a_place_shows_as_what_is_received() {
        let body = json!({"latitude": -23.5, "longitude": -46.6, "name": "MASP"});
        let draft = PlaceDraft::parse(body.as_object().expect("an object")).expect("read");
        let Content::Location(place) = draft.content() else { panic!("no place") };
        assert_eq!((place.name.as_deref(), place.is_live), (Some("MASP"), false));
    }
}
