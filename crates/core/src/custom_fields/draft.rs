//! The bodies that make and change definitions of custom fields.

use serde_json::Value;

use super::{CustomField, FieldStatus, FieldType, is_slug};
use crate::body::{Optional, Replaced, Required, body};
use crate::form::{Form, Name};

/// The slug of a definition.
#[derive(Debug)]
pub(crate) struct Slug;

impl Form for Slug {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        let slug = value.as_str().unwrap_or_default();
        if is_slug(slug) {
            Ok(slug.to_owned())
        } else {
            Err("must be 1 to 100 letters, digits, '_', '-' or '.', beginning with a letter or \
                 digit"
                .to_owned())
        }
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::text(|text| text.pattern(Some("^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$")))
    }
}

body! {
    /// A new custom field.
    #[derive(Clone, Debug)]
    pub struct CustomFieldDraft as "CreateCustomField" {
        label: String = Required<Name>,
        /// Unique in the company.
        slug: String = Required<Slug>,
        /// `text` by default.
        field_type as "type": Option<FieldType> = Optional<FieldType>,
        /// `active` by default.
        status: Option<FieldStatus> = Optional<FieldStatus>,
    }
}

body! {
    /// What changes of a custom field.
    #[derive(Clone, Debug)]
    pub struct CustomFieldPatch as "UpdateCustomField" of CustomField {
        label: Option<String> = Replaced<Name>,
        status: Option<FieldStatus> = Optional<FieldStatus>,
    }
}
