//! Definitions of custom fields (2.2, D58).

mod custom_field;
mod draft;
mod manage;
mod reads;

pub use custom_field::{CustomField, FieldStatus, FieldType, is_slug};
pub use draft::{CustomFieldDraft, CustomFieldPatch};
pub use manage::CustomFields;
pub use reads::CustomFieldReads;
