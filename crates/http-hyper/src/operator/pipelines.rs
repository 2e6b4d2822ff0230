//! Managing pipelines and their stages.

use recado_core::deals::{PipelineDraft, PipelinePatch, PipelineView};
use recado_core::ids::PipelineId;

use crate::answer::Answer;
use crate::call::CompanyCall;
use crate::error::Outcome;
use crate::route::{Route, verb};

pub(crate) const ROUTES: &[Route] = &[
    Route::company(
        verb::GET,
        COLLECTION,
        |c| Box::pin(list(c)),
        |op| op.says("listPipelines", "List pipelines with their stages").lists::<PipelineView>(),
    ),
    Route::company(
        verb::POST,
        COLLECTION,
        |c| Box::pin(create(c)),
        |op| {
            op.says("createPipeline", "Make a pipeline")
                .body::<PipelineDraft>(
                    r##"{"name": "Vendas", "stages": [{"name": "Novo", "color": "#1e90ff"}]}"##,
                )
                .makes::<PipelineView>()
        },
    )
    .json(),
    Route::company(
        verb::GET,
        ONE,
        |c| Box::pin(get(c)),
        |op| op.says("getPipeline", "Read a pipeline").answers::<PipelineView>(),
    ),
    Route::company(
        verb::PATCH,
        ONE,
        |c| Box::pin(change(c)),
        |op| {
            op.says("updatePipeline", "Change a pipeline")
                .body::<PipelinePatch>(r#"{"name": "Vendas 2027"}"#)
                .answers::<PipelineView>()
        },
    )
    .json(),
    Route::company(
        verb::DELETE,
        ONE,
        |c| Box::pin(delete(c)),
        |op| {
            op.says("deletePipeline", "Delete a pipeline whose stages hold no deal")
                .done()
                .refuses(409, "IN_USE")
        },
    ),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/pipelines";
const ONE: &str = "/operator/v1/companies/{company_id}/pipelines/{id}";

fn id(call: &CompanyCall) -> PipelineId {
    call.path.id("id", PipelineId::parse)
}

async fn list(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.deals().pipelines(call.who.id).await?)
}

async fn create(call: CompanyCall) -> Outcome {
    Answer::created(call.recado.deals().create_pipeline(call.who.id, &call.body).await?)
}

async fn get(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.deals().pipeline(call.who.id, id(&call)).await?)
}

async fn change(call: CompanyCall) -> Outcome {
    Answer::ok(call.recado.deals().change_pipeline(call.who.id, id(&call), &call.body).await?)
}

async fn delete(call: CompanyCall) -> Outcome {
    call.recado.deals().delete_pipeline(call.who.id, id(&call)).await?;
    Answer::done()
}
