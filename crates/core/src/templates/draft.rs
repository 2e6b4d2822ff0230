//! The bodies that make and change templates.

use serde_json::{Map, Value};

use super::{Template, TemplateCategory, TemplateStatus, unknown_tag};
use crate::Timestamp;
use crate::ids::ConnectionId;
use crate::input::{Given, Input, read_id, read_text, read_word};
use crate::problems::Problems;
use crate::text;

/// The language of a template that names none (D40).
pub const DEFAULT_LANGUAGE: &str = "pt_BR";
/// The longest name: that of the official channel.
pub(super) const NAME_CHARS: usize = 512;
/// The longest tag of a language.
pub(super) const LANGUAGE_CHARS: usize = 16;

/// A body that makes or changes a template.
#[derive(Clone, Debug)]
pub struct TemplateDraft {
    pub(crate) name: Option<String>,
    pub(crate) category: Option<TemplateCategory>,
    pub(crate) language: Option<String>,
    pub(crate) body: Option<String>,
    pub(crate) status: Option<TemplateStatus>,
    pub(crate) connection: Given<ConnectionId>,
}

/// Reads a category; `AUTH` is short for `AUTHENTICATION` (D48).
pub fn read_category(word: &str) -> Option<TemplateCategory> {
    match word {
        "AUTH" => Some(TemplateCategory::Authentication),
        word => TemplateCategory::parse(word),
    }
}

fn read_language(value: &Value) -> Result<String, String> {
    let language = read_text(value, LANGUAGE_CHARS)?;
    let is_part = |part: &str| {
        (2..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    if !language.split(['_', '-']).all(is_part) {
        return Err("must be a language such as pt_BR or en".to_owned());
    }
    Ok(language)
}

fn read_body(value: &Value) -> Result<String, String> {
    let body = read_text(value, text::MESSAGE)?;
    match unknown_tag(&body) {
        Some(_) => Err("may only hold variables by position, such as {{1}}".to_owned()),
        None => Ok(body),
    }
}

impl TemplateDraft {
    /// Reads `name`, `category`, `language`, `body`, `status`, `connection_id`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        let draft = Self {
            name: input.required_text("name", NAME_CHARS),
            category: input.required("category", read_word(read_category, TemplateCategory::WORDS)),
            body: input.required("body", read_body),
            ..Self::common(&mut input)
        };
        if draft.body.as_ref().is_some_and(String::is_empty) {
            input.problem("body", "is required");
        }
        input.finish().into_result()?;
        Ok(draft)
    }

    /// Reads any of them. `connection_id` `null` lets every connection send it.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse_patch(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        let mut draft = Self::common(&mut input);
        let name = input.given_text("name", NAME_CHARS);
        draft.name = input.kept("name", name);
        let category = input.given("category", read_word(read_category, TemplateCategory::WORDS));
        draft.category = input.kept("category", category);
        let text = match input.given("body", read_body) {
            Given::Value(text) if text.is_empty() => Given::Cleared,
            given => given,
        };
        draft.body = input.kept("body", text);
        input.finish().into_result()?;
        Ok(draft)
    }

    fn common(input: &mut Input<'_>) -> Self {
        Self {
            name: None,
            category: None,
            language: input.given("language", read_language).value(),
            body: None,
            status: input
                .given("status", read_word(TemplateStatus::parse, TemplateStatus::WORDS))
                .value(),
            connection: input.given("connection_id", read_id(ConnectionId::parse)),
        }
    }

    /// The template with what was sent written over it.
    pub(crate) fn apply(&self, template: &Template, now: Timestamp) -> Template {
        let mut changed = Template {
            name: self.name.clone().unwrap_or_else(|| template.name.clone()),
            category: self.category.unwrap_or(template.category),
            language: self.language.clone().unwrap_or_else(|| template.language.clone()),
            body: self.body.clone().unwrap_or_else(|| template.body.clone()),
            status: self.status.unwrap_or(template.status),
            ..template.clone()
        };
        self.connection.clone().apply(&mut changed.connection);
        if changed != *template {
            changed.updated_at = now;
        }
        changed
    }
}
