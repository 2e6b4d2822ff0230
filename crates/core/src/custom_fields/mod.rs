//! Definitions of custom fields (2.2, D58).

mod manage;

use async_trait::async_trait;
use serde::Serialize;
use serde_json::{Map, Value};

pub use manage::CustomFields;

use crate::Timestamp;
use crate::access::patched_name;
use crate::ids::{CompanyId, CustomFieldId};
use crate::input::{Input, read_word};
use crate::problems::Problems;
use crate::store::{StoreError, Stored};
use crate::text;
use crate::words::words;

words! {
    /// What a field is meant to hold; values are not checked against it (D58).
    FieldType {
        /// Any text.
        Text = "text",
        /// A number.
        Number = "number",
        /// A date.
        Date = "date",
        /// Yes or no.
        Boolean = "boolean",
        /// One of several choices.
        Select = "select",
    }
}

words! {
    /// Whether a field may be written and is shown in the contact detail.
    FieldStatus {
        /// In use.
        Active = "active",
        /// No longer in use; stored values stay.
        Inactive = "inactive",
        /// Made by an inbound webhook, waiting for an operator (D46).
        Pending = "pending",
    }
}

/// The longest slug.
const SLUG_CHARS: usize = 100;

/// A definition. Its slug is unique in its company.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CustomField {
    /// Its id: the key of values in the contact detail.
    pub id: CustomFieldId,
    /// Its company.
    #[serde(skip)]
    pub company: CompanyId,
    /// Its slug: the key of values in the contact list.
    pub slug: String,
    /// Its label, for people.
    pub label: String,
    /// What it is meant to hold.
    #[serde(rename = "type")]
    pub field_type: FieldType,
    /// Whether it is in use.
    pub status: FieldStatus,
    /// When it was made.
    pub created_at: Timestamp,
}

impl CustomField {
    /// Whether values of it may be written and are shown in the contact detail (2.2, 4.3).
    pub const fn is_active(&self) -> bool {
        matches!(self.status, FieldStatus::Active)
    }
}

/// A body that makes a definition.
#[derive(Clone, Debug)]
pub struct CustomFieldDraft {
    pub(crate) slug: String,
    pub(crate) label: String,
    pub(crate) field_type: FieldType,
    pub(crate) status: FieldStatus,
}

/// Whether a text is a slug: letters, digits, `_`, `-` and `.`, beginning with a letter or digit.
pub fn is_slug(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(allowed)
        && text.len() <= SLUG_CHARS
}

fn read_slug(value: &Value) -> Result<String, String> {
    let slug = value.as_str().unwrap_or_default();
    if is_slug(slug) {
        Ok(slug.to_owned())
    } else {
        Err("must be 1 to 100 letters, digits, '_', '-' or '.', beginning with a letter or digit"
            .to_owned())
    }
}

impl CustomFieldDraft {
    /// Reads `label`, `slug`, `type?` (default `text`), `status?` (default `active`).
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        let label = input.required_text("label", text::NAME);
        let slug = input.required("slug", read_slug);
        let field_type = input.given("type", read_word(FieldType::parse, FieldType::WORDS)).value();
        let status =
            input.given("status", read_word(FieldStatus::parse, FieldStatus::WORDS)).value();
        input.finish().into_result()?;
        Ok(Self {
            slug: slug.unwrap_or_default(),
            label: label.unwrap_or_default(),
            field_type: field_type.unwrap_or(FieldType::Text),
            status: status.unwrap_or(FieldStatus::Active),
        })
    }
}

/// A change of a definition.
#[derive(Clone, Debug)]
pub struct CustomFieldPatch {
    pub(crate) label: Option<String>,
    pub(crate) status: Option<FieldStatus>,
}

impl CustomFieldPatch {
    /// Reads any of `label`, `status`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        let patch = Self {
            label: patched_name(&mut input, "label").value(),
            status: input
                .given("status", read_word(FieldStatus::parse, FieldStatus::WORDS))
                .value(),
        };
        input.finish().into_result()?;
        Ok(patch)
    }
}

/// Reads of custom-field definitions. Listings are by `created_at`, then `id` (D58).
#[async_trait]
pub trait CustomFieldReads: Send + Sync {
    /// A definition of the company.
    async fn custom_field(
        &self,
        company: CompanyId,
        id: CustomFieldId,
    ) -> Result<Option<Stored<CustomField>>, StoreError>;

    /// The definition of the company that has this slug.
    async fn custom_field_by_slug(
        &self,
        company: CompanyId,
        slug: &str,
    ) -> Result<Option<Stored<CustomField>>, StoreError>;

    /// All definitions of the company, whatever their status.
    async fn custom_fields(&self, company: CompanyId) -> Result<Vec<CustomField>, StoreError>;
}
