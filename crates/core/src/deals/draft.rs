//! The bodies that make and change pipelines and deals.

use serde_json::Value;

use super::{Deal, DealStatus, Pipeline};
use crate::Timestamp;
use crate::body::{Clearable, Optional, Replaced, Required, body};
use crate::form::{Form, Name, component};
use crate::ids::{ContactId, StageId};
use crate::input::Given;

/// The most stages a pipeline may be made with (R9).
const MAX_STAGES: usize = 100;

/// A colour in hex: 3, 6 or 8 digits, with or without `#`.
#[derive(Debug)]
pub(crate) struct HexColor;

impl Form for HexColor {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        let color = value.as_str().unwrap_or_default().trim();
        let digits = color.strip_prefix('#').unwrap_or(color);
        let is_hex =
            matches!(digits.len(), 3 | 6 | 8) && digits.bytes().all(|b| b.is_ascii_hexdigit());
        if is_hex {
            Ok(color.to_owned())
        } else {
            Err("must be a hex colour such as #1e90ff".to_owned())
        }
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::text(|text| text)
    }
}

body! {
    /// A stage of a new pipeline.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct StageDraft as "StageBody" {
        name: String = Required<Name>,
        /// A hex colour.
        color: String = Required<HexColor>,
    }
}

impl Form for StageDraft {
    type Value = Self;

    fn read(value: &Value) -> Result<Self, String> {
        let object = value.as_object().ok_or("must be objects with name and color")?;
        Self::parse(object).map_err(|problems| format!("has an unacceptable entry: {problems}"))
    }

    component!();
}

/// The stages of a new pipeline, in order.
#[derive(Debug)]
pub(crate) struct Stages;

impl Form for Stages {
    type Value = Vec<StageDraft>;

    fn read(value: &Value) -> Result<Vec<StageDraft>, String> {
        let entries = value.as_array().ok_or("must be an array of stages")?;
        if entries.len() > MAX_STAGES {
            return Err(format!("may hold at most {MAX_STAGES} stages"));
        }
        entries.iter().map(StageDraft::read).collect()
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::array(StageDraft::schema(), |stages| stages.max_items(Some(MAX_STAGES)))
    }

    #[cfg(feature = "openapi")]
    fn components(all: &mut crate::openapi::Components) {
        StageDraft::components(all);
    }
}

body! {
    /// A new pipeline with its stages in order.
    #[derive(Clone, Debug)]
    pub struct PipelineDraft as "CreatePipeline" {
        name: String = Required<Name>,
        stages: Vec<StageDraft> = Required<Stages>,
    }
}

body! {
    /// What changes of a record that only has a name.
    #[derive(Clone, Debug)]
    pub struct PipelinePatch as "Rename" of Pipeline {
        /// The new name.
        name: Option<String> = Replaced<Name>,
    }
}

body! {
    /// A new deal.
    #[derive(Clone, Debug)]
    pub struct DealDraft as "CreateDeal" {
        contact_id: ContactId = Required<ContactId>,
        title: String = Required<Name>,
        stage_id: Option<StageId> = Optional<StageId>,
        /// For imports; now by default.
        stage_entered_at: Option<Timestamp> = Optional<Timestamp>,
        /// `open` by default.
        status: Option<DealStatus> = Optional<DealStatus>,
    }
    check |input| if stage_entered_at.flatten().is_some() && stage_id.flatten().is_none() {
        input.problem("stage_entered_at", "needs a stage_id");
    };
}

body! {
    /// A change of a deal. Another stage sets `stage_entered_at`.
    #[derive(Clone, Debug)]
    pub struct DealPatch as "UpdateDeal" of Deal {
        title: Option<String> = Replaced<Name>,
        /// `null`: no stage.
        stage_id: Given<StageId> = Clearable<StageId>,
        status: Option<DealStatus> = Optional<DealStatus>,
    }
}

impl DealPatch {
    /// The deal after the change. Only a change to another stage sets `stage_entered_at` (D44b).
    pub fn apply(&self, deal: &Deal, now: Timestamp) -> Deal {
        let mut changed = self.over(deal);
        if changed.stage_id != deal.stage_id {
            changed.stage_entered_at = changed.stage_id.map(|_| now);
        }
        if changed != *deal {
            changed.updated_at = now;
        }
        changed
    }
}
