//! What a send gives with a template: values of its variables, its header and its buttons (X15).

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::Variable;
use crate::form::{json_of, to_json};
use crate::ids::UploadId;
use crate::messages::Location;

/// The values of variables.
pub type VariableValues = BTreeMap<Variable, String>;

/// What is given for the header of a template.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum HeaderValue {
    /// The value of the variable in its text.
    Text {
        /// The value.
        text: String,
    },
    /// A file at an address.
    Url {
        /// The address.
        url: String,
        /// Its name; documents have one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filename: Option<String>,
    },
    /// An uploaded file.
    Upload {
        /// The upload.
        media_id: UploadId,
        /// Its name; documents have one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filename: Option<String>,
    },
    /// A place.
    Location {
        /// The place.
        location: Location,
    },
}

/// What is given for a button of a template.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ButtonValue {
    /// The position of the button, from 0.
    pub index: u32,
    /// What is given.
    #[serde(flatten)]
    pub given: GivenButton,
}

/// What can be given for a button.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GivenButton {
    /// The end of its page.
    UrlSuffix(String),
    /// What the answer says, beside the text on the button.
    Payload(String),
    /// The code that it copies or fills in.
    Code(String),
}

/// All that is given with a template (X15).
#[derive(Clone, Default, PartialEq, Eq)]
pub struct TemplateValues {
    /// The values of its variables.
    pub variables: VariableValues,
    /// What is given for its header.
    pub header: Option<HeaderValue>,
    /// What is given for its buttons; no two for one button.
    pub buttons: Vec<ButtonValue>,
}

to_json!(HeaderValue, |header| json_of(header));
to_json!(ButtonValue, |button| json_of(button));

impl HeaderValue {
    /// The texts in it, each of which may be a tag that was not filled in (D49).
    pub(crate) fn texts(&self) -> Vec<&str> {
        match self {
            Self::Text { text } => vec![text],
            Self::Url { url, filename } => {
                [Some(url), filename.as_ref()].into_iter().flatten().map(String::as_str).collect()
            }
            Self::Upload { filename, .. } => filename.iter().map(String::as_str).collect(),
            Self::Location { location } => {
                let texts = [&location.name, &location.address];
                texts.into_iter().flatten().map(String::as_str).collect()
            }
        }
    }
}

impl GivenButton {
    /// The text that is given.
    pub fn text(&self) -> &str {
        match self {
            Self::UrlSuffix(text) | Self::Payload(text) | Self::Code(text) => text,
        }
    }
}

/// Where a text stands, which decides how a value is written into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextPlace {
    /// Among words.
    Words,
    /// In an address.
    Address,
}

/// Words that may be missing, changed.
fn words(
    text: Option<&String>,
    change: &mut impl FnMut(TextPlace, &str) -> String,
) -> Option<String> {
    text.map(|text| change(TextPlace::Words, text))
}

impl HeaderValue {
    /// The same with other texts.
    fn with_texts(&self, change: &mut impl FnMut(TextPlace, &str) -> String) -> Self {
        match self {
            Self::Text { text } => Self::Text { text: change(TextPlace::Words, text) },
            Self::Url { url, filename } => {
                let url = change(TextPlace::Address, url);
                Self::Url { url, filename: words(filename.as_ref(), change) }
            }
            Self::Upload { media_id, filename } => {
                Self::Upload { media_id: *media_id, filename: words(filename.as_ref(), change) }
            }
            Self::Location { location } => {
                let name = words(location.name.as_ref(), change);
                let address = words(location.address.as_ref(), change);
                Self::Location { location: Location { name, address, ..location.clone() } }
            }
        }
    }
}

impl GivenButton {
    /// The same with another text.
    fn with_text(&self, change: &mut impl FnMut(TextPlace, &str) -> String) -> Self {
        match self {
            Self::UrlSuffix(text) => Self::UrlSuffix(change(TextPlace::Address, text)),
            Self::Payload(text) => Self::Payload(change(TextPlace::Words, text)),
            Self::Code(text) => Self::Code(change(TextPlace::Words, text)),
        }
    }
}

impl TemplateValues {
    /// All texts in it.
    pub(crate) fn texts(&self) -> Vec<&str> {
        let variables = self.variables.values().map(String::as_str);
        let header = self.header.iter().flat_map(HeaderValue::texts);
        let buttons = self.buttons.iter().map(|button| button.given.text());
        variables.chain(header).chain(buttons).collect()
    }

