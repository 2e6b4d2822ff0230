//! Pipelines and their stages.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::Timestamp;
use crate::ids::{CompanyId, PipelineId, StageId};
use crate::input::Input;
use crate::problems::Problems;
use crate::text;

/// The most stages a pipeline may be made with.
const MAX_STAGES: usize = 100;

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
    /// Its place in the pipeline, from 0.
    pub display_order: u32,
}

/// A pipeline as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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

/// One stage of a [`PipelineDraft`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageDraft {
    /// Its name.
    pub name: String,
    /// Its colour.
    pub color: String,
}

impl StageDraft {
    fn parse(value: &Value) -> Result<Self, String> {
        let object = value.as_object().ok_or("must be objects with name and color")?;
        let mut input = Input::new(object);
        let name = input.required_text("name", text::NAME);
        let color = input.required("color", read_hex_color);
        match (name, color, input.finish().into_result()) {
            (Some(name), Some(color), Ok(())) => Ok(Self { name, color }),
            (_, _, Err(problems)) => Err(format!("has an unacceptable entry: {problems}")),
            _ => Err("must be objects with name and color".to_owned()),
        }
    }
}

/// A colour in hex: 3, 6 or 8 digits, with or without `#`.
fn read_hex_color(value: &Value) -> Result<String, String> {
    let color = value.as_str().unwrap_or_default().trim();
    let digits = color.strip_prefix('#').unwrap_or(color);
    let is_hex = matches!(digits.len(), 3 | 6 | 8) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    if is_hex {
        Ok(color.to_owned())
    } else {
        Err("must be a hex colour such as #1e90ff".to_owned())
    }
}

/// A body that makes a pipeline.
#[derive(Clone, Debug)]
pub struct PipelineDraft {
    pub(crate) name: String,
    pub(crate) stages: Vec<StageDraft>,
}

impl PipelineDraft {
    /// Reads `name`, `stages: [{name, color}]`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        let name = input.required_text("name", text::NAME);
        let stages = input.required("stages", |value| {
            let entries = value.as_array().ok_or("must be an array of stages")?;
            if entries.len() > MAX_STAGES {
                return Err(format!("may hold at most {MAX_STAGES} stages"));
            }
            entries.iter().map(StageDraft::parse).collect()
        });
        input.finish().into_result()?;
        Ok(Self { name: name.unwrap_or_default(), stages: stages.unwrap_or_default() })
    }

    /// Reads `name`: what a change of a pipeline may carry.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse_patch(body: &Map<String, Value>) -> Result<Option<String>, Problems> {
        let mut input = Input::new(body);
        let name = crate::access::patched_name(&mut input, "name").value();
        input.finish().into_result()?;
        Ok(name)
    }
}
