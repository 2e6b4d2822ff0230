//! Managing definitions of custom fields (D58).

use recado_core::Code;
use recado_core::custom_fields::{CustomField, CustomFieldDraft, CustomFieldPatch};
use recado_core::ids::CustomFieldId;

use super::crud::{change, create, delete, get, list};
use crate::route::Route;

pub(crate) const ROUTES: &[Route] = &[
    list!(ListCompanyCustomFields, COLLECTION, custom_fields.all, |op| {
        op.does("List definitions of custom fields").lists::<CustomField>()
    }),
    create!(CreateCustomField, COLLECTION, custom_fields.create, |op| {
        op.does("Make a custom field")
            .body::<CustomFieldDraft>(
                r#"{"label": "Time do coração", "slug": "time", "type": "text"}"#,
            )
            .makes::<CustomField>()
            .refuses(Code::SlugTaken)
    }),
    get!(GetCustomField, ONE, custom_fields.get(CustomFieldId), |op| op
        .does("Read a custom field")
        .answers::<CustomField>()),
    change!(UpdateCustomField, ONE, custom_fields.change(CustomFieldId), |op| {
        op.does("Change a custom field")
            .body::<CustomFieldPatch>(r#"{"status": "inactive"}"#)
            .answers::<CustomField>()
    }),
    delete!(DeleteCustomField, ONE, custom_fields.delete(CustomFieldId), |op| {
        op.does("Delete a custom field; its values are shown no more").done()
    }),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/custom-fields";
const ONE: &str = "/operator/v1/companies/{company_id}/custom-fields/{id}";