    /// The same with other texts.
    pub(crate) fn with_texts(&self, mut change: impl FnMut(TextPlace, &str) -> String) -> Self {
        let changed = |(variable, text): (&Variable, &String)| {
            (variable.clone(), change(TextPlace::Words, text))
        };
        let variables = self.variables.iter().map(changed).collect();
        let header = self.header.as_ref().map(|header| header.with_texts(&mut change));
        let changed = |button: &ButtonValue| ButtonValue {
            index: button.index,
            given: button.given.with_text(&mut change),
        };
        Self { variables, header, buttons: self.buttons.iter().map(changed).collect() }
    }
}

impl From<VariableValues> for TemplateValues {
    fn from(variables: VariableValues) -> Self {
        Self { variables, ..Self::default() }
    }
}

impl fmt::Debug for HeaderValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HeaderValue(***)")
    }
}

impl fmt::Debug for GivenButton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GivenButton(***)")
    }
}

impl fmt::Debug for ButtonValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ButtonValue").field("index", &self.index).finish_non_exhaustive()
    }
}

impl fmt::Debug for TemplateValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TemplateValues(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_is_stored_as_it_is_written_in_a_body() {
        for header in [
            r#"{"text":"Ana"}"#,
            r#"{"url":"https://loja.example/a.png"}"#,
            r#"{"url":"https://loja.example/a.pdf","filename":"a.pdf"}"#,
            r#"{"media_id":"01900000-0000-7000-8000-000000000001"}"#,
            r#"{"location":{"latitude":-23.5,"longitude":-46.6,"name":"Loja","address":null,"url":null,"is_live":false}}"#,
        ] {
            let read: HeaderValue = serde_json::from_str(header).expect(header);
            assert_eq!(serde_json::to_string(&read).expect("JSON"), header);
        }
        for button in [
            r#"{"index":0,"url_suffix":"p/1"}"#,
            r#"{"index":1,"payload":"sim"}"#,
            r#"{"index":2,"code":"PROMO"}"#,
        ] {
            let read: ButtonValue = serde_json::from_str(button).expect(button);
            assert_eq!(serde_json::to_string(&read).expect("JSON"), button);
        }
    }

    /// X16.
    #[test]
    fn every_text_can_be_replaced_and_addresses_are_told_apart() {
        let place = r#"{"latitude":-23.5,"longitude":-46.6,"name":"e","address":"f"}"#;
        let location: Location = serde_json::from_str(place).expect("a place");
        let id = UploadId::new(uuid::Uuid::from_u128(1));
        let name = || Some("d".to_owned());
        for (header, words, addresses) in [
            (HeaderValue::Text { text: "b".to_owned() }, "ABKL", "J"),
            (HeaderValue::Url { url: "c".to_owned(), filename: name() }, "ADKL", "CJ"),
            (HeaderValue::Upload { media_id: id, filename: name() }, "ADKL", "J"),
            (HeaderValue::Location { location }, "AEFKL", "J"),
        ] {
            let given = [
                GivenButton::UrlSuffix("j".to_owned()),
                GivenButton::Payload("k".to_owned()),
                GivenButton::Code("l".to_owned()),
            ];
            let button = |(index, given)| ButtonValue { index, given };
            let values = TemplateValues {
                variables: [(Variable::Position(1), "a".to_owned())].into(),
                header: Some(header),
                buttons: (0..).zip(given).map(button).collect(),
            };
            let (mut in_words, mut in_addresses) = (String::new(), String::new());
            let changed = values.with_texts(|place, text| {
                let text = text.to_uppercase();
                match place {
                    TextPlace::Words => in_words.push_str(&text),
                    TextPlace::Address => in_addresses.push_str(&text),
                }
                text
            });
            assert_eq!((in_words.as_str(), in_addresses.as_str()), (words, addresses));
            assert_eq!(changed.texts().concat(), values.texts().concat().to_uppercase());
            assert_eq!(values.with_texts(|_, text| text.to_owned()), values);
        }
    }

    #[test]
    fn what_is_given_is_not_printed() {
        let header = HeaderValue::Text { text: "Ana".to_owned() };
        let button = ButtonValue { index: 0, given: GivenButton::Code("Ana".to_owned()) };
        let all = TemplateValues {
            variables: [(Variable::Position(1), "Ana".to_owned())].into(),
            header: Some(header),
            buttons: vec![button],
        };
        assert!(!format!("{all:?} {:?} {:?}", all.header, all.buttons).contains("Ana"));
    }
}
