//! Managing templates (D48).

use recado_core::ids::TemplateId;
use recado_core::templates::TemplateView;

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::openapi::bodies;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::GET,
        COLLECTION,
        |c| Box::pin(list(c)),
        |op| op.says("listTemplates", "List templates").lists::<TemplateView>(),
    ),
    Route::company(
        verb::POST,
        COLLECTION,
        |c| Box::pin(create(c)),
        |op| {
            op.says("createTemplate", "Make a template")
                .body::<bodies::CreateTemplate>(
                    r#"{"name": "boas_vindas", "category": "UTILITY", "body": "Olá {{1}}",
                        "status": "APPROVED"}"#,
                )
                .makes::<TemplateView>()
        },
    )
    .json(),
    Route::company(
        verb::GET,
        ONE,
        |c| Box::pin(get(c)),
        |op| op.says("getTemplate", "Read a template").answers::<TemplateView>(),
    ),
    Route::company(
        verb::PATCH,
        ONE,
        |c| Box::pin(change(c)),
        |op| {
            op.says("updateTemplate", "Change a template")
                .body::<bodies::UpdateTemplate>(r#"{"status": "PAUSED"}"#)
                .answers::<TemplateView>()
        },
    )
    .json(),
    Route::company(
        verb::DELETE,
        ONE,
        |c| Box::pin(delete(c)),
        |op| op.says("deleteTemplate", "Delete a template").done(),
    ),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/templates";
const ONE: &str = "/operator/v1/companies/{company_id}/templates/{id}";

fn id(call: &CompanyCall) -> TemplateId {
    call.path.id("id", TemplateId::parse)
}

async fn list(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.templates().all(call.who.id).await?)
}

async fn create(call: CompanyCall) -> Outcome {
    Answer::created(call.recado.templates().create(call.who.id, &call.body).await?)
}

async fn get(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.templates().get(call.who.id, id(&call)).await?)
}

async fn change(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.templates().change(call.who.id, id(&call), &call.body).await?)
}

async fn delete(call: CompanyCall) -> Outcome {
    call.recado.templates().delete(call.who.id, id(&call)).await?;
    Answer::done()
}
