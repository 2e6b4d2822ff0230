//! Managing templates (D48).

use recado_core::access::OperatorAction;
use recado_core::ids::TemplateId;
use recado_core::templates::{TemplateDraft, TemplatePatch, TemplateTokenView, TemplateView};

use super::crud::{change, create, delete, get, list};
use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::openapi::bodies;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    list!(ListTemplates, COLLECTION, templates.all, |op| op
        .does("List templates")
        .lists::<TemplateView>()),
    create!(CreateTemplate, COLLECTION, templates.create, |op| {
        op.does("Make a template")
            .more("`token` is the credential of template dispatch. It is shown this once.")
            .body::<TemplateDraft>(
                r#"{"name": "pedido_enviado", "category": "UTILITY", "body": "Olá {{nome}}",
                    "components": {"header": {"type": "text", "text": "Pedido {{pedido}}"},
                        "footer": "Loja", "buttons": [{"type": "url", "text": "Acompanhar",
                        "url": "https://loja.example/pedidos/{{1}}"}]},
                    "status": "APPROVED"}"#,
            )
            .makes::<TemplateTokenView>()
    }),
    get!(GetTemplate, ONE, templates.get(TemplateId), |op| op
        .does("Read a template")
        .answers::<TemplateView>()),
    change!(UpdateTemplate, ONE, templates.change(TemplateId), |op| {
        op.does("Change a template")
            .body::<TemplatePatch>(r#"{"status": "PAUSED"}"#)
            .answers::<TemplateView>()
    }),
    delete!(DeleteTemplate, ONE, templates.delete(TemplateId), |op| op
        .does("Delete a template")
        .done()),
    Route::company(
        verb::POST,
        "/operator/v1/companies/{company_id}/templates/{id}/rotate-token",
        OperatorAction::RotateTemplateToken,
        |c| Box::pin(rotate_token(c)),
        |op| {
            op.does("Replace the token of a template")
                .more("The old token is unknown at once. `token` is shown this once.")
                .body::<bodies::Nothing>(r#"{}"#)
                .answers::<TemplateTokenView>()
        },
    )
    .optional_json(),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/templates";
const ONE: &str = "/operator/v1/companies/{company_id}/templates/{id}";

async fn rotate_token(call: CompanyCall) -> Outcome {
    call.takes_no_fields()?;
    let id = call.path.id("id", TemplateId::parse);
    Answer::ok(call.recado.templates().rotate_token(call.who.id, id).await?)
}
