//! Pipelines and their stages.

use serde::Serialize;

use crate::Timestamp;
use crate::ids::{CompanyId, PipelineId, StageId};

/// A pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// Its id.
    pub id: PipelineId,
    /// Its company.
    pub company: CompanyId,
    /// Its name.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A stage of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Stage {
    /// Its id.
    pub id: StageId,
    /// Its company.
    #[serde(skip)]
    pub company: CompanyId,
    /// Its pipeline.
    #[serde(skip)]
    pub pipeline: PipelineId,
    /// Its name.
    pub name: String,
    /// Its colour, a hex string.
    pub color: String,
    /// Its position in the pipeline, from 0.
    pub display_order: u32,
}

/// A pipeline as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct PipelineView {
    /// Its id.
    pub id: PipelineId,
    /// Its name.
    pub name: String,
    /// Its stages in order.
    pub stages: Vec<Stage>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl PipelineView {
    /// The view of a pipeline with the stages that are its own.
    pub fn new<'a>(pipeline: &Pipeline, stages: impl IntoIterator<Item = &'a Stage>) -> Self {
        let mut stages: Vec<Stage> =
            stages.into_iter().filter(|stage| stage.pipeline == pipeline.id).cloned().collect();
        stages.sort_by_key(|stage| stage.display_order);
        Self {
            id: pipeline.id,
            name: pipeline.name.clone(),
            stages,
            created_at: pipeline.created_at,
        }
    }
}
