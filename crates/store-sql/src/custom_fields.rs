//! Definitions of custom fields.

use recado_core::custom_fields::{CustomField, FieldStatus, FieldType};

use crate::field::words;
use crate::record::record;

record! {
    CustomField in "custom_fields" key(company_id, id) {
        company("company_id"),
        id,
        slug,
        label,
        field_type,
        status,
        created_at,
    }
}

words! { FieldStatus, FieldType }
