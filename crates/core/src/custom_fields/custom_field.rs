//! A definition of a custom field (4.12, D58), and the bodies that make and change one.

use serde::Serialize;

use crate::Timestamp;
use crate::ids::{CompanyId, CustomFieldId};
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

/// Whether a text is a slug: letters, digits, `_`, `-` and `.`, beginning with a letter or digit
/// (R9). An id is none: where values are given by slug or by id, it would mean another field (D23).
pub fn is_slug(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(allowed)
        && text.len() <= SLUG_CHARS
        && CustomFieldId::parse(text).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R9.
    #[test]
    fn an_id_is_no_slug() {
        for slug in ["plano", "1", "a.b-c_d", "01939b5e"] {
            assert!(is_slug(slug), "{slug}");
        }
        let long = "x".repeat(SLUG_CHARS + 1);
        for other in ["", "-a", "a b", "ação", &long, "01939b5e-0000-7000-8000-000000000001"] {
            assert!(!is_slug(other), "{other}");
        }
    }
}
