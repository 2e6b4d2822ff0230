//! Who of a group wrote a message, as an import says it (D72).

use serde_json::Value;

use crate::body::{Optional, Required, body};
use crate::contacts::{Phone, Region};
use crate::form::{Form, Short, component, is_blank_text};
use crate::input::Input;
#[cfg(feature = "openapi")]
use crate::openapi::{self, Property};

/// A phone with its country code, in its stored form.
pub(crate) struct FullPhone;

impl Form for FullPhone {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        let written = value.as_str().filter(|written| written.trim_start().starts_with('+'));
        let phone = written.and_then(|written| Phone::parse(written, &Region::br()).ok());
        phone
            .map(|phone| phone.as_str().to_owned())
            .ok_or_else(|| "must be a phone with + and its country code".to_owned())
    }

    fn is_blank(value: &Value) -> bool {
        is_blank_text(value)
    }

    #[cfg(feature = "openapi")]
    fn schema() -> Property {
        openapi::text(|text| openapi::example(text, "+5511987654321"))
    }
}

body! {
    /// Who of a group wrote a message.
    #[derive(Clone, Debug)]
    pub struct WrittenBy as "ParticipantBody" {
        /// The channel's name of them.
        identifier: String = Required<Short>,
        /// With its country code.
        phone: Option<String> = Optional<FullPhone>,
        name: Option<String> = Optional<Short>,
    }
}

impl Form for WrittenBy {
    type Value = Self;

    fn read(value: &Value) -> Result<Self, String> {
        let shown = value.as_object().ok_or("must be an object with identifier, phone and name")?;
        let mut input = Input::new(shown);
        let read = Self::fields(&mut input);
        let problems = input.finish();
        match (read, problems.is_empty()) {
            (Some(read), true) => Ok(read),
            _ => Err(format!("is not acceptable: {problems}")),
        }
    }

    component!();
}
