//! Managing templates (D48).

use recado_core::ids::TemplateId;
use recado_core::templates::{TemplateDraft, TemplatePatch, TemplateView};

use super::crud::{change, create, delete, get, list};
use crate::route::Route;

pub(crate) const ROUTES: &[Route] = &[
    list!(COLLECTION, templates.all, |op| op
        .says("listTemplates", "List templates")
        .lists::<TemplateView>()),
    create!(COLLECTION, templates.create, |op| {
        op.says("createTemplate", "Make a template")
            .body::<TemplateDraft>(
                r#"{"name": "boas_vindas", "category": "UTILITY", "body": "Olá {{1}}",
                        "status": "APPROVED"}"#,
            )
            .makes::<TemplateView>()
    }),
    get!(ONE, templates.get(TemplateId), |op| op
        .says("getTemplate", "Read a template")
        .answers::<TemplateView>()),
    change!(ONE, templates.change(TemplateId), |op| {
        op.says("updateTemplate", "Change a template")
            .body::<TemplatePatch>(r#"{"status": "PAUSED"}"#)
            .answers::<TemplateView>()
    }),
    delete!(ONE, templates.delete(TemplateId), |op| op
        .says("deleteTemplate", "Delete a template")
        .done()),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/templates";
const ONE: &str = "/operator/v1/companies/{company_id}/templates/{id}";
