//! What is given with a template, in the bodies of sends, dispatches and campaigns (X15).

use std::collections::BTreeSet;

use serde_json::Value;

use super::components::MAX_BUTTONS;
use super::compose_error::HEADER_CHARS;
use super::fillable::{
    CODE_CHARS, Fillable, FillableAddress, NAME_CHARS, PAYLOAD_CHARS, URL_CHARS,
};
use super::{ButtonValue, GivenButton, HeaderValue, Variable, VariableValues};
use crate::body::{Optional, Required, body};
use crate::form::{self, Form, inner};
use crate::ids::UploadId;
use crate::sending::PlaceDraft;
use crate::text;

/// The most entries of `variables`.
const MAX_VARIABLES: usize = 100;

/// Variables by position or name: `{"1": "Ana"}`, `{"nome": "Ana"}`.
pub(crate) struct Variables;

impl Form for Variables {
    type Value = VariableValues;

    fn read(value: &Value) -> Result<VariableValues, String> {
        const NEEDED: &str = "must be an object of strings by position or name";
        let entries = value.as_object().ok_or(NEEDED)?;
        if entries.len() > MAX_VARIABLES {
            return Err(format!("may hold at most {MAX_VARIABLES} entries"));
        }
        let read = |(name, value): (&String, &Value)| {
            let (variable, value) = Variable::parse(name).zip(value.as_str()).ok_or(NEEDED)?;
            let value = text::clean(value, text::MESSAGE)
                .map_err(|error| format!("hold at {variable} a text that {error}"))?;
            Ok((variable, value))
        };
        entries.iter().map(read).collect()
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::texts_by_name()
    }
}

body! {
    /// What is given for the header of a template: one of `text`, `url`, `media_id` and `location`.
    #[derive(Clone, PartialEq, Eq)]
    pub struct HeaderValueDraft as "TemplateHeaderValue" {
        /// The value of the variable in the header's text: at most 60 characters. Campaigns fill in
        /// fields of the contact here and in the other texts; such a field counts as one character.
        text: Option<String> = Optional<Fillable<HEADER_CHARS>>,
        /// The address of the file.
        url: Option<String> = Optional<FillableAddress>,
        /// The uploaded file, in place of an address.
        media_id: Option<UploadId> = Optional<UploadId>,
        /// The name of the file; kept for documents.
        filename: Option<String> = Optional<Fillable<NAME_CHARS>>,
        location: Option<PlaceDraft> = Optional<PlaceDraft>,
    }
    check |input| {
        let (text, url, upload) = (text.as_ref(), url.as_ref(), media_id.as_ref());
        let given = [
            text.map(Option::is_some),
            url.map(Option::is_some),
            upload.map(Option::is_some),
            location.as_ref().map(Option::is_some),
        ];
        let given: Option<Vec<bool>> = given.into_iter().collect();
        if let Some(given) = given {
            let count = given.iter().filter(|is_given| **is_given).count();
            if count != 1 {
                input.problem("text", "must hold one of text, url, media_id and location");
            } else if matches!(filename, Some(Some(_))) && !given[1] && !given[2] {
                input.problem("filename", "belongs to a url or media_id");
            }
        }
    };
}

body! {
    /// What is given for a button of a template: one of `url_suffix`, `payload` and `code`.
    #[derive(Clone, Debug)]
    pub struct ButtonValueDraft as "TemplateButtonValue" {
        /// The position of the button in the template, from 0.
        index: u32 = Required<form::Number<0, 19>>,
        /// The end of the page that it opens: at most 2,000 characters.
        url_suffix: Option<String> = Optional<Fillable<URL_CHARS>>,
        /// What the answer says, beside the text on the button: at most 256 characters.
        payload: Option<String> = Optional<Fillable<PAYLOAD_CHARS>>,
        /// The code that it copies or fills in: at most 20 characters.
        code: Option<String> = Optional<Fillable<CODE_CHARS>>,
    }
    check |input| if let (Some(suffix), Some(payload), Some(code)) = (&url_suffix, &payload, &code) {
        let given = [suffix, payload, code].into_iter().filter(|given| given.is_some()).count();
        if given != 1 {
            input.problem("url_suffix", "must hold one of url_suffix, payload and code");
        }
    };
}

inner! {
    HeaderValueDraft => HeaderValue, |draft| draft.into_value()?;
    ButtonValueDraft => ButtonValue, |draft| draft.into_value()?;
}

impl HeaderValueDraft {
    fn into_value(self) -> Result<HeaderValue, String> {
        let Self { text, url, media_id, filename, location } = self;
        match (text, url, media_id, location) {
            (Some(text), ..) => Ok(HeaderValue::Text { text }),
            (_, Some(url), ..) => Ok(HeaderValue::Url { url, filename }),
            (_, _, Some(media_id), _) => Ok(HeaderValue::Upload { media_id, filename }),
            (.., Some(place)) => Ok(HeaderValue::Location { location: place.location() }),
            (None, None, None, None) => Err("is empty".to_owned()),
        }
    }
}

