//! Managing pipelines and their stages.

use recado_core::Code;
use recado_core::deals::{PipelineDraft, PipelinePatch, PipelineView};
use recado_core::ids::PipelineId;

use super::crud::{change, create, delete, get, list};
use crate::route::Route;

pub(crate) const ROUTES: &[Route] = &[
    list!(ListPipelines, COLLECTION, deals.pipelines, |op| op
        .does("List pipelines with their stages")
        .lists::<PipelineView>()),
    create!(CreatePipeline, COLLECTION, deals.create_pipeline, |op| {
        op.does("Make a pipeline")
            .body::<PipelineDraft>(
                r##"{"name": "Vendas", "stages": [{"name": "Novo", "color": "#1e90ff"}]}"##,
            )
            .makes::<PipelineView>()
    }),
    get!(GetPipeline, ONE, deals.pipeline(PipelineId), |op| op
        .does("Read a pipeline")
        .answers::<PipelineView>()),
    change!(UpdatePipeline, ONE, deals.change_pipeline(PipelineId), |op| {
        op.does("Change a pipeline")
            .body::<PipelinePatch>(r#"{"name": "Vendas 2027"}"#)
            .answers::<PipelineView>()
    }),
    delete!(DeletePipeline, ONE, deals.delete_pipeline(PipelineId), |op| {
        op.does("Delete a pipeline whose stages hold no deal").done().refuses(Code::InUse)
    }),
];

const COLLECTION: &str = "/operator/v1/companies/{company_id}/pipelines";
const ONE: &str = "/operator/v1/companies/{company_id}/pipelines/{id}";
