//! The bodies that make and change templates.

use serde_json::Value;

use super::{
    Components, ComponentsDraft, Template, TemplateCategory, TemplateStatus, one_sort, unknown_tag,
    variables,
};
use crate::body::{Clearable, Kept, Optional, OrDefault, Required, body};
use crate::form::{Form, Text, component, is_blank_text, read_text, read_word};
use crate::ids::ConnectionId;
use crate::input::Given;
use crate::text;

/// The longest name: that of the official channel.
pub(super) const NAME_CHARS: usize = 512;
/// The longest tag of a language.
pub(super) const LANGUAGE_CHARS: usize = 16;

/// A category; `AUTH` is short for `AUTHENTICATION` (D48).
pub(crate) struct Category;

impl Form for Category {
    type Value = TemplateCategory;

    fn read(value: &Value) -> Result<TemplateCategory, String> {
        read_word(read_category, TemplateCategory::WORDS)(value)
    }

    component!(TemplateCategory);
}

/// Reads a category; `AUTH` is short for `AUTHENTICATION` (D48).
pub fn read_category(word: &str) -> Option<TemplateCategory> {
    match word {
        "AUTH" => Some(TemplateCategory::Authentication),
        word => TemplateCategory::parse(word),
    }
}

/// The tag of a language.
pub(crate) struct Language;

impl Form for Language {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        let language = read_text(value, LANGUAGE_CHARS)?;
        let is_part = |part: &str| {
            (2..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        if !language.split(['_', '-']).all(is_part) {
            return Err("must be a language such as pt_BR or en".to_owned());
        }
        Ok(language)
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        Text::<LANGUAGE_CHARS>::schema()
    }
}

/// The text of a template.
pub(crate) struct TemplateText;

impl Form for TemplateText {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        let body = read_text(value, text::MESSAGE)?;
        if unknown_tag(&body).is_some() {
            let reason = "may only hold variables by position or name, such as {{1}} or {{name}}";
            return Err(reason.to_owned());
        }
        match one_sort(&variables(&body)) {
            true => Ok(body),
            false => Err("may hold variables by position or by name, not both".to_owned()),
        }
    }

    fn is_blank(value: &Value) -> bool {
        is_blank_text(value)
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        Text::<{ text::MESSAGE }>::schema()
    }
}

body! {
    /// A new template.
    #[derive(Clone, Debug)]
    pub struct TemplateDraft as "CreateTemplate" {
        name: String = Required<Text<NAME_CHARS>>,
        /// `AUTH` is accepted for `AUTHENTICATION`.
        category: TemplateCategory = Required<Category>,
        /// With `{{1}}`, `{{2}}`, … or `{{name}}`, … where variables go.
        body: String = Required<TemplateText>,
        /// What it has beside its text.
        components: Components = OrDefault<ComponentsDraft>,
        /// `pt_BR` by default.
        language: Option<String> = Optional<Language>,
        /// `PENDING` by default.
        status: Option<TemplateStatus> = Optional<TemplateStatus>,
        /// The only connection it may be sent through.
        connection as "connection_id": Option<ConnectionId> = Optional<ConnectionId>,
    }
}

body! {
    /// What changes of a template.
    #[derive(Clone, Debug)]
    pub struct TemplatePatch as "UpdateTemplate" of Template, updated_at {
        language: Option<String> = Optional<Language>,
        status: Option<TemplateStatus> = Optional<TemplateStatus>,
        connection as "connection_id": Given<ConnectionId> = Clearable<ConnectionId>,
        name: Option<String> = Kept<Text<NAME_CHARS>>,
        category: Option<TemplateCategory> = Kept<Category>,
        body: Option<String> = Kept<TemplateText>,
        /// All of them.
        components: Given<Components> = Clearable<ComponentsDraft>,
    }
}