impl ButtonValueDraft {
    fn into_value(self) -> Result<ButtonValue, String> {
        let Self { index, url_suffix, payload, code } = self;
        let suffix = url_suffix.map(GivenButton::UrlSuffix);
        let given = suffix.or(payload.map(GivenButton::Payload)).or(code.map(GivenButton::Code));
        Ok(ButtonValue { index, given: given.ok_or("is empty")? })
    }
}

/// What is given for buttons, each button once.
pub(crate) struct ButtonValues;

impl Form for ButtonValues {
    type Value = Vec<ButtonValue>;

    fn read(value: &Value) -> Result<Vec<ButtonValue>, String> {
        let entries = value.as_array().ok_or("must be an array")?;
        if entries.len() > MAX_BUTTONS {
            return Err(format!("may hold at most {MAX_BUTTONS} entries"));
        }
        let mut seen = BTreeSet::new();
        let read = |(at, entry)| {
            let button = ButtonValueDraft::read(entry)
                .map_err(|reason| format!("has at {at} an entry: {reason}"))?;
            match seen.insert(button.index) {
                true => Ok(button),
                false => Err(format!("names button {} twice", button.index)),
            }
        };
        entries.iter().enumerate().map(read).collect()
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        let entry = ButtonValueDraft::schema();
        crate::openapi::array(entry, |buttons| buttons.max_items(Some(MAX_BUTTONS)))
    }

    #[cfg(feature = "openapi")]
    fn components(all: &mut crate::openapi::Components) {
        ButtonValueDraft::components(all);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn variables_are_strings_by_position_or_name() {
        assert!(Variables::read(&json!({"1": "Ana", "nome": "Rex"})).is_ok());
        for wrong in [json!(["Ana"]), json!({"0": "Ana"}), json!({"a b": "Ana"}), json!({"1": 5})] {
            assert!(Variables::read(&wrong).is_err(), "{wrong}");
        }
        let why = |value: String| Variables::read(&json!({"nome": value})).unwrap_err();
        assert_eq!(
            why("a".repeat(4_097)),
            "hold at nome a text that must have at most 4096 characters"
        );
        assert!(why("a\0b".to_owned()).contains("control characters"));
    }

    /// X15.
    #[test]
    fn a_header_is_one_of_text_file_and_place() {
        let read = |value: Value| HeaderValueDraft::read(&value);
        let url = "https://loja.example/a.pdf";
        let id = "01900000-0000-7000-8000-000000000001";
        let place = json!({"latitude": -23.55, "longitude": -46, "name": "Loja"});
        for fine in [
            json!({"text": "Ana"}),
            json!({"text": "Ana", "url": null}),
            json!({"url": url, "filename": "nota.pdf"}),
            json!({"media_id": id, "filename": "nota.pdf"}),
            json!({ "location": place }),
        ] {
            assert!(read(fine.clone()).is_ok(), "{fine}");
        }
        for wrong in [
            json!("Ana"),
            json!({}),
            json!({"text": " "}),
            json!({"text": "a".repeat(61)}),
            json!({"text": "Ana", "url": url}),
            json!({"url": url, "media_id": id}),
            json!({"url": "ftp://loja.example/a.pdf"}),
            json!({"url": "https://loja.example/a b"}),
            json!({"media_id": "x"}),
            json!({"text": "Ana", "filename": "nota.pdf"}),
            json!({"location": {"latitude": 91, "longitude": 0}}),
            json!({"location": {"latitude": 0, "longitude": "0"}}),
            json!({"location": {"latitude": 0}}),
            json!({"text": "Ana", "type": "text"}),
        ] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }

    /// X15.
    #[test]
    fn each_button_gets_one_thing_once() {
        let read = |value: Value| ButtonValues::read(&value);
        let fine = json!([{"index": 0, "url_suffix": "p"}, {"index": 1, "payload": "sim"},
            {"index": 9, "code": "PROMO"}]);
        assert_eq!(read(fine).map(|buttons| buttons.len()), Ok(3));
        for wrong in [
            json!({}),
            json!([1]),
            json!([{"url_suffix": "p"}]),
            json!([{"index": 0}]),
            json!([{"index": -1, "payload": "p"}]),
            json!([{"index": 0, "payload": "p", "code": "c"}]),
            json!([{"index": 0, "payload": "p"}, {"index": 0, "payload": "q"}]),
            json!([{"index": 0, "code": "c".repeat(21)}]),
            json!((0..11).map(|at| json!({"index": at, "code": "c"})).collect::<Vec<_>>()),
        ] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
