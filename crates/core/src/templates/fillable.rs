//! Texts that are given with a template's header and buttons, and how long they may be (X15, X16).

use serde_json::Value;

use super::compose_error::HEADER_CHARS;
use super::{GivenButton, HeaderValue, TemplateValues, stand_in};
use crate::form::{Form, Text};
use crate::text;
use crate::webhooks::WebhookUrl;

/// The most characters of the name of a file.
pub(super) const NAME_CHARS: usize = text::SHORT;
/// The most characters of the end of an address.
pub(super) const URL_CHARS: usize = 2_000;
/// The most characters of a payload.
pub(super) const PAYLOAD_CHARS: usize = 256;
/// The most characters of a code.
pub(super) const CODE_CHARS: usize = 20;
/// The most characters of a whole address.
const ADDRESS_CHARS: usize = 2_048;
/// The most characters of the name or address of a place.
const PLACE_CHARS: usize = 1_000;
/// The most characters of any text with its fields as they are written.
const WRITTEN_CHARS: usize = text::MESSAGE;

/// A text of at most `MAX` characters, in which a field of a contact counts as one. Only campaigns
/// fill fields in (X16); everywhere else they are refused as literal tags (D49).
pub(crate) struct Fillable<const MAX: usize>;

impl<const MAX: usize> Form for Fillable<MAX> {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        let written = Text::<WRITTEN_CHARS>::read(value)?;
        Text::<MAX>::read(&Value::String(stand_in(&written)))?;
        Ok(written)
    }

    fn is_blank(value: &Value) -> bool {
        Text::<WRITTEN_CHARS>::is_blank(value)
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        Text::<WRITTEN_CHARS>::schema()
    }
}

/// The address of a file. Fields of a contact may stand behind its host: no contact decides which
/// machine is asked (R354).
pub(crate) struct FillableAddress;

impl Form for FillableAddress {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        let written = value.as_str().ok_or("must be a string")?;
        if written.chars().count() > WRITTEN_CHARS {
            return Err(format!("must have at most {WRITTEN_CHARS} characters"));
        }
        let stands_in = stand_in(written);
        WebhookUrl::parse(&stands_in).map_err(|error| error.to_string())?;
        let before = written.split("{contact.").next().unwrap_or_default();
        let names_host =
            before.split_once("://").is_some_and(|(_, rest)| rest.contains(['/', '?']));
        match stands_in == written || names_host {
            true => Ok(written.to_owned()),
            false => Err("may have fields of a contact behind its host only".to_owned()),
        }
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::text(|text| text.max_length(Some(WRITTEN_CHARS)))
    }
}

impl TemplateValues {
    /// Whether something that is given for the header or a button is longer than a body may give
    /// it, once fields of a contact were filled in.
    pub(crate) fn is_too_long(&self) -> bool {
        let longer = |text: &str, most: usize| text.chars().count() > most;
        let is_long_name =
            |name: &Option<String>, most| name.as_deref().is_some_and(|name| longer(name, most));
        let of_header = |header: &HeaderValue| match header {
            HeaderValue::Text { text } => longer(text, HEADER_CHARS),
            HeaderValue::Url { url, filename } => {
                longer(url, ADDRESS_CHARS) || is_long_name(filename, NAME_CHARS)
            }
            HeaderValue::Upload { filename, .. } => is_long_name(filename, NAME_CHARS),
            HeaderValue::Location { location } => {
                is_long_name(&location.name, PLACE_CHARS)
                    || is_long_name(&location.address, PLACE_CHARS)
            }
        };
        let of_button = |given: &GivenButton| match given {
            GivenButton::UrlSuffix(text) => longer(text, URL_CHARS),
            GivenButton::Payload(text) => longer(text, PAYLOAD_CHARS),
            GivenButton::Code(text) => longer(text, CODE_CHARS),
        };
        self.header.as_ref().is_some_and(of_header)
            || self.buttons.iter().any(|button| of_button(&button.given))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::ButtonValue;
    use super::*;

    /// X16, R354.
    #[test]
    fn a_field_of_a_contact_counts_as_one_character() {
        let read = |text: &str| Fillable::<5>::read(&json!(text));
        assert_eq!(read("abcde"), Ok("abcde".to_owned()));
        assert_eq!(read("abcdef"), Err("must have at most 5 characters".to_owned()));
        let long = "abcd{contact.custom.pedido|o seu pedido}";
        assert_eq!(read(long), Ok(long.to_owned()));
        assert!(read("abcde{contact.name}").is_err());
        assert!(read(&format!("{{contact.{}}}", "a".repeat(WRITTEN_CHARS))).is_err());
    }

    /// R354.
    #[test]
    fn no_contact_decides_which_machine_is_asked() {
        let read = |url: &str| FillableAddress::read(&json!(url)).is_ok();
        for fine in [
            "https://loja.example/a.pdf",
            "https://loja.example",
            "https://loja.example/{contact.custom.boleto}.pdf",
            "https://loja.example?c={contact.identifier|x}&d={contact.name}",
        ] {
            assert!(read(fine), "{fine}");
        }
        for wrong in [
            "{contact.custom.url}",
            "https://{contact.custom.host}/a.pdf",
            "https://loja.example{contact.name}/a.pdf",
            "https://loja.example:{contact.custom.port}/",
            "https://loja.example/a b.pdf",
            "https://loja.example/{contact.name",
            "ftp://loja.example/{contact.name}",
        ] {
            assert!(!read(wrong), "{wrong}");
        }
    }

    /// R354.
    #[test]
    fn what_was_filled_in_may_not_be_longer_than_what_is_given_itself() {
        let of_header = |header| TemplateValues { header: Some(header), ..Default::default() };
        let of_button = |given| TemplateValues {
            buttons: vec![ButtonValue { index: 0, given }],
            ..Default::default()
        };
        let of = |n: usize| "á".repeat(n);
        for (most, values) in [
            (
                60,
                &(|text| of_header(HeaderValue::Text { text }))
                    as &dyn Fn(String) -> TemplateValues,
            ),
            (2_048, &|url| of_header(HeaderValue::Url { url, filename: None })),
            (200, &|name| of_header(HeaderValue::Url { url: String::new(), filename: Some(name) })),
            (2_000, &|text| of_button(GivenButton::UrlSuffix(text))),
            (256, &|text| of_button(GivenButton::Payload(text))),
            (20, &|text| of_button(GivenButton::Code(text))),
        ] {
            assert!(!values(of(most)).is_too_long(), "{most}");
            assert!(values(of(most + 1)).is_too_long(), "{most}");
        }
        assert!(!TemplateValues::default().is_too_long());
    }
}
