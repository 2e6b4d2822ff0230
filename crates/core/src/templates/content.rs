//! A template as its gateway gets it (X15).

use std::fmt;

use crate::gateway::{FileKind, OutgoingFile};
use crate::messages::{Location, Offer};

/// A value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The word that names it; `None` in a template whose variables have positions.
    pub name: Option<String>,
    /// The value.
    pub text: String,
}

impl Parameter {
    /// The value of the next position.
    pub fn next(text: impl Into<String>) -> Self {
        Self { name: None, text: text.into() }
    }
}

/// What is sent for the header of a template. A fixed header is not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SentHeader {
    /// The value of the variable in its text.
    Text(Parameter),
    /// A file.
    File(FileKind, OutgoingFile),
    /// A place.
    Location(Location),
}

/// What is sent for a button.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SentButton {
    /// The payload of an answer.
    Payload(String),
    /// The end of a page.
    UrlSuffix(String),
    /// A code to copy, such as that of a discount.
    CopyCode(String),
    /// A one-time code.
    Otp(String),
}

/// A message made from a template.
#[derive(Clone, PartialEq, Eq)]
pub struct TemplateContent {
    /// The template's name.
    pub name: String,
    /// Its language.
    pub language: String,
    /// The values of its variables: of positions from the first on, or of words.
    pub variables: Vec<Parameter>,
    /// Its text with the variables filled in.
    pub rendered: String,
    /// What is sent for its header.
    pub header: Option<SentHeader>,
    /// What is sent for its buttons, each with its position in the template.
    pub buttons: Vec<(u32, SentButton)>,
    /// What it shows beside its text and the file or place of its header: a line above the text,
    /// one below it, and buttons (X2).
    pub offer: Option<Box<Offer>>,
}

impl TemplateContent {
    /// A template of which only the text is filled in.
    pub fn new(
        name: impl Into<String>,
        language: impl Into<String>,
        variables: impl IntoIterator<Item = Parameter>,
        rendered: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            language: language.into(),
            variables: variables.into_iter().collect(),
            rendered: rendered.into(),
            header: None,
            buttons: Vec::new(),
            offer: None,
        }
    }
}

impl fmt::Debug for TemplateContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, language, variables, rendered, header, buttons, .. } = self;
        let value = (name, language, variables, rendered, header, buttons);
        crate::secret::masked(f, "Template", "***", &value)
    }
}
